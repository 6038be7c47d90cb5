// Removes objects while uploads, of this process or of another, may be storing the same bytes.
//
// S3 has no safe conditional DELETE. A program that removes an object says so first, in an object beside it:
//
//     removal:  PUT dying/<hash>  →  HEAD of the blob: still old?  →  DELETE of the blob  →  DELETE dying/<hash>
//     upload:   PUT of the blob   →  HEAD dying/<hash>: there?     →  wait until it is gone, PUT again
//                                                        no        →  HEAD of the blob: gone?  →  PUT again
//
// A store shows an object as soon as its PUT is answered. So if the upload's HEAD finds no mark, a removal either ended
// before, and the upload's second HEAD sees what it has left, or its HEAD comes after the upload's PUT, sees the new time
// and keeps the object. A removal that is killed leaves a mark: it counts for mark_valid_us by the store's clock, within
// which a DELETE that was sent has long been answered or has failed; a removal that was paused gives up. Removals of one process do not meet (mutex_), and one leaves alone what another process has marked.
#include <cerrno>
#include <chrono>
#include <mutex>
#include <thread>
#include <utility>

#include "lib/base/check.hpp"
#include "lib/base/digest/digest.hpp"
#include "lib/base/limits.hpp"
#include "registry/blobs/s3/s3_blobs.hpp"

namespace wheelyard::blobs {
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
