#include "builder/remote/report_client.hpp"

#include "builder/remote/refusal.hpp"
#include "builder/remote/upload.hpp"
#include "lib/base/files/file.hpp"
#include "lib/base/limits.hpp"
#include "lib/base/text/encoding.hpp"
#include "lib/io/json.hpp"
#include "lib/simple/registry_address.hpp"
#include "lib/wire/problem.hpp"

namespace wheelyard::builder {

namespace {

constexpr int status_ok = 200;
constexpr std::uint64_t max_answer_bytes = 64 * base::kib;

tl::unexpected<base::Error> refused(io::HttpClient& http, const RegistrySettings& registry,
                                    const io::HttpAnswer& answer,
                                    const base::Result<wire::Problem>& problem) {
    WHEELYARD_TRY(simple::check_registry(simple::page_getter(http), registry.url, answer));
    return io::fail_status(
        answer.status,
        {"report.refused",
         "The registry answers " + std::to_string(answer.status) + ": " + message_of(answer, problem),
         problem ? problem->value : "",
         problem ? problem->advice : "check `url` in [registry] of site.toml"});
}

}  // namespace

base::Status send_report(io::HttpClient& http, const RegistrySettings& registry, const std::string& site,
                         const std::string& report) {
    WHEELYARD_ASSIGN(const std::string token, read_token(registry.token_file));
    const std::string url = registry.url + "/api/v1/indexes/" + base::encode_percent(registry.index) +
                            "/sites/" + base::encode_percent(site);
    const base::MemoryReader body(report);
    WHEELYARD_ASSIGN(
        const auto answer,
        http.send("PUT", url, {{"Authorization", "Bearer " + token}, {"Content-Type", "application/json"}},
                  body, 0));
    if (answer.status == status_ok) return {};
    return refused(http, registry, answer, wire::parse_problem(answer.body));
}

base::Result<LogAnswer> send_build_log(io::HttpClient& http, const RegistrySettings& registry,
                                       const std::string& site, const std::string& build, std::int64_t offset,
                                       const std::string& piece) {
    WHEELYARD_ASSIGN(const std::string token, read_token(registry.token_file));
    const std::string url = registry.url + "/api/v1/indexes/" + base::encode_percent(registry.index) +
                            "/builds/" + base::encode_percent(site) + "/" + base::encode_percent(build) +
                            "/log?offset=" + std::to_string(offset);
    WHEELYARD_ASSIGN(
        const io::HttpAnswer answer,
        http.post(url, piece, {{"Authorization", "Bearer " + token}, {"Content-Type", "text/plain"}},
                  max_answer_bytes));
    if (answer.status == status_ok) {
        const auto json = io::parse_json(answer.body);
        const io::Json* bytes = json ? json->find("log_bytes") : nullptr;
        const std::int64_t* count = bytes == nullptr ? nullptr : bytes->as_int();
        if (count != nullptr && *count >= 0) return LogAnswer{LogAnswer::Word::kept, *count};
        return LogAnswer{LogAnswer::Word::absent};
    }
    const auto problem = wire::parse_problem(answer.body);
    switch (problem ? refusal_of(problem->code) : Refusal::other) {
        case Refusal::log_gap:
            return LogAnswer{LogAnswer::Word::gap};
        case Refusal::log_full:
            return LogAnswer{LogAnswer::Word::full};
        case Refusal::no_build:
            return LogAnswer{LogAnswer::Word::unknown};
        case Refusal::no_address:
            return LogAnswer{LogAnswer::Word::absent};
        default:
            break;
    }
    return refused(http, registry, answer, problem);
}

}  // namespace wheelyard::builder
