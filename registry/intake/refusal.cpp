#include "registry/intake/refusal.hpp"

#include <utility>

namespace wheelyard::registry {

tl::unexpected<wire::Problem> refuse(int status, std::string code, const std::string& detail,
                                     std::string value, std::string advice) {
    return wire::refuse(status, std::move(code), detail, detail + ".", std::move(value), std::move(advice));
}

std::optional<wire::Problem> problem_by(std::span<const StatusRow> statuses, const base::Error& error) {
    for (const StatusRow& row : statuses) {
        if (row.code == error.code)
            return refuse(row.status, error.code, error.sentence, error.value, error.advice).value();
    }
    return std::nullopt;
}

std::string parameter(const http::ApiRequest& request, std::string_view name) {
    const auto found = request.parameters.find(name);
    return found == request.parameters.end() ? std::string() : found->second;
}

}  // namespace wheelyard::registry
