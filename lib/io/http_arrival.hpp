// An answer while it arrives, within its limits: of libcurl's transfers, and of the program curl. Needs no
// libcurl.
#pragma once

#include <cstdint>
#include <string_view>

#include "lib/base/result.hpp"
#include "lib/io/http_client.hpp"

namespace wheelyard::io {

inline constexpr std::uint64_t max_header_bytes = 256u << 10;  // of one answer
inline constexpr std::uint64_t max_error_body_bytes = 1u << 20;

struct HttpArrival {
    HttpAnswer answer = {};
    BodyLimit limit = 0;
    const HttpHead* head = nullptr;  // with a sink: gets the head first, and a 206 is taken, too
    std::uint64_t received = 0, header_bytes = 0;

    // Says whether the body is what was asked for, and not that of a refusal.
    [[nodiscard]] bool is_kept() const {
        return answer.status == 200 || (answer.status == 206 && head != nullptr);
    }
    // A piece of the body, decoded. Error "http.too_large".
    [[nodiscard]] base::Status take_body(std::string_view bytes);
    // A line of the head. Each status line starts a new head: of an interim answer, a redirect or the final
    // answer.
    [[nodiscard]] base::Status take_header(std::string_view line);
};

}  // namespace wheelyard::io
