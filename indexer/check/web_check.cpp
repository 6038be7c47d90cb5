// The checks of the web UI (view "pages"): what it names is there, and it is what the catalog decides.
#include "indexer/check/check.hpp"

#include <algorithm>
#include <limits>
#include <string_view>
#include <utility>

#include "indexer/tree/disk.hpp"
#include "indexer/tree/page_files.hpp"
#include "indexer/tree/paths.hpp"
#include "indexer/web/index_pages.hpp"
#include "indexer/web/search_list.hpp"
#include "indexer/web/state_cell.hpp"
#include "lib/base/files/file.hpp"
#include "lib/base/text/encoding.hpp"

namespace wheelyard::indexer {

namespace fs = std::filesystem;

namespace {

bool is_there(const fs::path& file) {
    return base::file_size(file).has_value();
}

class ReadShards final : public ShardFiles {
  public:
    explicit ReadShards(fs::path folder) : folder_(std::move(folder)) {}
    base::Result<std::string> read(const std::string& file) override {
        return is_there(folder_ / file) ? base::read_file(folder_ / file, max_page_bytes) : std::string();
    }
    base::Status write(const std::string& file, std::string /*bytes*/) override { return remove(file); }
    base::Status remove(const std::string& file) override {
        return base::fail("check.writes", "A check reads only", file);
    }

  private:
    fs::path folder_;
};

// Our own pages write links to files in this one form.
void check_links(const fs::path& tree, const std::string& index, const std::string& page,
                 std::string_view html, const NoteFinding& note) {
    constexpr std::string_view start = "href=\"../../files/";
    for (auto at = html.find(start); at != std::string_view::npos; at = html.find(start, at)) {
        at += start.size();
        const auto link = html.substr(at, html.find('"', at) - at);
        const auto path = base::decode_percent(link);
        if (!path || !is_there(tree / index / "files" / *path))
            note("page_names_missing", page, std::string(link));
    }
}

}  // namespace

void check_web_pages(const fs::path& tree, const std::string& index, const NoteFinding& note) {
    const fs::path root = web_root_folder(tree, index);
    const auto names = folders_below(root);
    if (!names) {
        note("page_unreadable", index + "/project/", names.error().text());
        return;
    }
    for (const std::string& project : *names) {
        const std::string page = index + "/project/" + project + "/";
        const auto html = base::read_file(root / project / html_page, max_page_bytes);
        if (html) check_links(tree, index, page, *html, note);
    }
    if (!is_there(root / html_page)) return;
    const std::string page = index + "/project/" + std::string(search_page_file);
    const auto text = base::read_file(root / search_page_file, max_page_bytes);
    const auto top = text ? parse_search_top(*text) : base::Result<SearchTop>(tl::unexpected(text.error()));
    ReadShards files(root);
    auto list = first_projects(files, std::numeric_limits<std::size_t>::max());
    if (!top || !list) {
        note("page_unreadable", page, top ? list.error().text() : top.error().text());
        return;
    }
    for (const auto& [project, entry] : *list) {
        if (!is_there(root / project / html_page)) note("page_names_missing", page, project);
    }
    if (list->size() != top->count)
        note("page_stale", page, "it counts " + std::to_string(top->count) + " projects");
}

base::Status compare_web_page(const fs::path& tree, const FarmText& farm, const std::string& index,
                              const CatalogView& found, const NoteFinding& note) {
    ProjectView view = found.view;
    std::erase_if(view.files, [&](const catalog::FileRow& row) { return !is_there(file_text(tree, row)); });
    ProjectText text;
    if (const catalog::FileRow* row = newest_row(view); row != nullptr && !row->metadata_sha256.empty()) {
        const auto metadata =
            base::read_file(file_text(tree, *row) + std::string(metadata_suffix), max_page_bytes);
        if (metadata) text = read_project_text(*metadata);
    }
    std::map<std::string, std::string> provenance;
    for (const catalog::FileRow* row : rows_with_provenance(view)) {
        auto document =
            base::read_file(file_text(tree, *row) + std::string(provenance_suffix), max_page_bytes);
        if (document) provenance[row->sha256] = std::move(*document);
    }
    const FarmReport nothing;
    const page::Farm look = frame_of(farm);
    const std::string page = index + "/project/" + view.project + "/";
    const auto html = base::read_file(web_folder(tree, index, view.project) / html_page, max_page_bytes);
    if (!html)
        note("page_missing", page, html.error().text());
    else if (without_status(*html) !=
             without_status(render_project_page({index, view, text, nothing, look, std::move(provenance)})))
        note("page_stale", page, "it differs from the catalog");
    return {};
}

}  // namespace wheelyard::indexer
