// The timeline as a picture. Above: memory in use and its limit. Below: a bar per try on its lane; the width
// is its time, the height its peak, the colour how it ended. A tooltip (SVG's <title>) names it.
#include <algorithm>
#include <cstdio>
#include <string>

#include "builder/governor/broker/report.hpp"
#include "lib/base/text/encoding.hpp"
#include "lib/base/text/text.hpp"

namespace wheelyard::governor {
namespace {

constexpr double width = 1200, memory_height = 220, lane_height = 14, margin = 50;

struct Colour {
    const char *end, *fill;
};
// Distinguishable with colour vision deficiency: light blue, yellow, black, orange, red, grey.
constexpr Colour colours[] = {{"ok", "#56b4e9"},     {"hit", "#f0e442"}, {"failed", "#000000"},
                              {"killed", "#e69f00"}, {"oom", "#d55e00"}, {"", "#999999"}};

std::string attribute(const char* name, double value) {
    char text[64];
    std::snprintf(text, sizeof text, " %s=\"%.1f\"", name, value);
    return text;
}

std::string label(double x, double y, const std::string& text) {
    return "<text" + attribute("x", x) + attribute("y", y) + ">" + base::escape_html(text) + "</text>\n";
}

const char* fill_of(const std::string& end) {
    return std::find_if(std::begin(colours), std::end(colours),
                        [&](const Colour& row) { return end == row.end || *row.end == '\0'; })
        ->fill;
}

}  // namespace

std::string render_svg(const BuildReport& report) {
    const double total_ms = std::max(1.0, report.wall_seconds * 1000);
    double top_bytes = std::max(report.limit_bytes, 1.0), largest = 1;
    // A limit far above the use would flatten the curve; then the picture is scaled to the use.
    if (report.high_water_bytes > 0) top_bytes = std::min(top_bytes, 2 * report.high_water_bytes);
    unsigned lanes = 1;
    for (const auto& one : report.tries) {
        lanes = std::max(lanes, one.lane + 1);
        largest = std::max(largest, one.peak_bytes);
    }
    const auto x = [&](double ms) { return margin + ms / total_ms * width; };
    const auto y = [&](double bytes) {
        return margin + memory_height * (1 - std::min(1.0, bytes / top_bytes));
    };
    const double bars = 2 * margin + memory_height, height = bars + lanes * lane_height + margin;
    std::string svg =
        "<svg xmlns=\"http://www.w3.org/2000/svg\" font-family=\"sans-serif\" font-size=\"12\"" +
        attribute("width", width + 2 * margin) + attribute("height", height) + ">\n<rect" +
        attribute("width", width + 2 * margin) + attribute("height", height) + " fill=\"#ffffff\"/>\n";
    svg += label(margin, 20,
                 std::to_string(report.compiles) + " compiles in " +
                     base::render_duration_ms(static_cast<std::int64_t>(total_ms)) + ", at most " +
                     base::render_bytes(static_cast<std::uint64_t>(report.high_water_bytes)) + " of " +
                     base::render_bytes(static_cast<std::uint64_t>(report.limit_bytes)) + " (" +
                     report.limit_name + ")");
    svg += "<polyline fill=\"none\" stroke=\"#0072b2\" points=\"";
    for (const auto& [ms, bytes] : report.memory) {
        char point[64];
        std::snprintf(point, sizeof point, "%.1f,%.1f ", x(static_cast<double>(ms)), y(bytes));
        svg += point;
    }
    svg += "\"/>\n";
    if (report.limit_bytes <= top_bytes) {
        svg += "<line stroke=\"#d55e00\" stroke-dasharray=\"4\"" + attribute("x1", margin) +
               attribute("x2", margin + width) + attribute("y1", y(report.limit_bytes)) +
               attribute("y2", y(report.limit_bytes)) + "/>\n";
    }
    for (const auto& one : report.tries) {
        const double tall = std::max(1.0, (lane_height - 2) * one.peak_bytes / largest);
        svg += "<rect" + attribute("x", x(static_cast<double>(one.start_ms))) +
               attribute("y", bars + one.lane * lane_height + lane_height - tall) +
               attribute("width",
                         std::max(0.5, static_cast<double>(one.end_ms - one.start_ms) / total_ms * width)) +
               attribute("height", tall) + " fill=\"" + fill_of(one.end) + "\"><title>" +
               base::escape_html(one.source + ": " + one.end + ", " +
                                 base::render_bytes(static_cast<std::uint64_t>(one.peak_bytes)) + ", " +
                                 base::render_duration_ms(one.end_ms - one.start_ms)) +
               "</title></rect>\n";
    }
    double at = margin;
    for (const auto& row : colours) {
        svg += "<rect width=\"10\" height=\"10\"" + attribute("x", at) + attribute("y", height - 30) +
               " fill=\"" + row.fill + "\"/>\n" +
               label(at + 14, height - 21, *row.end == '\0' ? "lost" : row.end);
        at += 90;
    }
    return svg + "</svg>\n";
}

}  // namespace wheelyard::governor
