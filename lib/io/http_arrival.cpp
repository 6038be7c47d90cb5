#include "lib/io/http_arrival.hpp"

#include <algorithm>
#include <string>

#include "lib/base/text/text.hpp"

namespace wheelyard::io {

base::Status HttpArrival::take_body(std::string_view bytes) {
    if (is_kept() && head != nullptr && received == 0) WHEELYARD_TRY((*head)(answer));
    const auto most = limit.sink == nullptr || is_kept() ? limit.bytes : max_error_body_bytes;
    received += bytes.size();
    if (received > most)
        return base::fail_as(
            base::ErrorKind::too_large, base::Recovery::never,
            {"http.too_large", "The answer has more than " + std::to_string(most) + " bytes", {}, {}});
    if (limit.sink != nullptr && is_kept()) return (*limit.sink)(bytes);
    answer.body += bytes;
    return {};
}

base::Status HttpArrival::take_header(std::string_view line) {
    header_bytes += line.size();
    if (header_bytes > max_header_bytes)
        return base::fail(
            "http.too_large", "The answer's headers are too large", {},
            "check the URL and the proxy: they may have " + std::to_string(max_header_bytes) + " bytes");
    line = base::trim(line);
    if (line.starts_with("HTTP/")) {
        answer.headers.clear();
        const auto code_at = line.find(' ');
        const auto rest = code_at == std::string_view::npos ? std::string_view() : line.substr(code_at + 1);
        answer.status = static_cast<int>(base::parse_decimal(rest.substr(0, 3)).value_or(0));
        answer.reason = std::string(base::trim(rest.substr(std::min<std::size_t>(3, rest.size()))));
        return {};
    }
    if (const auto colon = line.find(':'); colon != std::string_view::npos && colon > 0) {
        answer.headers.emplace_back(base::ascii_lower(line.substr(0, colon)),
                                    std::string(base::trim(line.substr(colon + 1))));
    }
    return {};
}

}  // namespace wheelyard::io
