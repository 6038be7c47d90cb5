// ELF files, the names of torch in them, and their device code, from arbitrary bytes.
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "lib/inspect/elf/elf.hpp"
#include "lib/inspect/elf/torch_names.hpp"
#include "lib/inspect/gpu/gpu_code.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace wheelyard;
    const base::MemoryReader reader(std::string_view(reinterpret_cast<const char*>(data), size));
    inspect::TorchNames names;
    const auto elf =
        inspect::parse_elf(reader, [&](const inspect::DynamicSymbol& symbol) { names.take(symbol); });
    for (const std::string& name : names.imports) {
        if (inspect::readable_torch_name(name).size() > 2 * name.size() + 64) std::abort();
    }
    if (!elf) {
        if (elf.error().code != "elf.malformed") std::abort();  // a read beyond the end
        return 0;
    }
    inspect::GpuFacts gpu;
    const auto read = inspect::read_gpu_code(reader, *elf, gpu);
    if (!read && read.error().code != "gpu.malformed") std::abort();
    return 0;
}
