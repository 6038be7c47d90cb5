// Prometheus text format 0.0.4: HELP, TYPE, then one line per value.
#include "registry/http/metrics.hpp"

#include <algorithm>
#include <cstdio>
#include <iterator>
#include <utility>

namespace wheelyard::http {

std::string_view type_of(const MetricRow& row) {
    constexpr std::string_view words[] = {"counter", "gauge", "histogram", "summary"};
    return words[static_cast<std::size_t>(row.type)];
}

std::string_view unit_of(const MetricRow& row) {
    std::string_view name = row.name;
    if (name.ends_with("_total")) name.remove_suffix(6);
    for (const std::string_view unit : {"seconds", "bytes"}) {
        if (name.ends_with(unit)) return unit;
    }
    return {};
}

std::string full_name_of(const MetricRow& row) {
    return (row.name.starts_with("process_") ? "" : "wheelyard_") + std::string(row.name);
}

std::string render_metric_rows() {
    std::string text;
    std::string_view part;
    for (const MetricRow& row : metric::rows) {
        if (row.part != part)
            text.append(part.empty() ? "" : "\n")
                .append("### ")
                .append(row.part)
                .append("\n\n| metric | labels | type | unit | meaning |\n|---|---|---|---|---|\n");
        part = row.part;
        text.append("| `").append(full_name_of(row)).append("` | ").append(row.labels);
        text.append(" | ").append(type_of(row)).append(" | ").append(unit_of(row));
        text.append(" | ").append(row.help).append(" |\n");
    }
    return text;
}

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

// The samples of all threads; a friend of RequestMetrics.
class RequestSamples {
  public:
    explicit RequestSamples(const std::vector<const RequestMetrics*>& threads) : threads_(threads) {}

    [[nodiscard]] std::vector<Sample> all() {
        for (std::size_t route = 0; route < route_kinds; ++route) {
            const std::string label = "route=\"" + std::string(name_of(static_cast<RouteKind>(route))) + "\"";
            for (std::size_t status = 0; status < RequestMetrics::statuses; ++status) {
                const double count =
                    sum([&](const auto& m) -> auto& { return m.routes_[route].by_status[status]; });
                if (count > 0 || status + 100 == 500)  // an alert asks by how much these grew
                    samples_.push_back({"requests_total", count,
                                        label + ",status=\"" + std::to_string(status + 100) + "\""});
            }
            samples_.push_back({"sent_bytes_total",
                                sum([&](const auto& m) -> auto& { return m.routes_[route].sent_bytes; }),
                                label});
            add_durations(route, label);
        }
        const auto add = [&](Metric metric, auto pick) { samples_.push_back({metric, sum(pick)}); };
        add(
            "received_bytes_total", [](const auto& m) -> auto& { return m.received_bytes_; });
        add(
            "uploads_cut_total", [](const auto& m) -> auto& { return m.cut_uploads_; });
        add(
            "uploads_token_busy_total", [](const auto& m) -> auto& { return m.token_busy_uploads_; });
        return std::move(samples_);
    }

  private:
    template <typename Pick>
    double sum(Pick pick) const {
        std::uint64_t all = 0;
        for (const RequestMetrics* thread : threads_)
            all += pick(*thread).load(std::memory_order_relaxed);
        return static_cast<double>(all);
    }

    void add_durations(std::size_t route, const std::string& label) {
        constexpr Metric metric = "request_duration_seconds";
        double up_to = 0;
        for (std::size_t bucket = 0; bucket <= duration_bounds_ms.size(); ++bucket) {
            up_to += sum([&](const auto& m) -> auto& { return m.routes_[route].by_duration[bucket]; });
            const bool last = bucket == duration_bounds_ms.size();
            const std::string bound =
                last ? "+Inf" : render_number(static_cast<double>(duration_bounds_ms[bucket]) / 1000);
            samples_.push_back({metric, up_to, label + ",le=\"" + bound + "\"", "_bucket"});
        }
        const double us = sum([&](const auto& m) -> auto& { return m.routes_[route].duration_us; });
        samples_.push_back({metric, us / 1e6, label, "_sum"});
        samples_.push_back({metric, up_to, label, "_count"});
    }

    const std::vector<const RequestMetrics*>& threads_;
    std::vector<Sample> samples_ = {};
};

std::string render_number(double value) {
    std::array<char, 40> text{};
    const int size = std::snprintf(text.data(), text.size(), "%.15g", value);
    return {text.data(), static_cast<std::size_t>(size)};
}

void add_spent(std::vector<Sample>& samples, Metric metric, const base::Spent::Sum& spent) {
    samples.push_back({metric, spent.seconds, {}, "_sum"});
    samples.push_back({metric, static_cast<double>(spent.times), {}, "_count"});
}

std::string render_metrics(const std::vector<const RequestMetrics*>& threads, std::vector<Sample> samples) {
    std::vector<Sample> of_requests = RequestSamples(threads).all();
    samples.insert(samples.end(), std::make_move_iterator(of_requests.begin()),
                   std::make_move_iterator(of_requests.end()));
    // The text format wants all lines of one metric together.
    std::stable_sort(samples.begin(), samples.end(),
                     [](const Sample& a, const Sample& b) { return a.metric.at() < b.metric.at(); });
    std::string text;
    const MetricRow* last = nullptr;
    for (const Sample& sample : samples) {
        const MetricRow& row = sample.metric.row();
        const std::string name = full_name_of(row);
        if (&row != last) {
            text.append("# HELP ").append(name).append(" ").append(row.help).append(".\n");
            text.append("# TYPE ").append(name).append(" ").append(type_of(row)).append("\n");
        }
        last = &row;
        text.append(name).append(sample.suffix);
        if (!sample.labels.empty()) text.append("{").append(sample.labels).append("}");
        text.append(" ").append(render_number(sample.value)).append("\n");
    }
    return text;
}

}  // namespace wheelyard::http
