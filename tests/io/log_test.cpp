// Log lines: one event per line, whatever the values contain.
#include "lib/io/log.hpp"

#include <doctest/doctest.h>
#include <unistd.h>

#include <thread>
#include <vector>

#include "lib/base/files/file.hpp"
#include "lib/base/files/temp_dir.hpp"
#include "lib/base/text/text.hpp"
#include "lib/base/text/utf8.hpp"
#include "lib/io/json.hpp"
#include "tests/support/redirected.hpp"

using namespace wheelyard::io;
namespace base = wheelyard::base;

namespace {

// The output of `use` on standard error.
template <typename Use>
std::string captured(Use use) {
    const auto dir = base::TempDir::make("log-test").value();
    const auto file = dir.path() / "err";
    {
        const wheelyard::test_support::Redirected errors(STDERR_FILENO, file);
        use();
    }
    return base::read_file(file, 1 << 24).value();
}

// The line without its time.
std::string rest_of(const std::string& line) {
    return line.substr(line.find("Z ") + 2);
}

}  // namespace

TEST_CASE("a line has its time, level, event and fields") {
    const auto line = captured([] { log_info("upload.accepted", {{"request", "7f3a"}, {"serial", "12"}}); });
    CHECK(base::matches_glob("20*T*:*.???Z info  upload.accepted request=7f3a serial=12\n", line));
    CHECK(rest_of(captured([] { log_warn("a.b"); })) == "warn  a.b\n");
    CHECK(rest_of(captured([] { log_error("a.b"); })) == "error a.b\n");
}

TEST_CASE("a value can start neither a line nor a field") {
    struct Row {
        const char* value;
        const char* shown;
    };
    for (const Row& row :
         {Row{"plain-1.0+cu121.whl", "plain-1.0+cu121.whl"}, Row{"", "\"\""}, Row{"a b", "\"a b\""},
          Row{"a=b", "\"a=b\""},
          Row{"x\n2026-11-20T00:00:00.000Z info  forged", "\"x\\n2026-11-20T00:00:00.000Z info  forged\""},
          Row{"say \"hi\"\\", "\"say \\\"hi\\\"\\\\\""},
          Row{"\x1b[31m\r\t\x7f", "\"\\x1b[31m\\x0d\\x09\\x7f\""}, Row{"\xFF", "\"\\xff\""}, Row{"é", "é"},
          Row{"a\u009b\u202e", "a??"}}) {
        CAPTURE(row.value);
        CHECK(rest_of(captured([&] {
                  log_info("e", {{"v", row.value}});
              })) == "info  e v=" + std::string(row.shown) + "\n");
    }
}

TEST_CASE("as JSON a line is one object, whatever the values contain") {
    const auto line = captured([] {
        log_as_json(true);
        log_warn("a.b", {{"v", "x\n\"y\"\x1b\xFF é\u009b"}, {"long", std::string(1 << 20, 'x')}});
        log_as_json(false);
    });
    CHECK(line.find('\n') == line.size() - 1);
    const auto parsed = parse_json(line);
    REQUIRE(parsed.has_value());
    CHECK(base::matches_glob("20*T*:*.???Z", parsed->string_or("time", "")));
    CHECK(parsed->string_or("level", "") == "warn");
    CHECK(parsed->string_or("event", "") == "a.b");
    CHECK(parsed->string_or("v", "") == "x\n\"y\"\x1b\uFFFD é\u009b");
    CHECK(base::is_printable_line(std::string_view(line).substr(0, line.size() - 1)));
    CHECK(parsed->string_or("long", "").ends_with("x…"));
    CHECK(line.size() < 5000);
}

TEST_CASE("a very long value is cut and marked") {
    const auto line = captured([] { log_info("e", {{"v", std::string(1 << 20, 'x')}}); });
    CHECK(line.size() < 5000);
    CHECK(line.ends_with("x…\"\n"));
}

TEST_CASE("lines of several threads never mix") {
    const auto text = captured([] {
        std::vector<std::thread> threads;
        for (int i = 0; i < 4; ++i) {
            threads.emplace_back([] {
                for (int n = 0; n < 200; ++n)
                    log_info("e", {{"v", std::string(500, 'x')}});
            });
        }
        for (auto& thread : threads)
            thread.join();
    });
    const auto lines = base::split_lines(text);
    CHECK(lines.size() == 800);
    for (const auto line : lines)
        CHECK(line.ends_with("info  e v=" + std::string(500, 'x')));
}
