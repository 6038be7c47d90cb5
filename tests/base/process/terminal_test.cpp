// What a terminal gets, and what a file gets. The terminal is a pseudo-terminal (pty(7)).
#include "lib/base/process/terminal.hpp"

#include <doctest/doctest.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

#include <functional>
#include <ostream>
#include <string>
#include <vector>

#include "lib/base/files/fd.hpp"

using namespace wheelyard::base;

namespace {

constexpr const char* hostile = "\x1b]0;title\a \u009b31m \u202e größe\n";
constexpr const char* shown = "?]0;title? ?31m ? größe\n";

// What a terminal of 20 columns receives of what `write` writes.
std::string from_terminal(const std::function<void(std::FILE*)>& write) {
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
    const winsize size{24, 20, 0, 0};
    REQUIRE(::ioctl(::fileno(slave), TIOCSWINSZ, &size) == 0);
    REQUIRE(::setvbuf(slave, nullptr, _IOFBF, BUFSIZ) == 0);  // one write(2), so one read(2) gets it
    write(slave);
    std::fflush(slave);
    char text[4096];
    const auto got = ::read(master.get(), text, sizeof text);
    std::fclose(slave);
    return got > 0 ? std::string(text, static_cast<std::size_t>(got)) : "";
}

std::string on_terminal(const std::vector<std::string>& pieces, bool raw) {
    return from_terminal([&](std::FILE* slave) {
        TerminalWriter writer(slave, raw);
        for (const auto& piece : pieces)
            writer.write(piece);
        writer.finish();
    });
}

std::string from_file(const std::function<void(std::FILE*)>& write) {
    std::FILE* file = std::tmpfile();
    REQUIRE(file != nullptr);
    write(file);
    std::rewind(file);
    char text[4096];
    const auto got = std::fread(text, 1, sizeof text, file);
    std::fclose(file);
    return {text, got};
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
    CHECK(on_terminal({"cut: \xe2\x82"}, false) == "cut: ??");
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

TEST_CASE("what programs print is printable on a terminal and elsewhere, by a stream, too") {
    const auto write = [](std::FILE* out) {
        print(out, std::string("text \x1b[2J\n"));
        print(out, "%s %d\n", "\u202e", 7);
        PrintedLines lines(out, true);
        std::ostream(&lines) << "of a stream \u009b that breaks\n";
    };
    CHECK(from_terminal(write) == "text ?[2J\n? 7\nof a stream ? that\n  breaks\n");
    CHECK(from_file(write) == "text ?[2J\n? 7\nof a stream ? that breaks\n");
}

TEST_CASE("a message fits a terminal, and is one line elsewhere") {
    const auto print = [](std::FILE* out) { print_message(out, "error: run `tool --all --now`\x1b\n"); };
    CHECK(from_terminal(print) == "error: run\n  `tool --all --now`?\n");
    CHECK(from_file(print) == "error: run `tool --all --now`?\n");
}
