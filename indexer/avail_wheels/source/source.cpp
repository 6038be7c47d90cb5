// Reads the pages of an index, or a wheelhouse, into candidates.
#include "indexer/avail_wheels/source/source.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <system_error>
#include <utility>
#include <vector>

#include "lib/base/limits.hpp"
#include "lib/base/text/text.hpp"
#include "lib/base/text/url.hpp"
#include "lib/io/json.hpp"
#include "lib/simple/folder.hpp"
#include "lib/simple/registry_address.hpp"
#include "lib/wheel/name.hpp"
#include "lib/wheel/tags.hpp"

namespace wheelyard::avail_wheels {

namespace fs = std::filesystem;

namespace {

// Pages that one glob may fetch, one after the other. A farm's index has hundreds of projects, a public one
// 700,000.
constexpr std::size_t max_pages = 5'000;

// Folder levels below the wheelhouse: the Alliance's has wheels at 2, a published tree at 4.
constexpr int max_wheelhouse_depth = 5;
constexpr std::size_t max_wheelhouse_files = 2'000'000;

bool is_wanted(const std::vector<Wanted>& wanted, const std::string& project) {
    return std::any_of(wanted.begin(), wanted.end(), [&](const Wanted& one) { return one.matches(project); });
}

void add_wheels(std::vector<Candidate>& candidates, WheelNames& names, simple::ProjectPage page,
                const std::vector<Wanted>& wanted, const std::string& arch = {}) {
    for (auto& link : page.files) {
        auto name = names.parse(link.filename);
        if (!name || !is_wanted(wanted, name->release->project)) continue;
        candidates.push_back(make_candidate(std::move(*name), std::move(link), arch));
    }
}

// The normalised names of the pages to fetch.
base::Result<std::set<std::string>> projects_of(const simple::GetPage& get, const std::string& index_url,
                                                const std::vector<Wanted>& wanted) {
    std::set<std::string> projects;
    for (const auto& one : wanted) {
        if (one.is_glob()) continue;
        projects.insert(one.pattern);
        projects.insert(one.projects.begin(), one.projects.end());
    }
    const bool needs_root =
        std::any_of(wanted.begin(), wanted.end(), [](const Wanted& one) { return one.is_glob(); });
    if (!needs_root) return projects;
    WHEELYARD_ASSIGN(const auto names, simple::fetch_root(get, index_url));
    for (const auto& name : names) {
        if (!wheel::is_valid_name(name)) continue;  // a link of a page that is no Simple page
        std::string project = wheel::normalize_name(name);
        if (is_wanted(wanted, project)) projects.insert(std::move(project));
    }
    return projects;
}

class WheelhouseReader {
  public:
    explicit WheelhouseReader(const std::vector<Wanted>& wanted) : wanted_(wanted) {}

    base::Status read(const fs::path& folder, const std::string& arch, int levels) {
        WHEELYARD_ASSIGN(auto found, simple::read_folder(folder, [this](std::string_view filename) {
                             return filename.ends_with(".whl") && is_wanted_file(filename);
                         }));
        files_ += found.packages;
        if (files_ > max_wheelhouse_files) {
            return base::fail("wheelhouse.too_many", "This folder has too many files for a wheelhouse",
                              folder.native());
        }
        add_wheels(candidates_, names_, std::move(found.page), wanted_, arch);
        if (levels == 0) return {};
        for (const auto& name : found.folders) {
            const auto& archs = known_archs();
            const bool is_arch = std::find(archs.begin(), archs.end(), name) != archs.end();
            WHEELYARD_TRY(read(folder / name, is_arch ? name : arch, levels - 1));
        }
        return {};
    }
    std::vector<Candidate> take() { return std::move(candidates_); }

  private:
    // By the part before the first dash. Of 100,000 names few have another than their neighbour.
    bool is_wanted_file(std::string_view filename) {
        const auto name = filename.substr(0, filename.find('-'));
        if (name == last_name_) return last_is_wanted_;
        last_name_ = name;
        last_is_wanted_ = is_wanted(wanted_, wheel::normalize_name(name));
        return last_is_wanted_;
    }

