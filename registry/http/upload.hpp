// One upload with the legacy form (as twine, uv, poetry, pdm and flit send it), from the first body byte
// until the file is installable.
//
//     body ─► multipart ─► staging file + digests ─► check fields ─► inspect ─► store blob
//          ─► commit row + event ─► publish ─► 200
//
// The server creates an UploadRequest after the request's header and feeds it body bytes in order, always off
// the I/O threads; feed() and finish() may block on the disk. Every failure is a wire::Problem with its
// status.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "lib/wire/problem.hpp"

namespace wheelyard::http {

using wire::Answered;

struct UploadHead {
    std::string request_id;                       // for the log
    std::string index;                            // from the path
    std::string authorization;                    // header as sent; empty if absent
    std::string content_type;                     // with its boundary
    std::optional<std::uint64_t> content_length;  // absent for chunked bodies
};

struct UploadDone {
    bool already_there = false;  // the index had the same bytes already: also 200
    std::int64_t serial = 0;     // serial of the event that published the file
    std::string filename;
    // Why the file is quarantined; empty if it is not.
    std::string quarantined_because = {};
    // Set for an incomplete resumable upload: the number of durable bytes.
    std::optional<std::uint64_t> offset_bytes = {};
    // Called on the pool once the page is visible: removes what a retry would have needed. May be empty.
    std::function<void()> clean_up = {};
};

// Takes the bytes of a body in order, off the I/O threads; may block.
class BodySink {
  public:
    virtual ~BodySink() = default;
    [[nodiscard]] virtual Answered<void> feed(std::string_view body_bytes) = 0;
    // False after a feed(): what answers the request has its answer without the rest of the body.
    [[nodiscard]] virtual bool wants_more() const { return true; }
};

class UploadRequest : public BodySink {  // its end discards what was not committed
  public:
    // Whose upload it is: uploads of one owner are limited.
    [[nodiscard]] virtual std::string owner() const = 0;
    // Call after the last byte: validates, stores and commits. May take seconds for a multi-GB wheel.
    [[nodiscard]] virtual Answered<UploadDone> finish() = 0;
    // Call after finish(). Calls `then` once: true when the page that shows the file is visible, false if it
    // could not be written. `then` runs on any thread or before this returns, and possibly after this object
    // is destroyed. Never blocks: uploads that wait for a page occupy no pool thread.
    virtual void when_visible(std::function<void(bool visible)> then) = 0;
};

class UploadService {
  public:
    virtual ~UploadService() = default;
    // Checks credentials, index, declared length and content type before the body is read. Status 401, 403,
    // 404, 413, 415 or 400.
    [[nodiscard]] virtual Answered<std::unique_ptr<UploadRequest>> begin(const UploadHead& head) = 0;
};

}  // namespace wheelyard::http
