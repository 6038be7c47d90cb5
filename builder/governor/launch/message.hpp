// What launcher and broker say to each other over a SOCK_SEQPACKET socket in a 0700 folder: one message a
// packet, text fields ended by NUL, the first of them the verb. Both ends are one binary, so there is one
// version.
//
//   launcher                                  broker
//   hit                                       (a cache had it: nothing was compiled, nothing follows)
//   ask source arguments compiler language architectures threads          (once a compile)
//                                             run GROUP      start it, in the cgroup of that cgroup.procs,
//                                             "": none
//   started PID                               (a process group of that number)
//                                             stop | continue | kill        while it runs
//   ended STATUS MAXRSS_KIB CLUE COMPILED
//                                             (wait status; CLUE: it looks as if memory killed it; COMPILED:
//                                             "0" when a cache had it, "" when the cache does not say)
//                                             done | again (and "run" in its turn) | fail SENTENCE
//   Exit status 0 needs no answer. A launcher that dies closes the socket, which frees what it held.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "lib/base/fd.hpp"
#include "lib/base/result.hpp"

namespace wheelyard::governor {

// The environment that a governed build carries.
inline constexpr const char* socket_variable = "WHEELYARD_GOVERNOR_SOCKET";
inline constexpr const char* root_variable = "WHEELYARD_GOVERNOR_ROOT";
inline constexpr const char* held_variable = "WHEELYARD_GOVERNOR_HELD";  // set below a governed compile
inline constexpr const char* jobs_variable = "WHEELYARD_GOVERNOR_JOBS";  // the window
inline constexpr const char* cores_variable = "WHEELYARD_GOVERNOR_CORES";
inline constexpr const char* raised_variable =
    "WHEELYARD_GOVERNOR_RAISED";  // below a make that got the window

[[nodiscard]] std::string render_message(const std::vector<std::string>& fields);
// Empty when it is none.
[[nodiscard]] std::vector<std::string> parse_message(std::string_view packet);

// Sends without SIGPIPE; false when the other end is gone.
[[nodiscard]] bool send_message(int socket, const std::vector<std::string>& fields);
// The next message; empty at the end, on an error, or (with `wait` false) when there is none, errno then
// EAGAIN.
[[nodiscard]] std::vector<std::string> receive_message(int socket, bool wait);

[[nodiscard]] base::Result<base::Fd> listen_at(const std::string& path);
[[nodiscard]] base::Result<base::Fd> connect_to(const std::string& path);

}  // namespace wheelyard::governor
