#include "lib/store/blobs/s3/s3_blobs.hpp"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <mutex>
#include <thread>
#include <utility>

#include "lib/base/check.hpp"
#include "lib/base/digest/digest.hpp"
#include "lib/base/limits.hpp"
#include "lib/base/text/encoding.hpp"
#include "lib/store/blobs/s3/credentials.hpp"

namespace wheelyard::blobs {

namespace {

constexpr std::chrono::seconds few_blobs_age{60};
constexpr std::uint64_t first_window_bytes =
    64 * base::kib;  // METADATA, provenance, the directory of a small wheel
constexpr std::uint64_t max_window_bytes = 8 * base::mib;
constexpr std::uint64_t max_parts = 10'000;  // of one object (Amazon S3)
// URLs that are made within one step are the same; each is valid for a step at least.
constexpr base::UnixMicros url_step_us = 900 * base::second_us;
constexpr int url_seconds = 30 * 60;
constexpr int max_removals_met = 5;  // by one upload, of the same bytes
constexpr base::UnixMicros unfinished_after_us = base::day_us;

// Reads windows of the object; one that follows the last is larger. Thread-safe.
class ObjectReader final : public base::Reader {
  public:
    ObjectReader(std::shared_ptr<const S3Client> client, std::string key, Connection connection,
                 S3Client::Part first)
        : client_(std::move(client)),
          key_(std::move(key)),
          connection_(connection),
          size_(first.whole_bytes),
          window_(std::move(first.bytes)) {}

    std::uint64_t size() const override { return size_; }
    base::Status read_at(std::uint64_t offset, char* into, std::size_t length) const override {
        if (length > size_ || offset > size_ - length)
            return base::fail("file.truncated", "The blob has no such bytes", key_);
        const std::lock_guard lock(mutex_);
        while (length > 0) {
            const bool is_here = offset >= begin_ && offset < begin_ + window_.size();
            if (!is_here) WHEELYARD_TRY(read_window(offset, length));
            const auto from = static_cast<std::size_t>(offset - begin_);
            const std::size_t some = std::min(length, window_.size() - from);
            std::copy_n(window_.data() + from, some, into);
            offset += some;
            into += some;
            length -= some;
        }
        return {};
    }

  private:
    base::Status read_window(std::uint64_t offset, std::size_t length) const {
        const bool is_next = offset == begin_ + window_.size();
        std::uint64_t wanted = is_next ? window_.size() * 4 : first_window_bytes;
        wanted = std::min(max_window_bytes, std::max<std::uint64_t>(wanted, length));
        wanted = std::min(wanted, size_ - offset);
        WHEELYARD_ASSIGN(S3Client::Part part, client_->get(key_, offset, wanted, connection_));
        if (part.whole_bytes != size_ || part.bytes.size() != wanted)
            return base::fail_as(
                base::ErrorKind::cut, base::Recovery::retry,
                {"s3.changed", "The object was replaced while it was read", key_, "read it again"});
        begin_ = offset;
        window_ = std::move(part.bytes);
        return {};
    }

    const std::shared_ptr<const S3Client> client_;
    const std::string key_;
    const Connection connection_;
    const std::uint64_t size_;
    mutable std::mutex mutex_;
    mutable std::uint64_t begin_ = 0;
    mutable std::string window_;
};

// A part of a file, as a body of its own.
class PartReader final : public base::Reader {
  public:
    PartReader(const base::Reader& whole, std::uint64_t begin, std::uint64_t size)
        : whole_(whole), begin_(begin), size_(size) {}
    std::uint64_t size() const override { return size_; }
    base::Status read_at(std::uint64_t offset, char* into, std::size_t length) const override {
        return whole_.read_at(begin_ + offset, into, length);
    }

