// How the API refuses: a problem of its own words, or an error by its kind.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "lib/base/result.hpp"
#include "lib/wire/problem.hpp"
#include "registry/http/api.hpp"

namespace wheelyard::registry {

// `detail`: a sentence without its full stop; its beginning is the title.
[[nodiscard]] tl::unexpected<wire::Problem> refuse(int status, std::string code, const std::string& detail,
                                                   std::string value, std::string advice);

// An error that the request is to blame for. nullopt: it is of another kind.
[[nodiscard]] std::optional<wire::Problem> problem_of_request(const base::Error& error);

// Of the address; empty where it has none of this name.
[[nodiscard]] std::string parameter(const http::ApiRequest& request, std::string_view name);

}  // namespace wheelyard::registry
