// What a terminal gets, and what a file gets. The terminal is a pseudo-terminal (pty(7)).
#include "lib/base/process/terminal.hpp"

#include <doctest/doctest.h>
#include <fcntl.h>
#include <stdlib.h>
#include <termios.h>
#include <unistd.h>

#include <string>
#include <vector>

#include "lib/base/files/fd.hpp"

using namespace wheelyard::base;

namespace {

constexpr const char* hostile = "\x1b]0;title\a \u009b31m \u202e größe\n";
constexpr const char* shown = "?]0;title? ?31m ? größe\n";

// What a terminal receives of these pieces.
std::string on_terminal(const std::vector<std::string>& pieces, bool raw) {
    const Fd master(::posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC));
    REQUIRE(master);
    REQUIRE(::grantpt(master.get()) == 0);
    REQUIRE(::unlockpt(master.get()) == 0);
    std::FILE* slave = std::fopen(::ptsname(master.get()), "w");
    REQUIRE(slave != nullptr);
    termios settings{};
    REQUIRE(::tcgetattr(::fileno(slave), &settings) == 0);
    ::cfmakeraw(&settings);
    REQUIRE(::tcsetattr(::fileno(slave), TCSANOW, &settings) == 0);
    TerminalWriter writer(slave, raw);
    for (const auto& piece : pieces)
        writer.write(piece);
    writer.finish();
    std::fflush(slave);
    char text[4096];
    const auto got = ::read(master.get(), text, sizeof text);
    std::fclose(slave);
    return got > 0 ? std::string(text, static_cast<std::size_t>(got)) : "";
}

}  // namespace

TEST_CASE("a terminal gets no control character, unless the caller asks for raw text") {
    CHECK(on_terminal({hostile}, false) == shown);
    CHECK(on_terminal({hostile}, true) == hostile);
}

TEST_CASE("a character that is divided between two pieces is judged as a whole") {
    std::vector<std::string> bytes;
    for (const char byte : std::string(hostile))
        bytes.emplace_back(1, byte);
    CHECK(on_terminal(bytes, false) == shown);
    CHECK(on_terminal({"cut: \xe2\x82"}, false) == "cut: \xe2?");
    CHECK(on_terminal({"\x80\x80\x80\x80\x80", "x"}, false) == "?????x");
}

TEST_CASE("a file gets the text as it is") {
    std::FILE* file = std::tmpfile();
    REQUIRE(file != nullptr);
    print_untrusted(file, hostile);
    std::rewind(file);
    char text[4096];
    const auto got = std::fread(text, 1, sizeof text, file);
    std::fclose(file);
    CHECK(std::string(text, got) == hostile);
}
