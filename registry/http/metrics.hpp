// Request counters, why the registry is not ready, and the text of all metrics for Prometheus. Each I/O thread
// has its own counters, so that no two threads write the same one; a scrape sums them.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "lib/base/spent.hpp"
#include "lib/base/text/words.hpp"
#include "registry/http/metric_rows.hpp"
#include "registry/http/routes.hpp"

namespace wheelyard::http {

// Time from the head's last byte to the reply's last byte, in milliseconds; the last bucket is unbounded.
inline constexpr std::array<std::int64_t, 9> duration_bounds_ms{1,     5,      25,     100,    500,
                                                                2'500, 10'000, 60'000, 600'000};

class RequestMetrics {
  public:
    struct Answered {
        RouteKind kind = RouteKind::front;
        int status = 200;
        std::uint64_t bytes = 0;  // body size (Content-Length)
        std::int64_t duration_us = 0;
    };
    void count(const Answered& answered);
    void count_received(std::uint64_t bytes) { add(received_bytes_, bytes); }
    void count_cut_upload() { add(cut_uploads_, 1); }
    void count_token_busy_upload() { add(token_busy_uploads_, 1); }

  private:
    friend class RequestSamples;
    static constexpr std::size_t statuses = 500;  // 100 to 599
    using Counter = std::atomic<std::uint64_t>;
    struct OfRoute {
        std::array<Counter, statuses> by_status{};
        std::array<Counter, duration_bounds_ms.size() + 1> by_duration{};
        Counter duration_us = 0;
        Counter sent_bytes = 0;
    };
    static void add(Counter& counter, std::uint64_t amount) {
        counter.store(counter.load(std::memory_order_relaxed) + amount, std::memory_order_relaxed);
    }
    std::array<OfRoute, route_kinds> routes_{};
    Counter received_bytes_ = 0;
    Counter cut_uploads_ = 0;
    Counter token_busy_uploads_ = 0;
};

// One value of a metric.
struct Sample {
    Metric metric;
    double value = 0;
    std::string labels = {};       // as rendered: `index="main"`
    std::string_view suffix = {};  // of a summary or a histogram: "_sum"
};

[[nodiscard]] std::string render_number(double value);
// The two samples of a summary without labels.
void add_spent(std::vector<Sample>& samples, Metric metric, const base::Spent::Sum& spent);

// Why uploads do not become installable now. The first that holds counts, in the order of why_not_ready()
// (registry/serve/service_state.hpp). Each has an alert rule of its own (docs/reference/prometheus-rules.yml).
enum class NotReady {
    draining,
    no_tree,
    disk_full,
    not_writable,
    publish_fails,
    publish_lags,
    pages_behind,
    node_stopped,
    reading_only,
    clock_differs,
    store_of_another,
    newer_catalog,
};
inline constexpr auto not_ready_words =
    base::words<NotReady>({{NotReady::draining, "draining"},
                           {NotReady::no_tree, "no_tree"},
                           {NotReady::disk_full, "disk_full"},
                           {NotReady::not_writable, "not_writable"},
                           {NotReady::publish_fails, "publish_fails"},
                           {NotReady::publish_lags, "publish_lags"},
                           {NotReady::pages_behind, "pages_behind"},
                           {NotReady::node_stopped, "node_stopped"},
                           {NotReady::reading_only, "reading_only"},
                           {NotReady::clock_differs, "clock_differs"},
                           {NotReady::store_of_another, "store_of_another"},
                           {NotReady::newer_catalog, "newer_catalog"}});
struct WhyNotReady {
    NotReady reason;
    std::string text;  // a line of /readyz
};

// State of the service behind the server. Read on an I/O thread, so the function must not block.
struct ServiceState {
    std::optional<WhyNotReady> not_ready = {};  // absent: what is uploaded becomes installable
    std::vector<Sample> samples = {};
    std::string note = {};  // more that /readyz says while it is ready: a line of text, or nothing
};
using ServiceStateFunction = std::function<ServiceState()>;

[[nodiscard]] std::string render_metrics(const std::vector<const RequestMetrics*>& threads,
                                         std::vector<Sample> samples);

inline constexpr std::string_view metrics_content_type = "text/plain; version=0.0.4; charset=utf-8";

}  // namespace wheelyard::http
