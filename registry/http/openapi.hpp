// The OpenAPI 3.1 document of this server, drawn from the table of operations. Text only, no I/O.
#pragma once

#include <string>

namespace wheelyard::http {

[[nodiscard]] std::string render_openapi();

}  // namespace wheelyard::http
