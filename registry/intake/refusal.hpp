// Builds the API's refusals: a problem with its own text, or an error mapped by a table of statuses.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "lib/base/result.hpp"
#include "lib/wire/problem.hpp"
#include "registry/http/api.hpp"

namespace wheelyard::registry {

// `detail` is a sentence without its full stop; it is also the title.
[[nodiscard]] tl::unexpected<wire::Problem> refuse(int status, std::string code, const std::string& detail,
                                                   std::string value, std::string advice);

// An error code that clients may see, and its HTTP status.
struct StatusRow {
    std::string_view code;
    int status;
};
// nullopt: the table has no row for the error's code.
[[nodiscard]] std::optional<wire::Problem> problem_by(std::span<const StatusRow> statuses,
                                                      const base::Error& error);

// A path parameter of the request; empty if it has none of this name.
[[nodiscard]] std::string parameter(const http::ApiRequest& request, std::string_view name);

}  // namespace wheelyard::registry
