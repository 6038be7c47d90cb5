#include "registry/intake/stored_row.hpp"

#include "lib/wire/facts_json.hpp"
#include "registry/intake/validation.hpp"

namespace wheelyard::registry {

catalog::FileRow stored_row(catalog::FileRow row, const inspect::Inspection& inspection,
                            const StatedFacts& stated) {
    auto facts = wire::stored_facts_to_json(inspection);
    if (!stated.built_cpu.empty()) facts.set("built_cpu", stated.built_cpu);
    if (!stated.attested.items().empty()) facts.set("attested", stated.attested);
    if (!stated.stated_by.empty()) facts.set("stated_by", stated.stated_by);
    row.project = inspection.filename.project;
    row.version = inspection.filename.version.text();
    row.metadata_size_bytes = inspection.metadata_bytes.size();
    row.metadata_name = inspection.metadata.name;
    row.requires_python = inspection.metadata.requires_python;
    row.facts_json = facts.render();
    row.state = inspection.accepted() ? catalog::FileState::active : catalog::FileState::quarantined;
    row.state_reason = quarantine_reason(inspection);
    return row;
}

}  // namespace wheelyard::registry
