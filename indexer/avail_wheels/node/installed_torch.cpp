// The torch that the user's Python would import, by its files: `--why` judges extensions by it. Nothing is
// started, and of its libraries only libc10.so (1 MB) is read.
//
//     site-packages/torch/version.py     __version__ = '2.6.0+cu124', cuda: Optional[str] = '12.4'
//     site-packages/torch/lib/           libc10.so, libtorch_cuda.so, …
#include "indexer/avail_wheels/node/node_probe.hpp"

#include <system_error>
#include <utility>
#include <vector>

#include "lib/accelerator/accelerator_kind.hpp"
#include "lib/base/files/file.hpp"
#include "lib/base/text/assigned_text.hpp"
#include "lib/base/text/text.hpp"
#include "lib/wheel/version.hpp"

namespace wheelyard::avail_wheels {
namespace {

namespace fs = std::filesystem;
constexpr std::uint64_t max_torch_version_bytes = 64 * base::kib;
constexpr std::size_t max_torch_libraries = 1000;  // torch 2.6 has 17

std::vector<fs::path> folders_of(const HostProbe& probe, const Node& node) {
    std::vector<fs::path> folders;
    if (const auto path = probe.environment.find("PYTHONPATH"); path != probe.environment.end()) {
        for (const auto part : base::split(path->second, ':')) {
            if (part.starts_with('/')) folders.emplace_back(part);
        }
    }
    folders.insert(folders.end(), node.module_folders.begin(), node.module_folders.end());
    return folders;
}

std::optional<InstalledTorch> torch_in(const fs::path& root, const fs::path& folder) {
    const fs::path here = root / folder.relative_path() / "torch";
    const auto text = base::read_file(here / "version.py", max_torch_version_bytes);
    if (!text) return std::nullopt;
    InstalledTorch torch;
    torch.version = base::assigned_text(*text, "__version__");
    if (!wheel::Version::parse(torch.version)) return std::nullopt;
    torch.folder = (folder / "torch").native();
    for (const auto* kind : accelerator::accelerator_kinds()) {
        if (auto toolkit = base::assigned_text(*text, kind->name); !toolkit.empty())
            torch.toolkits.emplace(kind->name, std::move(toolkit));
    }
    std::error_code failed;
    for (fs::directory_iterator entry(here / "lib", failed), end; !failed && entry != end;
         entry.increment(failed)) {
        torch.libraries.insert(entry->path().filename().native());
        if (torch.libraries.size() == max_torch_libraries) break;
    }
    if (const auto bytes = base::read_file(here / "lib" / "libc10.so", max_library_bytes))
        torch.cxx11_abi = strings_of_c10(*bytes);
    return torch;
}

}  // namespace

std::optional<InstalledTorch> find_installed_torch(const HostProbe& probe, const Node& node) {
    for (const fs::path& folder : folders_of(probe, node)) {
        if (auto torch = torch_in(probe.root, folder)) return torch;
    }
    return std::nullopt;
}

std::string strings_of_c10(std::string_view bytes) {
    constexpr std::string_view error = "_ZN3c105ErrorC2ENS_14SourceLocationE";
    const bool is_new =
        bytes.find(std::string(error) + "NSt7__cxx1112basic_string") != std::string_view::npos;
    const bool is_old = bytes.find(std::string(error) + "Ss") != std::string_view::npos;
    return is_new == is_old ? "" : is_new ? "true" : "false";
}

}  // namespace wheelyard::avail_wheels
