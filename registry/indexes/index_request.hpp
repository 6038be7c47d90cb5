// How a command on the server's machine asks the running server to change its indexes: a file in the store, SIGHUP, and a
// file with the result. Signals have a sender, who is in the audit log.
//
//     index-request.json   {"format":"wheelyard.index_request/1","id":…,"before":…,"list":…}
//     index-result.json    {"format":"wheelyard.index_result/1","id":…,"problem":""}
#pragma once

#include <sys/types.h>

#include <filesystem>
#include <optional>
#include <string>

#include "lib/base/result.hpp"
#include "registry/store/index_list.hpp"

namespace wheelyard::registry {

struct IndexRequest {
    std::string id;
    std::string before;  // revision of the list that the caller saw
    IndexList wanted;
};

// The command's side: asks the server and waits for its result. Errors: "index.busy" (another command waits for the
// server), "index.not_changed" with the server's problem, "index.ended", "index.slow".
[[nodiscard]] base::Status ask_server(const RegistryConfig& config, pid_t server,
                                      const IndexRequest& request);

// The server's side. take_request() removes what it returns; nullopt: there is none.
[[nodiscard]] base::Result<std::optional<IndexRequest>> take_request(const std::filesystem::path& store);
[[nodiscard]] base::Status answer_request(const std::filesystem::path& store, const std::string& id,
                                          const std::string& problem);
// What a kill left, before the first request.
[[nodiscard]] base::Status remove_requests(const std::filesystem::path& store);

}  // namespace wheelyard::registry
