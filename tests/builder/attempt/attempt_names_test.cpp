#include "builder/attempt/attempt_names.hpp"

#include <doctest/doctest.h>

using namespace wheelyard::builder;

namespace {

Attempt attempt_of(const std::string& id, const std::string& cell, State state = State::failed) {
    Attempt attempt;
    attempt.id = id;
    attempt.asked.cell = cell;
    attempt.state = state;
    return attempt;
}

const std::vector<Attempt> attempts{attempt_of("a1-x", "yard-hdr-1.0-cp311"),
                                    attempt_of("a2-y", "yard-slow-1.0-cp311"),
                                    attempt_of("a3-z", "yard-slow-1.1-cp311", State::running)};

}  // namespace

TEST_CASE("any part that only one cell or attempt has is its name") {
    for (const auto& [name, meant] :
         {std::pair("hdr", "yard-hdr-1.0-cp311"), std::pair("slow-1.1", "yard-slow-1.1-cp311"),
          std::pair("a2", "a2-y"), std::pair("a3-z", "a3-z"),
          std::pair("yard-slow-1.0-cp311", "yard-slow-1.0-cp311"), std::pair("nothing", "nothing"),
          std::pair("", "")}) {
        CAPTURE(name);
        const auto found = complete_name(name, attempts);
        REQUIRE(found);
        CHECK(*found == meant);
    }
}

TEST_CASE("an ambiguous part is an error with the cells, unless only one of them counts") {
    const auto found = complete_name("slow", attempts);
    REQUIRE(!found);
    CHECK(found.error().code == "name.ambiguous");
    CHECK(found.error().advice == "give one of yard-slow-1.0-cp311, yard-slow-1.1-cp311");
    CHECK(*complete_name("slow", attempts, [](const Attempt& one) { return !is_over(one.state); }) ==
          "yard-slow-1.1-cp311");
}

TEST_CASE("a cell of the plan has its name before its first attempt, and a project each of its spellings") {
    const std::vector<std::string> planned{"yard-hdr-1.0-cp311", "zope-interface-6.0-cp311", "rpy-3.0-cp311"};
    const auto complete = [&](const std::string& name) {
        return complete_name(
            name, attempts, [](const Attempt&) { return true; }, planned);
    };
    for (const auto& [name, meant] :
         {std::pair("rpy", "rpy-3.0-cp311"), std::pair("rpy-3.0-cp311", "rpy-3.0-cp311"),
          std::pair("hdr", "yard-hdr-1.0-cp311"), std::pair("zope-interface", "zope-interface-6.0-cp311"),
          std::pair("zope.interface", "zope-interface-6.0-cp311"),
          std::pair("Zope_Interface-6.0", "zope-interface-6.0-cp311"),
          std::pair("Yard_Slow-1.1", "yard-slow-1.1-cp311"), std::pair("nothing", "nothing")}) {
        CAPTURE(name);
        const auto found = complete(name);
        REQUIRE(found);
        CHECK(*found == meant);
    }
    CHECK(complete("-3.0-cp3").has_value());
    const auto several = complete("1.0");
    REQUIRE(!several);
    CHECK(several.error().advice == "give one of yard-hdr-1.0-cp311, yard-slow-1.0-cp311");
}

TEST_CASE("a project's name is not ambiguous with those of its companions") {
    const std::vector<std::string> planned{"torch-2.4.0+cu126-cp311", "torchvision-0.19.0+cu126-cp311",
                                           "vllm-for-torch-2.4.0+cu126-cp311", "torch-scatter-2.1.2-cp311"};
    const auto complete = [&](const std::string& name) {
        return complete_name(
            name, {}, [](const Attempt&) { return true; }, planned);
    };
    CHECK(*complete("torch") == planned[0]);
    CHECK(*complete("Torch-Scatter") == planned[3]);
    CHECK(*complete("vllm") == planned[2]);
    CHECK(*complete("2.1") == planned[3]);
    CHECK(!complete("cp311").has_value());
    CHECK(*complete("torch-2.4.0-cp311") == planned[0]);  // without its label
    CHECK(*complete("vision-0.19.0-cp311") == planned[1]);
}

TEST_CASE("at most eight cells are listed, and more are indicated") {
    std::vector<Attempt> many;
    for (const char* python : {"6", "7", "8", "9", "10", "11", "12", "13"})
        many.push_back(attempt_of(std::string("w") + python, std::string("demo-1.0-cp3") + python));
    CHECK(complete_name("demo", many).error().advice.ends_with("demo-1.0-cp39"));
    many.push_back(attempt_of("w14", "demo-1.0-cp314"));
    const std::string advice = complete_name("demo", many).error().advice;
    CHECK(advice.ends_with(", demo-1.0-cp38, …"));
    CHECK(advice.find("cp39") == std::string::npos);
}
