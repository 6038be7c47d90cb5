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
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "registry/http/upload.hpp"

namespace wheelyard::http {

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
