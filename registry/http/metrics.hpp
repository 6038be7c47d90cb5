// Request counters, and their text for Prometheus. Each I/O thread has its own counters, so that no two
// threads write the same one; a scrape sums them.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

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
    friend class MetricsText;
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

// A current value.
struct Gauge {
    std::string_view name;  // without the prefix "wheelyard_"
    std::string_view help;
    double value = 0;
    std::string labels = {};  // as rendered: `index="main"`; gauges of one name follow each other
};

// State of the service behind the server. Read on an I/O thread, so the function must not block.
struct ServiceState {
    std::string not_ready = {};  // why uploads do not become installable now; empty if they do
    std::vector<Gauge> gauges = {};
    std::string note = {};  // more that /readyz says while it is ready: a line of text, or nothing
};
using ServiceStateFunction = std::function<ServiceState()>;

[[nodiscard]] std::string render_metrics(const std::vector<const RequestMetrics*>& threads,
                                         const std::vector<Gauge>& gauges);

inline constexpr std::string_view metrics_content_type = "text/plain; version=0.0.4; charset=utf-8";

}  // namespace wheelyard::http
