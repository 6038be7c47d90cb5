#include "builder/show/report.hpp"

#include <doctest/doctest.h>

namespace wheelyard::builder {
namespace {

TEST_CASE("the last counter after the last phase marker counts") {
    struct Row {
        const char* log;
        const char* phase;
        int done;
        int total;
    };
    const Row rows[] = {
        {"", "", 0, 0},
        {"@@wheelyard phase=build at=2026-11-20T08:20:01Z\n", "build", 0, 0},
        {"@@wheelyard phase=build at=x\n  [12/345] Building CXX object a.o\n", "build", 12, 345},
        {"[1/2] a\n[2/2] b\n", "", 2, 2},
        {"  [ 12%] Building C object x.o\n", "", 12, 100},
        {"[100%] Built target x\n", "", 100, 100},
        {"[5/9] a\n@@wheelyard phase=smoke at=x\n", "smoke", 0, 0},
        {"[x/9] no\n[3/0] no\n[9/3] no\n[101%] no\n[abc] no\n[12/34 no\n", "", 0, 0},
        {"[99999999999/99999999999] too large\n", "", 0, 0},
    };
    for (const auto& row : rows) {
        CAPTURE(row.log);
        const Progress progress = parse_progress(row.log);
        CHECK(progress.phase == row.phase);
        CHECK(progress.done == row.done);
        CHECK(progress.total == row.total);
    }
}

TEST_CASE("a bar has the requested width") {
    CHECK(render_bar({"build", 0, 4}, 4) == "[----] 0/4");
    CHECK(render_bar({"build", 1, 2}, 4) == "[##--] 1/2");
    CHECK(render_bar({"build", 50, 100}, 4) == "[##--] 50%");
    CHECK(render_bar({"build", 4, 4}, 4) == "[####] 4/4");
    CHECK(render_bar({"build", 0, 0}, 4).empty());
    CHECK(render_bar({"build", 1, 1}, 0).empty());
}

}  // namespace
}  // namespace wheelyard::builder
