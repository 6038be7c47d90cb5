// Generates the OpenAPI 3.1 document of this server from the table of operations. No I/O.
#pragma once

#include <string>

namespace wheelyard::http {

[[nodiscard]] std::string render_openapi();

}  // namespace wheelyard::http
