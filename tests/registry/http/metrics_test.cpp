#include "registry/http/metrics.hpp"

#include <doctest/doctest.h>

#include <set>

#include "tests/support/golden.hpp"

namespace wheelyard::http {

TEST_CASE("counters of all threads add up, durations are cumulative, gauges follow") {
    RequestMetrics one;
    RequestMetrics two;
    one.count({RouteKind::project_page, 200, 1000, 900});
    two.count({RouteKind::project_page, 200, 500, 30'000});
    two.count({RouteKind::project_page, 999, 0, 700'000'000});
    two.count_received(7);
    two.count_cut_upload();
    const std::string text = render_metrics({&one, &two}, {{"connections", 2.5}});
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

TEST_CASE("the lines of one metric follow each other, in the order of the table, and a summary has two") {
    std::vector<Sample> samples{
        {"site_late", 1, "site=\"a\""}, {"connections", 3}, {"site_late", 0, "site=\"b\""}};
    add_spent(samples, "publish_duration_seconds", {4, 2.5});
    const std::string text = render_metrics({}, samples);
    const auto at = [&](std::string_view line) { return text.find(line); };
    CHECK(at("wheelyard_connections 3\n") < at("# TYPE wheelyard_publish_duration_seconds summary\n"
                                               "wheelyard_publish_duration_seconds_sum 2.5\n"
                                               "wheelyard_publish_duration_seconds_count 4\n"));
    CHECK(at("wheelyard_site_late{site=\"a\"} 1\nwheelyard_site_late{site=\"b\"} 0\n") != std::string::npos);
}

// https://prometheus.io/docs/practices/naming and /docs/instrumenting/writing_exporters
TEST_CASE("the names of the table follow Prometheus, and no two are alike") {
    std::set<std::string> names;
    for (const MetricRow& row : metric::rows) {
        CAPTURE(row.name);
        CHECK(names.insert(full_name_of(row)).second);
        CHECK(row.name.ends_with("_total") == (row.type == MetricType::counter));
        if (row.type == MetricType::histogram || row.type == MetricType::summary)
            CHECK(unit_of(row) == "seconds");
        for (const std::string_view other : {"_ms", "_us", "_mib", "_kib", "_count", "_sum", "_bucket"})
            CHECK_FALSE(row.name.ends_with(other));
        CHECK_FALSE(row.help.ends_with("."));
    }
}

TEST_CASE("the document has every metric of the table") {
    CHECK(test_support::part_difference("reference/registry-monitoring.md", "metrics",
                                        render_metric_rows()) == "");
}

}  // namespace wheelyard::http
