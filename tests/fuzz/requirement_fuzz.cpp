// Requirements and markers: the normal form parses to the same value.
#include <cstdlib>

#include "lib/wheel/requirement.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace wheelyard::wheel;
    static const MarkerEnvironment environment = [] {
        MarkerEnvironment variables{{"python_version", "3.11"},     {"python_full_version", "3.11.7+"},
                                    {"os_name", "posix"},           {"sys_platform", "linux"},
                                    {"platform_machine", "x86_64"}, {"extra", "Dev_Tools"}};
        set_variant(variables, "fast", {{"gpu", "cuda", "12.0"}});
        return variables;
    }();
    const std::string_view text(reinterpret_cast<const char*>(data), size);
    if (const auto requirement = Requirement::parse(text)) {
        const auto again = Requirement::parse(requirement->text());
        if (!again || again->text() != requirement->text()) std::abort();
    }
    if (const auto marker = Marker::parse(text)) {
        const auto again = Marker::parse(marker->text());
        // The normal form may be longer and exceed the length limit; nothing else may fail.
        if (!again && again.error().code != "marker.too_long") std::abort();
        if (again && again->evaluate(environment) != marker->evaluate(environment)) std::abort();
        for (const bool is_of_variant : {false, true})
            if (again &&
                again->undefined_comparison(is_of_variant) != marker->undefined_comparison(is_of_variant))
                std::abort();
    }
    return 0;
}
