#include "registry/intake/uploads.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>

#include "lib/base/limits.hpp"
#include "lib/io/log.hpp"
#include "registry/intake/upload_body.hpp"
#include "registry/intake/upload_steps.hpp"

namespace wheelyard::registry {

using wire::refuse;
namespace {

constexpr std::string_view internal_error = "Internal error; see the server log for this request ID.";
constexpr std::string_view to_administrator = "report the request ID to the administrator";

// For the headers of all parts; those of real clients are much smaller.
constexpr std::uint64_t part_headers_allowance_bytes = 2 * base::mib;

// Maximum size of a body without the file.
constexpr std::uint64_t max_form_overhead_bytes =
    max_all_fields_bytes + max_other_file_bytes + part_headers_allowance_bytes;

class FormUpload final : public http::UploadRequest {
  public:
    FormUpload(const UploadParts& parts, const http::UploadHead& head, const IndexConfig& index,
               Identity token, std::string_view boundary)
        : parts_(parts),
          upload_{head.request_id, head.authorization, index, std::move(token), parts.clock.now()},
          body_(upload_, parts_, boundary) {}

    std::string owner() const override { return upload_.token.name; }

    wire::Answered<void> feed(std::string_view body_bytes) override {
        auto fed = body_.feed(body_bytes);
        if (!fed) log_refused(fed.error());
        return fed;
    }

    wire::Answered<http::UploadDone> finish() override {
        auto done = body_.finish();
        if (done) done = run_upload_steps(upload_, parts_);
        if (!done) {
            log_refused(done.error());
            return tl::unexpected(std::move(done.error()));
        }
        log_accepted();
        page_ = {upload_.row.index, upload_.row.project, upload_.row.filename};
        upload_.row = {};  // large, and the request still waits for its page
        return upload_.done;
    }

    void when_visible(std::function<void(bool visible)> then) override {
        parts_.pages.call_when_visible(
            upload_.done.serial, page_,
            [then = std::move(then)](const base::Status& status) { then(status.has_value()); });
    }

  private:
    void log_accepted() const;
    void log_refused(const wire::Problem& problem) const;
    [[nodiscard]] std::string elapsed_ms() const {
        return std::to_string((parts_.clock.now() - upload_.started) / 1000);
    }

    const UploadParts parts_;  // with the configuration that the upload began with
    Upload upload_;
    UploadBody body_;
    PageOf page_;
};

void FormUpload::log_accepted() const {
    const http::UploadDone& done = upload_.done;
    io::log_info("upload.accepted", {{"request", upload_.request_id},
                                     {"index", upload_.index.name},
                                     {"filename", done.filename},
                                     {"token", upload_.token.id},
                                     {"bytes", std::to_string(upload_.size_bytes)},
                                     {"sha256", upload_.sha256},
                                     {"serial", std::to_string(done.serial)},
                                     {"already_there", done.already_there ? "yes" : "no"},
                                     {"quarantined", done.quarantined_because.empty() ? "no" : "yes"},
                                     {"ms", elapsed_ms()}});
}

void FormUpload::log_refused(const wire::Problem& problem) const {
    io::log_warn("upload.refused", {{"request", upload_.request_id},
                                    {"index", upload_.index.name},
                                    {"filename", upload_.filename_text},
                                    {"token", upload_.token.id},
                                    {"status", std::to_string(problem.status)},
                                    {"code", problem.code},
                                    {"ms", elapsed_ms()}});
}

wire::Answered<const IndexConfig*> check_head(const UploadParts& parts, const http::UploadHead& head,
                                              const Identity& token) {
    const IndexConfig* index = parts.config->find_index(head.index);
    if (index == nullptr) {
        return refuse("index.unknown", "There is no index with this name",
                      "The registry has no index `" + wire::one_line_title(head.index) + "`.",
                      wire::one_line_title(head.index), "check the index name; GET / lists the indexes");
    }
    if (!allows(token, index->name, {}, upload_action) && !may_have_tasks(token, *index, *parts.config)) {
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
            return tl::unexpected(std::move(fits.error()));
    }
    // Room that appeared since `serve` looked last is the reserve's first.
    static_cast<void>(parts.room.keep_reserve());
    if (auto room = parts.room.check(head.content_length.value_or(0)); !room)
        return tl::unexpected(problem_of_failure(room.error()));
    return index;
}

bool is_busy(const base::Error& error) {
    return error.kind == base::ErrorKind::unavailable || error.os_error == EMFILE || error.os_error == ENFILE;
}

struct FailureText {
    std::string_view title;
    std::string_view detail;
    std::string_view advice;
};
struct Failure {
    bool (*is)(const base::Error& error);
    std::array<wire::Refusal, 3> codes;  // by Attempted
    FailureText of_upload;
    FailureText of_change;  // and of a task
};

// The first that fits; the last fits all.
const std::array<Failure, 5> failures{
    Failure{blobs::is_disk_full,
            {"upload.disk_full", "lifecycle.disk_full", "task.disk_full"},
            {"Insufficient Storage: the registry's disk is full", "No part of this upload was stored.",
             "ask the administrator to free disk space, then send it again"},
            {"Insufficient Storage: the registry's disk is full", "Nothing was changed.",
             "ask the administrator to free disk space, then send the request again"}},
    Failure{[](const base::Error& error) { return error.kind == base::ErrorKind::unreachable; },
            {"upload.no_database", "lifecycle.no_database", "task.no_database"},
            {"The registry's database does not answer: try again", "No part of this upload was published.",
             "send it again in a moment"},
            {"The registry's database does not answer: try again", "Nothing was changed.",
             "send the request again in a moment"}},
    Failure{
        [](const base::Error& error) { return error.kind == base::ErrorKind::cut; },
        {"upload.outcome_unknown", "lifecycle.outcome_unknown", "task.outcome_unknown"},
        {"The registry does not know whether it kept the file", "Its database did not answer the commit.",
         "send it again: the answer says whether it is there"},
        {"The registry does not know whether it kept the change", "Its database did not answer the commit.",
         "send the request again in a moment: the same change again is no error"}},
    Failure{
        is_busy,
        {"upload.busy", "lifecycle.busy", "task.busy"},
        {"The registry is busy: try again", "No part of this upload was published.",
         "send it again in a moment"},
        {"The registry is busy: try again", "Nothing was changed.", "send the request again in a moment"}},
    Failure{[](const base::Error&) { return true; },
            {"upload.failed", "lifecycle.failed", "task.failed"},
            {"The registry could not store the upload", internal_error, to_administrator},
            {"The registry could not complete the request", internal_error, to_administrator}},
};

}  // namespace

wire::Problem problem_of_failure(const base::Error& error, Attempted attempted) {
    const auto row =
        std::find_if(failures.begin(), failures.end(), [&](const Failure& one) { return one.is(error); });
    const FailureText& text = attempted == Attempted::upload ? row->of_upload : row->of_change;
    return wire::make_problem(row->codes.at(static_cast<std::size_t>(attempted)), text.title,
                              std::string(text.detail), {}, std::string(text.advice));
}

wire::Answered<std::unique_ptr<http::UploadRequest>> Uploads::begin(const http::UploadHead& head) {
    UploadParts parts = parts_;
    parts.config = parts_.config.held();
    auto token = parts.tokens.verify(head.authorization);
    auto index = token ? check_head(parts, head, *token)
                       : wire::Answered<const IndexConfig*>(tl::unexpected(token.error()));
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
        return tl::unexpected(std::move(index.error()));
    }
    return std::make_unique<FormUpload>(parts, head, **index, *std::move(token), *boundary);
}

}  // namespace wheelyard::registry
