// Predictions from records, from groups of similar compiles, and after kills.
#include "builder/governor/admission/predict.hpp"

#include <doctest/doctest.h>

#include "builder/governor/memory/limits.hpp"

using namespace wheelyard::governor;

namespace {

CompileFacts facts(std::string source, std::string language = "c++") {
    CompileFacts made;
    made.source = std::move(source);
    made.language = std::move(language);
    made.compiler = "g++ 12";
    made.arguments = "1";
    return made;
}

constexpr double mebibyte = static_cast<double>(mib);

}  // namespace

TEST_CASE("every fact of a compile is part of its key") {
    const CompileFacts base = facts("a.cpp");
    const auto key = key_of(base);
    CHECK(key == key_of(facts("a.cpp")));
    for (int field = 0; field < 5; ++field) {
        CompileFacts other = base;
        if (field == 0) other.source = "b.cpp";
        if (field == 1) other.arguments = "2";
        if (field == 2) other.compiler = "g++ 13";
        if (field == 3) other.architectures = "sm_90";
        if (field == 4) other.threads = 4;
        CHECK(key_of(other) != key);
    }
    CompileFacts moved = base;  // the key separates adjacent fields
    moved.source = "a.cpp1";
    moved.arguments = "";
    CHECK(key_of(moved) != key);
}

TEST_CASE("a known compile is predicted closely by its record") {
    Predictor predictor;
    predictor.learn(facts("a.cpp"), 1000 * mebibyte, 30);
    const auto need = predictor.predict(facts("a.cpp"));
    CHECK(need.typical_bytes == doctest::Approx(1000 * mebibyte));
    CHECK(need.high_bytes() < 1.1 * need.typical_bytes);
    CHECK(need.seconds == doctest::Approx(30));
    CHECK(predictor.knows(facts("a.cpp")));
    CHECK_FALSE(predictor.knows(facts("b.cpp")));
}

TEST_CASE("a record follows a higher peak at once and a lower one slowly") {
    Record record;
    merge_peak(record, 100, 1);
    merge_peak(record, 200, 1);
    CHECK(record.peak_bytes == 200);
    merge_peak(record, 100, 1);
    CHECK(record.peak_bytes == doctest::Approx(175));
    CHECK(record.runs == 3);
}

TEST_CASE("an unknown compile reserves a high quantile, which falls as similar compiles are measured") {
    Predictor predictor;
    const double unknown = predictor.predict(facts("x/new.cpp")).high_bytes();
    for (int i = 0; i < 200; ++i)
        predictor.learn(facts("x/" + std::to_string(i) + ".cpp"), 200 * mebibyte, 2);
    const auto near = predictor.predict(facts("x/new.cpp"));
    CHECK(near.high_bytes() < unknown / 2);
    CHECK(near.typical_bytes > 195 * mebibyte);
    CHECK(near.seconds < 3);
}

TEST_CASE("compiles in the same folder weigh more than others of the language") {
    Predictor predictor;
    for (int i = 0; i < 40; ++i) {
        predictor.learn(facts("small/" + std::to_string(i) + ".cpp"), 100 * mebibyte, 1);
        predictor.learn(facts("large/" + std::to_string(i) + ".cpp"), 1500 * mebibyte, 30);
    }
    CHECK(predictor.predict(facts("small/new.cpp")).typical_bytes < 400 * mebibyte);
    CHECK(predictor.predict(facts("large/new.cpp")).typical_bytes > 1200 * mebibyte);
}

TEST_CASE("the same source with other arguments weighs most") {
    Predictor predictor;
    for (int i = 0; i < 50; ++i)
        predictor.learn(facts("f/" + std::to_string(i) + ".cpp"), 300 * mebibyte, 1);
    for (int i = 0; i < 3; ++i)
        predictor.learn(facts("f/giant.cpp"), 3000 * mebibyte, 50);
    CompileFacts other = facts("f/giant.cpp");
    other.arguments = "2";
    CHECK(predictor.predict(other).high_bytes() > 2500 * mebibyte);
}

TEST_CASE("a compile killed at N gets room for more than N until it succeeds") {
    Predictor predictor;
    predictor.learn_at_least(facts("a.cpp"), 2000 * mebibyte);
    CHECK(predictor.predict(facts("a.cpp")).typical_bytes == doctest::Approx(3000 * mebibyte));
    predictor.learn(facts("a.cpp"), 2200 * mebibyte, 9);
    CHECK(predictor.predict(facts("a.cpp")).typical_bytes == doctest::Approx(2200 * mebibyte));
}

TEST_CASE("a kill below the prediction does not change it") {
    Predictor predictor;
    predictor.learn(facts("a.cpp"), 1000 * mebibyte, 9);
    predictor.learn_at_least(facts("a.cpp"), 100 * mebibyte);
    CHECK(predictor.predict(facts("a.cpp")).typical_bytes == doctest::Approx(1000 * mebibyte));
}

TEST_CASE("probes of a configuration say nothing about the size of what is built after them") {
    for (const char* probe :
         {"build/meson-private/tmp{}/testfile.c", "build/CMakeFiles/CMakeScratch/TryCompile-{}/src.c",
          "build/CMakeFiles/CMakeTmp/{}/CheckSymbolExists.c", "conftest.c{}", "build/{}/conftest.c",
          "_configtest.c{}"}) {
        CAPTURE(probe);
        Predictor predictor, recalled;
        const double unknown = predictor.predict(facts("src/large.c", "c")).typical_bytes;
        for (int i = 0; i < 200; ++i) {
            std::string name = probe;
            name.replace(name.find("{}"), 2, std::to_string(i));
            predictor.learn(facts(name, "c"), 20 * mebibyte, 0.02);
            recalled.recall(key_of(facts(name, "c")), *predictor.record_of(facts(name, "c")));
        }
        CHECK(predictor.predict(facts("src/large.c", "c")).typical_bytes == doctest::Approx(unknown));
        CHECK(recalled.predict(facts("src/large.c", "c")).typical_bytes == doctest::Approx(unknown));
        // They are small themselves.
        std::string next = probe;
        next.replace(next.find("{}"), 2, "next");
        CHECK(predictor.predict(facts(next, "c")).typical_bytes < 30 * mebibyte);
    }
}

TEST_CASE("a source that only has the name of a probe in its own is a source") {
    Predictor predictor;
    const double unknown = predictor.predict(facts("src/large.c", "c")).typical_bytes;
    for (int i = 0; i < 200; ++i)
        predictor.learn(facts("tests/my_conftest" + std::to_string(i) + ".c", "c"), 20 * mebibyte, 0.02);
    CHECK(predictor.predict(facts("src/large.c", "c")).typical_bytes < unknown / 2);
}
