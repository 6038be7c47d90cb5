// The complete check of a wheel on arbitrary bytes, by the default policy and by a mirror's, which reads on after
// most findings: no crash, and no acceptance without METADATA.
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "lib/inspect/inspect.hpp"

using namespace wheelyard;

namespace {

void check(const base::Reader& reader, const inspect::Policy& policy) {
    const auto inspection = inspect::inspect_wheel(reader, "six-1.16.0-cp311-cp311-linux_x86_64.whl",
                                                   {.policy = policy, .threads = 1, .progress = {}});
    if (!inspection) std::abort();  // reading memory cannot fail: every problem is the wheel's
    if (inspection->accepted() && inspection->metadata_bytes.empty()) std::abort();
    for (const auto& verdict : inspection->verdicts) {
        if (verdict.text().empty() || inspect::find_rule(verdict.code) == nullptr) std::abort();
    }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    static const inspect::Policy mirror = inspect::make_preset("mirror").value();
    const base::MemoryReader reader(std::string_view(reinterpret_cast<const char*>(data), size));
    check(reader, {});
    check(reader, mirror);
    return 0;
}
