// Last line, JSON and trace of a small build whose file names need escaping.
#include "builder/governor/broker/build_record.hpp"

#include <doctest/doctest.h>

using namespace wheelyard::governor;

namespace {

BuildReport small() {
    BuildReport report;
    report.compiles = 2;
    report.killed = 1;
    report.wall_seconds = 10;
    report.compile_seconds = 14;
    report.limit_bytes = 2048.0 * 1024 * 1024;
    report.high_water_bytes = 1024.0 * 1024 * 1024;
    report.limit_name = "--memory";
    report.tries = {{"a<b>\"&.cpp", 0, 4000, 5e8, 4e8, "ok", 0},
                    {"\xff\n.cpp", 1000, 9000, 1e9, 1e9, "killed", 1}};
    report.memory = {{0, 1e8}, {5000, 1e9}};
    report.note_worst({"a<b>\"&.cpp", 5e8, 4});
    report.prediction_errors = {0.5, 0.01, 0.02};
    return report;
}

}  // namespace

TEST_CASE("the last line shows compiles, peak and limit, and what memory killed") {
    auto report = small();
    report.max_running = 3;
    CHECK(render_last_line(report) ==
          "governor: 2 compiles in 10.0 s, at most 3 at once, 1 GiB of 2 GiB (--memory), 1 killed for "
          "memory\n");
    report.killed = 0;
    report.gave_up = 1;
    CHECK(render_last_line(report).ends_with("(--memory), 1 could not fit\n"));
}

TEST_CASE("JSON is valid for any file names") {
    const auto text = render_json(small());
    CHECK(text.find("\"format\": \"wheelyard.governor-summary/1\"") != std::string::npos);
    CHECK(text.find("\"prediction_error_median\": 0.020") != std::string::npos);
    CHECK(text.find("a<b>\\\"&.cpp") != std::string::npos);
    CHECK(render_json({}).find("\"prediction_error_median\": null") != std::string::npos);
    const auto trace = render_trace(small());
    CHECK(trace.find("?\\u000a.cpp") != std::string::npos);
    CHECK(trace.find("\"dur\":4000000") != std::string::npos);
}

TEST_CASE("the five largest compiles are kept, each source once") {
    BuildReport report;
    for (int i = 0; i < 20; ++i)
        report.note_worst({"s" + std::to_string(i % 8), 100.0 + i, 1});
    REQUIRE(report.worst.size() == 5);
    CHECK(report.worst[0].source == "s3");
    CHECK(report.worst[0].peak_bytes == 119);
}

TEST_CASE("the progress line shows how many compiles are done, running and waiting") {
    Progress progress;
    progress.done = 3;
    progress.running = 2;
    progress.waiting = 5;
    progress.used_bytes = 1024 * 1024;
    progress.room_bytes = 4 * 1024 * 1024;
    progress.left_seconds = 60;
    // builder/workplace/build_course.cpp reads this line in the log.
    CHECK(render_progress(progress).starts_with(
        "governor: 3/10 compiles, 2 running, 5 waiting, 1 MiB of 4 MiB"));
}

TEST_CASE("JSON names the largest ungoverned process, and why -j was not raised") {
    auto report = small();
    CHECK(render_json(report).find("\"largest_ungoverned\": null") != std::string::npos);
    report.largest_other = {"rustc", 900.0 * 1024 * 1024};
    CHECK(render_json(report).find("\"largest_ungoverned\": {\"program\": \"rustc\", \"peak_bytes\": ") !=
          std::string::npos);
    CHECK(render_json(report).find("\"jobs_capped_at\": null") != std::string::npos);
    report.capped_jobs = 3;
    report.forms = {{"CC", "zig cc", false}};
    CHECK(render_json(report).find("\"jobs_capped_at\": 3") != std::string::npos);
    CHECK(render_json(report).find("{\"form\": \"CC\", \"command\": \"zig cc\", \"intercepted\": false}") !=
          std::string::npos);
}
