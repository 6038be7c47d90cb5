// Prometheus text format 0.0.4: HELP, TYPE, then one line per value.
#include "registry/http/metrics.hpp"

#include <algorithm>
#include <cstdio>

namespace wheelyard::http {

void RequestMetrics::count(const Answered& answered) {
    OfRoute& route = routes_[static_cast<std::size_t>(answered.kind)];
    const int status = std::clamp(answered.status, 100, 599);
    add(route.by_status[static_cast<std::size_t>(status - 100)], 1);
    std::size_t bucket = 0;
    while (bucket < duration_bounds_ms.size() && answered.duration_us > duration_bounds_ms[bucket] * 1000)
        ++bucket;
    add(route.by_duration[bucket], 1);
    add(route.duration_us, static_cast<std::uint64_t>(std::max<std::int64_t>(answered.duration_us, 0)));
    add(route.sent_bytes, answered.bytes);
}

// Builds the text; a friend of RequestMetrics.
class MetricsText {
  public:
    explicit MetricsText(const std::vector<const RequestMetrics*>& threads) : threads_(threads) {}

    [[nodiscard]] std::string render(const std::vector<Gauge>& gauges) {
        begin("requests_total", "Requests answered", "counter");
        each_route([&](std::size_t route, const std::string& label) {
            for (std::size_t status = 0; status < RequestMetrics::statuses; ++status) {
                const auto count =
                    sum([&](const RequestMetrics& m) -> auto& { return m.routes_[route].by_status[status]; });
                if (count > 0)
                    line("requests_total", label + ",status=\"" + std::to_string(status + 100) + "\"", count);
            }
        });
        begin("sent_bytes_total", "Response body bytes (Content-Length)", "counter");
        each_route([&](std::size_t route, const std::string& label) {
            line("sent_bytes_total", label,
                 sum([&](const RequestMetrics& m) -> auto& { return m.routes_[route].sent_bytes; }));
        });
        durations();
        begin("received_bytes_total", "Bytes of uploads and API bodies received", "counter");
        line("received_bytes_total", "",
             sum([](const RequestMetrics& m) -> auto& { return m.received_bytes_; }));
        begin("uploads_cut_total", "Uploads whose client disconnected before the end", "counter");
        line("uploads_cut_total", "", sum([](const RequestMetrics& m) -> auto& { return m.cut_uploads_; }));
        begin("uploads_token_busy_total", "Uploads refused because their token had too many in progress",
              "counter");
        line("uploads_token_busy_total", "",
             sum([](const RequestMetrics& m) -> auto& { return m.token_busy_uploads_; }));
        std::string_view last;
        for (const Gauge& gauge : gauges) {
            if (gauge.name != last) begin(gauge.name, gauge.help, "gauge");
            last = gauge.name;
            text_.append("wheelyard_").append(gauge.name);
            if (!gauge.labels.empty()) text_.append("{").append(gauge.labels).append("}");
            text_.append(" ").append(number(gauge.value)).append("\n");
        }
        return std::move(text_);
    }

  private:
    static std::string number(double value) {
        std::array<char, 40> text{};
        const int size = std::snprintf(text.data(), text.size(), "%.15g", value);
        return {text.data(), static_cast<std::size_t>(size)};
    }

    template <typename Pick>
    std::uint64_t sum(Pick pick) const {
        std::uint64_t all = 0;
        for (const RequestMetrics* thread : threads_)
            all += pick(*thread).load(std::memory_order_relaxed);
        return all;
    }

    void begin(std::string_view name, std::string_view help, std::string_view type) {
        text_.append("# HELP wheelyard_").append(name).append(" ").append(help).append(".\n");
        text_.append("# TYPE wheelyard_").append(name).append(" ").append(type).append("\n");
    }

    void line(std::string_view name, const std::string& labels, std::uint64_t value) {
        text_.append("wheelyard_").append(name);
        if (!labels.empty()) text_.append("{").append(labels).append("}");
        text_.append(" ").append(std::to_string(value)).append("\n");
    }

    template <typename Write>
    void each_route(Write write) {
        for (std::size_t route = 0; route < route_kinds; ++route) {
            std::string label = "route=\"";
            label.append(name_of(static_cast<RouteKind>(route))).append("\"");
            write(route, label);
        }
    }

    void durations() {
        begin("request_duration_seconds", "Time from the end of the request head to the end of the response",
              "histogram");
        each_route([&](std::size_t route, const std::string& label) {
            std::uint64_t up_to = 0;
            for (std::size_t bucket = 0; bucket <= duration_bounds_ms.size(); ++bucket) {
                up_to += sum([&](const RequestMetrics& m) -> auto& {
                    return m.routes_[route].by_duration[bucket];
                });
                const bool last = bucket == duration_bounds_ms.size();
                std::string labels = label;
                labels.append(",le=\"");
                labels.append(last ? "+Inf" : number(static_cast<double>(duration_bounds_ms[bucket]) / 1000));
                labels.append("\"");
                line("request_duration_seconds_bucket", labels, up_to);
            }
            const auto us =
                sum([&](const RequestMetrics& m) -> auto& { return m.routes_[route].duration_us; });
            text_.append("wheelyard_request_duration_seconds_sum{").append(label).append("} ");
            text_.append(number(static_cast<double>(us) / 1e6)).append("\n");
            line("request_duration_seconds_count", label, up_to);
        });
    }

    const std::vector<const RequestMetrics*>& threads_;
    std::string text_;
};

std::string render_metrics(const std::vector<const RequestMetrics*>& threads,
                           const std::vector<Gauge>& gauges) {
    return MetricsText(threads).render(gauges);
}

}  // namespace wheelyard::http
