// Who may read a private index (docs/reference/reading.md). The server asks before it answers any request
// under the address of such an index; requests under public indexes ask nobody.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "lib/wire/problem.hpp"
#include "registry/http/reply.hpp"

namespace wheelyard::http {

// What a request would learn.
enum class ReadScope {
    index_exists,  // only that the index exists: the answer checks its own scope (uploads)
    some_project,  // how to use the index
    project,       // one project or file of it
    all_projects,  // documents that name every project
};

struct ReadRequest {
    std::string authorization;  // header as sent; empty if absent
    std::string index;
    ReadScope scope = ReadScope::all_projects;
    std::string project = {};   // normalized; for ReadScope::project
    std::string filename = {};  // instead of `project`, as the address has it
};

struct Reader {
    bool may_read = false;   // false: to this caller the index does not exist
    std::string token = {};  // its ID, for limits
};

class ReaderService {
  public:
    virtual ~ReaderService() = default;
    // The answer to credentials that cannot be those of anybody, without a look at the tokens: it costs the
    // caller's thread nothing.
    [[nodiscard]] virtual std::optional<wire::Problem> refuse_at_sight(const std::string& authorization) = 0;
    // Both read the tokens for each request, so that a revoked one is refused, and run off the I/O threads.
    // Status 401: no valid credentials; 503: they cannot be checked.
    [[nodiscard]] virtual wire::Answered<Reader> may_read(const ReadRequest& request) = 0;
    // The private indexes that the credentials may read, wholly or in part. None for invalid credentials.
    [[nodiscard]] virtual std::vector<std::string> readable(const std::string& authorization) = 0;
};

struct RemoteAnswer {
    SharedArrivingFile arriving = {};  // exactly the bytes that were asked for; null: `problem`
    wire::Problem problem = {};
};

class RemoteFileService {
  public:
    virtual ~RemoteFileService() = default;
    // Where anybody gets the file for some minutes; nullopt: clients do not reach the store. Fast; any
    // thread.
    [[nodiscard]] virtual std::optional<std::string> url_for(const RemoteFile& file) = 0;
    // Calls `then` once, on another thread: when the first bytes have come, or with the problem. Fast; any
    // thread.
    virtual void fetch(const RemoteFile& file, std::function<void(RemoteAnswer)> then) = 0;
};

}  // namespace wheelyard::http