  private:
    const base::Reader& whole_;
    const std::uint64_t begin_;
    const std::uint64_t size_;
};

base::Result<std::string> hash_of(const base::Reader& bytes) {
    base::Digest digest(base::DigestKind::sha256);
    WHEELYARD_TRY(base::for_each_piece(bytes, base::mib, [&](std::string_view piece) -> base::Status {
        digest.update(piece);
        return {};
    }));
    return base::encode_hex(digest.finish());
}

base::Result<std::unique_ptr<S3Blobs>> make(const Place& place, Staging staging) {
    WHEELYARD_ASSIGN(S3Address address, S3Address::of(place));
    WHEELYARD_ASSIGN(auto credentials, find_credentials(place.credentials_file));
    return std::make_unique<S3Blobs>(std::move(staging),
                                     std::make_unique<S3Client>(std::move(address), std::move(credentials)));
}

}  // namespace

S3Blobs::S3Blobs(Staging staging, std::unique_ptr<S3Client> client, S3BlobLimits limits)
    : BlobStore(std::move(staging)), client_(std::move(client)), limits_(limits) {}

base::Result<std::unique_ptr<S3Blobs>> S3Blobs::open(const Place& place) {
    WHEELYARD_ASSIGN(Staging staging, Staging::open(place.folder));
    return make(place, std::move(staging));
}

base::Result<std::unique_ptr<S3Blobs>> S3Blobs::read(const Place& place) {
    return make(place, Staging(place.folder));
}

// Nothing on the way to the disk of the store checks an object of several parts as a whole: its parts are,
// and its size.
base::Status S3Blobs::put_parts(const std::string& key, const base::Reader& bytes) const {
    const std::uint64_t part_bytes = std::max(limits_.part_bytes, (bytes.size() + max_parts - 1) / max_parts);
    WHEELYARD_ASSIGN(const std::string upload, client_->begin_upload(key));
    const auto send = [&]() -> base::Status {
        std::vector<std::string> etags;
        for (std::uint64_t begin = 0; begin < bytes.size(); begin += part_bytes) {
            const PartReader part(bytes, begin, std::min(part_bytes, bytes.size() - begin));
            WHEELYARD_ASSIGN(const std::string sha256, hash_of(part));
            WHEELYARD_ASSIGN(
                etags.emplace_back(),
                client_->put_part(key, upload, static_cast<int>(etags.size() + 1), part, sha256));
        }
        return client_->complete_upload(key, upload, etags);
    };
    auto sent = send();
    if (!sent)
        static_cast<void>(client_->abort_upload(key, upload));  // if that fails, drop_unfinished() does it
    return sent;
}

base::Status S3Blobs::put(const std::string& key, const StagedBlob& staged, const std::string& sha256) const {
    WHEELYARD_ASSIGN(const base::FileReader bytes, staged.read());
    return bytes.size() > limits_.max_single_bytes ? put_parts(key, bytes) : client_->put(key, bytes, sha256);
}

base::Status S3Blobs::check_size(const std::string& key, std::uint64_t size) const {
    WHEELYARD_ASSIGN(const S3Object stored, client_->head(key));
    if (stored.size_bytes == size) return {};
    return base::fail_as(
        base::ErrorKind::unavailable, base::Recovery::retry,
        {"s3.wrong_size",
         "The blob store " + client_->address().name + " has stored another number of bytes than it was sent",
         key + ": " + std::to_string(stored.size_bytes) + " of " + std::to_string(size),
         "see the log of the store", base::Recovery::retry, base::ErrorKind::unavailable, EPROTO});
}

// The object is looked at after the mark: a removal that was under way may have ended since the bytes were
// sent.
base::Result<std::string> S3Blobs::store(StagedBlob&& staged) const {
    StagedBlob owned = std::move(staged);
    const std::string sha256 = owned.finish();
    const std::string key = key_of(sha256);
    for (int removals = 0;;) {
        WHEELYARD_TRY(put(key, owned, sha256));
        WHEELYARD_ASSIGN(const bool again, was_dying(sha256));
        if (again) continue;
        base::Status there = check_size(key, owned.size());
        if (there) return sha256;
        const bool is_gone = there.error().os_error == ENOENT;
        if (is_gone && ++removals < max_removals_met) continue;
        if (!is_gone) return base::fail(std::move(there.error()));
        return base::fail_as(
            base::ErrorKind::unavailable, base::Recovery::retry,
            {"s3.gone", "The blob store " + client_->address().name + " does not keep what it was sent", key,
             "see the log of the store, and what else removes objects of the bucket"});
    }
}

base::Result<std::unique_ptr<base::Reader>> S3Blobs::open(std::string_view sha256, ReadFrom from) const {
    WHEELYARD_CHECK(base::is_sha256_hex(sha256));
    std::string key = key_of(sha256);
    const Connection connection = from == ReadFrom::medium ? Connection::fresh : Connection::kept;
    WHEELYARD_ASSIGN(S3Client::Part first, client_->get(key, 0, first_window_bytes, connection));
    return std::make_unique<ObjectReader>(client_, std::move(key), connection, std::move(first));
}

base::Status S3Blobs::link_into(std::string_view sha256, int, const char*) const {
    return base::fail_errno("link", sha256, EOPNOTSUPP);
}

base::Result<std::optional<StoredBlob>> S3Blobs::find(std::string_view sha256) const {
    WHEELYARD_CHECK(base::is_sha256_hex(sha256));
    const auto object = client_->head(key_of(sha256));
    if (!object && object.error().os_error == ENOENT) return std::nullopt;
    if (!object) return base::fail(object.error());
    return StoredBlob{std::string(sha256), object->size_bytes, object->modified};
}

// gc and verify ask for 256 parts in order. Of a small bucket one list holds them all, and what changes
// meanwhile they check as they do between a list and its use; a scrub goes on for long, so the list is soon
// taken again.
base::Result<std::vector<S3Object>> S3Blobs::list_part(std::string_view two_digits) const {
    const std::string start = std::string(blob_keys).append(two_digits).append("/");
    const std::lock_guard lock(*few_mutex_);
    const auto now = std::chrono::steady_clock::now();
    const bool is_first = two_digits == "00";
    if (is_first || (few_.objects && now - few_.taken > few_blobs_age)) {
        WHEELYARD_ASSIGN(few_.objects, client_->list_if_few(std::string(blob_keys)));
        few_.taken = now;
    }
    if (!few_.objects) return client_->list(start);
    std::vector<S3Object> found;
    for (const S3Object& object : *few_.objects) {
        if (object.key.starts_with(start)) found.push_back(object);
    }
    return found;
}

base::Result<std::vector<StoredBlob>> S3Blobs::list(std::string_view two_digits) const {
    const std::size_t start = blob_keys.size() + two_digits.size() + 1;
    WHEELYARD_ASSIGN(const auto objects, list_part(two_digits));
    std::vector<StoredBlob> found;
    for (const S3Object& object : objects) {
        std::string name = object.key.substr(start);
        if (!base::is_sha256_hex(name)) continue;  // not ours
        found.push_back({std::move(name), object.size_bytes, object.modified});
    }
    std::sort(found.begin(), found.end(),
              [](const StoredBlob& a, const StoredBlob& b) { return a.sha256 < b.sha256; });
    return found;
}

base::Status S3Blobs::write_identity(std::string_view document) const {
    return client_->put(std::string(identity_key), base::MemoryReader(document), base::sha256_hex(document));
}

base::Result<std::string> S3Blobs::read_identity() const {
    return client_->get(std::string(identity_key), 0, max_identity_bytes, Connection::kept)
        .map([](S3Client::Part part) { return std::move(part.bytes); });
}

std::optional<std::string> S3Blobs::url_for(std::string_view sha256, std::string_view filename) const {
    const base::UnixMicros now = client_->now();
    return client_->presigned(
        key_of(sha256),
        {{"response-cache-control", "max-age=31536000, immutable"},
         {"response-content-disposition", "attachment; filename=\"" + std::string(filename) + "\""},
         {"response-content-type", "application/octet-stream"}},
        now - now % url_step_us, url_seconds);
}

base::Status S3Blobs::stream(std::string_view sha256, std::uint64_t offset, std::uint64_t length,
                             const TakeBytes& take) const {
    return client_->stream(key_of(sha256), offset, length, take);
}

base::Result<std::size_t> S3Blobs::drop_unfinished() const {
    const base::UnixMicros before = client_->now() - unfinished_after_us;
    std::size_t dropped = 0;
    WHEELYARD_ASSIGN(const auto uploads, client_->uploads());
    for (const S3Upload& upload : uploads) {
        if (!upload.key.starts_with(blob_keys) || upload.begun >= before) continue;
        WHEELYARD_TRY(client_->abort_upload(upload.key, upload.id));
        ++dropped;
    }
    WHEELYARD_ASSIGN(const auto marks, client_->list(std::string(dying_keys)));
    for (const S3Object& mark : marks) {
        if (mark.modified < before) WHEELYARD_TRY(client_->remove(mark.key));
    }
    return dropped;
}

// Removes objects while uploads, of this process or of another, may be storing the same bytes.
//
// S3 has no safe conditional DELETE. A program that removes an object says so first, in an object beside it:
//
//     removal:  PUT dying/<hash>  →  HEAD of the blob: still old?  →  DELETE of the blob  →  DELETE dying/<hash>
//     upload:   PUT of the blob   →  HEAD dying/<hash>: there?     →  wait until it is gone, PUT again
//                                                        no        →  HEAD of the blob: gone?  →  PUT again
//
// A store shows an object as soon as its PUT is answered. So if the upload's HEAD finds no mark, a removal
// either ended before, and the upload's second HEAD sees what it has left, or its HEAD comes after the
// upload's PUT, sees the new time and keeps the object. A removal that is killed leaves a mark: it counts for
// mark_valid_us by the store's clock, within which a DELETE that was sent has long been answered or has
// failed; a removal that was paused gives up. Removals of one process do not meet (mutex_), and one leaves
// alone what another process has marked.
namespace {

constexpr base::UnixMicros mark_valid_us = 600 * base::second_us;
// From the mark to the DELETE: with the longest answer of a store still far below mark_valid_us.
constexpr std::chrono::seconds max_removal_time{60};

}  // namespace

base::Result<bool> S3Blobs::is_marked(const std::string& sha256) const {
    const auto mark = client_->head(dying_key_of(sha256));
    if (!mark && mark.error().os_error == ENOENT) return false;
    if (!mark) return base::fail(mark.error());
    return mark->modified + mark_valid_us > mark->asked;
}

base::Result<bool> S3Blobs::was_dying(const std::string& sha256) const {
    for (bool has_waited = false;; has_waited = true) {
        WHEELYARD_ASSIGN(const bool marked, is_marked(sha256));
        if (!marked) return has_waited;
        std::this_thread::sleep_for(std::chrono::milliseconds(limits_.removal_wait_ms));
    }
}

base::Result<bool> S3Blobs::remove_if_stored_before(std::string_view sha256, base::UnixMicros before) const {
    WHEELYARD_ASSIGN(const auto found, find(sha256));
    if (!found || found->stored >= before) return false;
    const std::lock_guard lock(*removal_);
    WHEELYARD_ASSIGN(const bool is_others, is_marked(std::string(sha256)));
    if (is_others) return false;
    const std::string mark = dying_key_of(sha256);
    const base::MemoryReader nothing{std::string_view()};
    const auto began = std::chrono::steady_clock::now();
    WHEELYARD_TRY(client_->put(mark, nothing, base::sha256_hex("")));
    const auto object = client_->head(key_of(sha256));
    const bool is_old = object && object->modified < before;
    const bool is_late = std::chrono::steady_clock::now() - began > max_removal_time;
    if (is_old && !is_late) WHEELYARD_TRY(client_->remove_once(key_of(sha256)));  // else the mark stays
    WHEELYARD_TRY(client_->remove(mark));
    if (!object && object.error().os_error != ENOENT) return base::fail(object.error());
    return is_old && !is_late;
}

}  // namespace wheelyard::blobs
