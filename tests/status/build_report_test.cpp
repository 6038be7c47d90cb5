#include "lib/status/build_report.hpp"

#include <doctest/doctest.h>

#include <algorithm>

#include "tests/support/golden.hpp"

namespace wheelyard::status {
namespace {

constexpr base::UnixMicros began = 1'795'000'000'000'000;
constexpr base::UnixMicros second = 1'000'000;

SiteReport report_at(std::int64_t seconds) {
    SiteReport report;
    report.site = "bede";
    report.index = "main";
    report.time = began + seconds * second;
    return report;
}

BuildReport attempt(const std::string& id, std::int64_t done = 0) {
    BuildReport made;
    made.id = id;
    made.package = "torch";
    made.version = "2.4.0";
    made.python = "3.12";
    made.state = "running";
    made.phase = "build";
    made.began = began;
    made.done = done;
    made.total = 345;
    made.memory_limit_mib = 64'000;
    made.memory_mib = {5'200, 61'000};
    made.phases = {"prepare", "build"};
    made.phase_seconds = {3, 57};
    return made;
}

// What a registry knows after these reports.
KnownBuilds after(const std::vector<SiteReport>& reports) {
    KnownBuilds known;
    for (const SiteReport& report : reports) {
        for (const BuildReport& build : changed_builds(report, known))
            known.insert_or_assign(build.id, build);
    }
    return known;
}

TEST_CASE("a build is what its site last reported of it") {
    SiteReport first = report_at(60);
    first.attempts = {attempt("w1", 12)};
    SiteReport second_report = report_at(120);
    second_report.attempts = {attempt("w1", 200)};
    const auto known = after({first, second_report});
    REQUIRE(known.size() == 1);
    const BuildReport& build = known.at("w1");
    CHECK(build.site == "bede");
    CHECK(build.index == "main");
    CHECK(build.done == 200);
    CHECK(build.memory_limit_mib == 64'000);
    CHECK_FALSE(is_over(build));
    CHECK(changed_builds(second_report, known).empty());  // nothing to write
}

TEST_CASE("a failed build keeps its phases and its memory, and gets its cause and its remedy") {
    SiteReport running = report_at(60);
    running.attempts = {attempt("w1")};
    running.attempts.front().source = "https://files.example.org/torch-2.4.0.tar.gz";
    running.attempts.front().source_sha256 = std::string(64, 'a');
    SiteReport failed = report_at(120);
    BuildReport failure;
    failure.id = "w1";
    failure.package = "torch";
    failure.version = "2.4.0";
    failure.python = "3.12";
    failure.began = began;
    failure.ended = began + 100 * second;
    failure.phase = "build";
    failure.rule = "memory.compiler_killed";
    failure.cause = "killed";
    failure.remedy = "more memory";
    failure.source = running.attempts.front().source;
    failure.source_sha256 = running.attempts.front().source_sha256;
    failed.failures = {failure};
    const BuildReport build = after({running, failed}).at("w1");
    CHECK(build.state == build_failed);
    CHECK(build.ended == began + 100 * second);
    CHECK(build.cause == "killed");
    CHECK(build.remedy == "more memory");
    CHECK(build.rule == "memory.compiler_killed");
    CHECK(build.memory_mib == std::vector<std::int64_t>{5'200, 61'000});
    CHECK(build.phases == std::vector<std::string>{"prepare", "build"});
    // The last report of a build that ran knew less than its job says at the end.
    failed.failures.front().phases = {"prepare", "build", "audit"};
    failed.failures.front().phase_seconds = {3, 90, 7};
    const BuildReport whole = after({running, failed}).at("w1");
    CHECK(whole.phases == std::vector<std::string>{"prepare", "build", "audit"});
    CHECK(whole.phase_seconds == std::vector<std::int64_t>{3, 90, 7});
    CHECK(build.source == "https://files.example.org/torch-2.4.0.tar.gz");
    CHECK(build.source_sha256 == std::string(64, 'a'));
}

TEST_CASE("a build that a site no longer reports has ended, unless the report says that it is cut") {
    SiteReport running = report_at(60);
    running.attempts = {attempt("w1"), attempt("w2")};
    running.attempts.front().source = "six-1.0.tar.gz";
    SiteReport done = report_at(120);
    done.finished = {{.id = "w1",
                      .package = "torch",
                      .version = "2.4.0",
                      .python = "3.12",
                      .began = began,
                      .ended = began + 90 * second}};
    const auto known = after({running, done});
    CHECK(known.at("w1").state == build_done);
    CHECK(known.at("w1").ended == began + 90 * second);
    CHECK(known.at("w1").phase.empty());
    CHECK(known.at("w1").total == 0);
    CHECK(known.at("w2").phase == "build");            // the last that is known of it
    CHECK(known.at("w1").source == "six-1.0.tar.gz");  // as it said while it ran
    CHECK(known.at("w2").state == build_ended);
    CHECK(known.at("w2").ended == done.time);
    done.is_cut = true;
    CHECK(after({running, done}).at("w2").state == "running");
}

TEST_CASE("what is kept of a build survives a round trip, and fits its limit") {
    SiteReport report = report_at(60);
    BuildReport large = attempt("w1");
    large.waiting = std::string(max_text_bytes, 'x');
    large.remedy = std::string(max_remedy_bytes, 'x');  // with a command to copy: whole
    large.memory_mib.assign(max_memory_points, 999'999'999);
    large.phases.assign(max_phases, std::string(max_word_bytes, 'y'));
    large.phase_seconds.assign(max_phases, 999'999'999);
    report.attempts = {large};
    const BuildReport build = after({report}).at("w1");
    const std::string text = build_json(build).render();
    CHECK(text.size() < max_build_bytes);
    const auto read = parse_build(text);
    REQUIRE_MESSAGE(read.has_value(), read.error().text());
    CHECK(*read == build);
    for (const char* bad : {"", "{}", "[]", R"({"format":"wheelyard.build/1","site":5})"})
        CHECK_FALSE(parse_build(bad).has_value());
}

TEST_CASE("a build is expected to take as long as the middle one of those before") {
    CHECK(expected_end(began, {}) == 0);
    CHECK(expected_end(0, {60}) == 0);
    CHECK(expected_end(began, {60}) == began + 60 * second);
    CHECK(expected_end(began, {900, 60, 50}) == began + 60 * second);  // one slow machine does not count
}

TEST_CASE("the page of the format lists exactly the members") {
    CHECK(test_support::part_difference("reference/builds.md", "build", render_build_fields()) == "");
}

}  // namespace
}  // namespace wheelyard::status
