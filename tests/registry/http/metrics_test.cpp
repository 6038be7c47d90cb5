#include "registry/http/metrics.hpp"

#include <doctest/doctest.h>

namespace wheelyard::http {

TEST_CASE("counters of all threads add up, durations are cumulative, gauges follow") {
    RequestMetrics one;
    RequestMetrics two;
    one.count({RouteKind::project_page, 200, 1000, 900});
    two.count({RouteKind::project_page, 200, 500, 30'000});
    two.count({RouteKind::project_page, 999, 0, 700'000'000});
    two.count_received(7);
    two.count_cut_upload();
    const std::string text = render_metrics({&one, &two}, {{"connections", "Clients connected", 2.5}});
    for (const std::string line : {"# TYPE wheelyard_requests_total counter",
                                   "wheelyard_requests_total{route=\"page\",status=\"200\"} 2",
                                   "wheelyard_requests_total{route=\"page\",status=\"599\"} 1",
                                   "wheelyard_sent_bytes_total{route=\"page\"} 1500",
                                   "wheelyard_request_duration_seconds_bucket{route=\"page\",le=\"0.001\"} 1",
                                   "wheelyard_request_duration_seconds_bucket{route=\"page\",le=\"0.025\"} 1",
                                   "wheelyard_request_duration_seconds_bucket{route=\"page\",le=\"0.1\"} 2",
                                   "wheelyard_request_duration_seconds_bucket{route=\"page\",le=\"600\"} 2",
                                   "wheelyard_request_duration_seconds_bucket{route=\"page\",le=\"+Inf\"} 3",
                                   "wheelyard_request_duration_seconds_count{route=\"page\"} 3",
                                   "wheelyard_request_duration_seconds_sum{route=\"page\"} 700.0309",
                                   "wheelyard_received_bytes_total 7", "wheelyard_uploads_cut_total 1",
                                   "# TYPE wheelyard_connections gauge", "wheelyard_connections 2.5"}) {
        CAPTURE(line);
        CHECK(("\n" + text).find("\n" + line + "\n") != std::string::npos);
    }
    CHECK(text.find("status=\"404\"") == std::string::npos);
}

}  // namespace wheelyard::http
