// The control socket of a store, `control.sock`: how a command asks the store's running server
// (docs/explanation/decisions/ 0031). Only root and the store's owner are answered. A connection carries one
// operation; each line is a JSON document:
//
//     server   {"format":"wheelyard.control/1","version":"0.1.0"}        or with "problem": this user is not answered
//     command  {"operation":"yankFile","arguments":{"index":"main",…}}
//     server   {"done":3,"of":256}                                         each second, while it works
//     server   {"answer":"{…}"}                                            or {"problem":{"code":…,"detail":…}}
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

#include "lib/base/files/fd.hpp"
#include "lib/base/result.hpp"
#include "lib/io/json.hpp"

namespace wheelyard::registry {

inline constexpr std::string_view control_format = "wheelyard.control/1";
inline constexpr std::int64_t control_alive_ms = 1'000;     // between lines of a server that works
inline constexpr std::int64_t control_greeting_ms = 5'000;  // until a server that does not greet hangs
inline constexpr std::int64_t control_silence_ms =
    30'000;  // until one that worked hangs; also to take a line
inline constexpr std::size_t max_control_line_bytes = 256 * 1024 * 1024;  // the files of a large index

// One end of a connection. Not thread-safe.
class ControlConnection {
  public:
    explicit ControlConnection(base::Fd socket);
    // Errors: "control.ended" if the other end has closed, "control.silent" if no whole line came in time,
    // "control.line".
    [[nodiscard]] base::Result<io::Json> read(std::int64_t timeout_ms);
    [[nodiscard]] base::Status write(const io::Json& line);
    // Who connected, as this process's user namespace names it.
    [[nodiscard]] base::Result<uid_t> peer() const;

  private:
    base::Fd socket_;
    std::string unread_;
};

// Replaces the socket that a crash left: the caller has the store's lock.
[[nodiscard]] base::Result<base::Fd> listen_for_commands(const std::filesystem::path& store);
[[nodiscard]] base::Status remove_control_socket(const std::filesystem::path& store);
// An error of the system's number, such as ECONNREFUSED: nobody listens.
[[nodiscard]] base::Result<ControlConnection> connect_to_server(const std::filesystem::path& store);

}  // namespace wheelyard::registry
