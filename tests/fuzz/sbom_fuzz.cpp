// SBOMs that wheels bring.
#include <cstdint>
#include <cstdlib>

#include "lib/inspect/dist_info/dist_info.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace wheelyard::inspect;
    const std::string_view text(reinterpret_cast<const char*>(data), size);
    const auto list = parse_sbom(text);
    if (!list) return 0;
    for (const Component& one : *list) {
        if (one.name.empty()) std::abort();
        if (one.license.size() > max_sbom_license + 3) std::abort();
        if (!one.sha256.empty() && one.sha256.size() != 64) std::abort();
    }
    if (*parse_sbom(text) != *list) std::abort();
    return 0;
}
