#include "registry/serve/lost_files.hpp"

#include <algorithm>
#include <system_error>

#include "lib/base/files/file.hpp"
#include "lib/io/log.hpp"

namespace wheelyard::registry {
namespace {

namespace fs = std::filesystem;

fs::path aside(const fs::path& tree) {
    return tree.string() + ".lost";
}

base::Status set_aside(const fs::path& tree) {
    std::error_code error;
    fs::remove_all(aside(tree), error);
    if (!error) fs::rename(tree, aside(tree), error);
    if (error && error != std::errc::no_such_file_or_directory)
        return base::fail_errno("rename", tree.string(), error.value());
    return {};
}

// Lines "INDEX<TAB>SHA-256<TAB>FILENAME" of the wheels and sdists below INDEX/files/ab/SHA-256/ of the tree that was set
// aside and not below the same folder of the new one. Indexes in `fetched` are left out.
std::string lost_between(const fs::path& tree, const std::vector<std::string>& fetched) {
    std::string lost;
    std::error_code error;
    for (const auto& index : fs::directory_iterator(aside(tree), error)) {
        const std::string name = index.path().filename().string();
        if (std::find(fetched.begin(), fetched.end(), name) != fetched.end()) continue;
        for (const auto& digits : fs::directory_iterator(index.path() / "files", error)) {
            for (const auto& folder : fs::directory_iterator(digits.path(), error)) {
                const std::string sha256 = folder.path().filename().string();
                if (fs::exists(tree / name / "files" / digits.path().filename() / sha256, error)) continue;
                for (const auto& file : fs::directory_iterator(folder.path(), error)) {
                    const fs::path suffix = file.path().extension();
                    if (suffix == ".whl" || suffix == ".gz")
                        lost += name + "\t" + sha256 + "\t" + file.path().filename().string() + "\n";
                }
            }
        }
    }
    return lost;
}

}  // namespace

NodeTrees::NodeTrees(const RegistryConfig& config)
    : store(config.store),
      open(config.published()),
      with_token(config.published_private()),
      fetched(config.cache_names()) {}

base::Status set_trees_aside(const NodeTrees& trees) {
    WHEELYARD_TRY(set_aside(trees.open));
    return set_aside(trees.with_token);
}

base::Status list_lost_files(const NodeTrees& trees) {
    const std::string lost =
        lost_between(trees.open, trees.fetched) + lost_between(trees.with_token, trees.fetched);
    const fs::path list = trees.store / "lost-files.tsv";
    if (!lost.empty()) {
        constexpr mode_t owner_alone = 0600;  // it may name files of private indexes
        constexpr std::uint64_t max_bytes = 64u << 20;
        const auto before = base::read_file(list, max_bytes);
        WHEELYARD_TRY(base::replace_file(list, (before ? *before : std::string()) + lost, owner_alone));
        io::log_error("node.files_lost",
                      {{"files", std::to_string(std::count(lost.begin(), lost.end(), '\n'))},
                       {"list", list.string()},
                       {"advice", "ask who uploaded them to send them again"}});
    }
    for (const fs::path& tree : {trees.open, trees.with_token}) {
        std::error_code error;
        fs::remove_all(aside(tree), error);
        if (error) return base::fail_errno("remove", aside(tree).string(), error.value());
    }
    return {};
}

}  // namespace wheelyard::registry
