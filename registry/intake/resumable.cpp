#include "registry/intake/resumable.hpp"
#include "registry/access/agents.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

#include "lib/base/digest/digest.hpp"
#include "lib/base/files/file.hpp"
#include "lib/base/files/temp_dir.hpp"
#include "lib/base/limits.hpp"
#include "lib/base/text/encoding.hpp"
#include "lib/base/text/text.hpp"
#include "lib/io/json.hpp"
#include "lib/io/log.hpp"
#include "registry/intake/refusal.hpp"
#include "registry/intake/uploads.hpp"

namespace wheelyard::registry {
namespace {

constexpr std::size_t resumable_piece_bytes = base::mib;  // size of one read
constexpr std::uint64_t max_resumable_note_bytes = 16 * base::kib;

namespace fs = std::filesystem;
using wire::Answered;

constexpr std::string_view note_format = "wheelyard.resumable/1";
constexpr std::size_t id_bytes = 16;

tl::unexpected<wire::Problem> fail(const http::UploadHead& head, const base::Error& error) {
    io::log_error("upload.failed", {{"request", head.request_id}, {"error", error.text()}});
    return tl::unexpected(problem_of_failure(error));
}

tl::unexpected<wire::Problem> unknown(const std::string& id) {
    return refuse("upload.unknown", "Unknown resumable upload", id.substr(0, 2 * id_bytes),
                  "it may be complete, deleted, expired or owned by another token: start a new upload");
}

std::uint64_t size_of(int file) {
    struct stat info {};
    return ::fstat(file, &info) == 0 ? static_cast<std::uint64_t>(info.st_size) : 0;
}

// Removes the note first: a body without one has no owner, and drop_expired() removes it later.
void remove_both(const fs::path& stem) {
    for (const char* suffix : {".note", ".body"}) {
        fs::path file = stem;
        file += suffix;
        if (const auto removed = base::remove_file(file); !removed)
            io::log_warn("upload.not_removed", {{"error", removed.error().text()}});
    }
}

// One part, appended to the body. However it ends, the received bytes stay and are durable before a reply
// reports them.
class Part final : public http::UploadRequest {
  public:
    Part(const blobs::DiskRoom& room, http::UploadService& uploads, std::string owner, http::UploadHead head,
         fs::path stem, base::Fd body, std::uint64_t length)
        : room_(room),
          uploads_(uploads),
          owner_(std::move(owner)),
          head_(std::move(head)),
          stem_(std::move(stem)),
          body_(std::move(body)),
          length_(length) {}

    ~Part() override {
        if (body_ && !whole_) (void)base::fsync_file(body_.get(), stem_.native());
    }

    std::string owner() const override { return owner_; }

    Answered<void> feed(std::string_view bytes) override {
        if (size_of(body_.get()) + bytes.size() > length_)
            return refuse("upload.past_length", "The part exceeds the upload's length",
                          std::to_string(length_) + " bytes", "check Upload-Length and Upload-Offset");
        auto written = room_.check(bytes.size());
        if (written) written = base::write_all(body_.get(), bytes);
        if (!written) return fail(head_, written.error());
        return {};
    }

    Answered<http::UploadDone> finish() override {
        if (auto durable = base::fsync_file(body_.get(), stem_.native()); !durable)
            return fail(head_, durable.error());
        const std::uint64_t size = size_of(body_.get());
        if (size < length_) {
            http::UploadDone so_far;
            so_far.offset_bytes = size;
            return so_far;
        }
        auto done = publish();
        // A refusal is final; after a server error the client may retry.
        if (!done && done.error().status < 500) remove_both(stem_);
        // Kept until the page is published, so that the client may send the last part again, empty.
        if (done) done->clean_up = [stem = stem_] { remove_both(stem); };
        return done;
    }

    void when_visible(std::function<void(bool)> then) override {
        if (!whole_) return then(true);
        whole_->when_visible(std::move(then));
    }

