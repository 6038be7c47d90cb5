// Generates the OpenAPI 3.1 document of this server from the operations of the API and the other routes. No I/O.
#pragma once

#include <string>

#include "registry/http/api.hpp"

namespace wheelyard::http {

[[nodiscard]] std::string render_openapi(Operations api);

}  // namespace wheelyard::http
