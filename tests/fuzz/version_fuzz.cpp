// Versions and specifiers: normal forms are fixed points, and the order is consistent.
#include <cstdlib>

#include "lib/wheel/specifier.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace wheelyard::wheel;
    const std::string_view text(reinterpret_cast<const char*>(data), size);
    const auto middle = text.find('\n');
    const auto left = text.substr(0, middle);
    const auto right = middle == std::string_view::npos ? left : text.substr(middle + 1);
    const auto a = Version::parse(left);
    const auto b = Version::parse(right);
    if (a) {
        const auto again = Version::parse(a->text());
        if (!again || *again != *a || again->text() != a->text()) std::abort();
        if (a->without_local() > *a) std::abort();
    }
    if (a && b && (*a <=> *b) != (0 <=> (*b <=> *a))) std::abort();
    if (const auto set = SpecifierSet::parse(right)) {
        const auto again = SpecifierSet::parse(set->text());
        if (!again || again->text() != set->text()) std::abort();
        if (a && set->contains(*a, Prereleases::excluded) && !set->contains(*a, Prereleases::allowed))
            std::abort();
    }
    return 0;
}