    const std::vector<Wanted>& wanted_;
    std::vector<Candidate> candidates_;
    WheelNames names_;
    std::size_t files_ = 0;
    std::string last_name_;
    bool last_is_wanted_ = false;
};

}  // namespace

base::Result<std::vector<Candidate>> read_index(const simple::GetPage& get, const std::string& index_url,
                                                const std::vector<Wanted>& wanted) {
    const auto unless_no_index = [&](const base::Error& error) -> base::Result<std::vector<Candidate>> {
        WHEELYARD_TRY(check_index(get, index_url));
        return base::fail(error);
    };
    const auto found = projects_of(get, index_url, wanted);
    if (!found) return unless_no_index(found.error());
    const auto& projects = *found;
    if (projects.size() > max_pages) {
        return base::fail("index.too_many",
                          std::to_string(projects.size()) +
                              " projects of this index match; this index is read page by page",
                          {}, "use narrower patterns");
    }
    std::vector<Candidate> candidates;
    WheelNames names;
    for (const auto& project : projects) {
        auto page = simple::fetch_project(get, index_url, project);
        if (!page) return unless_no_index(page.error());
        if (*page) add_wheels(candidates, names, std::move(**page), wanted);
    }
    if (candidates.empty()) WHEELYARD_TRY(check_index(get, index_url));
    return candidates;
}

base::Result<std::vector<Candidate>> read_project(const simple::GetPage& get, const std::string& index_url,
                                                  const Wanted& project) {
    std::vector<Candidate> candidates;
    WheelNames names;
    WHEELYARD_ASSIGN(auto page, simple::fetch_project(get, index_url, project.pattern));
    if (page) add_wheels(candidates, names, std::move(*page), {project});
    return candidates;
}

base::Result<std::vector<Candidate>> read_wheelhouse(const fs::path& folder,
                                                     const std::vector<Wanted>& wanted) {
    WheelhouseReader reader(wanted);
    WHEELYARD_TRY(reader.read(folder, {}, max_wheelhouse_depth));
    return reader.take();
}

base::Result<std::vector<Candidate>> read_find_links(const std::vector<fs::path>& folders,
                                                     const std::vector<Wanted>& wanted) {
    WheelhouseReader reader(wanted);
    for (const auto& folder : folders) {
        const auto plain = folder.has_filename() ? folder : folder.parent_path();
        WHEELYARD_TRY(reader.read(folder, plain.filename().native(), 0));
    }
    return reader.take();
}

const std::vector<std::string>& known_archs() {
    static const std::vector<std::string> names = [] {
        // The Alliance's folders and the x86-64 psABI's levels.
        std::vector<std::string> all{"generic",   "sse3",      "avx",       "avx2",     "avx512",
                                     "x86-64-v1", "x86-64-v2", "x86-64-v3", "x86-64-v4"};
        all.insert(all.end(), wheel::linux_machines.begin(), wheel::linux_machines.end());
        return all;
    }();
    return names;
}

// Asks the URL and the folders above it for "wheelyard.indexes/1" (registry/http/front_pages.hpp).
namespace {

constexpr std::uint64_t max_front_page_bytes = base::mib;  // a registry has few indexes

base::Result<io::HttpAnswer> ask(const simple::GetPage& get, const std::string& url) {
    return get(url, {{"Accept", "application/json, application/vnd.pypi.simple.v1+json"}},
               max_front_page_bytes);
}

// The URLs of the indexes that a front page lists; empty: it is none.
std::vector<std::string> indexes_on(const io::HttpAnswer& page) {
    std::vector<std::string> urls;
    constexpr int status_ok = 200;
    if (page.status != status_ok) return urls;
    const auto json = io::parse_json(page.body);
    if (!json || json->string_or("format", {}) != "wheelyard.indexes/1") return urls;
    for (const auto& index : json->items("indexes"))
        urls.push_back(index.string_or("url", {}));
    return urls;
}

}  // namespace

base::Status check_index(const simple::GetPage& get, const std::string& index_url) {
    const std::string url = index_url + (index_url.ends_with('/') ? "" : "/");
    const auto page = ask(get, url);
    if (!page) return {};  // a page that is too large for this question is an index
    std::vector<std::string> indexes = indexes_on(*page);
    constexpr int status_not_found = 404;
    if (indexes.empty() && page->status != status_not_found) return {};
    for (std::string folder = simple::folder_above(url); indexes.empty() && !folder.empty();
         folder = simple::folder_above(folder)) {
        if (const auto answer = ask(get, folder)) indexes = indexes_on(*answer);
    }
    const auto parsed = base::parse_url(url);
    std::string reason = simple::told_refusal(*page).reason;
    return base::fail("index.absent", reason.empty() ? "There is no index at this URL" : std::move(reason),
                      parsed ? parsed->text_without_secrets() : std::string(),
                      indexes.empty() ? "check the URL: that of an index usually ends in /simple/"
                                      : "the indexes there are " + base::join(indexes, ", "));
}

}  // namespace wheelyard::avail_wheels
