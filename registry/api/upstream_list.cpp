#include "registry/api/upstream_list.hpp"

#include <utility>

#include "lib/base/clock.hpp"
#include "lib/base/text/url.hpp"
#include "lib/io/json.hpp"
#include "registry/upstream/last_failures.hpp"

namespace wheelyard::registry {
namespace {

io::Json failures_of(const RegistryConfig& config, const std::string& cache_index) {
    io::Json list = io::Json::array();
    const auto failures = read_last_failures(config.store / "upstream", cache_index);
    for (auto one = failures.rbegin(); one != failures.rend(); ++one)
        list.push(io::Json::object({{"time", base::render_rfc3339(one->time)},
                                    {"since", base::render_rfc3339(one->since == 0 ? one->time : one->since)},
                                    {"count", one->count},
                                    {"next_try", base::render_rfc3339(one->next_try)},
                                    {"project", one->project},
                                    {"upstream_wide", one->is_upstream_wide},
                                    {"code", one->code},
                                    {"error", one->sentence},
                                    {"value", one->value}}));
    return list;
}

}  // namespace

std::string describe_upstreams(const RegistryConfig& config, const std::string& index) {
    io::Json upstreams = io::Json::array();
    if (const IndexConfig* known = config.find_index(index); known != nullptr) {
        for (const UpstreamConfig& upstream : known->upstreams) {
            const auto url = base::parse_url(upstream.url);
            upstreams.push(io::Json::object({{"upstream", upstream.cache_index},
                                             {"url", url ? url->text_without_secrets() : url.error().value},
                                             {"failures", failures_of(config, upstream.cache_index)}}));
        }
    }
    return io::Json::object(
               {{"format", "wheelyard.upstreams/1"}, {"index", index}, {"upstreams", std::move(upstreams)}})
        .render();
}

}  // namespace wheelyard::registry
