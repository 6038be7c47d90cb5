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

// Uploads that survive disconnects and server restarts. The header fields follow the IETF draft "Resumable
// Uploads for HTTP", of which this is a subset: the body is the form of /<index>/legacy/, sent in any number
// of parts.
//
//     POST  /<index>/uploads/             Upload-Length: 4711, Content-Type: multipart/form-data; boundary=…
//        →  201, Location: /<index>/uploads/<id>, Upload-Offset: 0
//     PATCH /<index>/uploads/<id>         Upload-Offset: 0, the next bytes
//        →  204, Upload-Offset: 2000      durable so far; after the last part: the reply of /legacy/
//     HEAD  /<index>/uploads/<id>     →  204, Upload-Offset: 2000, Upload-Length: 4711
//     DELETE /<index>/uploads/<id>    →  204
struct ResumableState {
    std::string id;
    std::uint64_t offset_bytes = 0;  // durable (fsync has returned)
    std::uint64_t length_bytes = 0;
};

// Every call runs on a pool thread, checks the credentials, and may block on the disk.
class ResumableService {
  public:
    virtual ~ResumableService() = default;
    // `head.content_length` is the size of the whole form.
    [[nodiscard]] virtual Answered<ResumableState> create(const UploadHead& head) = 0;
    [[nodiscard]] virtual Answered<ResumableState> find(const UploadHead& head, const std::string& id) = 0;
    [[nodiscard]] virtual Answered<void> drop(const UploadHead& head, const std::string& id) = 0;
    // The fed bytes continue at `offset_bytes` and stay if the client disconnects. finish() returns the
    // offset (UploadDone::offset_bytes), or the result of a normal upload once the form is complete.
    [[nodiscard]] virtual Answered<std::unique_ptr<UploadRequest>> append(const UploadHead& head,
                                                                          const std::string& id,
                                                                          std::uint64_t offset_bytes) = 0;
};

}  // namespace wheelyard::http
