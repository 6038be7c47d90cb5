// Repairs hold the tree's lock, because a running publisher may be about to list a file that looks unnamed.
#include "indexer/check/check.hpp"

#include <algorithm>
#include <cerrno>
#include <iterator>
#include <set>
#include <system_error>
#include <utility>

#include "indexer/pages/project_view.hpp"
#include "indexer/pages/simple_html.hpp"
#include "indexer/pages/simple_json.hpp"
#include "indexer/publish/publish_run.hpp"
#include "indexer/publish/same_history.hpp"
#include "indexer/tree/disk.hpp"
#include "indexer/tree/page_files.hpp"
#include "indexer/tree/paths.hpp"
#include "indexer/tree/published_state.hpp"
#include "lib/base/files/file.hpp"

namespace wheelyard::indexer {

namespace fs = std::filesystem;

namespace {

base::Result<PublishedState> read_state(const fs::path& tree) {
    const auto text = base::read_file(published_file(tree), max_state_bytes);
    if (!text && text.error().os_error == ENOENT) return PublishedState{};
    if (!text) return base::fail(text.error());
    return parse_published_state(*text);
}

catalog::Readers readers_of(const PublishedState& state) {
    return state.is_private ? catalog::Readers::with_token : catalog::Readers::everyone;
}

class Comparison {
  public:
    Comparison(const catalog::Catalog& catalog, const fs::path& tree) : catalog_(catalog), tree_(tree) {}

    base::Result<std::vector<Finding>> run() {
        WHEELYARD_ASSIGN(const auto last, catalog_.last_serial());
        WHEELYARD_ASSIGN(state_, state_of_tree());
        const catalog::Serial shown = state_.serial;
        if (shown != last) {
            note("behind", ".wheelyard/published.json",
                 "the tree is at serial " + std::to_string(shown) + ", the catalog is at " +
                     std::to_string(last));
            return std::move(findings_);
        }
        WHEELYARD_ASSIGN(inheritance_, catalog_.inheritance(readers_of(state_)));
        WHEELYARD_ASSIGN(const auto indexes, catalog_.shown_indexes(inheritance_));
        for (const auto& index : indexes)
            WHEELYARD_TRY(compare_index(index));
        WHEELYARD_ASSIGN(const auto folders, folders_below(tree_));
        for (const auto& name : folders) {
            if (!name.starts_with('.') && !inheritance_.is_in(name))
                note("other_readers", name + "/",
                     state_.is_private ? "a public index in a tree of private ones"
                                       : "a private index, which everyone can read here",
                     name);
        }
        return std::move(findings_);
    }

  private:
    base::Result<PublishedState> state_of_tree() const { return read_state(tree_); }

    // A running server writes the web UI a moment later; then it is not compared.
    bool has_current_pages() const {
        return state_.views.contains(std::string(view_pages)) && state_.pages.serial == state_.serial;
    }

    base::Status compare_index(const std::string& index) {
        WHEELYARD_ASSIGN(const auto projects, catalog_.shown_projects(inheritance_, index));
        for (const auto& project : projects) {
            WHEELYARD_ASSIGN(auto found, read_project(catalog_, inheritance_, index, project));
            if (!found) continue;
            found->view.root_url = state_.root_url.value_or("");
            const std::string page = index + "/simple/" + project + "/";
            compare_page(page + std::string(json_page), render_project_json(found->view));
            compare_page(page + std::string(html_page), render_project_html(found->view));
            if (!has_current_pages() || state_.pages.farm.without_pages.contains(index)) continue;
            WHEELYARD_TRY(compare_web_page(tree_, state_.pages.farm, index, *found,
                                           [&](std::string code, std::string web_page, std::string detail) {
                                               note(std::move(code), std::move(web_page), std::move(detail));
                                           }));
        }
        const std::set<std::string> known(projects.begin(), projects.end());
        const fs::path root = root_folder(tree_, index);
        std::error_code error;
        for (fs::directory_iterator entry(root, error), end; !error && entry != end; entry.increment(error)) {
            const std::string name = entry->path().filename().native();
            std::error_code ignored;
            if (entry->is_directory(ignored) && !known.contains(name))
                note("unknown_project", index + "/simple/" + name + "/", "the catalog has no such project",
                     index + "/simple/" + name);
        }
        if (error) return base::fail_errno("readdir", root.native(), error.value());
        return {};
    }

