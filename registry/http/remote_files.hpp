// Files whose bytes are in a blob store beside this machine. The published tree says which there are and how large they
// are; a client gets a URL of the store, or the server passes the bytes on.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "lib/wire/problem.hpp"
#include "registry/http/reply.hpp"

namespace wheelyard::http {

struct RemoteAnswer {
    SharedArrivingFile arriving = {};  // exactly the bytes that were asked for; null: `problem`
    wire::Problem problem = {};
};

class RemoteFileService {
  public:
    virtual ~RemoteFileService() = default;
    // Where anybody gets the file for some minutes; nullopt: clients do not reach the store. Fast; any thread.
    [[nodiscard]] virtual std::optional<std::string> url_for(const RemoteFile& file) = 0;
    // Calls `then` once, on another thread: when the first bytes have come, or with the problem. Fast; any thread.
    virtual void fetch(const RemoteFile& file, std::function<void(RemoteAnswer)> then) = 0;
};

}  // namespace wheelyard::http
