#include "builder/remote/report_client.hpp"

#include "builder/remote/refusal.hpp"
#include "builder/remote/upload.hpp"
#include "lib/base/files/file.hpp"
#include "lib/base/text/encoding.hpp"
#include "lib/wire/problem.hpp"

namespace wheelyard::builder {

base::Status send_report(io::HttpClient& http, const RegistrySettings& registry, const std::string& site,
                         const std::string& report) {
    constexpr int status_ok = 200;
    WHEELYARD_ASSIGN(const std::string token, read_token(registry.token_file));
    const std::string url = registry.url + "/api/v1/indexes/" + base::encode_percent(registry.index) +
                            "/sites/" + base::encode_percent(site);
    const base::MemoryReader body(report);
    WHEELYARD_ASSIGN(
        const auto answer,
        http.send("PUT", url, {{"Authorization", "Bearer " + token}, {"Content-Type", "application/json"}},
                  body, 0));
    if (answer.status == status_ok) return {};
    const auto problem = wire::parse_problem(answer.body);
    return io::fail_status(
        answer.status,
        {"report.refused",
         "The registry answers " + std::to_string(answer.status) + ": " + message_of(answer, problem),
         problem ? problem->value : "",
         problem ? problem->advice : "check `url` in [registry] of site.toml"});
}

}  // namespace wheelyard::builder
