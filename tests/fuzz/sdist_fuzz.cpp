// The check of an sdist on arbitrary bytes, by the default policy and by a mirror's: no crash, and no acceptance without
// PKG-INFO by default. The bytes are tried as they are and as a tar that is packed here, since mutations of gzip seldom
// reach the tar.
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "lib/inspect/inspect.hpp"
#include "lib/io/gzip.hpp"

using namespace wheelyard;

namespace {

inspect::Inspection check(std::string_view bytes, const inspect::Policy& policy) {
    const base::MemoryReader reader(bytes);
    auto inspection =
        inspect::inspect_file(reader, "six-1.16.0.tar.gz", {.policy = policy, .threads = 1, .progress = {}});
    if (!inspection) std::abort();  // reading memory cannot fail: every problem is the sdist's
    for (const auto& verdict : inspection->verdicts) {
        if (verdict.text().empty() || inspect::find_rule(verdict.code) == nullptr) std::abort();
    }
    return *std::move(inspection);
}

void check_both(std::string_view bytes) {
    static const inspect::Policy mirror = inspect::make_preset("mirror").value();
    const auto strict = check(bytes, {});
    if (strict.accepted() && strict.metadata_bytes.empty()) std::abort();
    if (strict.accepted() && !check(bytes, mirror).accepted()) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string_view bytes(reinterpret_cast<const char*>(data), size);
    check_both(bytes);
    if (const auto packed = io::gzip(bytes)) check_both(*packed);
    return 0;
}
