// The comparison of two wheels on arbitrary bytes: no crash, and a pair of equal wheels is identical. The first byte
// says where the input is divided; 0: both wheels are the same.
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "builder/steps/differences.hpp"

using namespace wheelyard;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    if (size == 0) return 0;
    const std::string_view bytes(reinterpret_cast<const char*>(data) + 1, size - 1);
    const std::size_t cut = bytes.size() * data[0] / 256;
    const std::string_view first = cut == 0 ? bytes : bytes.substr(0, cut);
    const std::string_view second = cut == 0 ? bytes : bytes.substr(cut);
    const base::MemoryReader recorded(first);
    const base::MemoryReader again(second);
    const auto found = builder::compare_wheels({recorded, again, {{"w1aaa"}, {"w1bbb"}}, {}});
    if (found && cut == 0 && !found->identical) std::abort();
    if (found && !found->identical && found->causes.empty()) std::abort();
    return 0;
}
