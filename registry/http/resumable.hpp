// Uploads that survive a cut line and a restart of the server, after the IETF draft "Resumable Uploads for
// HTTP" in its fields, with less of it: the body is the very form of /<index>/legacy/, sent in as many parts
// as it takes.
//
//     POST  /<index>/uploads/             Upload-Length: 4711, Content-Type: multipart/form-data; boundary=…
//        →  201, Location: /<index>/uploads/<id>, Upload-Offset: 0
//     PATCH /<index>/uploads/<id>         Upload-Offset: 0, the next bytes
//        →  204, Upload-Offset: 2000      durable up to there; once the form is whole: what /legacy/ answers
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
    std::uint64_t offset_bytes = 0;  // durable: said only after fsync
    std::uint64_t length_bytes = 0;
};

// Every call runs on the pool, checks the credentials, and may wait for the disk.
class ResumableService {
  public:
    virtual ~ResumableService() = default;
    // `head.content_length` is the whole form's.
    [[nodiscard]] virtual Answered<ResumableState> create(const UploadHead& head) = 0;
    [[nodiscard]] virtual Answered<ResumableState> find(const UploadHead& head, const std::string& id) = 0;
    [[nodiscard]] virtual Answered<void> drop(const UploadHead& head, const std::string& id) = 0;
    // What is fed continues at `offset_bytes`, and stays when the client goes away. finish() says how far it
    // is (UploadDone::offset_bytes), or, of a form that is whole, what an upload at once would have come to.
    [[nodiscard]] virtual Answered<std::unique_ptr<UploadRequest>> append(const UploadHead& head,
                                                                          const std::string& id,
                                                                          std::uint64_t offset_bytes) = 0;
};

}  // namespace wheelyard::http
