// Which code was compiled for AVX as a whole.
#include "lib/inspect/elf/elf_sections.hpp"

#include "tests/inspect/sample.hpp"

using namespace wheelyard;
using namespace wheelyard::inspect_test;

namespace {

std::string times(int count, std::string_view instruction) {
    std::string code;
    for (int i = 0; i < count; ++i)
        code += instruction;
    return code;
}

// As `as` writes them.
const std::string vmovups("\xc5\xfc\x10\x07", 4);                // vmovups (%rdi),%ymm0
const std::string vmovsd("\xc5\x7b\x11\x07", 4);                 // vmovsd %xmm8,(%rdi)
const std::string vmovups_zmm("\x62\xf1\x7c\x48\x10\x07", 6);    // vmovups (%rdi),%zmm0
const std::string vmovdqu64_ymm("\x62\x71\xfe\x28\x7f\x07", 6);  // vmovdqu64 %ymm8,(%rdi)
const std::string vaddps_zmm("\x62\xf1\x74\x48\x58\x07", 6);     // vaddps (%rdi),%zmm1,%zmm0
const std::string movups("\x0f\x10\x07", 3);                     // movups (%rdi),%xmm0
const std::string movsd("\xf2\x44\x0f\x11\x07", 5);              // movsd %xmm8,(%rdi)
const std::string mov_to_ebp("\x89\xc5\x0f\x10\x07", 5);         // mov %eax,%ebp; movups (%rdi),%xmm0

}  // namespace

TEST_CASE("code with AVX moves alone is compiled for AVX, and code with both chooses at run time") {
    const auto is_avx = [](const std::string& code) {
        return inspect::count_vector_moves(code).level() == inspect::VectorLevel::avx;
    };
    CHECK(is_avx(times(150, vmovups + vmovsd)));
    CHECK(is_avx(times(1000, vmovups) + times(20, movups)));
    CHECK(is_avx(times(1000, vmovups) + times(88, movsd)));
    CHECK_FALSE(is_avx(times(1000, vmovups) + times(150, movsd)));
    CHECK_FALSE(is_avx(times(90, vmovups + vmovsd)));  // too few to say
    CHECK_FALSE(is_avx(times(1000, mov_to_ebp)));
    CHECK_FALSE(is_avx(times(1000, movups + movsd)));
    CHECK_FALSE(is_avx(""));
}

TEST_CASE("code for AVX-512 has moves of that encoding among those of AVX") {
    const auto is_avx512 = [](const std::string& code) {
        return inspect::count_vector_moves(code).level() == inspect::VectorLevel::avx512;
    };
    CHECK(is_avx512(times(1000, vmovups) + times(20, vmovdqu64_ymm)));
    CHECK(is_avx512(times(300, vmovups + vmovups_zmm)));
    CHECK_FALSE(is_avx512(times(1000, vmovups)));
    CHECK_FALSE(is_avx512(times(1000, vmovups) + times(19, vmovups_zmm)));
    CHECK_FALSE(is_avx512(times(3000, vmovups) + times(29, vmovups_zmm)));  // a part that is chosen
    CHECK_FALSE(is_avx512(times(1000, vmovups + vaddps_zmm)));              // no move
    CHECK_FALSE(is_avx512(times(1000, vmovups + movups + vmovups_zmm)));    // chosen at run time
}

TEST_CASE("SVE code that asks nothing about the processor is told from code that does, and from data") {
    // As `as` writes them.
    const std::string ptrue("\xe3\xe3\xd8\x25", 4);     // ptrue p3.d
    const std::string whilelo("\x40\x0c\xa2\x25", 4);   // whilelo p0.s, w2, w2
    const std::string mrs_id("\x00\x04\x38\xd5", 4);    // mrs x0, ID_AA64PFR0_EL1
    const std::string mrs_fpcr("\x00\x44\x3b\xd5", 4);  // mrs x0, fpcr
    const std::string ldr("\x00\x00\x40\xfd", 4);       // ldr d0, [x0]
    const auto is_plain = [](const std::string& code) { return inspect::count_sve(code).is_plain(); };
    CHECK(is_plain(times(4, ptrue + whilelo)));
    CHECK(is_plain(times(8, whilelo) + mrs_fpcr));
    CHECK_FALSE(is_plain(times(7, ptrue)));  // data may look so
    CHECK_FALSE(is_plain(times(100, ptrue) + mrs_id));
    CHECK_FALSE(is_plain(times(100, ldr + mrs_fpcr)));
    CHECK_FALSE(is_plain(" " + times(100, ptrue)));  // no instruction begins there
}

TEST_CASE("a file that the import loads and that is AVX throughout is a fact of the wheel") {
    const auto fact = [](const std::string& code, const std::string& init) {
        ElfImage image;
        image.sections = {{".text", code}};
        return checked(with_elf(linux_311, image, "six/_six.cpython-311-x86_64-linux-gnu.so", "1.16.0",
                                [&](WheelWriter& wheel) {
                                    wheel.add("six/__init__.py", init).add("six/plain.py", "");
                                })())
            .facts.avx_code;
    };
    CHECK(fact(times(1000, vmovups), "from . import _six\n") == "six._six");
    CHECK(fact(times(1000, vmovups), "from . import plain\n").empty());
    CHECK(fact(times(1000, vmovups + movups), "from . import _six\n").empty());
}