  private:
    Answered<http::UploadDone> publish() {
        auto begun = uploads_.begin(head_);
        if (!begun) return tl::unexpected(std::move(begun.error()));
        fs::path file = stem_;
        file += ".body";
        const auto reader = base::FileReader::open(file);
        if (!reader) return fail(head_, reader.error());
        std::string piece(resumable_piece_bytes, '\0');
        for (std::uint64_t at = 0; at < length_;) {
            const auto size = static_cast<std::size_t>(std::min<std::uint64_t>(piece.size(), length_ - at));
            if (const auto read = reader->read_at(at, piece.data(), size); !read)
                return fail(head_, read.error());
            if (auto fed = (*begun)->feed(std::string_view(piece).substr(0, size)); !fed)
                return tl::unexpected(std::move(fed.error()));
            at += size;
        }
        auto done = (*begun)->finish();
        if (done) whole_ = *std::move(begun);
        return done;
    }

    const blobs::DiskRoom& room_;
    http::UploadService& uploads_;
    const std::string owner_;
    const http::UploadHead head_;
    const fs::path stem_;
    base::Fd body_;
    const std::uint64_t length_;
    std::unique_ptr<http::UploadRequest> whole_;  // set once the upload is committed
};

}  // namespace

struct Resumable::Note {
    std::string content_type;
    std::uint64_t length = 0;
    std::string owner;
};

base::Result<std::unique_ptr<Resumable>> Resumable::open(const fs::path& folder, blobs::DiskRoom room,
                                                         http::UploadService& uploads, TokenVerifier& tokens,
                                                         const base::Clock& clock) {
    WHEELYARD_TRY(base::make_private_directories(folder));
    if (const auto removed = base::remove_temporary_files_in(folder); !removed)
        io::log_warn("upload.not_removed", {{"error", removed.error().text()}});
    std::unique_ptr<Resumable> resumable(new Resumable(folder, std::move(room), uploads, tokens, clock));
    (void)resumable->drop_expired();
    return resumable;
}

Resumable::Owned Resumable::drop_expired() const {
    Owned left;
    std::error_code ignored;
    for (const fs::directory_entry& entry : fs::directory_iterator(folder_, ignored)) {
        struct stat info {};
        const bool there = ::stat(entry.path().c_str(), &info) == 0;
        const bool is_old =
            there && info.st_mtim.tv_sec + resumable_lifetime_s < clock_.now() / base::second_us;
        fs::path body_file = entry.path();
        body_file.replace_extension(".body");
        if (entry.path() != body_file) {  // a note, or a temporary file of one
            std::error_code none;
            if (is_old && !fs::exists(body_file, none)) (void)base::remove_file(entry.path());
            continue;
        }
        const base::Fd body(::open(body_file.c_str(), O_RDONLY | O_CLOEXEC));
        const bool is_idle =
            body && ::flock(body.get(), LOCK_EX | LOCK_NB) == 0;  // no part is being received
        fs::path stem = body_file;
        stem.replace_extension();
        if (is_old && is_idle)
            remove_both(stem);
        else
            ++left[owner_of_note(stem)];
    }
    return left;
}

Answered<http::ResumableState> Resumable::create(const http::UploadHead& head) {
    // Applies all checks that a normal upload passes before its body. The begun upload itself is discarded.
    if (auto begun = uploads_.begin(head); !begun) return tl::unexpected(std::move(begun.error()));
    auto token = tokens_.verify(head.authorization);
    if (!token) return tl::unexpected(std::move(token.error()));
    const std::lock_guard lock(creating_);
    const Owned owned = drop_expired();
    const auto of_token = owned.find(token->name);
    if (of_token != owned.end() && of_token->second >= max_resumable_uploads_of_a_token)
        return refuse("upload.too_many", "This token has too many unfinished resumable uploads",
                      std::to_string(max_resumable_uploads_of_a_token),
                      "finish some, or delete some with DELETE");
    std::size_t all = 0;
    for (const auto& [_, uploads] : owned)
        all += uploads;
    if (all >= max_resumable_uploads)
        return refuse("upload.busy", "The registry has too many unfinished resumable uploads",
                      std::to_string(max_resumable_uploads), "finish or delete some, or try again later");
    const std::string id = base::encode_hex(base::random_bytes(id_bytes));
    const auto note =
        io::Json::object({{"format", note_format},
                          {"index", head.index},
                          {"token", token->id},
                          {"owner", token->name},
                          {"content_type", head.content_type},
                          {"length", static_cast<std::int64_t>(head.content_length.value_or(0))}});
    // Write the note last: it registers the upload and syncs the folder for both files.
    const auto body = base::create_new(folder_ / (id + ".body"), 0600);
    if (!body) return fail(head, body.error());
    if (auto written = base::replace_file(folder_ / (id + ".note"), note.render(), 0600); !written) {
        remove_both(folder_ / id);
        return fail(head, written.error());
    }
    return http::ResumableState{id, 0, head.content_length.value_or(0)};
}

// The token's name. Empty for a body without a readable note: it has no owner.
std::string Resumable::owner_of_note(const fs::path& stem) {
    fs::path file = stem;
    file += ".note";
    const auto text = base::read_file(file, max_resumable_note_bytes);
    if (!text) return {};
    const auto note = io::parse_json(*text);
    return note ? note->string_or("owner", "") : std::string();
}

// Only the token that created an upload may continue it; one of the same agent that enrolled, which has
// another in half a day.
Answered<Resumable::Note> Resumable::read_note(const http::UploadHead& head, const std::string& id) const {
    auto token = tokens_.verify(head.authorization);
    if (!token) return tl::unexpected(std::move(token.error()));
    const bool is_id =
        id.size() == 2 * id_bytes && id.find_first_not_of("0123456789abcdef") == std::string::npos;
    if (!is_id) return unknown(id);
    const auto text = base::read_file(folder_ / (id + ".note"), max_resumable_note_bytes);
    if (!text) return unknown(id);
    const auto note = io::parse_json(*text);
    if (!note || note->string_or("index", "") != head.index) return unknown(id);
    const bool is_of_agent = !site_bound_to(*token).empty() && note->string_or("owner", "") == token->name;
    if (note->string_or("token", "") != token->id && !is_of_agent) return unknown(id);
    return Note{note->string_or("content_type", ""), static_cast<std::uint64_t>(note->int_or("length", 0)),
                token->name};
}

Answered<http::ResumableState> Resumable::find(const http::UploadHead& head, const std::string& id) {
    const auto note = read_note(head, id);
    if (!note) return tl::unexpected(note.error());
    const auto body = base::open_read(folder_ / (id + ".body"));
    if (!body) return unknown(id);
    const std::uint64_t size = size_of(body->get());  // before the fsync: a part may still be appending
    if (auto durable = base::fsync_file(body->get(), id); !durable) return fail(head, durable.error());
    return http::ResumableState{id, size, note->length};
}

Answered<void> Resumable::drop(const http::UploadHead& head, const std::string& id) {
    const auto note = read_note(head, id);
    if (!note) return tl::unexpected(note.error());
    const base::Fd body(::open((folder_ / (id + ".body")).c_str(), O_RDONLY | O_CLOEXEC));
    if (body && ::flock(body.get(), LOCK_EX | LOCK_NB) != 0)
        return refuse("upload.in_progress", "A part of this upload is being received", id,
                      "close its connection, then delete the upload");
    remove_both(folder_ / id);
    return {};
}

Answered<std::unique_ptr<http::UploadRequest>> Resumable::append(const http::UploadHead& head,
                                                                 const std::string& id,
                                                                 std::uint64_t offset_bytes) {
    const auto note = read_note(head, id);
    if (!note) return tl::unexpected(note.error());
    base::Fd body(::open((folder_ / (id + ".body")).c_str(), O_WRONLY | O_APPEND | O_CLOEXEC));
    if (!body) return unknown(id);
    if (::flock(body.get(), LOCK_EX | LOCK_NB) != 0)
        return refuse("upload.in_progress", "Another part of this upload is being received", id,
                      "wait until it ends, then get the offset with HEAD");
    struct stat info {};
    if (::fstat(body.get(), &info) != 0 || info.st_nlink == 0) return unknown(id);  // deleted in the meantime
    const std::uint64_t size = size_of(body.get());
    if (size != offset_bytes)
        return refuse("upload.wrong_offset", "The offset is not the end of the upload",
                      "the upload has " + std::to_string(size) + " bytes", "continue where HEAD says");
    http::UploadHead whole = head;
    whole.content_type = note->content_type;
    whole.content_length = note->length;
    return std::make_unique<Part>(room_, uploads_, note->owner, std::move(whole), folder_ / id,
                                  std::move(body), note->length);
}

}  // namespace wheelyard::registry
