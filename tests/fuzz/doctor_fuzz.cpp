// Build logs: arbitrary output of compilers, tests and other programs.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>

#include "builder/doctor/doctor.hpp"
#include "lib/base/check.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace wheelyard;
    const std::string text(reinterpret_cast<const char*>(data), size);
    builder::Doctor whole;
    whole.feed(text);
    const auto seen = whole.finish();
    builder::Doctor pieces;
    const std::size_t step = size == 0 ? 1 : 1 + data[0] % 16;
    for (std::size_t at = 0; at < size; at += step)
        pieces.feed(std::string_view(text).substr(at, step));
    const std::string report = builder::render_examination_json(seen, "log");
    WHEELYARD_CHECK(report == builder::render_examination_json(pieces.finish(), "log"));
    WHEELYARD_CHECK(seen.findings.size() <= builder::RuleBook::ours()->rules().size());
    static_cast<void>(builder::render_examination(seen, "log"));
    return 0;
}
