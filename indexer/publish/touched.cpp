// An event belongs to its own index and to every index that inherits from it.
#include "indexer/publish/touched.hpp"

#include <utility>

#include "lib/store/catalog/catalog.hpp"

namespace wheelyard::indexer {

namespace {

class Reading {
  public:
    Reading(const catalog::Inheritance& inheritance, bool from_begin)
        : inheritance_(inheritance), from_begin_(from_begin) {}

    base::Status see(const catalog::Event& event) {
        ++touched_.events;
        if (event.kind == catalog::EventKind::index_changed) {
            const auto& indexes = shown_by(event.index);
            touched_.changed_indexes.insert(indexes.begin(), indexes.end());
            return {};
        }
        if (event.project.empty()) return {};  // an event of garbage collection; no page shows it
        std::set<TreeFile> deleted;
        if (event.kind == catalog::EventKind::file_deleted) {
            WHEELYARD_ASSIGN(const auto row, catalog::parse_file_row(event.details_json));
            deleted.insert({row.sha256, row.filename});
            touched_.deleted[event.project].insert({row.sha256, row.filename});
        }
        for (const std::string& index : shown_by(event.index)) {
            Touched& project = touched(index, event.project);
            project.from.insert(event.index);
            project.newest = event.serial;
            if (from_begin_)
                project.is_every_file = true;
            else
                project.filenames.insert(event.filename);
            project.deleted.insert(deleted.begin(), deleted.end());
        }
        return {};
    }

    TouchedByLog take() { return std::move(touched_); }

  private:
    // Events of one project usually come in a row, so the last one is cached.
    Touched& touched(const std::string& index, const std::string& project) {
        if (last_ == nullptr || last_->first.project != project || last_->first.index != index)
            last_ = &*touched_.projects.try_emplace({index, project}).first;
        return last_->second;
    }

    // The last index is cached likewise.
    const std::vector<std::string>& shown_by(const std::string& index) {
        if (last_shown_ == nullptr || last_shown_->first != index) {
            const auto [known, is_new] = shown_by_.try_emplace(index);
            if (is_new) known->second = inheritance_.shown_by(index);
            last_shown_ = &*known;
        }
        return last_shown_->second;
    }

    const catalog::Inheritance& inheritance_;
    bool from_begin_;
    TouchedByLog touched_;
    TouchedProjects::value_type* last_ = nullptr;
    std::map<std::string, std::vector<std::string>> shown_by_;
    const std::pair<const std::string, std::vector<std::string>>* last_shown_ = nullptr;
};

}  // namespace

base::Result<TouchedByLog> read_touched(const catalog::Catalog& catalog,
                                        const catalog::Inheritance& inheritance, catalog::Serial after,
                                        catalog::Serial until) {
    Reading reading(inheritance, after == 0);
    WHEELYARD_TRY(catalog.for_each_event(
        after, until, [&](const catalog::Event& event) { return reading.see(event); },
        catalog::EventParts::of_pages));
    return reading.take();
}

}  // namespace wheelyard::indexer
