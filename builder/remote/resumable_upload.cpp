#include "builder/remote/resumable_upload.hpp"

#include <algorithm>
#include <string_view>

#include "builder/attempt/limits.hpp"
#include "builder/remote/refusal.hpp"
#include "lib/base/files/untrusted_file.hpp"
#include "lib/base/limits.hpp"
#include "lib/base/text/text.hpp"
#include "lib/io/json.hpp"
#include "lib/wire/problem.hpp"

namespace wheelyard::builder {
namespace {

constexpr std::int64_t stuck_pause_ms = 250;          // pause after the first of them; doubles each time
constexpr std::uint64_t min_moved_bytes = base::mib;  // a try that sends this much is not counted
constexpr std::size_t max_upload_id = 64;

constexpr std::string_view note_format = "wheelyard.sending/1";

std::string code_of(const io::HttpAnswer& answer) {
    const auto problem = wire::parse_problem(answer.body);
    return problem ? problem->code : std::string();
}

// Our registry's IDs are hex. The check still matters, because the ID becomes part of a URL.
bool is_id(std::string_view id) {
    return !id.empty() && id.size() <= max_upload_id && std::all_of(id.begin(), id.end(), [](char c) {
        return base::is_ascii_alpha(c) || base::is_ascii_digit(c) || c == '-' || c == '_';
    });
}

class Sending {
  public:
    Sending(io::HttpClient& http, base::Clock& clock, const UploadTarget& target, const UploadForm& form,
            const io::HttpProgress& progress)
        : http_(http), clock_(clock), target_(target), form_(form), progress_(progress) {}

    base::Result<std::optional<io::HttpAnswer>> run() {
        id_ = noted_id();
        const bool goes_on = !id_.empty();
        if (!goes_on) {
            WHEELYARD_ASSIGN(auto refusal, begin());
            if (refusal) return refusal_or_nothing(*std::move(refusal));
        }
        // The offset of a new upload is 0: no request needed.
        bool is_known = !goes_on;
        base::Error last;
        for (int stuck = 0; stuck < max_stuck_parts;) {
            if (stuck > 0) clock_.sleep_ms(stuck_pause_ms << (stuck - 1));
            ++stuck;
            if (!is_known) {
                const std::uint64_t before = offset_;
                WHEELYARD_TRY(query_offset(last));
                if (!is_found_) continue;
                if (offset_ > before) stuck = 1;
            }
            is_known = false;
            WHEELYARD_ASSIGN(auto answer, send_part(last));
            if (answer) return answer;
        }
        const bool has_moved = offset_ >= started_at_ + min_moved_bytes;
        if (has_moved) {
            last.code = "upload.cut";
            last.kind = base::ErrorKind::in_progress;
            last.recovery = base::Recovery::retry;
        }
        return base::fail(std::move(last));
    }

  private:
    using Answer = std::optional<io::HttpAnswer>;

    [[nodiscard]] std::string url() const { return target_.url + id_; }
    [[nodiscard]] io::HttpHeaders headers() const { return {{"Authorization", target_.authorization}}; }

    // The noted upload of exactly this form to exactly this index; else empty.
    std::string noted_id() const {
        const auto text = base::read_untrusted_file(target_.note, max_record_bytes);
        const auto note = text ? io::parse_json(*text) : base::fail(text.error());
        const bool is_ours = note && note->string_or("format", "") == note_format &&
                             note->string_or("url", "") == target_.url &&
                             note->string_or("form", "") == form_.digest();
        const std::string id = is_ours ? note->string_or("id", "") : std::string();
        return is_id(id) ? id : std::string();
    }

    base::Status remove_note() const { return base::remove_file(target_.note); }

    // Returns the answer only if the server does not begin an upload.
    base::Result<Answer> begin() {
        io::HttpHeaders all = headers();
        all.emplace_back("Content-Type", form_.content_type());
        all.emplace_back("Upload-Length", std::to_string(form_.size()));
        WHEELYARD_ASSIGN(auto answer, http_.post(target_.url, "", all));
        const std::string location = answer.header("location");
        id_ = base::base_name(location);
        if (answer.status != 201 || !is_id(id_)) return Answer(std::move(answer));
        WHEELYARD_TRY(base::replace_file(
            target_.note,
            io::Json::object(
                {{"format", note_format}, {"url", target_.url}, {"form", form_.digest()}, {"id", id_}})
                    .render() +
                "\n"));
        return Answer();
    }

