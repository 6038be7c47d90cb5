#include "registry/intake/upload_steps.hpp"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "lib/base/digest/digest.hpp"
#include "lib/base/files/file.hpp"
#include "lib/base/limits.hpp"
#include "lib/base/text/encoding.hpp"
#include "lib/io/log.hpp"
#include "lib/wheel/filename.hpp"
#include "lib/wire/facts_json.hpp"
#include "lib/wire/task.hpp"
#include "registry/access/agents.hpp"
#include "registry/access/token_rules.hpp"
#include "registry/config/index_rules.hpp"
#include "registry/intake/quota.hpp"
#include "registry/intake/torch_tables.hpp"

namespace wheelyard::registry {

using wire::refuse;

tl::unexpected<wire::Problem> failed(const Upload& upload, const base::Error& error) {
    io::log_error(
        "upload.failed",
        {{"request", upload.request_id}, {"filename", upload.filename_text}, {"error", error.text()}});
    return tl::unexpected(problem_of_failure(error));
}

namespace {

// Computes the form's MD5 from the staged file, which is still in the page cache.
base::Status count_md5(const blobs::StagedBlob& staged, const UploadForm& form, ContentDigests& content) {
    if (!form.md5_digest) return {};
    base::Digest md5(base::DigestKind::md5);
    WHEELYARD_ASSIGN(const base::FileReader reader, staged.read());
    WHEELYARD_TRY(base::for_each_piece(reader, base::mib, [&](std::string_view piece) -> base::Status {
        md5.update(piece);
        return {};
    }));
    content.md5 = base::encode_hex(md5.finish());
    return {};
}

// Attestations come with the first upload of a file, also where two come at once.
wire::Answered<void> check_not_late(const Upload& upload, const catalog::FileRow& there) {
    const std::string& document = upload.attestations.document;
    if (document.empty() || base::sha256_hex(document) == there.attestations_sha256) return {};
    const std::string which = there.attestations_sha256.empty() ? "without" : "with other";
    return refuse("upload.attestations_late",
                  "File already exists, " + which + " attestations (" + upload.filename_text + ")",
                  "The index has this file already; these attestations would be lost.", upload.filename_text,
                  "upload it without attestations: those of a file come with its first upload");
}

}  // namespace

wire::Answered<void> check_upload_quota(const Upload& upload, const UploadParts& parts,
                                        std::uint64_t size_bytes) {
    if (!upload.index.quota.is_set() && !upload.index.token_quota.is_set()) return {};
    const auto there = parts.writer.find_file(upload.index.name, upload.filename_text);
    if (!there) return failed(upload, there.error());
    if (*there) return {};
    std::vector<catalog::Usage> usage;
    const auto read = parts.writer.run([&](catalog::Catalog& catalog) -> base::Status {
        WHEELYARD_ASSIGN(usage, catalog.usage(upload.index.name));
        return {};
    });
    if (!read) return failed(upload, read.error());
    return check_quota(upload.index, usage, upload.token.name, size_bytes);
}

std::string stating_token(const Identity& token) {
    return is_publisher(token.name) || !site_bound_to(token).empty() ? token.name : token.id;
}

bool may_have_tasks(const Identity& token, const IndexConfig& index, const RegistryConfig& config) {
    return std::any_of(config.indexes.begin(), config.indexes.end(), [&](const IndexConfig& asked) {
        return target_of(asked) == index.name && allows(token, asked.name, {}, build_action);
    });
}

namespace {

tl::unexpected<wire::Problem> refused_task(const Upload& upload, const base::Error& error) {
    if (error.kind != base::ErrorKind::conflict) return failed(upload, error);
    return refuse(wire::Refusal::coded(409, error.code), error.sentence, error.sentence + ".", error.value,
                  error.advice);
}

}  // namespace

wire::Answered<void> check_task(const Upload& upload, const UploadParts& parts) {
    const std::string& id = *upload.form.task;
    const base::Result<wire::Task> task = parts.tasks == nullptr
                                              ? tasks::fail_lost(wire::one_line_title(id))
                                              : parts.tasks->held(id, holder_of(upload.token));
    if (!task) return refused_task(upload, task.error());
    const wire::TaskRequest& wanted = task->request;
    const IndexConfig* asked = parts.config->find_index(wanted.index);
    const bool is_of_index = asked != nullptr && target_of(*asked) == upload.index.name &&
                             allows(upload.token, asked->name, wanted.package, build_action);
    if (!is_of_index) return refused_task(upload, tasks::fail_lost(task->id).value());
    const auto wheel = wheel::parse_wheel_filename(upload.filename_text);
    if (wheel && wheel->project == wanted.package &&
        wire::meets_version(wheel->version.text(), wanted.version) &&
        wire::meets_python(wheel->tags, wanted.python))
        return {};
    return refuse(
        "auth.version_refused", "The task is for another wheel",
        "The task is for " + wanted.package + " " + wanted.version + " and Python " + wanted.python + ".",
        upload.filename_text, "build what the task requests");
}

namespace {

// Checks everything that does not require opening the wheel: the form and the digests.
wire::Answered<void> check_content(Upload& upload, const UploadParts& parts) {
    if (auto good = check_form(upload.form); !good) return good;
    if (!upload.staged)
        return refuse("upload.no_content", "The form has no file", "The field `content` is missing.", {},
                      "send the file as `content`");
    if (auto good = check_form_against(upload.form, *upload.filename); !good) return good;
    upload.size_bytes = upload.staged->size();
    upload.sha256 = upload.staged->finish();
    ContentDigests content{.sha256 = upload.sha256, .md5 = {}};
    if (auto counted = count_md5(*upload.staged, upload.form, content); !counted)
        return failed(upload, counted.error());
    if (auto good = check_digests(upload.form, content); !good) return good;
    auto provenance =
        check_provenance(upload.form, upload.filename_text, upload.sha256, site_bound_to(upload.token));
    if (!provenance) return tl::unexpected(std::move(provenance.error()));
    upload.provenance = *std::move(provenance);
    auto attestations = check_attestations(upload.form.attestations.value_or(""), upload.filename_text,
                                           upload.sha256, *parts.trusted_root);
    if (!attestations) return tl::unexpected(std::move(attestations.error()));
    upload.attestations = *std::move(attestations);
    return {};
}

wire::Answered<void> check_where_from(Upload& upload, const UploadParts&) {
    upload.origin.project = upload.filename->project;
    if (!upload.provenance.empty()) upload.origin.agent = stating_token(upload.token);
    for (const sigstore::Attested& one : upload.attestations.attested)
        upload.origin.attested.push(sigstore::record_of(one));
    const auto taken = check_origin(upload.index, upload.origin);
    if (!taken) return tl::unexpected(problem_of_origin(taken.error()));
    return {};
}

// An identical retry needs no second inspection, and different bytes under a taken name are refused before
// one.
wire::Answered<void> find_earlier(Upload& upload, const UploadParts& parts) {
    auto there = parts.writer.find_file(upload.index.name, upload.filename_text);
    if (!there) return failed(upload, there.error());
    if (!*there) return {};
    if ((*there)->sha256 != upload.sha256)
        return tl::unexpected(name_taken(upload.filename_text, {.sha256_there = (*there)->sha256}));
    upload.is_repeated = true;
    upload.row = **std::move(there);
    return check_not_late(upload, upload.row);
}

wire::Answered<void> check_room(Upload& upload, const UploadParts& parts) {
    return check_upload_quota(upload, parts, upload.size_bytes);
}

// What the catalog will refuse is refused before its bytes are stored: a blob without a row stays until gc.
// Without facts before the inspection, of a variant wheel with them after it.
wire::Answered<void> check_obstacles(const Upload& upload, const UploadParts& parts,
                                     const std::string& facts_json) {
    catalog::FileRow row;
    row.index = upload.index.name;
    row.project = upload.filename->project;
    row.filename = upload.filename_text;
    row.version = upload.filename->version.text();
    row.sha256 = upload.sha256;
    row.facts_json = facts_json;
    std::optional<catalog::Added> obstacle;
    const auto read = parts.writer.run([&](catalog::Catalog& catalog) -> base::Status {
        WHEELYARD_ASSIGN(obstacle, catalog.find_obstacle(row));
        return {};
    });
    if (!read) return failed(upload, read.error());
    auto problem = obstacle ? refusal_of(*obstacle, row) : std::nullopt;
    if (problem) return tl::unexpected(*std::move(problem));
    return {};
}

wire::Answered<void> check_name(Upload& upload, const UploadParts& parts) {
    return check_obstacles(upload, parts, {});
}

wire::Answered<void> inspect_content(Upload& upload, const UploadParts& parts) {
    const auto reader = upload.staged->read();
    if (!reader) return failed(upload, reader.error());
    const OfferedFiles offered = offered_files(parts.writer, upload.index.name);
    auto inspection = inspect::inspect_file(
        *reader, upload.filename_text,
        {.policy = upload.index.policy,
         .threads = parts.inspect_threads,
         .progress = {},
         .libraries_of = library_lookup(offered),
         .torches_for = torch_lookup(upload.index.policy, offered, {parts.blobs, parts.config->store}),
         .torch_names = upload.filename->project == "torch"});
    if (!inspection) return failed(upload, inspection.error());
    if (auto good = check_inspection(*inspection); !good) return tl::unexpected(std::move(good.error()));
    upload.inspection = *std::move(inspection);
    return {};
}

wire::Answered<void> check_variants(Upload& upload, const UploadParts& parts) {
    if (!upload.inspection->filename.variant) return {};
    return check_obstacles(upload, parts, wire::stored_facts_to_json(*upload.inspection).render());
}

// The operator's reason may be empty.
std::string quarantine_text(const catalog::FileRow& row) {
    if (row.state != catalog::FileState::quarantined) return {};
    return row.state_reason.empty() ? "The file is quarantined." : row.state_reason;
}

// Binds a task to this file before the row is committed: after a crash in between, the same upload succeeds.
// The form may have named the task after the file.
wire::Answered<void> use_task(Upload& upload, const UploadParts& parts) {
    if (!upload.form.task) return {};
    if (auto fits = check_task(upload, parts); !fits) return fits;
    const auto used =
        parts.tasks->use(*upload.form.task, holder_of(upload.token), upload.filename_text, upload.sha256);
    if (!used) return refused_task(upload, used.error());
    return {};
}

// After the commit, and again when the same file is sent again: a kill in between loses no request. A full
// queue refuses no upload.
void request_builds(const Upload& upload, const UploadParts& parts) {
    const catalog::FileRow& row = upload.row;
    const bool is_meant = parts.tasks != nullptr && row.state == catalog::FileState::active &&
                          wheel::is_sdist_filename(row.filename);
    if (!is_meant) return;
    for (const BuildTarget& target : upload.index.builds) {
        for (const std::string& python : target.pythons) {
            for (const std::string& accelerator : target.accelerators) {
                const wire::TaskRequest request{
                    target.index, row.project, row.version,
                    python,       accelerator, wire::UploadedSource{row.index, row.filename, row.sha256}};
                if (const auto added = parts.tasks->propose(request, upload.token.name); !added)
                    io::log_warn("upload.not_requested", {{"request", upload.request_id},
                                                          {"filename", row.filename},
                                                          {"index", target.index},
                                                          {"error", added.error().text()}});
            }
        }
    }
}

// The token may have been revoked, or have expired, while the bytes came.
wire::Answered<void> commit(Upload& upload, const UploadParts& parts) {
    const catalog::FileRow& row = upload.row;
    if (auto alive = parts.tokens.verify(upload.authorization); !alive)
        return tl::unexpected(std::move(alive.error()));
    const auto added = parts.writer.add_file(row);
    if (!added) return failed(upload, added.error());
    if (auto refusal = refusal_of(*added, row)) return tl::unexpected(*std::move(refusal));
    if (added->outcome == catalog::AddOutcome::already_there) {
        const auto there = parts.writer.find_file(row.index, row.filename);
        if (!there) return failed(upload, there.error());
        if (*there)
            if (auto early = check_not_late(upload, **there); !early) return early;
    }
    request_builds(upload, parts);
    upload.done = {.already_there = added->outcome == catalog::AddOutcome::already_there,
                   .serial = std::max(added->serial, upload.done.serial),
                   .filename = upload.filename_text,
                   .quarantined_because = quarantine_text(row)};
    return {};
}

constexpr UploadStepRow rows[] = {
    {Of::all, check_content, "form, digests, provenance and attestations agree with the bytes"},
    {Of::all, find_earlier, "other bytes under this name, or later attestations, are refused"},
    {Of::first, check_where_from, "the index takes files of this origin"},
    {Of::first, check_room, "the quotas of the index have room"},
    {Of::first, check_name, "the catalog will take the name"},
    {Of::first, inspect_content, "the bytes are what the name and METADATA say"},
    {Of::first, check_variants, "the variants agree with those of the version's other wheels"},
    {Of::all, use_task, "the task that the form names is bound to these bytes"},
    {Of::first, store_content, "all blobs are durable, the statement is signed"},
    {Of::repeated, repair_stored,
     "stored bytes that were lost are there again, and what `verify` had quarantined is released"},
    {Of::all, commit, "the row is durable"},
};

bool is_for(Of of, const Upload& upload) {
    return of == Of::all || (of == Of::repeated) == upload.is_repeated;
}

}  // namespace

std::string render_upload_steps() {
    std::string text = "| after this step | new file | again with the same bytes |\n|---|---|---|\n";
    for (const UploadStepRow& row : rows)
        text.append("| ")
            .append(row.what)
            .append(row.of == Of::repeated ? " | | " : " | yes | ")
            .append(row.of == Of::first ? "|\n" : "yes |\n");
    return text;
}

wire::Answered<void> run_upload_steps(Upload& upload, const UploadParts& parts) {
    for (const UploadStepRow& row : rows) {
        if (!is_for(row.of, upload)) continue;
        if (auto done = row.step(upload, parts); !done) return done;
    }
    return {};
}

}  // namespace wheelyard::registry
