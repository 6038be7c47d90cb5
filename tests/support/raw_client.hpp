// A client that sends raw bytes to 127.0.0.1, for tests of input that HTTP libraries never send. Every wait
// is bounded.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "lib/base/files/fd.hpp"

namespace wheelyard::testing {

struct RawAnswer {
    int status = 0;
    std::string head;  // status line and fields, including the empty line
    std::string body;
    [[nodiscard]] std::string reason() const;
    [[nodiscard]] std::string field(std::string_view name) const;  // empty if absent
};

class RawClient {
  public:
    explicit RawClient(std::uint16_t port, int receive_buffer = 0);
    void send(std::string_view bytes);  // as much as the server accepts; a reset is not a test failure
    [[nodiscard]] bool try_send(std::string_view bytes);
    // Sends a request and reads one answer with its body.
    [[nodiscard]] RawAnswer ask(std::string_view request);
    // Reads one answer; nullopt if the connection ended before. `of_head`: no body follows.
    [[nodiscard]] std::optional<RawAnswer> answer(bool of_head = false);
    [[nodiscard]] std::string read_some();  // empty: end of stream
    [[nodiscard]] bool has_input() const;   // bytes that were not read yet, or the end of the stream
    [[nodiscard]] bool ended();             // waits for the end of the stream; false if bytes arrive instead
    void finish_sending();
    void reset();  // closes with RST, like a client that crashed

  private:
    base::Fd socket_;
    std::string read_;
};

// "GET /… HTTP/1.1" with a Host and `fields` ("Name: value\r\n" each).
[[nodiscard]] std::string get(std::string_view target, std::string_view fields = {});

}  // namespace wheelyard::testing
