// An event is one of its own index and of every index that shows that one.
#include "indexer/touched.hpp"

#include <utility>

#include "registry/catalog/file_row.hpp"

namespace wheelyard::indexer {

namespace {

class Reading {
  public:
    explicit Reading(const catalog::Inheritance& inheritance) : inheritance_(inheritance) {}

    base::Status see(const catalog::Event& event) {
        ++touched_.events;
        if (event.kind == catalog::EventKind::index_changed) return see_change(event);
        if (event.project.empty()) return {};  // gc's: no page shows it
        std::set<TreeFile> deleted;
        if (event.kind == catalog::EventKind::file_deleted) {
            WHEELYARD_ASSIGN(const auto row, catalog::parse_file_row(event.details_json));
            deleted.insert({row.sha256, row.filename});
            touched_.deleted[event.project].insert({row.sha256, row.filename});
        }
        for (const std::string& index : shown_by(event.index)) {
            Touched& project = touched_.projects[{index, event.project}];
            project.from.insert(event.index);
            project.filenames.insert(event.filename);
            project.deleted.insert(deleted.begin(), deleted.end());
            log(index, event, event.project);
        }
        return {};
    }

    TouchedByLog take() { return std::move(touched_); }

  private:
    base::Status see_change(const catalog::Event& event) {
        for (const std::string& index : shown_by(event.index)) {
            touched_.changed_indexes.insert(index);
            log(index, event, every_project);
        }
        return {};
    }

    void log(const std::string& index, const catalog::Event& event, std::string_view project) {
        touched_.logs[index].push_back({event.serial, event.time,
                                        std::string(catalog::event_kind_text(event.kind)),
                                        std::string(project), event.filename});
    }

    const std::vector<std::string>& shown_by(const std::string& index) {
        const auto [known, is_new] = shown_by_.try_emplace(index);
        if (is_new) known->second = inheritance_.shown_by(index);
        return known->second;
    }

    const catalog::Inheritance& inheritance_;
    TouchedByLog touched_;
    std::map<std::string, std::vector<std::string>> shown_by_;
};

}  // namespace

base::Result<TouchedByLog> read_touched(const catalog::Catalog& catalog,
                                        const catalog::Inheritance& inheritance, catalog::Serial after,
                                        catalog::Serial until) {
    Reading reading(inheritance);
    WHEELYARD_TRY(catalog.for_each_event(after, until,
                                         [&](const catalog::Event& event) { return reading.see(event); }));
    return reading.take();
}

}  // namespace wheelyard::indexer
