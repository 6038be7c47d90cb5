// HIP's offload bundles, compressed or not, on arbitrary bytes, as a section of device code. Seeds: sections
// of tests/support/gpu_objects.
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "lib/base/text.hpp"
#include "lib/inspect/hip_bundle.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace wheelyard;
    const base::MemoryReader reader(std::string_view(reinterpret_cast<const char*>(data), size));
    inspect::GpuFacts facts;
    const auto read = inspect::read_hip_bundles(inspect::SectionWalk(reader, 0, size), facts);
    if (!read && read.error().code != "gpu.malformed") std::abort();  // nothing is read that is not there
    for (const auto* names : {&facts.cuda_sm, &facts.cuda_ptx, &facts.hip_gfx}) {
        if (names->size() > inspect::most_gpu_names + 1) std::abort();
        for (const std::string& name : *names) {
            if (!base::is_utf8(name)) std::abort();  // it goes into JSON
        }
    }
    return 0;
}
