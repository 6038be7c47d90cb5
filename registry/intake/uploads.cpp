#include "registry/intake/uploads.hpp"

#include <cerrno>
#include <optional>
#include <string>
#include <utility>

#include "lib/attest/wheel_statements.hpp"
#include "lib/base/digest/digest.hpp"
#include "lib/base/files/file.hpp"
#include "lib/base/limits.hpp"
#include "lib/base/text/encoding.hpp"
#include "lib/inspect/inspect.hpp"
#include "lib/io/log.hpp"
#include "lib/wheel/filename.hpp"
#include "lib/wire/cpu_options.hpp"
#include "lib/wire/facts_json.hpp"
#include "lib/wire/task.hpp"
#include "lib/wire/wheel_provenance.hpp"
#include "registry/access/agents.hpp"
#include "registry/access/publisher.hpp"
#include "registry/intake/attestations.hpp"
#include "registry/intake/library_lookup.hpp"
#include "registry/intake/multipart.hpp"
#include "registry/intake/quota.hpp"
#include "registry/intake/stored_row.hpp"
#include "registry/intake/torch_tables.hpp"
#include "registry/intake/validation.hpp"

namespace wheelyard::registry {
namespace {

// Other files, such as gpg_signature: read and discarded.
constexpr std::uint64_t max_other_file_bytes = base::mib;

// For the headers of all parts; those of real clients are much smaller.
constexpr std::uint64_t part_headers_allowance_bytes = 2 * base::mib;

// Maximum size of a body without the file.
constexpr std::uint64_t max_form_overhead_bytes =
    max_all_fields_bytes + max_other_file_bytes + part_headers_allowance_bytes;

using wire::refuse;

tl::unexpected<wire::Problem> refuse(wire::Problem problem) {
    return tl::unexpected(std::move(problem));
}

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

class FormUpload final : public http::UploadRequest, private MultipartHandler {
  public:
    FormUpload(const UploadParts& parts, const http::UploadHead& head, const IndexConfig& index,
               Identity token, std::string_view boundary)
        : parts_(parts),
          request_id_(head.request_id),
          authorization_(head.authorization),
          index_(index),
          token_(std::move(token)),
          started_(parts.clock.now()),
          parser_(boundary, *this) {}

    // A grant has the name of the token that claimed its task.
    std::string owner() const override { return token_.name; }

    wire::Answered<void> feed(std::string_view body_bytes) override {
        auto fed = parser_.feed(body_bytes);
        if (!fed) log_refused(fed.error());
        return fed;
    }

    wire::Answered<http::UploadDone> finish() override {
        auto done = accept();
        if (done) {
            log_accepted(*done);
        } else {
            log_refused(done.error());
        }
        return done;
    }

    void when_visible(std::function<void(bool visible)> then) override {
        parts_.pages.call_when_visible(
            committed_, page_,
            [then = std::move(then)](const base::Status& status) { then(status.has_value()); });
    }

  private:
    // MultipartHandler.
    wire::Answered<void> field(std::string_view name, std::string_view value) override;
    wire::Answered<void> file_begin(std::string_view name, std::string_view filename) override;
    wire::Answered<void> file_bytes(std::string_view bytes) override;
    wire::Answered<void> file_end() override { return {}; }

    // The steps after the last byte.
    wire::Answered<http::UploadDone> accept();
    wire::Answered<void> check_content();
    wire::Answered<void> check_where_from();
    wire::Answered<void> check_not_late(const catalog::FileRow& there) const;
    wire::Answered<std::optional<http::UploadDone>> find_earlier();
    wire::Answered<void> check_room(std::uint64_t size_bytes);
    wire::Answered<void> check_obstacles(const std::string& facts_json = {});
    wire::Answered<void> repair(const catalog::FileRow& row);
    wire::Answered<inspect::Inspection> inspect_content();
    wire::Answered<catalog::FileRow> store(const inspect::Inspection& inspection);
    base::Result<std::string> stating_token();
    wire::Answered<void> add_statements(const wire::WheelProvenance& said,
                                        const inspect::Inspection& inspection);
    wire::Answered<void> use_grant();
    wire::Answered<http::UploadDone> commit(const catalog::FileRow& row);
    void request_builds(const catalog::FileRow& row) const;

