// One HTTP request whose body the caller brings in pieces, as it gets them itself: for passing a request on.
//
//     begin(POST, url, headers, 4711) ─► feed(bytes) … ─► finish() ─► the answer
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "lib/base/result.hpp"
#include "lib/io/http_client.hpp"

namespace wheelyard::io {

struct PushedRequest {
    std::string method;
    std::string url;
    HttpHeaders headers = {};
    // nullopt: not known, sent in chunks; 0: there is no body.
    std::optional<std::uint64_t> length_bytes = 0;
    std::uint64_t limit_bytes = 64u << 20;  // of the answer
    // Asked several times a second while it waits for the server; true ends the request.
    std::function<bool()> is_given_up = {};
};

// For one thread at a time. No redirect is followed. Errors as of HttpClient.
class HttpPush {
  public:
    [[nodiscard]] static base::Result<std::unique_ptr<HttpPush>> begin(const HttpSettings& settings,
                                                                       const PushedRequest& request);
    ~HttpPush();  // cuts the request unless finish() was called
    HttpPush(const HttpPush&) = delete;
    HttpPush& operator=(const HttpPush&) = delete;

    // Returns once libcurl has taken the bytes; discards them if the server has answered already.
    [[nodiscard]] base::Status feed(std::string_view bytes);
    // The server has answered, as one that refuses early does, or the request has failed: more bytes change
    // nothing.
    [[nodiscard]] bool has_ended() const;
    // After the last byte, or once it has ended: waits for the answer.
    [[nodiscard]] base::Result<HttpAnswer> finish();

  private:
    struct State;
    explicit HttpPush(std::unique_ptr<State> state);
    std::unique_ptr<State> state_;
};

}  // namespace wheelyard::io
