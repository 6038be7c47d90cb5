// What a command beside the server can say of an upstream that fails.
#include "registry/upstream/last_failures.hpp"

#include <doctest/doctest.h>

#include <atomic>
#include <future>

#include "lib/base/files/file.hpp"
#include "lib/base/files/temp_dir.hpp"
#include "registry/upstream/limits.hpp"

using namespace wheelyard;
using registry::find_last_failure;

TEST_CASE("the newest failure of a project, or of the whole upstream, is found in the file") {
    const base::TempDir dir = base::TempDir::make("failures").value();
    registry::LastFailures failures(dir.path());
    CHECK_FALSE(find_last_failure(dir.path(), "main.up", "six").has_value());
    failures.note("main.up", {.time = 1,
                              .next_try = 2,
                              .project = "six",
                              .code = "http.private",
                              .sentence = "The host has a private address",
                              .value = "10.0.0.1"});
    failures.note("main.up", {.time = 3,
                              .next_try = 4,
                              .project = "seven",
                              .code = "upstream.status",
                              .sentence = "The upstream answered with status 500",
                              .value = {}});
    CHECK(find_last_failure(dir.path(), "main.up", "six")->value == "10.0.0.1");
    CHECK(find_last_failure(dir.path(), "main.up", "seven")->next_try == 4);
    CHECK_FALSE(find_last_failure(dir.path(), "main.up", "eight").has_value());
    CHECK_FALSE(find_last_failure(dir.path(), "other.up", "six").has_value());
    failures.note("main.up", {.time = 5,
                              .next_try = 6,
                              .project = "nine",
                              .code = "http.connect",
                              .sentence = "The server refuses connections",
                              .value = {},
                              .is_upstream_wide = true});
    CHECK(find_last_failure(dir.path(), "main.up", "six")->time == 5);
    failures.note("main.up", {.time = 7,
                              .next_try = 8,
                              .project = "six",
                              .code = "upstream.no_links",
                              .sentence = "x",
                              .value = {}});
    CHECK(find_last_failure(dir.path(), "main.up", "six")->time == 7);
    for (std::size_t i = 0; i < registry::max_failures_kept; ++i)
        failures.note("main.up", {.time = 9, .next_try = 9, .project = "p" + std::to_string(i)});
    CHECK_FALSE(find_last_failure(dir.path(), "main.up", "six").has_value());
    REQUIRE(base::replace_file(dir.path() / "main.up/last-failures.json", "{\"format\":"));
    CHECK_FALSE(find_last_failure(dir.path(), "main.up", "p1").has_value());
}

TEST_CASE("failures of a project are counted since the first one without a day in between") {
    constexpr base::UnixMicros hour = 3'600'000'000;
    const base::TempDir dir = base::TempDir::make("failures").value();
    registry::LastFailures failures(dir.path());
    for (const base::UnixMicros time : {1 * hour, 20 * hour, 43 * hour})
        failures.note("main.up", {.time = time, .project = "six"});
    failures.note("main.up", {.time = 43 * hour, .project = "seven"});
    auto kept = registry::read_last_failures(dir.path(), "main.up");
    REQUIRE(kept.size() == 2);
    CHECK(kept[0].since == 1 * hour);
    CHECK(kept[0].count == 3);
    CHECK(kept[1].since == 43 * hour);
    CHECK(kept[1].count == 1);
    failures.note("main.up", {.time = 67 * hour, .project = "six"});
    kept = registry::read_last_failures(dir.path(), "main.up");
    CHECK(kept[1].since == 67 * hour);
    CHECK(kept[1].count == 1);
    // A file of a version that did not count.
    REQUIRE(base::replace_file(
        dir.path() / "main.up/last-failures.json",
        R"({"format":"wheelyard.upstream-failures/1","failures":[{"time":5,"project":"old"}]})"));
    CHECK(registry::read_last_failures(dir.path(), "main.up").at(0).count == 1);
}

TEST_CASE("everybody is told what failed, but no address") {
    base::Error error{"http.private", "The host has a private address", "10.0.0.1"};
    error.kind = base::ErrorKind::refused;
    CHECK(registry::public_sentence(error) == "the configuration of this registry refuses its address");
    CHECK(registry::public_sentence({"http.connect",
                                     "The server refuses connections (Failed to connect to 10.1.2.3)",
                                     "http://10.1.2.3/"}) == "The server refuses connections");
    CHECK(registry::public_sentence({"upstream.status", "The upstream answered with status 500", {}}) ==
          "The upstream answered with status 500");
}

TEST_CASE("while one thread writes, others note failures at once, and all of them get into the file") {
    const base::TempDir dir = base::TempDir::make("failures").value();
    REQUIRE(base::make_directories(dir.path() / "main.up"));
    std::promise<void> writes;
    std::promise<void> may_end;
    const std::shared_future<void> end = may_end.get_future().share();
    std::atomic<int> written = 0;
    registry::LastFailures failures(dir.path(),
                                    [&](const std::filesystem::path& file, const std::string& bytes) {
                                        if (++written == 1) {
                                            writes.set_value();
                                            end.wait();
                                        }
                                        return base::replace_file(file, bytes);
                                    });
    const auto failure = [](const std::string& project) {
        return registry::UpstreamFailure{
            .time = 1, .next_try = 2, .project = project, .code = "http.connect"};
    };
    auto first = std::async(std::launch::async, [&] { failures.note("main.up", failure("six")); });
    writes.get_future().wait();
    failures.note("main.up", failure("seven"));  // does not wait for the disk
    failures.note("main.up", failure("eight"));
    CHECK(written == 1);
    may_end.set_value();
    first.get();
    CHECK(written == 2);
    for (const char* project : {"six", "seven", "eight"})
        CHECK(find_last_failure(dir.path(), "main.up", project).has_value());
}
