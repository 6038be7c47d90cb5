// CUDA fatbins from arbitrary bytes.
#include "lib/inspect/gpu/gpu_code.hpp"
#include "tests/fuzz/gpu_section.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    return wheelyard::fuzz::fuzz_section(data, size, wheelyard::inspect::read_fatbins);
}
