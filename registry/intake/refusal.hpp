// Builds the API's refusals: a problem with its own text, or an error mapped by its kind.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "lib/base/result.hpp"
#include "lib/wire/problem.hpp"
#include "registry/http/api.hpp"

namespace wheelyard::registry {

// `detail` is a sentence without its full stop; it is also the title.
[[nodiscard]] tl::unexpected<wire::Problem> refuse(wire::Refusal row, const std::string& detail,
                                                   std::string value, std::string advice);

// The problem for an error that the request caused; nullopt for other errors.
[[nodiscard]] std::optional<wire::Problem> problem_of_request(const base::Error& error);

// A path parameter of the request; empty if it has none of this name.
[[nodiscard]] std::string parameter(const http::ApiRequest& request, std::string_view name);

}  // namespace wheelyard::registry
