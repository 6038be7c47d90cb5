// A lock is refused, or its packages have normalised names, exact versions and valid hashes; the answer about it has one
// state for each package that is for the node.
#include <cstdint>
#include <string_view>

#include "indexer/avail_wheels/query/lock_answer.hpp"
#include "lib/base/check.hpp"
#include "lib/base/digest/digest.hpp"
#include "lib/wheel/name.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace wheelyard;
    const std::string_view text(reinterpret_cast<const char*>(data), size);
    const auto lock = simple::parse_lock(text, "pylock.toml");
    if (!lock) return 0;
    for (const simple::LockedPackage& package : lock->packages) {
        WHEELYARD_CHECK(!package.project.empty());
        WHEELYARD_CHECK(wheel::normalize_name(package.project) == package.project);
        WHEELYARD_CHECK(package.exact.specifiers().size() == (package.version ? 1U : 0U));
        for (const auto& sha256 : package.sha256s)
            WHEELYARD_CHECK(base::is_sha256_hex(sha256));
        for (const auto& [filename, sha256] : package.wheels)
            WHEELYARD_CHECK(!filename.empty() && (sha256.empty() || package.sha256s.contains(sha256)));
    }
    const avail_wheels::LockTarget place{{avail_wheels::Python{}}, "x86_64"};
    const auto packages = avail_wheels::packages_for(*lock, place);
    const auto found = avail_wheels::compare_lock(packages, place, {}, {});
    WHEELYARD_CHECK(found.size() == packages.size());
    (void)avail_wheels::refusals_of_lock(*lock, packages, place);
    (void)avail_wheels::summary_of_lock("pylock.toml", found, lock->packages.size() - packages.size());
    return 0;
}
