// What a server keeps in memory between two publish runs: the rows of large projects' pages. So an upload
// reads, places and renders its own file instead of all files of the project.
//
// Rows stay true by the event log: an event of a file marks that file as changed, and the next run reads it
// again. Whatever else could change a page forgets its rows, and the next run reads the project as a whole:
// another event of the project, an event of another index, a changed rule, another URL, another history.
//
// Threads: used by one publish run at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <string>

#include "indexer/pages/project_rows.hpp"
#include "indexer/pages/project_view.hpp"
#include "indexer/publish/touched.hpp"
#include "lib/base/limits.hpp"
#include "lib/base/result.hpp"
#include "lib/store/catalog/catalog.hpp"
#include "lib/store/catalog/inheritance.hpp"

namespace wheelyard::indexer {

// Of a tree: some 60,000 files. The projects that were published last stay.
inline constexpr std::size_t max_kept_bytes = 64 * base::mib;
// Smaller projects are read as a whole: that takes less than the rest of a run.
inline constexpr std::size_t min_kept_files = 200;
// Files of a project that are read one by one; with more changes it is read as a whole.
inline constexpr std::size_t max_changed_files = 64;
// Events that are followed; after more all is forgotten.
inline constexpr catalog::Serial max_followed_events = 10'000;

class KeptPages {
  public:
    explicit KeptPages(std::size_t limit_bytes = max_kept_bytes, std::size_t min_files = min_kept_files)
        : limit_bytes_(limit_bytes), min_files_(min_files) {}

    // Before a run up to `until` reads anything: brings up to date what has changed. `root_url`: of the pages.
    [[nodiscard]] base::Status follow(const catalog::Catalog& catalog,
                                      const catalog::Inheritance& inheritance, catalog::Serial until,
                                      const std::string& root_url);
    [[nodiscard]] bool has(const ProjectName& name) const { return projects_.contains(name); }
    // The files that changed replace `found`, which is not whole then. It is whole, and unspecified: the
    // project has to be read as a whole, and its rows are forgotten.
    [[nodiscard]] base::Status read(const catalog::Catalog& catalog,
                                    const TouchedProjects::value_type& touched, CatalogView& found);
    // The pages of `rows` are written, which have all that was found. Takes the rows of a whole project that
    // is large enough.
    void note_written(const ProjectName& name, const CatalogView& found, ProjectRows& rows);
    void forget(const ProjectName& name) { projects_.erase(name); }
    // A run that does not come to this may have left rows half changed: the next one forgets all.
    void end_run() { is_in_run_ = false; }

  private:
    struct Project {
        std::string source;  // the index that supplies the files
        ProjectView head;    // without files
        ProjectRows rows;
        std::set<std::string> changed;  // names of files
        std::uint64_t last_use = 0;
    };
    void make_room();

    std::size_t limit_bytes_;
    std::size_t min_files_;
    catalog::EventMark followed_;
    std::string root_url_;
    std::map<ProjectName, Project> projects_;
    std::uint64_t uses_ = 0;
    bool is_in_run_ = false;
};

}  // namespace wheelyard::indexer
