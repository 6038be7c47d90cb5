// A lock is refused, or all its packages have a normalised name, a version, and valid hashes.
#include <cstdint>
#include <string_view>

#include "lib/base/check.hpp"
#include "lib/base/digest/digest.hpp"
#include "lib/wheel/name.hpp"
#include "registry/prefetch/pylock.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace wheelyard;
    const std::string_view text(reinterpret_cast<const char*>(data), size);
    const auto packages = registry::parse_pylock(text, "pylock.toml");
    if (!packages) return 0;
    for (const registry::LockedPackage& package : *packages) {
        WHEELYARD_CHECK(!package.project.empty());
        WHEELYARD_CHECK(wheel::normalize_name(package.project) == package.project);
        WHEELYARD_CHECK(wheel::Version::parse(package.version.text()).has_value());
        for (const auto& sha256 : package.sha256s)
            WHEELYARD_CHECK(base::is_sha256_hex(sha256));
    }
    return 0;
}
