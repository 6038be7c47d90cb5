// User commands for the build farm: its status, and requests for packages.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "indexer/avail_wheels/cli.hpp"
#include "indexer/avail_wheels/query/wanted.hpp"
#include "lib/base/clock.hpp"
#include "lib/io/http_client.hpp"
#include "lib/simple/client.hpp"
#include "lib/status/index_status.hpp"

namespace wheelyard::avail_wheels {

inline const std::vector<std::string> status_columns{"name", "version", "python", "accelerator",
                                                     "site", "state",   "why"};
enum StatusColumn : std::size_t { name_column, version_column, python_column, state_column = 5, why_column };

struct FarmStatus {
    std::vector<Row> rows;             // of the wanted names
    std::vector<std::string> notices;  // of each late site: "the agent of bede has not reported for 3 h"
};

// The status.json of an index (lib/status/index_status.hpp): that of the site file, else of the index or
// folder of the other commands. Errors "farm.*" and "index_status.format".
[[nodiscard]] base::Result<status::IndexStatus> read_index_status(const simple::GetPage& get,
                                                                  const Options& options);
[[nodiscard]] base::Result<FarmStatus> read_status(const simple::GetPage& get, const Options& options,
                                                   base::UnixMicros now);

// Writes a request into the site's folder of requests: one [[want]] as in the site file, which an
// administrator copies there:
//
//     # requested by anna on login1, 2026-11-20T12:00:00.000000Z
//     [[want]]
//     package = "torch"
//     versions = ["==2.6"]
//     pythons = ["3.12"]
//
// An identical request of the same user is not written twice, and a user may have at most
// max_requests_per_user open. Returns a message for the user.
[[nodiscard]] base::Result<std::string> write_request(const Options& options, const std::string& requirement,
                                                      const std::string& user, const std::string& host,
                                                      const base::Clock& clock);

// Requests to a registry: each is a task of its queue (docs/reference/task.md).

// Sends a small body and returns the answer of any status.
using PostDocument = std::function<base::Result<io::HttpAnswer>(
    const std::string& url, const std::string& body, const io::HttpHeaders& headers)>;

// The queue that receives requests: the registry of `requests` in the site file, or, without that key and if
// the user has a token, that of the index. nullopt: the site's folder.
struct RequestQueue {
    std::string registry;  // "https://wheels.example.org"
    std::string index;     // "main"
};
// "https://farm/main/simple/" → the registry and its index "main".
[[nodiscard]] std::optional<RequestQueue> queue_of_index(std::string_view url);
[[nodiscard]] std::optional<RequestQueue> request_queue(const Options& options,
                                                        const EnvironmentMap& environment);

// Adds a task for each Python. The registry returns the existing task for a repeated request. The user's
// token is in $WHEELYARD_TOKEN_FILE, else in wheelyard/token of the configuration folder, else that of a
// log-in. Returns a message for the user. Errors: "farm.version", "farm.python", "farm.token",
// "farm.refused", "registry.*", "http.*".
[[nodiscard]] base::Result<std::string> ask_registry(const simple::GetPage& get, const PostDocument& post,
                                                     const RequestQueue& queue, const Wanted& wanted,
                                                     const std::vector<Python>& pythons,
                                                     const EnvironmentMap& environment);

}  // namespace wheelyard::avail_wheels
