#include "builder/attempt/journal.hpp"

#include <doctest/doctest.h>
#include <sys/stat.h>

#include "builder/attempt/claim_record.hpp"
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

TEST_CASE("a FIFO or a link in the place of a record is reported, and nothing is waited for") {
    const Opened opened;
    testing::must(opened.journal.write(attempt("w1")));
    REQUIRE(::mkfifo(opened.file("w2.json").c_str(), 0600) == 0);
    fs::create_symlink(opened.file("w1.json"), opened.file("w3.json"));
    const auto content = opened.journal.read();
    REQUIRE(content.has_value());
    CHECK(content->attempts.size() == 1);
    REQUIRE(content->problems.size() == 2);
    for (const auto& problem : content->problems)
        CHECK(problem.code == "file.not_regular");

    const ClaimFolder claims(opened.folder.path() / "claims");
    testing::must(base::make_directories(opened.folder.path() / "claims"));
    REQUIRE(::mkfifo((opened.folder.path() / "claims/c.json").c_str(), 0600) == 0);
    bool unread = false;
    CHECK(claims.read(unread).empty());
    CHECK(unread);
}

TEST_CASE("a journal that does not exist yet is empty, and reading creates nothing") {
    const base::TempDir folder = *base::TempDir::make("journal");
    CHECK(Journal(folder.path() / "state").read()->attempts.empty());
    CHECK(!fs::exists(folder.path() / "state"));
}

TEST_CASE("a temporary file of an interrupted write is ignored, and sweep removes it") {
    const Opened opened;
    testing::write(opened.file(".w1.json.tmp.x"), "{");
    const auto beside = opened.file("x").parent_path().parent_path() / ".sent_logs.json.tmp.x";
    testing::write(beside, "{");
    CHECK(opened.journal.read()->problems.empty());
    opened.journal.sweep();
    CHECK(!fs::exists(opened.file(".w1.json.tmp.x")));
    CHECK(!fs::exists(beside));
}

}  // namespace
}  // namespace wheelyard::builder
