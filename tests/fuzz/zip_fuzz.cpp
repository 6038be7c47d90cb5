// The complete check of a wheel on arbitrary bytes, by the default policy and by a mirror's, which reads on
// after most findings: no crash, and no acceptance without METADATA. The variant wheel of an accepted wheel
// is accepted, and is the same wheel but for variant.json.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "lib/base/check.hpp"
#include "lib/inspect/inspect.hpp"

using namespace wheelyard;

namespace {

void check_variant(const base::Reader& reader, const inspect::Inspection& wheel) {
    std::string bytes;
    const auto write = [&bytes](std::string_view piece) -> base::Status {
        bytes += piece;
        return {};
    };
    const auto made = inspect::write_variant_wheel(reader, wheel.filename, {"null", {}}, "", write);
    if (!made) {  // signed
        WHEELYARD_CHECK(made.error().code == "variant.not_a_wheel");
        return;
    }
    inspect::InspectOptions options;
    options.policy.variants = true;
    const auto again = inspect::inspect_wheel(base::MemoryReader(bytes),
                                              inspect::variant_filename(wheel.filename, "null"), options);
    WHEELYARD_CHECK(again && again->accepted());
    WHEELYARD_CHECK(again->facts.members - wheel.facts.members <= 1);  // variant.json may have been there
    WHEELYARD_CHECK(again->metadata.requires_dist == wheel.metadata.requires_dist);
    WHEELYARD_CHECK(std::equal(again->elves.begin(), again->elves.end(), wheel.elves.begin(),
                               wheel.elves.end(),
                               [](const inspect::ElfMember& one, const inspect::ElfMember& other) {
                                   return one.name == other.name && one.elf.needed == other.elf.needed;
                               }));
}

void check(const base::Reader& reader, const inspect::Policy& policy) {
    const auto inspection = inspect::inspect_wheel(reader, "six-1.16.0-cp311-cp311-linux_x86_64.whl",
                                                   {.policy = policy, .threads = 1, .progress = {}});
    if (!inspection) std::abort();  // reading memory cannot fail: every problem is the wheel's
    if (inspection->accepted() && inspection->metadata_bytes.empty()) std::abort();
    for (const auto& verdict : inspection->verdicts) {
        if (verdict.text().empty() || inspect::find_rule(verdict.code) == nullptr) std::abort();
    }
    if (inspection->accepted() && policy == inspect::Policy()) check_variant(reader, *inspection);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    static const inspect::Policy mirror = inspect::make_preset("mirror").value();
    const base::MemoryReader reader(std::string_view(reinterpret_cast<const char*>(data), size));
    check(reader, {});
    check(reader, mirror);
    return 0;
}
