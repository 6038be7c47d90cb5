// Where everything lies in a published tree.
#include "indexer/paths.hpp"

#include "lib/base/encoding.hpp"

namespace wheelyard::indexer {

namespace fs = std::filesystem;

fs::path state_folder(const fs::path& tree) {
    return tree / ".wheelyard";
}

fs::path root_folder(const fs::path& tree, std::string_view index) {
    return tree / index / "simple";
}

fs::path project_folder(const fs::path& tree, std::string_view index, std::string_view project) {
    return root_folder(tree, index) / project;
}

fs::path file_folder(const fs::path& tree, std::string_view index, std::string_view sha256) {
    return tree / index / "files" / sha256.substr(0, 2) / sha256;
}

fs::path flat_folder(const fs::path& tree, std::string_view index) {
    return tree / index / "find-links";
}

fs::path flat_target(std::string_view sha256, std::string_view filename) {
    return fs::path("..") / "files" / sha256.substr(0, 2) / sha256 / filename;
}

fs::path published_file(const fs::path& tree) {
    return state_folder(tree) / "published.json";
}

std::string file_link(const catalog::FileRow& row) {
    return "../../files/" + row.sha256.substr(0, 2) + "/" + row.sha256 + "/" +
           base::encode_percent(row.filename);
}

}  // namespace wheelyard::indexer