    // A refusal by our registry, or a temporary server error, is returned. From any other server a refusal
    // means that it does not support uploads in parts.
    static Answer refusal_or_nothing(io::HttpAnswer refusal) {
        constexpr int not_implemented = 501;
        const std::string code = code_of(refusal);
        const bool may_pass = refusal.status != not_implemented && io::is_temporary_status(refusal.status);
        if (refusal_of(code) == Refusal::no_parts || (code.empty() && !may_pass)) return std::nullopt;
        return refusal;
    }

    static tl::unexpected<base::Error> fail_unavailable(base::Error error) {
        error.code = "upload.unavailable";
        return base::fail_as(base::ErrorKind::unavailable, base::Recovery::retry, std::move(error));
    }
    base::Error unavailable(const std::string& message) const {
        return fail_unavailable({"", "The registry does not continue the upload: " + message, id_}).value();
    }

    // Asks the registry for the upload's offset. Sets is_found_ if the registry answers.
    base::Status query_offset(base::Error& last) {
        is_found_ = false;
        auto answer = http_.head(url(), headers());
        if (!answer) {
            if (!answer.error().is_of_connection()) return base::fail(std::move(answer.error()));
            last = std::move(answer.error());
            return base::Status();
        }
        if (answer->status == 404) {
            WHEELYARD_TRY(remove_note());
            return fail_unavailable(
                {"", "The registry no longer knows this upload: it is complete or expired", id_,
                 "no action needed: if the index lacks the wheel, the next try sends it from the start"});
        }
        if (answer->status == 401 || answer->status == 403)  // an answer to HEAD has no body with details
            return base::fail_as(
                base::ErrorKind::unauthorized, base::Recovery::person,
                {"upload.not_allowed", "The registry no longer accepts the token",
                 std::to_string(answer->status),
                 "put a valid token into the `token_file` of site.toml; built wheels are kept"});
        if (answer->status >= 300) {
            last = unavailable(std::to_string(answer->status));
            return base::Status();
        }
        const auto offset = base::parse_decimal(answer->header("upload-offset"));
        if (!offset || *offset > form_.size()) {
            WHEELYARD_TRY(remove_note());
            return fail_unavailable({"", "The registry reports no valid upload offset",
                                     answer->header("upload-offset"),
                                     "no action needed: the next try sends the wheel from the start"});
        }
        if (!has_looked_) started_at_ = *offset;
        has_looked_ = is_found_ = true;
        offset_ = *offset;
        return base::Status();
    }

    // Sends the rest as one part. Returns the answer if it is final.
    base::Result<Answer> send_part(base::Error& last) {
        io::HttpProgress progress;
        if (progress_) {
            progress = [this, begun = offset_](std::uint64_t done, std::uint64_t) {
                return progress_(begun + done, form_.size());
            };
        }
        io::HttpHeaders all = headers();
        all.emplace_back("Upload-Offset", std::to_string(offset_));
        has_looked_ = true;
        auto answer = http_.send("PATCH", url(), all, form_, offset_, progress);
        if (!answer) {
            if (!answer.error().is_of_connection()) return base::fail(std::move(answer.error()));
            last = std::move(answer.error());
            return Answer();
        }
        const std::string code = code_of(*answer);
        const Refusal refusal = refusal_of(code);
        const int status = answer->status;
        if (status == 204 || status == 408 || refusal == Refusal::wrong_offset) {
            last = unavailable(code.empty() ? std::to_string(status) : code);
            return Answer();
        }
        // A refusal is final. After any other error a later call continues from the note.
        const bool is_final = !io::is_temporary_status(status) && status != 401 &&
                              refusal != Refusal::bad_token && refusal != Refusal::credentials;
        if (is_final) WHEELYARD_TRY(remove_note());
        return Answer(*std::move(answer));
    }

    io::HttpClient& http_;
    base::Clock& clock_;
    const UploadTarget& target_;
    const UploadForm& form_;
    const io::HttpProgress& progress_;
    std::string id_;
    std::uint64_t started_at_ = 0;  // the registry's offset when this call began
    std::uint64_t offset_ = 0;      // the registry's last known offset
    bool has_looked_ = false;
    bool is_found_ = false;
};

}  // namespace

base::Result<std::optional<io::HttpAnswer>> send_in_parts(io::HttpClient& http, base::Clock& clock,
                                                          const UploadTarget& target, const UploadForm& form,
                                                          const io::HttpProgress& progress) {
    return Sending(http, clock, target, form, progress).run();
}

}  // namespace wheelyard::builder
