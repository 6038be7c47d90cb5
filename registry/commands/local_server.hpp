// The running server of a data folder, asked over its control socket (registry/store/control_socket.hpp).
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include "lib/base/result.hpp"
#include "lib/io/json.hpp"
#include "registry/store/control_socket.hpp"

namespace wheelyard::registry {

// Connected and of this program's version. nullopt: none runs, or it cannot be asked, which is said on stderr; nothing was
// asked then, so the command may work on the data folder itself.
[[nodiscard]] std::optional<ControlConnection> greet_server(const std::filesystem::path& store);

// The body of the answer, once pages show what it says. Errors: the refusal; "control.ended" and "control.silent" if nobody
// knows what the server did.
[[nodiscard]] base::Result<std::string> ask_server(ControlConnection server, std::string_view operation,
                                                   const io::Json& arguments);

// How far an operation is, for a person who waits at a terminal; its end removes the line.
class ProgressLine {
  public:
    ProgressLine();
    ~ProgressLine();
    ProgressLine(const ProgressLine&) = delete;
    ProgressLine& operator=(const ProgressLine&) = delete;
    // `of` 0: nobody knows.
    void show(std::uint64_t done, std::uint64_t of);

  private:
    const bool is_read_;
    bool is_shown_ = false;
    std::chrono::steady_clock::time_point next_;
};

}  // namespace wheelyard::registry
