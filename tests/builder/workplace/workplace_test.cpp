// An agent wired from a real site file.
#include "builder/workplace/workplace.hpp"

#include <doctest/doctest.h>

#include "tests/builder/fake_farm.hpp"

namespace wheelyard::builder {
namespace {

std::string site_text(const std::string& python) {
    return "config_version = 1\nname = \"t\"\nrecipes = [\"recipes\"]\n[state]\ndirectory = "
           "\"state\"\n[work]\ndirectory = \"work\"\n"
           "[[python]]\nversion = \"" +
           python +
           "\"\nexecutable = \"python3\"\n[governor]\nuse = false\n[[want]]\npackage = \"demo\"\nversions = "
           "[\"1.0\"]\n";
}

TEST_CASE("a site file gives a workplace, and a missing Python makes its cells impossible") {
    const base::TempDir folder = *base::TempDir::make("workplace");
    testing::must(base::make_directories(folder.path() / "recipes"));
    testing::write(folder.path() / "recipes" / "demo.toml",
                   "config_version = 1\npackage = \"demo\"\n[source]\nkind = \"path\"\npath = \"demo\"\n");
    testing::write(folder.path() / "site.toml", site_text("3.99"));
    const auto place = Workplace::open(folder.path() / "site.toml");
    REQUIRE_MESSAGE(place.has_value(), place.error().text());
    const auto plan = (*place)->agent().look();
    REQUIRE(plan.has_value());
    REQUIRE(plan->cells.size() == 1);
    CHECK(plan->cells.front().state == CellState::impossible);
    CHECK(plan->cells.front().reason.find("3.99") != std::string::npos);
}

TEST_CASE("a site file that is missing or wrong is an error that names it") {
    const base::TempDir folder = *base::TempDir::make("workplace");
    const auto missing = Workplace::open(folder.path() / "site.toml");
    REQUIRE(!missing.has_value());
    CHECK(missing.error().text().find("site.toml") != std::string::npos);
    testing::write(folder.path() / "site.toml", base::replace_all(site_text("3.11"), "versions", "verzions"));
    const auto wrong = Workplace::open(folder.path() / "site.toml");
    REQUIRE(!wrong.has_value());
    CHECK(wrong.error().text().find("versions") != std::string::npos);
}

TEST_CASE("an attempt that is built for a task of the registry is shown with it, and no other attempt is") {
    const base::TempDir folder = *base::TempDir::make("workplace");
    testing::must(base::make_directories(folder.path() / "recipes"));
    testing::write(folder.path() / "site.toml", site_text("3.99"));
    const auto place = Workplace::open(folder.path() / "site.toml");
    REQUIRE_MESSAGE(place.has_value(), place.error().text());
    ClaimRecord record;
    record.task.id = "t1";
    record.task.request = {"test", "demo", "1.0", "3.11", ""};
    record.cell = "demo-1.0-cp311";
    testing::must(ClaimFolder(folder.path() / "state" / "claims").write(record));
    std::vector<Attempt> attempts(2);
    attempts[0].asked.cell = "other-1.0-cp311";
    attempts[1].asked.cell = record.cell;
    const auto views = (*place)->views(attempts);
    REQUIRE(views.size() == 2);
    CHECK(views[0].claimed_task.empty());
    CHECK(views[1].claimed_task == "t1");
}

TEST_CASE("a person who asks gets the job of an attempt whose last tick still saw it submitted") {
    const base::TempDir folder = *base::TempDir::make("workplace");
    testing::must(base::make_directories(folder.path() / "recipes"));
    testing::write(folder.path() / "site.toml", site_text("3.99"));
    const auto place = Workplace::open(folder.path() / "site.toml");
    REQUIRE_MESSAGE(place.has_value(), place.error().text());
    CHECK((*place)->last_tick() == std::nullopt);
    Attempt submitted, waiting;
    submitted.id = "w1";
    submitted.state = State::submitting;
    waiting.id = "w2";
    waiting.state = State::prepared;
    testing::write(folder.path() / "work" / "attempts" / "w1" / "claim" / "owner",
                   "{\"host\":\"elsewhere\",\"boot\":\"x\",\"pid\":4711,\"start\":1}");
    auto views = (*place)->views({submitted, waiting});
    (*place)->ask_jobs(views);
    CHECK(views.front().job.find("pid 4711 on elsewhere") == 0);
    CHECK(views.back().job.empty());
    CHECK(render_activity(views.front()).find("submitted, pid 4711 on elsewhere") == 0);
    testing::write(folder.path() / "work" / work_marker, "");
    CHECK((*place)->last_tick().value_or(0) > 0);
}

TEST_CASE("the error for a missing governor names the path that was searched") {
    const base::TempDir folder = *base::TempDir::make("workplace");
    testing::must(base::make_directories(folder.path() / "recipes"));
    const auto open_with = [&folder](const std::string& program) {
        testing::write(folder.path() / "site.toml",
                       base::replace_all(site_text("3.11"), "use = false", "program = \"" + program + "\""));
        return Workplace::open(folder.path() / "site.toml");
    };
    const auto missing = open_with("nowhere/governor");
    REQUIRE(!missing.has_value());
    CHECK(missing.error().code == "governor.missing");
    CHECK(missing.error().value == (folder.path() / "nowhere/governor").string());
    CHECK(open_with("/bin/true").has_value());
}

}  // namespace
}  // namespace wheelyard::builder
