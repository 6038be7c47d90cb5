// The part of http_client.hpp that needs no libcurl; callers that only read answers do not link it.
#include "lib/base/text/text.hpp"
#include "lib/io/http_client.hpp"

namespace wheelyard::io {

std::string HttpAnswer::header(std::string_view name) const {
    for (const auto& [key, value] : headers) {
        if (base::equals_ignoring_case(key, name)) return value;
    }
    return {};
}

}  // namespace wheelyard::io
