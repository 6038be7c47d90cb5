#include "registry/intake/refusal.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace wheelyard::registry {
namespace {

struct StatusRow {
    base::ErrorKind kind;
    int status;
};
constexpr std::array statuses{
    StatusRow{base::ErrorKind::invalid, 400},   StatusRow{base::ErrorKind::missing, 404},
    StatusRow{base::ErrorKind::conflict, 409},  StatusRow{base::ErrorKind::too_large, 413},
    StatusRow{base::ErrorKind::exhausted, 429},
};

}  // namespace

tl::unexpected<wire::Problem> refuse(int status, std::string code, const std::string& detail,
                                     std::string value, std::string advice) {
    return wire::refuse(status, std::move(code), detail, detail + ".", std::move(value), std::move(advice));
}

std::optional<wire::Problem> problem_of_request(const base::Error& error) {
    const auto* const row = std::find_if(statuses.begin(), statuses.end(),
                                         [&](const StatusRow& known) { return known.kind == error.kind; });
    if (row == statuses.end()) return std::nullopt;
    return refuse(row->status, error.code, error.sentence, error.value, error.advice).value();
}

std::string parameter(const http::ApiRequest& request, std::string_view name) {
    const auto found = request.parameters.find(name);
    return found == request.parameters.end() ? std::string() : found->second;
}

}  // namespace wheelyard::registry
