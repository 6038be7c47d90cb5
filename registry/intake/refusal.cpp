#include "registry/intake/refusal.hpp"

#include <utility>

namespace wheelyard::registry {
tl::unexpected<wire::Problem> refuse(wire::Refusal row, const std::string& detail, std::string value,
                                     std::string advice) {
    return wire::refuse(row, detail, detail + (detail.ends_with('?') ? "" : "."), std::move(value),
                        std::move(advice));
}

std::optional<wire::Problem> problem_of_request(const base::Error& error) {
    const int status = wire::status_of(error.kind);
    if (status == 0) return std::nullopt;
    // To the server, too, others refuse something, or lack it: upstreams, providers, the blob store. The
    // codes of what is invalid in a configuration have no rows.
    if (error.kind != base::ErrorKind::invalid && !wire::is_refusal(status, error.code)) return std::nullopt;
    return refuse(wire::Refusal::coded(status, error.code), error.sentence, error.value, error.advice)
        .value();
}

std::string parameter(const http::ApiRequest& request, std::string_view name) {
    const auto found = request.parameters.find(name);
    return found == request.parameters.end() ? std::string() : found->second;
}

}  // namespace wheelyard::registry
