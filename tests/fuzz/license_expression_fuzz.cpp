// License expressions: all that a valid one names satisfies it, nothing satisfies none, and each licence it lacks is one.
#include <cstdlib>

#include "lib/inspect/dist_info/license_expression.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace wheelyard::inspect;
    const std::string_view text(reinterpret_cast<const char*>(data), size);
    if (!is_license_expression(text)) return 0;
    const auto all = licenses_not_allowed(text, {});
    if (all.empty() || !licenses_not_allowed(text, all).empty()) std::abort();
    for (const std::string& one : all)
        if (!is_one_license(one)) std::abort();
    // One more licence never turns a yes into a no.
    std::vector<std::string> some;
    bool is_satisfied = false;
    for (const std::string& one : all) {
        some.push_back(one);
        const bool suffices = licenses_not_allowed(text, some).empty();
        if (is_satisfied && !suffices) std::abort();
        is_satisfied = suffices;
    }
    return 0;
}
