// Reports of sites from untrusted agents, and the status that readers fetch: accepted documents are safe to print, and
// survive a round trip.
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "lib/base/printable.hpp"
#include "lib/status/index_status.hpp"

namespace {

void require(bool holds) {
    if (!holds) std::abort();
}

template <typename Parse, typename Render>
void try_document(std::string_view body, Parse parse, Render render) {
    const auto once = parse(body);
    if (!once) {
        require(!once.error().code.empty());
        return;
    }
    const auto text = render(*once);
    require(wheelyard::base::printable(text) == text);
    const auto twice = parse(text);
    require(twice.has_value());
    require(render(*twice) == text);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace wheelyard;
    const std::string_view body(reinterpret_cast<const char*>(data), size);
    try_document(body, status::parse_site_report, status::render_site_report);
    try_document(body, status::parse_index_status, status::render_index_status);
    if (const auto report = status::parse_site_report(body)) {
        constexpr std::size_t small = 400;
        const auto fitted = status::fit_site_report(*report, small);
        require(fitted.cells.size() <= report->cells.size());
    }
    return 0;
}
