// The phases of a build and the memory of its compiles, from its log.
#include "builder/workplace/build_course.hpp"

#include <doctest/doctest.h>

#include <algorithm>

#include "lib/base/limits.hpp"
#include "lib/base/text/text.hpp"
#include "lib/status/limits.hpp"

using namespace wheelyard;
using builder::parse_build_course;

TEST_CASE("phases come with the times of their markers, and a line that is no marker is none") {
    const auto course = parse_build_course(
        "@@wheelyard phase=unpack at=2026-11-20T09:00:12Z\nx\n"
        "@@wheelyard phase=build at=2026-11-20T09:00:15Z\n[1/2] cc\n"
        "@@wheelyard phase=odd\n@@wheelyard phase=late at=yesterday\n"
        " @@wheelyard phase=quoted at=2026-11-20T09:00:15Z\n@@wheelyard exit=1 phase=build "
        "at=2026-11-20T09:01:00Z\n");
    REQUIRE(course.phases.size() == 2);
    CHECK(course.phases[0].name == "unpack");
    CHECK(course.phases[1].name == "build");
    CHECK(course.phases[1].began - course.phases[0].began == 3'000'000);
    CHECK(course.memory_mib.empty());
    std::string many;
    for (int at = 10; at < 40; ++at)
        many +=
            "@@wheelyard phase=p" + std::to_string(at) + " at=2026-11-20T09:00:" + std::to_string(at) + "Z\n";
    const auto last = parse_build_course(many);
    CHECK(last.phases.size() == status::max_phases);
    CHECK(last.phases.back().name == "p39");
}

TEST_CASE("the memory is what the governor prints, the maximum of each part of a long build") {
    // As tests/builder/governor/broker/report_test.cpp has it.
    const auto line = [](double used) {
        return "governor: 3/10 compiles, 2 running, 5 waiting, " +
               base::render_bytes(static_cast<std::uint64_t>(used)) + " of 14 GiB, run again 2\n";
    };
    const auto mib = static_cast<double>(base::mib);
    CHECK(parse_build_course(line(0) + "[1/2] cc\n" + line(512 * mib) + line(5222.4 * mib)).memory_mib ==
          std::vector<std::int64_t>{0, 512, 5223});
    CHECK(parse_build_course(
              "governor: 5 waiting, x of y\ngovernor: 1 waiting, -1 GiB of 2 GiB\n"
              "governor: 1 waiting, 9999999999 TiB of 2 GiB\ngovernor: 1 waiting, 5x GiB of 9 GiB\n"
              "governor: summary\n")
              .memory_mib.empty());
    std::string log;
    for (int at = 0; at < 600; ++at)
        log += line((at == 307 ? 9000 : 100) * mib);
    const auto parts = parse_build_course(log).memory_mib;
    REQUIRE(parts.size() == status::max_memory_points);
    CHECK(parts[30] == 9012);  // "8.8 GiB"
    CHECK(std::count(parts.begin(), parts.end(), 100) == 59);
}