    tl::unexpected<wire::Problem> fail(const base::Error& error) const {
        io::log_error("upload.failed",
                      {{"request", request_id_}, {"filename", filename_text_}, {"error", error.text()}});
        return refuse(problem_of_failure(error));
    }
    void log_accepted(const http::UploadDone& done) const;
    void log_refused(const wire::Problem& problem) const;
    [[nodiscard]] std::string elapsed_ms() const {
        return std::to_string((parts_.clock.now() - started_) / 1000);
    }

    const UploadParts& parts_;
    const std::string request_id_;
    const std::string authorization_;
    const IndexConfig& index_;
    const Identity token_;
    const base::UnixMicros started_;
    MultipartParser parser_;
    UploadForm form_;
    std::string filename_text_;
    std::optional<UploadName> filename_;
    std::optional<blobs::StagedBlob> staged_;
    bool in_content_ = false;
    std::uint64_t other_file_bytes_ = 0;
    std::uint64_t size_bytes_ = 0;
    std::string sha256_;
    std::string provenance_;  // as it is stored; empty: none
    sigstore::FileProvenance attestations_;
    Origin origin_;
    catalog::Serial committed_ = 0;
    PageOf page_;
};

wire::Answered<void> FormUpload::field(std::string_view name, std::string_view value) {
    if (name == "content")
        return refuse("upload.content_without_name", "The field content must be a file with a name",
                      "`content` has no file name.");
    std::optional<std::string>* known = form_.field(name);
    if (known == nullptr) return {};
    if (*known && **known != value) {
        return refuse("upload.field_twice", "A form field was sent twice: " + std::string(name),
                      "The field `" + std::string(name) + "` has two different values.");
    }
    *known = std::string(value);
    return {};
}

wire::Answered<void> FormUpload::file_begin(std::string_view name, std::string_view filename) {
    in_content_ = name == "content";
    if (!in_content_) return {};  // gpg_signature and the like
    // An archive of documentation is refused for what it is, not for its name.
    if (form_.action) {
        if (auto action = check_action(form_); !action) return action;
    }
    if (staged_)
        return refuse("upload.content_twice", "The form has two files",
                      "The field `content` was sent twice.");
    filename_text_ = wire::one_line_title(filename);  // shortened and sanitized for the log
    auto parsed = check_filename(filename, index_.policy, accepted_files(index_));
    if (!parsed) return refuse(std::move(parsed.error()));
    filename_text_ = std::string(filename);
    filename_ = std::move(*parsed);
    // Checked before the bytes, so that a refused client does not send gigabytes first.
    if (!allows(token_, index_.name, filename_->project, upload_action)) {
        return refuse("auth.project_refused", "This token does not permit uploads of " + filename_->project,
                      "The token's scope does not include the project `" + filename_->project + "`.",
                      filename_->project, "ask an administrator for a token with this project");
    }
    if (!token_.version.empty() && !wire::meets_version(filename_->version.text(), token_.version)) {
        return refuse(
            "auth.version_refused", "This grant is for version " + token_.version,
            "The grant's task requests version " + token_.version + ", but the file has another version.",
            filename_->version.text(), "build the version that the task requests");
    }
    if (auto room = check_room(0); !room) return room;
    auto staged = parts_.blobs.stage();
    if (!staged) return fail(staged.error());
    staged_.emplace(std::move(*staged));
    return {};
}

// Whether a new file may grow to this size. A file that the index has needs no room: it is a retry.
wire::Answered<void> FormUpload::check_room(std::uint64_t size_bytes) {
    if (!index_.quota.is_set() && !index_.token_quota.is_set()) return {};
    const auto there = parts_.writer.find_file(index_.name, filename_text_);
    if (!there) return fail(there.error());
    if (*there) return {};
    std::vector<catalog::Usage> usage;
    const auto read = parts_.writer.run([&](catalog::Catalog& catalog) -> base::Status {
        WHEELYARD_ASSIGN(usage, catalog.usage(index_.name));
        return {};
    });
    if (!read) return fail(read.error());
    return check_quota(index_, usage, token_.name, size_bytes);
}

wire::Answered<void> FormUpload::file_bytes(std::string_view bytes) {
    if (!in_content_) {
        other_file_bytes_ += bytes.size();
        if (other_file_bytes_ <= max_other_file_bytes) return {};
        return refuse("upload.form_too_large", "The upload form is too large",
                      "A file other than `content` is too large.");
    }
    if (auto fits = check_size(staged_->size() + bytes.size(), index_.max_file_bytes); !fits) {
        staged_.reset();
        return fits;
    }
    auto written = parts_.room.check(bytes.size());
    if (written) written = staged_->write(bytes);
    if (!written) {
        staged_.reset();  // frees the disk space at once
        return fail(written.error());
    }
    return {};
}

wire::Answered<http::UploadDone> FormUpload::accept() {
    if (auto ended = parser_.finish(); !ended) return refuse(std::move(ended.error()));
    if (auto checked = check_content(); !checked) return refuse(std::move(checked.error()));
    auto earlier = find_earlier();
    if (!earlier) return refuse(std::move(earlier.error()));
    if (*earlier) return **std::move(earlier);
    if (auto known = check_where_from(); !known) return refuse(std::move(known.error()));
    if (auto room = check_room(size_bytes_); !room) return refuse(std::move(room.error()));
    if (auto free = check_obstacles(); !free) return refuse(std::move(free.error()));
    auto inspection = inspect_content();
    if (!inspection) return refuse(std::move(inspection.error()));
    if (inspection->filename.variant) {
        auto agrees = check_obstacles(wire::stored_facts_to_json(*inspection).render());
        if (!agrees) return refuse(std::move(agrees.error()));
    }
    if (auto used = use_grant(); !used) return refuse(std::move(used.error()));
    auto row = store(*inspection);
    if (!row) return refuse(std::move(row.error()));
    return commit(*row);
}

// Checks everything that does not require opening the wheel: the form and the digests.
wire::Answered<void> FormUpload::check_content() {
    if (auto good = check_form(form_); !good) return good;
    if (!staged_)
        return refuse("upload.no_content", "The form has no file", "The field `content` is missing.", {},
                      "send the file as `content`");
    if (auto good = check_form_against(form_, *filename_); !good) return good;
    size_bytes_ = staged_->size();
    sha256_ = staged_->finish();
    ContentDigests content{.sha256 = sha256_, .md5 = {}};
    if (auto counted = count_md5(*staged_, form_, content); !counted) return fail(counted.error());
    if (auto good = check_digests(form_, content); !good) return good;
    auto provenance = check_provenance(form_, filename_text_, sha256_, site_bound_to(token_));
    if (!provenance) return refuse(std::move(provenance.error()));
    provenance_ = *std::move(provenance);
    auto attestations =
        check_attestations(form_.attestations.value_or(""), filename_text_, sha256_, *parts_.trusted_root);
    if (!attestations) return refuse(std::move(attestations.error()));
    attestations_ = *std::move(attestations);
    return {};
}

wire::Answered<void> FormUpload::check_where_from() {
    origin_.project = filename_->project;
    if (!provenance_.empty()) {
        auto token_id = stating_token();
        if (!token_id) return fail(token_id.error());
        origin_.agent = *std::move(token_id);
    }
    for (const sigstore::Attested& one : attestations_.attested)
        origin_.attested.push(sigstore::record_of(one));
    const auto taken = check_origin(index_, origin_);
    if (!taken) return refuse(problem_of_origin(taken.error()));
    return {};
}

// Attestations come with the first upload of a file, also where two come at once.
wire::Answered<void> FormUpload::check_not_late(const catalog::FileRow& there) const {
    const std::string& document = attestations_.document;
    if (document.empty() || base::sha256_hex(document) == there.attestations_sha256) return {};
    const std::string which = there.attestations_sha256.empty() ? "without" : "with other";
    return refuse("upload.attestations_late",
                  "File already exists, " + which + " attestations (" + filename_text_ + ")",
                  "The index has this file already; these attestations would be lost.", filename_text_,
                  "upload it without attestations: those of a file come with its first upload");
}

// An identical retry needs no second inspection, and different bytes under a taken name are refused before
// one.
wire::Answered<std::optional<http::UploadDone>> FormUpload::find_earlier() {
    const auto there = parts_.writer.find_file(index_.name, filename_text_);
    if (!there) return fail(there.error());
    if (!*there) return std::nullopt;
    if ((*there)->sha256 != sha256_)
        return refuse(name_taken(filename_text_, {.sha256_there = (*there)->sha256}));
    if (auto early = check_not_late(**there); !early) return refuse(std::move(early.error()));
    if (auto used = use_grant(); !used) return refuse(std::move(used.error()));
    if (auto repaired = repair(**there); !repaired) return refuse(std::move(repaired.error()));
    auto done = commit(**there);
    if (!done) return refuse(std::move(done.error()));
    return *std::move(done);
}

// The sender has the right bytes: they repair a stored file that was lost or has changed.
wire::Answered<void> FormUpload::repair(const catalog::FileRow& row) {
    if (!parts_.blobs.is_intact(row.metadata_sha256)) {
        const auto reader = staged_->read();
        if (!reader) return fail(reader.error());
        const auto inspection = inspect::inspect_file(
            *reader, filename_text_,
            {.policy = index_.policy, .threads = parts_.inspect_threads, .progress = {}});
        if (!inspection) return fail(inspection.error());
        const auto metadata = parts_.blobs.store_bytes(inspection->metadata_bytes);
        if (!metadata) return fail(metadata.error());
    }
    // The provenance of the first upload stays: a retry restores those bytes only.
    if (!row.provenance_sha256.empty() && base::sha256_hex(provenance_) == row.provenance_sha256 &&
        !parts_.blobs.is_intact(row.provenance_sha256)) {
        const auto provenance = parts_.blobs.store_bytes(provenance_);
        if (!provenance) return fail(provenance.error());
    }
    if (!attestations_.document.empty() && !parts_.blobs.is_intact(row.attestations_sha256)) {
        const auto document = parts_.blobs.store_bytes(attestations_.document);
        if (!document) return fail(document.error());
    }
    const auto stored = parts_.blobs.store(*std::move(staged_));
    staged_.reset();  // free it now: the request still waits for its page
    if (!stored) return fail(stored.error());
    return {};
}

// What the catalog will refuse is refused before its bytes are stored: a blob without a row stays until gc. Without facts
// before the inspection, of a variant wheel with them after it.
wire::Answered<void> FormUpload::check_obstacles(const std::string& facts_json) {
    catalog::FileRow row;
    row.index = index_.name;
    row.project = filename_->project;
    row.filename = filename_text_;
    row.version = filename_->version.text();
    row.sha256 = sha256_;
    row.facts_json = facts_json;
    std::optional<catalog::Added> obstacle;
    const auto read = parts_.writer.run([&](catalog::Catalog& catalog) -> base::Status {
        WHEELYARD_ASSIGN(obstacle, catalog.find_obstacle(row));
        return {};
    });
    if (!read) return fail(read.error());
    auto problem = obstacle ? refusal_of(*obstacle, row) : std::nullopt;
    if (problem) return refuse(*std::move(problem));
    return {};
}

wire::Answered<inspect::Inspection> FormUpload::inspect_content() {
    const auto reader = staged_->read();
    if (!reader) return fail(reader.error());
    const OfferedFiles offered = offered_files(parts_.writer, index_.name);
    auto inspection = inspect::inspect_file(
        *reader, filename_text_,
        {.policy = index_.policy,
         .threads = parts_.inspect_threads,
         .progress = {},
         .libraries_of = library_lookup(offered),
         .torches_for = torch_lookup(index_.policy, offered, {parts_.blobs, parts_.config->store}),
         .torch_names = filename_->project == "torch"});
    if (!inspection) return fail(inspection.error());
    if (auto good = check_inspection(*inspection); !good) return refuse(std::move(good.error()));
    return *std::move(inspection);
}

// Which token says what the provenance says: its ID. A grant is of one task; the token that claimed it stays. Tokens of jobs
// and of agents that enrolled are soon forgotten: their names stay.
base::Result<std::string> FormUpload::stating_token() {
    if (is_publisher(token_.name) || !site_bound_to(token_).empty()) return token_.name;
    if (!token_.is_grant || parts_.tasks == nullptr) return token_.id;
    WHEELYARD_ASSIGN(const auto grant, parts_.tasks->find_grant(token_.id));
    return grant ? grant->owner : token_.id;
}

// What the agent said becomes what the registry signs that it said, with what the registry proved itself.
wire::Answered<void> FormUpload::add_statements(const wire::WheelProvenance& said,
                                                const inspect::Inspection& inspection) {
    if (parts_.signing_key == nullptr) return {};
    const RegistryConfig& config = parts_.config;
    const attest::SigningKey& key = *parts_.signing_key;
    auto token_id = stating_token();
    if (!token_id) return fail(token_id.error());
    const bool is_service_account = !is_publisher(token_.name) && config.attest.is_service_account(*token_id);
    const attest::Level level = is_service_account ? attest::Level::two : attest::Level::one;
    auto text = attest::sign_wheel(provenance_, said,
                                   {.project = inspection.filename.project,
                                    .version = inspection.filename.version.text(),
                                    .outcome = std::string(inspection.outcome()),
                                    .facts = wire::stored_facts_to_json(inspection)},
                                   {.registry = config.signer(key.public_key().id()),
                                    .index = index_.name,
                                    .token_id = *std::move(token_id),
                                    .time = parts_.clock.now(),
                                    .level = level},
                                   key);
    if (!text) {
        const base::Error& error = text.error();
        return refuse("upload.provenance", error.sentence, error.sentence + ".", error.value, error.advice);
    }
    provenance_ = *std::move(text);
    return {};
}

// All blobs are durable before the row that refers to them is committed.
wire::Answered<catalog::FileRow> FormUpload::store(const inspect::Inspection& inspection) {
    std::string provenance_sha256;
    std::string built_cpu;
    if (!provenance_.empty()) {
        const auto said = wire::parse_wheel_provenance(provenance_);
        if (!said) return fail(said.error());
        if (!said->is_cut) built_cpu = wire::cpu_of_options(said->build.environment);
        if (auto added = add_statements(*said, inspection); !added) return refuse(std::move(added.error()));
        auto provenance = parts_.blobs.store_bytes(provenance_);
        if (!provenance) return fail(provenance.error());
        provenance_sha256 = *std::move(provenance);
    }
    std::string attestations_sha256;
    if (!attestations_.document.empty()) {
        auto document = parts_.blobs.store_bytes(attestations_.document);
        if (!document) return fail(document.error());
        attestations_sha256 = *std::move(document);
    }
    const auto metadata = parts_.blobs.store_bytes(inspection.metadata_bytes);
    if (!metadata) return fail(metadata.error());
    const auto stored = parts_.blobs.store(*std::move(staged_));
    staged_.reset();
    if (!stored) return fail(stored.error());
    const auto kept = TorchTables(parts_.blobs, parts_.config->store).keep(*stored, inspection);
    if (!kept) io::log_warn("torch.table", {{"filename", filename_text_}, {"error", kept.error().text()}});
    return stored_row({.index = index_.name,
                       .filename = filename_text_,
                       .sha256 = *stored,
                       .size_bytes = size_bytes_,
                       .metadata_sha256 = *metadata,
                       .uploaded_by = token_.name,
                       .provenance_sha256 = std::move(provenance_sha256),
                       .provenance_size_bytes = provenance_.size(),
                       .attestations_sha256 = std::move(attestations_sha256),
                       .attestations_size_bytes = attestations_.document.size(),
                       .attested = origin_.attested,
                       .stated_by = origin_.agent,
                       .built_cpu = std::move(built_cpu)},
                      inspection);
}

// The operator's reason may be empty.
std::string quarantine_text(const catalog::FileRow& row) {
    if (row.state != catalog::FileState::quarantined) return {};
    return row.state_reason.empty() ? "The file is quarantined." : row.state_reason;
}

// Binds the grant to this file before the row is committed: after a crash in between, the same upload
// succeeds.
wire::Answered<void> FormUpload::use_grant() {
    if (!token_.is_grant || parts_.tasks == nullptr) return {};
    const auto used = parts_.tasks->use_grant(token_.id, filename_text_, sha256_);
    if (used) return {};
    const base::Error& error = used.error();
    if (error.kind != base::ErrorKind::refused) return fail(error);
    return refuse(wire::Refusal::coded(403, error.code), error.sentence, error.sentence + ".", error.value,
                  error.advice);
}

// The token may have been revoked, or have expired, while the bytes came.
wire::Answered<http::UploadDone> FormUpload::commit(const catalog::FileRow& row) {
    if (auto alive = parts_.tokens.verify(authorization_); !alive) return refuse(std::move(alive.error()));
    const auto added = parts_.writer.add_file(row);
    if (!added) return fail(added.error());
    if (auto refusal = refusal_of(*added, row)) return refuse(*std::move(refusal));
    if (added->outcome == catalog::AddOutcome::already_there) {
        const auto there = parts_.writer.find_file(row.index, row.filename);
        if (!there) return fail(there.error());
        if (*there)
            if (auto early = check_not_late(**there); !early) return refuse(std::move(early.error()));
    }
    committed_ = added->serial;
    page_ = {row.index, row.project, row.filename};
    request_builds(row);
    return http::UploadDone{.already_there = added->outcome == catalog::AddOutcome::already_there,
                            .serial = added->serial,
                            .filename = filename_text_,
                            .quarantined_because = quarantine_text(row)};
}

// After the commit, and again when the same file is sent again: a kill in between loses no request. A full queue
// refuses no upload.
void FormUpload::request_builds(const catalog::FileRow& row) const {
    const bool is_meant = parts_.tasks != nullptr && row.state == catalog::FileState::active &&
                          wheel::is_sdist_filename(row.filename);
    if (!is_meant) return;
    for (const BuildTarget& target : index_.builds) {
        for (const std::string& python : target.pythons) {
            for (const std::string& accelerator : target.accelerators) {
                const wire::TaskRequest request{
                    target.index, row.project, row.version,
                    python,       accelerator, wire::UploadedSource{row.index, row.filename, row.sha256}};
                if (const auto added = parts_.tasks->propose(request, token_.name); !added)
                    io::log_warn("upload.not_requested", {{"request", request_id_},
                                                          {"filename", row.filename},
                                                          {"index", target.index},
                                                          {"error", added.error().text()}});
            }
        }
    }
}

void FormUpload::log_accepted(const http::UploadDone& done) const {
    io::log_info("upload.accepted", {{"request", request_id_},
                                     {"index", index_.name},
                                     {"filename", done.filename},
                                     {"token", token_.id},
                                     {"bytes", std::to_string(size_bytes_)},
                                     {"sha256", sha256_},
                                     {"serial", std::to_string(done.serial)},
                                     {"already_there", done.already_there ? "yes" : "no"},
                                     {"quarantined", done.quarantined_because.empty() ? "no" : "yes"},
                                     {"ms", elapsed_ms()}});
}

void FormUpload::log_refused(const wire::Problem& problem) const {
    io::log_warn("upload.refused", {{"request", request_id_},
                                    {"index", index_.name},
                                    {"filename", filename_text_},
                                    {"token", token_.id},
                                    {"status", std::to_string(problem.status)},
                                    {"code", problem.code},
                                    {"ms", elapsed_ms()}});
}

wire::Answered<const IndexConfig*> check_head(const UploadParts& parts, const http::UploadHead& head,
                                              const catalog::TokenRow& token) {
    const IndexConfig* index = parts.config->find_index(head.index);
    if (index == nullptr) {
        return refuse("index.unknown", "There is no index with this name",
                      "The registry has no index `" + wire::one_line_title(head.index) + "`.",
                      wire::one_line_title(head.index), "check the index name; GET / lists the indexes");
    }
    if (!allows(token, index->name, {}, upload_action)) {
        return refuse("auth.index_refused", "This token does not permit uploads to " + index->name,
                      "The token's scope does not include uploads to the index `" + index->name + "`.",
                      index->name, "ask an administrator for a token with this index");
    }
    if (index->is_archived)
        return refuse({403, "index.archived"}, "This index is archived: it takes no new files",
                      "An administrator has archived the index `" + index->name + "`.", index->name,
                      "upload to another index");
    // The form around the file is small: refuse by length only if the body cannot contain an acceptable file.
    if (head.content_length && *head.content_length > max_form_overhead_bytes) {
        if (auto fits = check_size(*head.content_length - max_form_overhead_bytes, index->max_file_bytes);
            !fits)
            return refuse(std::move(fits.error()));
    }
    // Room that appeared since `serve` looked last is the reserve's first.
    static_cast<void>(parts.room.keep_reserve());
    if (auto room = parts.room.check(head.content_length.value_or(0)); !room)
        return refuse(problem_of_failure(room.error()));
    return index;
}

}  // namespace

wire::Problem problem_of_failure(const base::Error& error) {
    if (blobs::is_disk_full(error)) {
        return wire::make_problem("upload.disk_full", "Insufficient Storage: the registry's disk is full",
                                  "No part of this upload was stored.", {},
                                  "ask the administrator to free disk space, then send it again");
    }
    if (error.kind == base::ErrorKind::unreachable) {
        return wire::make_problem("upload.no_database", "The registry's database does not answer: try again",
                                  "No part of this upload was published.", {}, "send it again in a moment");
    }
    if (error.kind == base::ErrorKind::cut) {
        return wire::make_problem("upload.outcome_unknown",
                                  "The registry does not know whether it kept the file",
                                  "Its database did not answer the commit.", {},
                                  "send it again: the answer says whether it is there");
    }
    if (error.kind == base::ErrorKind::unavailable || error.os_error == EMFILE || error.os_error == ENFILE) {
        return wire::make_problem("upload.busy", "The registry is busy: try again",
                                  "No part of this upload was published.", {}, "send it again in a moment");
    }
    return wire::make_problem("upload.failed", "The registry could not store the upload",
                              "Internal error; see the server log for this request ID.", {},
                              "report the request ID to the administrator");
}

wire::Answered<std::unique_ptr<http::UploadRequest>> Uploads::begin(const http::UploadHead& head) {
    auto token = parts_.tokens.verify(head.authorization);
    auto index =
        token ? check_head(parts_, head, *token) : wire::Answered<const IndexConfig*>(refuse(token.error()));
    auto boundary = parse_boundary(head.content_type);
    if (index && !boundary) {
        const base::Error& error = boundary.error();
        const wire::Refusal row = error.kind == base::ErrorKind::unsupported
                                      ? wire::Refusal{415, "upload.bad_form"}
                                      : wire::Refusal{400, "upload.bad_form"};
        index = refuse(row, error.sentence, error.sentence + ".", error.value, error.advice);
    }
    if (!index) {
        io::log_warn("upload.refused", {{"request", head.request_id},
                                        {"index", wire::one_line_title(head.index)},
                                        {"token", token ? token->id : std::string("-")},
                                        {"status", std::to_string(index.error().status)},
                                        {"code", index.error().code}});
        return refuse(std::move(index.error()));
    }
    return std::make_unique<FormUpload>(parts_, head, **index, *std::move(token), *boundary);
}

}  // namespace wheelyard::registry
