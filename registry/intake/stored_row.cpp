#include "registry/intake/stored_row.hpp"

#include "lib/wire/facts_json.hpp"
#include "registry/intake/validation.hpp"

namespace wheelyard::registry {

catalog::FileRow stored_row(const StoredWheel& wheel, const inspect::Inspection& inspection) {
    auto facts = wire::stored_facts_to_json(inspection);
    if (!wheel.built_cpu.empty()) facts.set("built_cpu", wheel.built_cpu);
    if (!wheel.attested.items().empty()) facts.set("attested", wheel.attested);
    if (!wheel.stated_by.empty()) facts.set("stated_by", wheel.stated_by);
    return catalog::FileRow{
        .index = wheel.index,
        .project = inspection.filename.project,
        .filename = wheel.filename,
        .version = inspection.filename.version.text(),
        .sha256 = wheel.sha256,
        .size_bytes = wheel.size_bytes,
        .metadata_sha256 = wheel.metadata_sha256,
        .metadata_size_bytes = inspection.metadata_bytes.size(),
        .requires_python = inspection.metadata.requires_python,
        .upload_time = 0,
        .uploaded_by = wheel.uploaded_by,
        .yanked = false,
        .yanked_reason = {},
        .facts_json = facts.render(),
        .state = inspection.accepted() ? catalog::FileState::active : catalog::FileState::quarantined,
        .state_reason = quarantine_reason(inspection),
        .metadata_name = inspection.metadata.name,
        .provenance_sha256 = wheel.provenance_sha256,
        .provenance_size_bytes = wheel.provenance_size_bytes,
        .attestations_sha256 = wheel.attestations_sha256,
        .attestations_size_bytes = wheel.attestations_size_bytes};
}

}  // namespace wheelyard::registry
