// What an upload stores before its row: its bytes, its documents, and what the registry signs about them.
#include <string>
#include <utility>

#include "lib/attest/wheel_statements.hpp"
#include "lib/base/digest/digest.hpp"
#include "lib/inspect/inspect.hpp"
#include "lib/io/log.hpp"
#include "lib/store/lifecycle/perform.hpp"
#include "lib/wire/cpu_options.hpp"
#include "lib/wire/facts_json.hpp"
#include "lib/wire/wheel_provenance.hpp"
#include "registry/access/token_rules.hpp"
#include "registry/intake/stored_row.hpp"
#include "registry/intake/torch_tables.hpp"
#include "registry/intake/upload_steps.hpp"

namespace wheelyard::registry {

using wire::refuse;

namespace {

// What verify has quarantined for the sake of these bytes, in any index.
wire::Answered<void> release_repaired(Upload& upload, const UploadParts& parts) {
    const lifecycle::LifecycleParts place{
        .on_catalog = [&](const lifecycle::CatalogWork& work) { return parts.writer.run(work); },
        .blobs = parts.blobs,
        .clock = parts.clock};
    catalog::FileRow& row = upload.row;
    const auto released = lifecycle::release_intact(place, row.sha256, upload.token.name);
    if (!released) return failed(upload, released.error());
    if (released->empty()) return {};
    const auto read = parts.writer.run([&](catalog::Catalog& catalog) -> base::Status {
        WHEELYARD_ASSIGN(upload.done.serial, catalog.last_serial());
        WHEELYARD_ASSIGN(auto now, catalog.file(row.index, row.filename));
        if (now) row = *std::move(now);
        return {};
    });
    if (!read) return failed(upload, read.error());
    return {};
}

}  // namespace

// The sender has the right bytes: they repair a stored file that was lost or has changed.
wire::Answered<void> repair_stored(Upload& upload, const UploadParts& parts) {
    const catalog::FileRow& row = upload.row;
    if (!parts.blobs.is_intact(row.metadata_sha256)) {
        const auto reader = upload.staged->read();
        if (!reader) return failed(upload, reader.error());
        const auto inspection = inspect::inspect_file(
            *reader, upload.filename_text,
            {.policy = upload.index.policy, .threads = parts.inspect_threads, .progress = {}});
        if (!inspection) return failed(upload, inspection.error());
        const auto metadata = parts.blobs.store_bytes(inspection->metadata_bytes);
        if (!metadata) return failed(upload, metadata.error());
    }
    // The provenance of the first upload stays: a retry restores those bytes only.
    if (!row.provenance_sha256.empty() && base::sha256_hex(upload.provenance) == row.provenance_sha256 &&
        !parts.blobs.is_intact(row.provenance_sha256)) {
        const auto provenance = parts.blobs.store_bytes(upload.provenance);
        if (!provenance) return failed(upload, provenance.error());
    }
    if (!upload.attestations.document.empty() && !parts.blobs.is_intact(row.attestations_sha256)) {
        const auto document = parts.blobs.store_bytes(upload.attestations.document);
        if (!document) return failed(upload, document.error());
    }
    const auto stored = parts.blobs.store(*std::move(upload.staged));
    upload.staged.reset();  // free it now: the request still waits for its page
    if (!stored) return failed(upload, stored.error());
    return release_repaired(upload, parts);
}

namespace {

// What the agent said becomes what the registry signs that it said, with what the registry proved itself.
wire::Answered<void> add_statements(Upload& upload, const UploadParts& parts,
                                    const wire::WheelProvenance& said) {
    if (parts.signing_key == nullptr) return {};
    const inspect::Inspection& inspection = *upload.inspection;
    const RegistryConfig& config = parts.config;
    const attest::SigningKey& key = *parts.signing_key;
    std::string token_id = stating_token(upload.token);
    const bool is_service_account =
        !is_publisher(upload.token.name) && config.attest.is_service_account(token_id);
    const attest::Level level = is_service_account ? attest::Level::two : attest::Level::one;
    auto text = attest::sign_wheel(upload.provenance, said,
                                   {.project = inspection.filename.project,
                                    .version = inspection.filename.version.text(),
                                    .outcome = std::string(inspection.outcome()),
                                    .facts = wire::stored_facts_to_json(inspection)},
                                   {.registry = config.signer(key.public_key().id()),
                                    .index = upload.index.name,
                                    .token_id = std::move(token_id),
                                    .time = parts.clock.now(),
                                    .level = level},
                                   key);
    if (!text) {
        const base::Error& error = text.error();
        return refuse("upload.provenance", error.sentence, error.sentence + ".", error.value, error.advice);
    }
    upload.provenance = *std::move(text);
    return {};
}

}  // namespace

// All blobs are durable before the row that refers to them is committed.
wire::Answered<void> store_content(Upload& upload, const UploadParts& parts) {
    const inspect::Inspection& inspection = *upload.inspection;
    std::string provenance_sha256;
    std::string built_cpu;
    if (!upload.provenance.empty()) {
        const auto said = wire::parse_wheel_provenance(upload.provenance);
        if (!said) return failed(upload, said.error());
        if (!said->is_cut) built_cpu = wire::cpu_of_options(said->build.environment);
        if (auto added = add_statements(upload, parts, *said); !added) return added;
        auto provenance = parts.blobs.store_bytes(upload.provenance);
        if (!provenance) return failed(upload, provenance.error());
        provenance_sha256 = *std::move(provenance);
    }
    std::string attestations_sha256;
    if (!upload.attestations.document.empty()) {
        auto document = parts.blobs.store_bytes(upload.attestations.document);
        if (!document) return failed(upload, document.error());
        attestations_sha256 = *std::move(document);
    }
    const auto metadata = parts.blobs.store_bytes(inspection.metadata_bytes);
    if (!metadata) return failed(upload, metadata.error());
    const auto stored = parts.blobs.store(*std::move(upload.staged));
    upload.staged.reset();
    if (!stored) return failed(upload, stored.error());
    const auto kept = TorchTables(parts.blobs, parts.config->store).keep(*stored, inspection);
    if (!kept)
        io::log_warn("torch.table", {{"filename", upload.filename_text}, {"error", kept.error().text()}});
    catalog::FileRow row{{.filename = upload.filename_text,
                          .size_bytes = upload.size_bytes,
                          .sha256 = *stored,
                          .metadata_sha256 = *metadata,
                          .provenance_sha256 = std::move(provenance_sha256),
                          .attestations_sha256 = std::move(attestations_sha256)},
                         upload.index.name};
    row.uploaded_by = upload.token.name;
    row.provenance_size_bytes = upload.provenance.size();
    row.attestations_size_bytes = upload.attestations.document.size();
    upload.row = stored_row(std::move(row), inspection,
                            {.attested = upload.origin.attested,
                             .stated_by = upload.origin.agent,
                             .built_cpu = std::move(built_cpu)});
    upload.inspection.reset();               // the request still waits for its page
    return release_repaired(upload, parts);  // of other indexes
}

}  // namespace wheelyard::registry
