// The protocol between launcher and broker, over a SOCK_SEQPACKET socket in a 0700 folder. One message per
// packet: text fields, each ended by NUL; the first is the verb. Both ends are the same binary, so there is
// no version.
//
//   launcher → broker                                 broker → launcher
//   hit                                               (none; the launcher exits)
//   ask SOURCE ARGUMENTS COMPILER LANGUAGE
//       ARCHITECTURES THREADS                         run GROUP | quit
//   started PID                                       stop | continue | kill, while it runs
//   ended STATUS MAXRSS_KIB CLUE COMPILED             done | again | fail SENTENCE; none for exit status 0
//
// quit: the build was cancelled; the launcher ends as if by SIGTERM. The socket's file is removed at that
// moment (was_stopped), so that a "run" which is under way and a launcher that comes later start nothing.
// hit: a cache had the result, nothing was compiled. ask is sent once per compile.
// GROUP: path of the cgroup.procs to join; "": none. PID: also the ID of its process group.
// STATUS: wait status. CLUE: "1" if memory seems to have killed it. COMPILED: "0" if a cache had the result,
// "" if the cache does not report it. After again, the next run follows when the compile may start.
//
// If a launcher dies, its socket closes and the broker frees what it held.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "lib/base/files/fd.hpp"
#include "lib/base/result.hpp"

namespace wheelyard::governor {

// Environment variables of a governed build. The interposer, which links nothing, reads them too.

inline constexpr const char* socket_variable = "WHEELYARD_GOVERNOR_SOCKET";
inline constexpr const char* root_variable = "WHEELYARD_GOVERNOR_ROOT";
inline constexpr const char* held_variable = "WHEELYARD_GOVERNOR_HELD";  // set below a governed compile
inline constexpr const char* jobs_variable = "WHEELYARD_GOVERNOR_JOBS";  // the window, or the cap
// Set if a form of calling a compiler does not pass through the launcher: no -j may be raised.
inline constexpr const char* capped_variable = "WHEELYARD_GOVERNOR_CAPPED";
inline constexpr const char* cores_variable = "WHEELYARD_GOVERNOR_CORES";
// Set below a make that got the window.
inline constexpr const char* raised_variable = "WHEELYARD_GOVERNOR_RAISED";
inline constexpr const char* shims_variable = "WHEELYARD_GOVERNOR_SHIMS";      // folder of the links on PATH
inline constexpr const char* program_variable = "WHEELYARD_GOVERNOR_PROGRAM";  // path of wheelyard-governor
inline constexpr const char* interposer_variable = "WHEELYARD_GOVERNOR_INTERPOSER";  // path in LD_PRELOAD
// Set in the self-test: the launcher answers instead of running its compiler.
inline constexpr const char* probe_variable = "WHEELYARD_GOVERNOR_PROBE";

// GCC's AddressSanitizer refuses to start behind another preloaded library unless this option is set.
inline constexpr const char* asan_option = "verify_asan_link_order=0";

inline constexpr std::int64_t term_grace_ms = 1'000;  // from SIGTERM (drivers remove their files) to SIGKILL

[[nodiscard]] std::string render_message(const std::vector<std::string>& fields);
// Empty for a malformed packet.
[[nodiscard]] std::vector<std::string> parse_message(std::string_view packet);

// Does not raise SIGPIPE; false if the other end is gone.
[[nodiscard]] bool send_message(int socket, const std::vector<std::string>& fields);
// The next message. Empty at the end of the connection or on an error; with `wait` false also if there is no
// message, then errno is EAGAIN.
[[nodiscard]] std::vector<std::string> receive_message(int socket, bool wait);

[[nodiscard]] base::Result<base::Fd> listen_at(const std::string& path);
[[nodiscard]] base::Result<base::Fd> connect_to(const std::string& path);
// Says whether the build was cancelled whose socket is at `path`: the governor's signal handler removes the
// file, and the governor leaves the folder behind. A dead broker leaves both, a build that ended by itself
// neither.
[[nodiscard]] bool was_stopped(const std::string& path);

}  // namespace wheelyard::governor
