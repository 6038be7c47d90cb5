// Requests to a registry: each is a task of its queue (docs/reference/task.md).
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "indexer/avail_wheels/cli.hpp"
#include "indexer/avail_wheels/query/wanted.hpp"
#include "lib/io/http_client.hpp"
#include "lib/simple/client.hpp"

namespace wheelyard::avail_wheels {

// Sends a small body and returns the answer of any status.
using PostDocument = std::function<base::Result<io::HttpAnswer>(
    const std::string& url, const std::string& body, const io::HttpHeaders& headers)>;

// The queue that receives requests: the registry of `requests` in the site file, or, without that key and if the user
// has a token, that of the index. nullopt: the site's folder.
struct RequestQueue {
    std::string registry;  // "https://wheels.example.org"
    std::string index;     // "main"
};
// "https://farm/main/simple/" → the registry and its index "main".
[[nodiscard]] std::optional<RequestQueue> queue_of_index(std::string_view url);
[[nodiscard]] std::optional<RequestQueue> request_queue(const Options& options,
                                                        const EnvironmentMap& environment);

// Adds a task for each Python. The registry returns the existing task for a repeated request. The user's
// token is in $WHEELYARD_TOKEN_FILE, else in wheelyard/token of the configuration folder, else that of a log-in. Returns a message for the
// user. Errors: "farm.version", "farm.python", "farm.token", "farm.refused", "registry.*", "http.*".
[[nodiscard]] base::Result<std::string> ask_registry(const simple::GetPage& get, const PostDocument& post,
                                                     const RequestQueue& queue, const Wanted& wanted,
                                                     const std::vector<Python>& pythons,
                                                     const EnvironmentMap& environment);

}  // namespace wheelyard::avail_wheels
