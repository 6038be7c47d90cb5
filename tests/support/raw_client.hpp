// A client that speaks raw bytes to 127.0.0.1, for tests of what well-behaved libraries never send. Every
// wait is bounded.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "lib/base/fd.hpp"

namespace wheelyard::testing {

struct RawAnswer {
    int status = 0;
    std::string head;  // status line and fields, with the empty line
    std::string body;
    [[nodiscard]] std::string reason() const;
    [[nodiscard]] std::string field(std::string_view name) const;  // empty when absent
};

class RawClient {
  public:
    explicit RawClient(std::uint16_t port, int receive_buffer = 0);
    void send(std::string_view bytes);  // as much as the server takes; a reset is no failure of the test
    [[nodiscard]] bool try_send(std::string_view bytes);
    // Sends and reads one answer with its body.
    [[nodiscard]] RawAnswer ask(std::string_view request);
    // One answer; nullopt when the connection ended before a whole one. `of_head`: no body follows.
    [[nodiscard]] std::optional<RawAnswer> answer(bool of_head = false);
    [[nodiscard]] std::string read_some();  // empty: ended
    [[nodiscard]] bool ended();             // waits for the end of the stream; false when bytes come instead
    void finish_sending();
    void reset();  // closes with RST: the client that went away

  private:
    base::Fd socket_;
    std::string read_;
};

// "GET /… HTTP/1.1" with a Host and `fields` ("Name: value\r\n" each).
[[nodiscard]] std::string get(std::string_view target, std::string_view fields = {});

}  // namespace wheelyard::testing
