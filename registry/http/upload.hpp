// One upload by the legacy form (what twine, uv, poetry, pdm and flit send), from the first body byte to
// "installable".
//
//     body ─► multipart ─► staging file + digests ─► fields checked ─► inspect ─► blob stored
//          ─► row + event committed ─► published ─► 200
//
// The server creates an UploadRequest once the request's header is read and feeds it body bytes in order,
// always off the I/O threads; feed() and finish() may block on the disk. Whatever goes wrong is a
// wire::Problem with its status.
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
    std::string authorization;                    // the header as sent, empty when absent
    std::string content_type;                     // with its boundary
    std::optional<std::uint64_t> content_length;  // absent for chunked bodies
};

struct UploadDone {
    bool already_there = false;  // the same bytes were there before: still a 200
    std::int64_t serial = 0;     // of the event that published it
    std::string filename;
    // Why the file is kept but not offered; empty: it is offered.
    std::string quarantined_because = {};
    // Of a resumable upload that is not whole yet: what is durable so far.
    std::optional<std::uint64_t> offset_bytes = {};
    // Once the page is out: removes on the pool what would have served a retry. May be empty.
    std::function<void()> clean_up = {};
};

class UploadRequest {
  public:
    virtual ~UploadRequest() = default;  // undoes what was not committed
    [[nodiscard]] virtual Answered<void> feed(std::string_view body_bytes) = 0;
    // Ends the body, validates, stores, commits. May take seconds for a multi-GB wheel.
    [[nodiscard]] virtual Answered<UploadDone> finish() = 0;
    // After finish(): calls `then` once, true when the page that shows the file is out, false when it could
    // not be written. On any thread, or at once, and also after this object is gone. Never blocks: uploads
    // that wait for a slow page keep no thread of the pool.
    virtual void when_visible(std::function<void(bool visible)> then) = 0;
};

class UploadService {
  public:
    virtual ~UploadService() = default;
    // Checks credentials, index, declared length and content type before a body byte is read: 401, 403, 404,
    // 413, 415/400.
    [[nodiscard]] virtual Answered<std::unique_ptr<UploadRequest>> begin(const UploadHead& head) = 0;
};

}  // namespace wheelyard::http
