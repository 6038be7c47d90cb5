#include "builder/screen.hpp"

#include <doctest/doctest.h>

#include "lib/base/process/terminal_columns.hpp"
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

}  // namespace
}  // namespace wheelyard::builder
