#include "registry/config/attest_config.hpp"

#include <algorithm>

namespace wheelyard::registry {
namespace {

constexpr std::int64_t max_history = 1'000'000;
constexpr std::int64_t index_valid_days = 7;  // a mirror that stands still is noticed after that
constexpr std::int64_t max_index_valid_days = 366;
constexpr std::int64_t day_ms = 24LL * 3600 * 1000;

}  // namespace

bool AttestConfig::is_service_account(std::string_view token_id) const {
    return std::find(service_accounts.begin(), service_accounts.end(), token_id) != service_accounts.end();
}

AttestConfig read_attest(io::TomlTable table) {
    AttestConfig attest;
    attest.key = table.path_if("key").value_or("");
    attest.name = table.string_or("signer", "");
    if (!attest.name.empty() && attest.name.find(':') == std::string::npos)
        table.report("signer", "must be a URI like https://wheels.example.org");
    attest.history = table.integer_or("history", 1, 1, max_history);
    attest.index_valid_ms =
        table.integer_or("index_valid_days", index_valid_days, 1, max_index_valid_days) * day_ms;
    attest.service_accounts = table.strings_or("service_accounts", {});
    if (attest.key.empty() && !(attest.name.empty() && attest.service_accounts.empty()))
        table.report("key", "nothing is signed without a key: `wheelyard-registry attest init` makes one");
    return attest;
}

}  // namespace wheelyard::registry
