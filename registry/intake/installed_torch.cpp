#include "registry/intake/installed_torch.hpp"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "lib/base/files/file.hpp"
#include "lib/base/limits.hpp"
#include "lib/inspect/elf/elf.hpp"
#include "lib/wheel/filename.hpp"

namespace wheelyard::registry {
namespace {

namespace fs = std::filesystem;
constexpr std::size_t max_torch_files = 1000;  // in `lib`; torch 2.6 has 17
constexpr std::uint64_t max_version_file_bytes = 64 * base::kib;
constexpr std::string_view module_prefix = "_C.cpython-";

auto not_installed(const fs::path& folder, std::string_view lacks) {
    return base::fail("torch.not_installed", "This is not the folder of an installed torch", folder.string(),
                      std::string(lacks) + " is not there; name the folder `torch` in site-packages");
}

base::Result<std::vector<fs::path>> files_in(const fs::path& folder) {
    std::vector<fs::path> files;
    std::error_code failed;
    for (fs::directory_iterator it(folder, failed), end; !failed && it != end; it.increment(failed)) {
        if (it->path().filename().native().find(".so") != std::string::npos) files.push_back(it->path());
        if (files.size() > max_torch_files) break;
    }
    if (failed) return not_installed(folder.parent_path(), folder.filename().native());
    std::sort(files.begin(), files.end());
    return files;
}

// The text between the first quotes after `__version__`; empty: none.
std::string version_in(std::string_view text) {
    const auto name = text.find("__version__");
    const auto open = text.find_first_of("'\"", name == std::string_view::npos ? text.size() : name);
    if (open == std::string_view::npos) return {};
    const auto close = text.find(text[open], open + 1);
    return close == std::string_view::npos ? std::string()
                                           : std::string(text.substr(open + 1, close - open - 1));
}

// "_C.cpython-313t-x86_64-linux-gnu.so" → "313t"; empty: another file.
std::string python_of(const fs::path& file) {
    const std::string name = file.filename().string();
    if (!name.starts_with(module_prefix)) return {};
    return name.substr(module_prefix.size(), name.find('-', module_prefix.size()) - module_prefix.size());
}

}  // namespace

base::Result<inspect::TorchExports> read_installed_torch(const fs::path& folder) {
    auto version_file = base::read_file(folder / "version.py", max_version_file_bytes);
    if (!version_file) return not_installed(folder, "version.py");
    WHEELYARD_ASSIGN(std::vector<fs::path> files, files_in(folder / "lib"));
    WHEELYARD_ASSIGN(const std::vector<fs::path> modules, files_in(folder));
    std::string python;
    for (const fs::path& module : modules) {
        if (python_of(module).empty()) continue;
        python = python_of(module);
        files.push_back(module);
    }
    if (python.empty()) return not_installed(folder, std::string(module_prefix) + "*.so");

    std::vector<inspect::ElfMember> elves;
    for (const fs::path& file : files) {
        WHEELYARD_ASSIGN(const auto reader, base::FileReader::open(file));
        inspect::ElfMember member;
        member.name = file.filename().string();
        auto elf = inspect::parse_elf(
            reader, [&member](const inspect::DynamicSymbol& symbol) { member.torch.take(symbol); });
        if (!elf && elf.error().kind == base::ErrorKind::malformed) continue;  // a linker script
        if (!elf) return base::fail(std::move(elf.error()));
        member.elf = std::move(*elf);
        elves.push_back(std::move(member));
    }
    // The Python tag has no `t` (PEP 703): cp313-cp313t.
    const std::string version_digits = python.substr(0, python.find_first_not_of("0123456789"));
    WHEELYARD_ASSIGN(const wheel::WheelFilename filename,
                     wheel::parse_wheel_filename("torch-" + version_in(*version_file) + "-cp" +
                                                 version_digits + "-cp" + python + "-linux.whl"));
    return inspect::torch_exports(filename, elves);
}

}  // namespace wheelyard::registry
