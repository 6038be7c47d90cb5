#include "indexer/avail_wheels/query/fit.hpp"

#include <doctest/doctest.h>

#include "tests/indexer/avail_wheels/query/judged.hpp"

using namespace wheelyard;
using namespace wheelyard::avail_wheels;

TEST_CASE("Requires-Python is checked as in pip") {
    auto candidate = wheel_of("a-1-py3-none-any.whl");
    candidate.link.requires_python = ">=3.12";
    CHECK(found(candidate, h100()) == "no requires_python");
    candidate.link.requires_python = ">=3.11.2";
    CHECK(found(candidate, h100()) == "yes");
    candidate.link.requires_python = "nonsense";
    CHECK(found(candidate, h100()) == "yes");
}

TEST_CASE("a requirement with hashes is met by the bytes that it names") {
    auto candidate = wheel_of("a-1-py3-none-any.whl");
    const auto answer = [&](const std::vector<std::string>& sha256s) {
        const Fit fit = judge(candidate, h100(), {}, {.sha256s = sha256s});
        return std::string(runs_text(fit.runs)) + (fit.code.empty() ? "" : " " + fit.code);
    };
    CHECK(answer({"00ff"}) == "unknown hash");  // the source does not say what it has
    candidate.link.sha256 = "11aa";
    CHECK(answer({}) == "yes");
    CHECK(answer({"00ff", "11aa"}) == "yes");
    CHECK(answer({"00ff"}) == "no hash");
    candidate.link.requires_python = ">=3.12";
    CHECK(answer({"00ff"}) == "no requires_python");  // what no other bytes would change
}

TEST_CASE("an architecture folder of a wheelhouse requires its processor level") {
    Node node = h100();
    node.cpu = "x86-64-v2";
    CHECK(found(wheel_of(x86, {}, "avx2"), node) == "no cpu");
    CHECK(found(wheel_of(x86, "{}", "sse3"), node) == "yes");
    node.cpu = "";
    CHECK(found(wheel_of(x86, {}, "avx512"), node) == "unknown cpu");
}

TEST_CASE("PyPy takes its own wheels and pure ones; advice names the other kind of Python") {
    Node node = h100();
    node.pythons = {*parse_python("pypy3.10.14")};
    CHECK(found(wheel_of("a-1-pp310-pypy310_pp73-manylinux_2_17_x86_64.whl"), node) == "unknown python");
    node.pythons[0].pypy_abi = "pp73";
    CHECK(found(wheel_of("a-1-pp310-pypy310_pp73-manylinux_2_17_x86_64.whl"), node) == "yes");
    CHECK(found(wheel_of("a-1-pp310-pypy310_pp80-manylinux_2_17_x86_64.whl"), node) == "no python");
    node.pythons[0].pypy_abi = "pp80";
    CHECK(found(wheel_of("a-1-pp310-pypy310_pp80-manylinux_2_17_x86_64.whl"), node) == "yes");
    CHECK(found(wheel_of("a-1-py3-none-any.whl"), node) == "yes");
    const auto fit = judge(wheel_of("a-1-cp310-cp310-manylinux_2_17_x86_64.whl"), node, {});
    CHECK(fit.why == "built for cp310, here is PyPy 3.10.14");
    CHECK(fit.advice == "use Python 3.10");
    CHECK(judge(wheel_of("a-1-pp310-pypy310_pp73-manylinux_2_17_x86_64.whl"), h100(), {}).advice ==
          "use PyPy 3.10");
}

TEST_CASE("a free-threaded Python takes no wheel of the other ABI, and advice says so") {
    Node node = h100();
    node.pythons = {*parse_python("3.13.1t")};
    CHECK(found(wheel_of("a-1-cp313-cp313t-manylinux_2_17_x86_64.whl"), node) == "yes");
    const auto fit = judge(wheel_of("a-1-cp313-cp313-manylinux_2_17_x86_64.whl"), node, {});
    CHECK(fit.why == "built for cp313, here is Python 3.13.1 (free-threaded)");
    CHECK(fit.advice == "use Python 3.13, not a free-threaded one");
    node.pythons = {*parse_python("3.13.1")};
    CHECK(judge(wheel_of("a-1-cp313-cp313t-manylinux_2_17_x86_64.whl"), node, {}).advice ==
          "use Python 3.13t, the free-threaded one");
}

TEST_CASE("a node on musl takes musllinux wheels up to its version, and none for glibc") {
    Node node = h100();
    node.glibc.reset();
    node.musl = Dotted::parse("1.2.3");
    CHECK(found(wheel_of("a-1-cp311-cp311-musllinux_1_2_x86_64.whl"), node) == "yes");
    CHECK(found(wheel_of("a-1-cp311-cp311-musllinux_1_3_x86_64.whl"), node) == "no tags");
    CHECK(found(wheel_of("a-1-cp311-cp311-manylinux_2_17_x86_64.whl"), node) == "no libc");
    CHECK(found(wheel_of(x86, R"({"symbol_floors":{"GLIBC":"2.28"}})"), node) == "no libc");
    CHECK(found(wheel_of("six-1.17.0-py2.py3-none-any.whl"), node) == "yes");
}

TEST_CASE(
    "a debug build takes its own wheels and those of a release build; a release build takes no debug wheel") {
    Node node = h100();
    CHECK(found(wheel_of("a-1-cp311-cp311d-manylinux_2_17_x86_64.whl"), node) == "no python");
    node.pythons[0].debug = true;
    CHECK(found(wheel_of("a-1-cp311-cp311d-manylinux_2_17_x86_64.whl"), node) == "yes");
    CHECK(found(wheel_of("a-1-cp311-cp311-manylinux_2_17_x86_64.whl"), node) == "yes");
}