    void compare_page(const std::string& page, const std::string& wanted) {
        const auto text = base::read_file(tree_ / page, max_page_bytes);
        if (!text) {
            note("page_missing", page, text.error().text());
        } else if (*text != wanted) {
            note("page_stale", page, "it differs from the catalog");
        }
    }

    void note(std::string code, std::string page, std::string detail, std::string file = {}) {
        findings_.push_back({std::move(code), std::move(page), std::move(detail), std::move(file)});
    }

    const catalog::Catalog& catalog_;
    const fs::path& tree_;
    PublishedState state_;
    catalog::Inheritance inheritance_;
    std::vector<Finding> findings_;
};

// Durable before any file is removed: if the repair is killed, no record claims that the tree is complete,
// and the next run of any kind checks all files.
base::Status forget_record(const catalog::Catalog& catalog, const fs::path& tree) {
    const auto text = base::read_file(published_file(tree), max_state_bytes);
    if (!text && text.error().os_error == ENOENT) return {};
    if (!text) return base::fail(text.error());
    WHEELYARD_ASSIGN(auto state, parse_published_state(*text));
    WHEELYARD_TRY(check_same_history(catalog, state, tree));  // impossible once the serial is reset
    forget_serial(state);
    return base::replace_file(published_file(tree), render_published_state(state));
}

base::Status remove_files(const fs::path& tree, const std::vector<Finding>& findings) {
    for (const auto& finding : findings) {
        if (finding.file.empty()) continue;
        std::error_code error;
        fs::remove_all(tree / finding.file, error);
        if (error) return base::fail_errno("remove", finding.file, error.value());
        fs::remove((tree / finding.file).parent_path(), error);  // the file's own folder, if now empty
    }
    return {};
}

}  // namespace

base::Result<std::vector<Finding>> compare_with_catalog(const catalog::Catalog& catalog,
                                                        const fs::path& tree) {
    return Comparison(catalog, tree).run();
}

base::Result<CheckReport> check_with_catalog(const catalog::Catalog& catalog, const fs::path& tree) {
    WHEELYARD_ASSIGN(CheckReport report, check_tree(tree));
    WHEELYARD_ASSIGN(auto more, compare_with_catalog(catalog, tree));
    std::move(more.begin(), more.end(), std::back_inserter(report.findings));
    return report;
}

base::Result<RepairReport> repair_tree(const catalog::Catalog& catalog, const blobs::BlobStore& blobs,
                                       const fs::path& tree, const base::Clock& clock) {
    RepairReport report;
    WHEELYARD_TRY(base::make_directories(state_folder(tree)));
    {
        WHEELYARD_ASSIGN(const auto lock, TreeLock::acquire(tree, clock));
        WHEELYARD_ASSIGN(report.before, check_with_catalog(catalog, tree));
        const auto& found = report.before.findings;
        if (std::any_of(found.begin(), found.end(), [](const Finding& one) { return !one.file.empty(); })) {
            WHEELYARD_TRY(forget_record(catalog, tree));
            WHEELYARD_TRY(remove_files(tree, found));
        }
    }
    LocalDisk disk;
    WHEELYARD_ASSIGN(const PublishedState state, read_state(tree));
    const catalog::Readers readers = readers_of(state);
    WHEELYARD_ASSIGN(const auto inheritance, catalog.inheritance(readers));
    WHEELYARD_ASSIGN(const auto indexes, catalog.shown_indexes(inheritance));
    WHEELYARD_ASSIGN(report.published, publish_with(disk, catalog, blobs, tree, indexes, clock,
                                                    {.readers = readers}, {.check_everything = true}));
    WHEELYARD_ASSIGN(report.after, check_with_catalog(catalog, tree));
    return report;
}

}  // namespace wheelyard::indexer
