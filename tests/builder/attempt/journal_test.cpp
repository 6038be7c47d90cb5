#include "builder/attempt/journal.hpp"

#include <doctest/doctest.h>

#include "tests/builder/fake_farm.hpp"

namespace wheelyard::builder {
namespace {

namespace fs = std::filesystem;

Attempt attempt(const std::string& id) {
    Attempt made;
    made.id = id;
    made.asked.cell = made.asked.package = "demo";
    made.asked.version = "1.0";
    made.asked.python = "3.11";
    return made;
}

struct Opened {
    base::TempDir folder = *base::TempDir::make("journal");
    Journal journal{folder.path()};
    Opened() { testing::must(journal.prepare()); }
    [[nodiscard]] fs::path file(const std::string& name) const { return folder.path() / "attempts" / name; }
};

TEST_CASE("attempts are read in the order of their IDs, and the last write wins") {
    const Opened opened;
    for (const char* id : {"w2", "w1", "w2"})
        testing::must(opened.journal.write(attempt(id)));
    const auto content = opened.journal.read();
    REQUIRE(content.has_value());
    REQUIRE(content->attempts.size() == 2);
    CHECK(content->attempts[0].id == "w1");
    CHECK(content->problems.empty());
}

TEST_CASE("broken, unknown and misnamed files are reported by name, and the others are read") {
    const Opened opened;
    testing::must(opened.journal.write(attempt("w1")));
    testing::write(opened.file("w2.json"), "{\"format\":");
    testing::write(opened.file("w3.json"), render_attempt(attempt("w1")));
    testing::write(opened.file("notes.txt"), "mine");
    testing::write(opened.file("w4.json"), "{\"format\":\"wheelyard.attempt/9\"}");
    const auto content = opened.journal.read();
    REQUIRE(content.has_value());
    CHECK(content->attempts.size() == 1);
    REQUIRE(content->problems.size() == 4);
    std::string all;
    for (const auto& problem : content->problems)
        all += problem.text() + "\n";
    for (const char* name : {"w2.json", "w3.json", "w4.json", "notes.txt"})
        CHECK(all.find(name) != std::string::npos);
}

TEST_CASE("a journal that does not exist yet is empty, and reading creates nothing") {
    const base::TempDir folder = *base::TempDir::make("journal");
    CHECK(Journal(folder.path() / "state").read()->attempts.empty());
    CHECK(!fs::exists(folder.path() / "state"));
}

TEST_CASE("a temporary file of an interrupted write is ignored, and sweep removes it") {
    const Opened opened;
    testing::write(opened.file(".w1.json.tmp.x"), "{");
    CHECK(opened.journal.read()->problems.empty());
    opened.journal.sweep();
    CHECK(!fs::exists(opened.file(".w1.json.tmp.x")));
}

}  // namespace
}  // namespace wheelyard::builder