TEST_CASE(
    "AVX code that is not chosen at run time leaves it open whether a wheel runs on an older processor") {
    Node node = debian12();
    const auto wheel =
        wheel_of(x86, R"({"requires_dist":[],"avx_code":"scann.scann_pybind","machines":["x86_64"]})");
    CHECK(found(wheel, node) == "yes");
    node.cpu = "x86-64-v3";
    CHECK(found(wheel, node) == "yes");
    for (const char* older : {"x86-64", "x86-64-v2"}) {
        node.cpu = older;
        CHECK(found(wheel, node) == "unknown cpu");
        CHECK(judge(wheel, node, {}).why ==
              "scann.scann_pybind has AVX code throughout, and this is " + std::string(older));
    }
    const auto newer =
        wheel_of(x86, R"({"requires_dist":[],"avx_code":"a.b","avx512_code":"a.c","machines":["x86_64"]})");
    CHECK(found(newer, h100()) == "yes");
    node.cpu = "x86-64-v3";
    CHECK(judge(newer, node, {}).why == "a.c has AVX-512 code throughout, and this is x86-64-v3");
    node.cpu.clear();
    CHECK(found(wheel, node) == "unknown cpu");
    CHECK(found(wheel_of(x86, R"({"requires_dist":[],"machines":["x86_64"]})"), node) == "yes");
}

TEST_CASE(
    "SVE code that nothing chooses leaves it open whether a wheel runs on an ARM processor without SVE") {
    Node node = debian12();
    REQUIRE(assume(node, "machine=aarch64").has_value());  // and not of the processor of this one
    const auto wheel = wheel_of("a-1-cp311-cp311-linux_aarch64.whl",
                                R"({"requires_dist":[],"sve_code":"a._k","machines":["aarch64"]})");
    CHECK(judge(wheel, node, {}).why ==
          "a._k has SVE code that nothing chooses, and this node's processor is unknown");
    for (const auto& [features, answer] :
         {std::pair("fp asimd crc32", "unknown cpu"), std::pair("fp asimd sve sve2", "yes"),
          std::pair("fp asimd svex", "unknown cpu")}) {
        node.cpu = arm_level(features);
        CHECK(found(wheel, node) == answer);
    }
    CHECK(arm_level("").empty());
    REQUIRE(assume(node, "cpu=armv8-a").has_value());
    CHECK(judge(wheel, node, {}).why == "a._k has SVE code that nothing chooses, and this is armv8-a");
    REQUIRE(assume(node, "cpu=armv8-a+sve").has_value());
    CHECK(found(wheel, node) == "yes");
    // A level of x86-64 is that of the files for x86-64.
    CHECK(found(wheel_of("a-1-py3-none-any.whl",
                         R"({"requires_dist":[],"isa_needed":"x86-64-v3","machines":["aarch64","x86_64"]})"),
                node) == "yes");
    CHECK(assume(node, "cpu=armv9").error().sentence.find("armv8-a+sve") != std::string::npos);
}

TEST_CASE("glibc loads no file that asks for an executable stack since 2.41, unless it is told to") {
    Node node = debian12();
    const auto wheel =
        wheel_of(x86, R"({"requires_dist":[],"executable_stack":"ctranslate2._ext","machines":["x86_64"]})");
    CHECK(found(wheel, node) == "yes");
    node.glibc = Dotted::parse("2.41");
    CHECK(found(wheel, node) == "unknown stack");
    CHECK(
        judge(wheel, node, {}).why ==
        "its import may load ctranslate2._ext, which asks for an executable stack; glibc 2.41 gives it with "
        "GLIBC_TUNABLES=glibc.rtld.execstack=2 alone");
    node.gives_executable_stacks = true;
    CHECK(found(wheel, node) == "yes");
    node.gives_executable_stacks = false;
    node.glibc.reset();
    node.musl = Dotted::parse("1.2");
    CHECK(judge(wheel, node, {}).code != "stack");
}

TEST_CASE("a farm's own wheel without a note of its processor is judged by its build's options") {
    Node node = debian12();
    node.cpu = "x86-64-v3";
    const auto built = [](const std::string& cpu, const std::string& rest = {}) {
        return wheel_of(x86, R"({"machines":["x86_64"],"requires_dist":[],"built":{)" +
                                 (cpu.empty() ? "" : R"("cpu":")" + cpu + "\"") + "}" + rest + "}");
    };
    CHECK(found(built("baseline"), node) == "yes");
    CHECK(found(built("x86-64-v3"), node) == "yes");
    CHECK(found(built("x86-64-v4"), node) == "no cpu");
    CHECK(found(built(""), node) == "unknown cpu");
    CHECK(found(built("-march=native"), node) == "unknown cpu");
    CHECK(found(built("", R"(,"isa_needed":"x86-64-v2")"), node) == "yes");  // its note counts
    CHECK(found(wheel_of(x86, R"({"requires_dist":[],"needed":{"system":["libc.so.6"]}})"), node) == "yes");
}

TEST_CASE("an advice does not name the Python that is here") {
    Node node = h100();
    const auto advice = [&](const std::string& tags) {
        return judge(wheel_of("a-1-" + tags + "-linux_x86_64.whl"), node, {}).advice;
    };
    CHECK(advice("cp312-cp312") == "use Python 3.12");
    CHECK(advice("cp311-cp311d") == "use a build of it with the ABI cp311d");
    node.pythons = {*parse_python("pypy3.11.11")};
    node.pythons.front().pypy_abi = "pp80";
    CHECK(advice("pp311-pypy311_pp73") == "use a build of it with the ABI pypy311_pp73");
    CHECK(advice("pp310-pypy310_pp73") == "use PyPy 3.10");
}
