// Reports of sites from untrusted agents, and the status that readers fetch: accepted documents are safe to print, and
// survive a round trip.
#include <cstdint>
#include <string>
#include <string_view>

#include "lib/base/text/utf8.hpp"
#include "lib/status/build_report.hpp"
#include "lib/status/index_status.hpp"
#include "tests/fuzz/round_trip.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace wheelyard;
    const std::string_view body(reinterpret_cast<const char*>(data), size);
    const auto safe = [](std::string text) {
        fuzz::require(base::printable(text) == text);
        return text;
    };
    fuzz::check_round_trip(body, status::parse_site_report, [&](const status::SiteReport& report) {
        return safe(status::render_site_report(report));
    });
    fuzz::check_round_trip(body, status::parse_index_status, [&](const status::IndexStatus& status) {
        return safe(status::render_index_status(status));
    });
    if (const auto report = status::parse_site_report(body)) {
        constexpr std::size_t small = 400;
        const auto fitted = status::fit_site_report(*report, small);
        fuzz::require(fitted.cells.size() <= report->cells.size());
        // What is kept of its builds can be read again, and the same report changes nothing.
        status::KnownBuilds known;
        for (const status::BuildReport& build : status::changed_builds(*report, {})) {
            const auto kept = status::parse_build(safe(status::build_json(build).render()));
            fuzz::require(kept.has_value() && *kept == build);
            known.insert_or_assign(build.id, build);
        }
        fuzz::require(status::changed_builds(*report, known).empty());
    }
    return 0;
}
