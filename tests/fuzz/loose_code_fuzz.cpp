// Files of device code that are no ELF files, from arbitrary bytes: by their first bytes, and as PTX.
#include "lib/inspect/gpu/gpu_code.hpp"
#include "tests/fuzz/gpu_section.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace wheelyard;
    for (const std::string_view name : {"kernels.co", "kernels.ptx", "kernels.cubin"}) {
        const base::MemoryReader reader(std::string_view(reinterpret_cast<const char*>(data), size));
        inspect::GpuFacts facts;
        const auto status = inspect::read_loose_code(reader, name, facts);
        if (!status && status.error().code != "gpu.malformed") std::abort();
        fuzz::check_names(facts);
    }
    return 0;
}
