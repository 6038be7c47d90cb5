// Reads the pages of an index, or a wheelhouse, into candidates.
#include "indexer/avail_wheels/source/source.hpp"

#include <algorithm>
#include <optional>
#include <set>
#include <system_error>
#include <utility>

#include "indexer/avail_wheels/source/limits.hpp"
#include "lib/simple/folder.hpp"
#include "lib/wheel/name.hpp"

namespace wheelyard::avail_wheels {

namespace fs = std::filesystem;

namespace {

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
        if (!one.is_glob()) projects.insert(one.pattern);
    }
    const bool needs_root =
        std::any_of(wanted.begin(), wanted.end(), [](const Wanted& one) { return one.is_glob(); });
    if (!needs_root) return projects;
    WHEELYARD_ASSIGN(const auto names, simple::fetch_root(get, index_url));
    for (const auto& name : names) {
        std::string project = wheel::normalize_name(name);
        if (is_wanted(wanted, project)) projects.insert(std::move(project));
    }
    return projects;
}

class WheelhouseReader {
  public:
    explicit WheelhouseReader(const std::vector<Wanted>& wanted) : wanted_(wanted) {}

    base::Status read(const fs::path& folder, const std::string& arch, int depth) {
        WHEELYARD_ASSIGN(auto page, simple::read_folder(folder));
        files_ += page.files.size();
        if (files_ > max_wheelhouse_files) {
            return base::fail("wheelhouse.too_many", "This folder has too many files for a wheelhouse",
                              folder.native());
        }
        add_wheels(candidates_, names_, std::move(page), wanted_, arch);
        if (depth == max_wheelhouse_depth) return {};

        std::error_code error;
        for (fs::directory_iterator entry(folder, error), end; !error && entry != end;
             entry.increment(error)) {
            const std::string name = entry->path().filename().string();
            std::error_code gone;
            if (name.starts_with('.') || !entry->is_directory(gone)) continue;
            const auto& archs = known_archs();
            const bool is_arch = std::find(archs.begin(), archs.end(), name) != archs.end();
            WHEELYARD_TRY(read(entry->path(), is_arch ? name : arch, depth + 1));
        }
        if (error) return base::fail_errno("readdir", folder.native(), error.value());
        return {};
    }
    std::vector<Candidate> take() { return std::move(candidates_); }

  private:
    const std::vector<Wanted>& wanted_;
    std::vector<Candidate> candidates_;
    WheelNames names_;
    std::size_t files_ = 0;
};

}  // namespace

base::Result<std::vector<Candidate>> read_index(const simple::GetPage& get, const std::string& index_url,
                                                const std::vector<Wanted>& wanted) {
    WHEELYARD_ASSIGN(const auto projects, projects_of(get, index_url, wanted));
    if (projects.size() > max_pages) {
        return base::fail("index.too_many",
                          std::to_string(projects.size()) +
                              " projects of this index match; this index is read page by page",
                          {}, "use narrower patterns");
    }
    std::vector<Candidate> candidates;
    WheelNames names;
    for (const auto& project : projects) {
        WHEELYARD_ASSIGN(auto page, simple::fetch_project(get, index_url, project));
        if (page) add_wheels(candidates, names, std::move(*page), wanted);
    }
    return candidates;
}

base::Result<std::vector<Candidate>> read_wheelhouse(const fs::path& folder,
                                                     const std::vector<Wanted>& wanted) {
    WheelhouseReader reader(wanted);
    WHEELYARD_TRY(reader.read(folder, {}, 0));
    return reader.take();
}

const std::vector<std::string>& known_archs() {
    // The Alliance's folders, the x86-64 psABI's levels, and the machines of platform tags.
    static const std::vector<std::string> names{"generic",   "sse3",       "avx",       "avx2",      "avx512",
                                                "x86-64-v1", "x86-64-v2",  "x86-64-v3", "x86-64-v4", "x86_64",
                                                "aarch64",   "i686",       "ppc64le",   "riscv64",   "s390x",
                                                "armv7l",    "loongarch64"};
    return names;
}

}  // namespace wheelyard::avail_wheels
