// What users ask of the farm itself: what it is doing, and a package that is not there yet.
#pragma once

#include <string>
#include <vector>

#include "indexer/avail_wheels/cli.hpp"
#include "lib/simple/client.hpp"

namespace wheelyard::avail_wheels {

inline const std::vector<std::string> status_columns{"name", "version", "python", "state", "why"};

// The rows of --status: the agent's plan ("wheelyard.plan/1", what `wheelyard-builder plan --json` prints) as
// the site publishes it, for the wanted names. Errors "farm.*".
[[nodiscard]] base::Result<std::vector<Row>> read_status(const simple::GetPage& get, const Options& options);

// A file in the site's folder of requests, one [[want]] of the site's own form, which an administrator adds
// to it:
//
//     # asked for by anna on login1, 2026-11-20T12:00:00.000000Z
//     [[want]]
//     package = "torch"
//     versions = ["==2.6"]
//     pythons = ["3.12"]
//
// What the same user has asked for already is not asked again; nobody has more than max_requests_of_one
// open. Returns what to tell the user.
[[nodiscard]] base::Result<std::string> write_request(const Options& options, const std::string& requirement,
                                                      const std::string& user, const std::string& host,
                                                      const base::Clock& clock);

}  // namespace wheelyard::avail_wheels
