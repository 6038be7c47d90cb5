// What the command gets, how often, and that nobody waits for it.
#include "lib/notify/notify.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <string>
#include <thread>

#include "lib/base/files/file.hpp"
#include "lib/base/files/temp_dir.hpp"
#include "lib/io/json.hpp"
#include "tests/support/golden.hpp"

namespace wheelyard::notify {
namespace {

constexpr base::UnixMicros hour = 3'600'000'000;

struct Site {
    base::TempDir folder = base::TempDir::make("notify").value();
    base::ManualClock clock{1'800'000'000'000'000};
    Settings settings{.command = "cat >> " + (folder.path() / "got").string(),
                      .folder = folder.path() / "notify",
                      .program = "wheelyard-builder",
                      .from = "bede"};

    int tell_of(const std::vector<Notice>& notices) {
        const auto told = tell(settings, notices, clock);
        REQUIRE_MESSAGE(told.has_value(), told.error().text());
        return *told;
    }
    // Waits for so many notices: the command runs beside us.
    std::vector<io::Json> got(std::size_t count) const {
        std::vector<io::Json> all;
        for (int tries = 0; tries < 3000; ++tries) {
            const auto text = base::read_file(folder.path() / "got", 1u << 20).value_or("");
            if (static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n')) >= count) {
                std::istringstream lines(text);
                for (std::string line; std::getline(lines, line);)
                    all.push_back(io::parse_json(line).value());
                break;
            }
            std::this_thread::sleep_for(std::chrono::milliseconds(10));
        }
        return all;
    }
};

}  // namespace

TEST_CASE("docs/reference/notices.md has the table of events") {
    CHECK(test_support::part_difference("reference/notices.md", "events", render_event_table()) == "");
}

TEST_CASE("a notice is one JSON document on standard input, and is told once") {
    Site site;
    const Notice given_up{"cell.given_up", "demo-1.0-cp311",
                          "demo-1.0-cp311 is given up: it does not compile"};
    CHECK(site.tell_of({given_up}) == 1);
    const auto got = site.got(1);
    REQUIRE(got.size() == 1);
    CHECK(got[0].string_or("format", "") == "wheelyard.notice/1");
    CHECK(got[0].string_or("event", "") == "cell.given_up");
    CHECK(got[0].string_or("program", "") == "wheelyard-builder");
    CHECK(got[0].string_or("from", "") == "bede");
    CHECK(got[0].string_or("subject", "") == "demo-1.0-cp311");
    CHECK(got[0].string_or("text", "") == "bede: demo-1.0-cp311 is given up: it does not compile");
    CHECK(site.tell_of({given_up}) == 0);
    site.clock.sleep_ms(31LL * 24 * 3'600'000);
    CHECK(site.tell_of({given_up}) == 1);
    site.settings.command.clear();
    CHECK(site.tell_of({{"disk.reserve", "store", "full"}}) == 0);
}

TEST_CASE("at most 20 notices are sent in an hour, and what still holds is told later, with their number") {
    Site site;
    std::vector<Notice> many;
    for (int i = 0; i < 25; ++i)
        many.push_back({"cell.given_up", "cell-" + std::to_string(i), "given up"});
    CHECK(site.tell_of(many) == max_notices_an_hour);
    CHECK(site.tell_of(many) == 0);
    site.clock.set(site.clock.now() + hour + 1);
    CHECK(site.tell_of(many) == 5);
    const auto got = site.got(25);
    REQUIRE(got.size() == 25);
    std::int64_t suppressed = 0;
    for (const auto& notice : got)
        suppressed += *notice.find("suppressed")->as_int();
    CHECK(suppressed == 5);  // not five at each of two ticks
}

TEST_CASE("a refused token is told however many other notices were sent") {
    Site site;
    std::vector<Notice> many;
    for (int i = 0; i < 25; ++i)
        many.push_back({"cell.given_up", "cell-" + std::to_string(i), "given up"});
    CHECK(site.tell_of(many) == max_notices_an_hour);
    CHECK(site.tell_of({{"upload.paused", "token", "paused"}}) == 1);
    CHECK(site.tell_of({{"upload.paused", "token", "paused"}}) == 0);
}

TEST_CASE("another cause of the same subject is told at once, the same one is not") {
    Site site;
    const Notice held{"submission.refused", "queue `gpu`", "takes no jobs", "in maintenance"};
    CHECK(site.tell_of({held}) == 1);
    CHECK(site.tell_of({held}) == 0);
    CHECK(site.tell_of({{"submission.refused", "queue `gpu`", "takes no jobs", "no account"}}) == 1);
}

TEST_CASE("nobody waits for the command, and it gets no secrets and no standard output of ours") {
    Site site;
    ::setenv("WHEELYARD_TEST_SECRET", "hunter2", 1);
    ::setenv("https_proxy", "http://me:hunter2@proxy:3128", 1);
    const std::string dir = site.folder.path().string();
    // It waits for a file that is written only after tell() has returned.
    site.settings.command = "while ! test -e " + dir + "/go; do sleep 0.01; done; env > " + dir +
                            "/env; echo noise; cat > " + dir + "/got";
    CHECK(site.tell_of({{"test", "a", "b"}}) == 1);
    CHECK_FALSE(std::filesystem::exists(site.folder.path() / "got"));
    REQUIRE(base::replace_file(site.folder.path() / "go", ""));
    CHECK(site.got(1).size() == 1);
    const auto environment = base::read_file(site.folder.path() / "env", 1u << 20).value_or("");
    CHECK(environment.find("PATH=") != std::string::npos);
    CHECK(environment.find("hunter2") == std::string::npos);
    CHECK(base::read_file(site.settings.folder / "command.log", 1u << 20).value_or("") == "noise\n");
    ::unsetenv("https_proxy");
}

TEST_CASE("`notify test` waits for the command and shows what it printed") {
    Site site;
    site.settings.command = "cat; echo broken >&2; exit 3";
    const auto done = try_command(site.settings, site.clock);
    REQUIRE(done.has_value());
    CHECK(done->exit_code == 3);
    CHECK(done->out.find("\"event\":\"test\"") != std::string::npos);
    CHECK(done->err == "broken\n");
    site.settings.command.clear();
    CHECK(try_command(site.settings, site.clock).error().code == "notify.no_command");
}

}  // namespace wheelyard::notify
