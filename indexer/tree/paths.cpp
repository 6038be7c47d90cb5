// The layout of a published tree.
#include "indexer/tree/paths.hpp"

#include "lib/base/text/encoding.hpp"

namespace wheelyard::indexer {

namespace fs = std::filesystem;

namespace {

// Builds a path in one allocation: std::filesystem::path would parse each part, and a run builds millions.
template <typename... Parts>
std::string below(const fs::path& tree, const Parts&... parts) {
    std::string path;
    path.reserve(tree.native().size() + (std::string_view(parts).size() + ...) + sizeof...(parts));
    path += tree.native();
    (path.append(1, '/').append(parts), ...);
    return path;
}

}  // namespace

fs::path state_folder(const fs::path& tree) {
    return tree / ".wheelyard";
}

fs::path root_folder(const fs::path& tree, std::string_view index) {
    return below(tree, index, "simple");
}

fs::path project_folder(const fs::path& tree, std::string_view index, std::string_view project) {
    return below(tree, index, "simple", project);
}

fs::path file_folder(const fs::path& tree, std::string_view index, std::string_view sha256) {
    return below(tree, index, "files", sha256.substr(0, 2), sha256);
}

std::string project_folder_text(const fs::path& tree, std::string_view index, std::string_view project) {
    return below(tree, index, "simple", project);
}

std::string file_text(const fs::path& tree, const catalog::FileRow& row) {
    const std::string_view sha256 = row.sha256;
    return below(tree, row.index, "files", sha256.substr(0, 2), sha256, row.filename);
}

fs::path web_folder(const fs::path& tree, std::string_view index, std::string_view project) {
    return below(tree, index, "project", project);
}

fs::path web_root_folder(const fs::path& tree, std::string_view index) {
    return below(tree, index, "project");
}

fs::path builds_folder(const fs::path& tree, std::string_view index) {
    return below(tree, index, "builds");
}

fs::path sites_folder(const fs::path& tree, std::string_view index) {
    return below(tree, index, "site");
}

fs::path status_file(const fs::path& tree, std::string_view index) {
    return below(tree, index, "status.json");
}

fs::path flat_folder(const fs::path& tree, std::string_view index) {
    return below(tree, index, "find-links");
}

fs::path flat_target(std::string_view sha256, std::string_view filename) {
    return below("..", "files", sha256.substr(0, 2), sha256, filename);
}

fs::path published_file(const fs::path& tree) {
    return state_folder(tree) / "published.json";
}

fs::path draft_file(const fs::path& tree, std::string_view index, std::string_view name) {
    return state_folder(tree) / (std::string(name) + "-" + std::string(index) + ".new");
}

fs::path wheel_lists_folder(const fs::path& tree) {
    return state_folder(tree) / "catalogues";
}

std::string file_link(const catalog::FileRow& row) {
    std::string link;
    append_file_link(link, row);
    return link;
}

std::string attestations_url(std::string_view root_url, const catalog::FileRow& row) {
    std::string url(root_url);
    base::append_percent(url, row.index);
    std::string link = file_link(row);
    return url.append("/").append(link.substr(std::string_view("../../").size())).append(attestations_suffix);
}

void append_file_link(std::string& text, const catalog::FileRow& row, std::string_view to_index) {
    const std::string_view sha256 = row.sha256;
    text.append(to_index)
        .append("files/")
        .append(sha256.substr(0, 2))
        .append(1, '/')
        .append(sha256)
        .append(1, '/');
    base::append_percent(text, row.filename);
}

void append_variants_link(std::string& text, const catalog::VariantsFile& file) {
    text.append(file.sha256).append(1, '/');
    base::append_percent(text, file.filename);
}

}  // namespace wheelyard::indexer
