// The complete check of a wheel on arbitrary bytes: no crash, and no acceptance without METADATA.
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "lib/inspect/inspect.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace wheelyard;
    const base::MemoryReader reader(std::string_view(reinterpret_cast<const char*>(data), size));
    const auto inspection = inspect::inspect_wheel(reader, "six-1.16.0-cp311-cp311-linux_x86_64.whl");
    if (!inspection) std::abort();  // reading memory cannot fail: every problem is the wheel's
    if (inspection->accepted() && inspection->metadata_bytes.empty()) std::abort();
    for (const auto& verdict : inspection->verdicts) {
        if (verdict.text().empty() || inspect::find_rule(verdict.code) == nullptr) std::abort();
    }
    return 0;
}
