// What `run` and `tick` print while they work.
#include "builder/commands/tick_until.hpp"

#include <doctest/doctest.h>

#include "lib/base/process/terminal.hpp"
#include "lib/base/text/encoding.hpp"
#include "lib/base/text/text.hpp"

namespace wheelyard::builder {
namespace {

// The output of a screen, captured in a temporary file.
template <typename Draw>
std::string drawn(bool terminal, Draw draw) {
    std::FILE* out = std::tmpfile();
    REQUIRE(out != nullptr);
    {
        Screen screen(out, terminal);
        draw(screen);
    }
    std::string text(static_cast<std::size_t>(std::ftell(out)), '\0');
    std::rewind(out);
    REQUIRE(std::fread(text.data(), 1, text.size(), out) == text.size());
    std::fclose(out);
    return text;
}

AttemptView building(int done) {
    AttemptView view;
    view.attempt.id = "w1";
    view.attempt.asked.cell = view.attempt.asked.package = "demo";
    view.attempt.state = State::running;
    view.progress = {"build", done, 100};
    return view;
}

TEST_CASE("a log gets a line for each tenth of progress, not for each poll") {
    const std::string text = drawn(false, [](Screen& screen) {
        for (int done = 0; done < 100; ++done)
            screen.show({building(done)});
    });
    CHECK(base::split_lines(text).size() == 10);
    CHECK(text.find('\r') == std::string::npos);
}

TEST_CASE("a log gets no line for a build without a phase, nor for one that does not run") {
    AttemptView waiting = building(1), silent = building(1);
    waiting.attempt.state = State::submitting;
    silent.progress = {};
    CHECK(drawn(false, [&](Screen& screen) { screen.show({waiting, silent}); }).empty());
}

TEST_CASE("a terminal's status line is redrawn, and removed at the end") {
    const std::string text = drawn(true, [](Screen& screen) {
        screen.show({building(1)});
        screen.line("something happened");
        screen.show({building(2)});
    });
    CHECK(text.find("\r\033[Ksomething happened\n") != std::string::npos);
    CHECK(text.ends_with("\r\033[K"));
}

TEST_CASE(
    "a status line has fewer columns than the terminal, so that it can be redrawn, and no half character") {
    AttemptView wide = building(1);
    wide.attempt.asked.version = "ä";
    const std::vector<AttemptView> many(28, wide);
    const std::string text = drawn(true, [&](Screen& screen) { screen.show(many); });
    const std::string line = text.substr(0, text.find('\r'));
    CHECK(line.ends_with(" …"));
    CHECK(line.size() <= base::default_columns + 2);  // "…" has three bytes and one column
    CHECK(base::is_utf8(line));
}

constexpr base::UnixMicros second = 1'000'000;

TEST_CASE(
    "a line of a program that ticks for ever has the time, and is not repeated while ticks say it again") {
    TickLines lines;
    lines.begin();
    CHECK(lines.fresh("no answer\n", 1 * second) == "1970-01-01T00:00:01Z no answer\n");
    CHECK(lines.fresh("no answer\nanother\n", 2 * second) == "1970-01-01T00:00:02Z another\n");
    lines.begin();
    CHECK(lines.fresh("no answer\n", 3 * second).empty());
    lines.begin();
    CHECK(lines.fresh("no answer\n", 4 * second).empty());
    CHECK(lines.fresh("another\n", 4 * second) == "1970-01-01T00:00:04Z another\n");
    lines.begin();  // a tick that says nothing of it
    lines.begin();
    CHECK(lines.fresh("no answer\n", 5 * second) == "1970-01-01T00:00:05Z no answer\n");
}

TEST_CASE("a line that differs only in how long a connection was tried is not repeated") {
    TickLines lines;
    for (const std::string unit : {" ms: Could not connect", " milliseconds"}) {
        lines.begin();
        CHECK_FALSE(lines.fresh("Failed to connect to h after 3" + unit + "\n", second).empty());
        lines.begin();
        CHECK(lines.fresh("Failed to connect to h after 12" + unit + "\n", second).empty());
    }
    lines.begin();
    CHECK_FALSE(lines.fresh("fails after 3 attempts\n", second).empty());
    lines.begin();
    CHECK_FALSE(lines.fresh("fails after 4 attempts\n", second).empty());
}

}  // namespace
}  // namespace wheelyard::builder
