// The doctor on the excerpts of its rules, and on logs of every shape.
#include "builder/doctor/doctor.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>

#include "builder/attempt/limits.hpp"
#include "builder/doctor/line_context.hpp"
#include "lib/base/limits.hpp"
#include "lib/io/json.hpp"
#include "tests/builder/fake_farm.hpp"
#include "tests/support/golden.hpp"

namespace wheelyard::builder {
namespace {

namespace fs = std::filesystem;

Examination examine(std::string_view log) {
    Doctor doctor;
    doctor.feed(log);
    return doctor.finish();
}

std::string likeliest(const Examination& seen) {
    return seen.likeliest() == nullptr ? "" : std::string(seen.likeliest()->rule->code);
}

std::string first_error(std::string_view log) {
    const Examination seen = examine(log);
    return seen.first_error ? seen.first_error->text : "";
}

TEST_CASE("each of our rules finds the cause of its excerpt, and no earlier one hides it") {
    const auto wrong = check_rules(*RuleBook::ours(), true);
    CHECK(wrong == std::vector<std::string>{});
    CHECK(RuleBook::ours()->rules().size() >= 202);
}

TEST_CASE("a rule with a short pattern has a text that looks like it and is not, or knows who speaks") {
    constexpr std::size_t max_short = 19;  // letters that another program may write, too
    for (const auto& rule : RuleBook::ours()->rules()) {
        if (!rule.lookalikes.empty() || !rule.speakers.empty()) continue;
        for (const auto& pattern : rule.patterns) {
            CAPTURE(rule.code);
            CAPTURE(pattern);
            CHECK(base::replace_all(without_mark(pattern), "*", "").size() > max_short);
        }
    }
}

TEST_CASE("an advice to load a module names the key that loads it") {
    for (const auto& rule : RuleBook::ours()->rules()) {
        const std::string advice(rule.remedy);
        if (advice.find("oad ") == std::string::npos || advice.find("download") != std::string::npos)
            continue;
        CHECK_MESSAGE(advice.find("`load` in [modules] of site.toml") != std::string::npos,
                      rule.code << ": " << advice);
    }
}

TEST_CASE("pieces of a pattern must match in order") {
    CHECK(matches_pattern("a*b", "xxaxxbxx"));
    CHECK(!matches_pattern("a*b", "ba"));
    CHECK(!matches_pattern("ab*b", "ab"));
    CHECK(matches_pattern("plain", "it is plain"));
    CHECK(max_literal("ab*abcd*abc") == "abcd");
}

TEST_CASE("findings are sorted by weight, then by line") {
    const Examination two = examine(
        "u.c: undefined reference to `f'\nu.c: undefined reference to `g'\n"
        "/usr/bin/ld: cannot find -lmkl\n");
    CHECK(likeliest(two) == "link.undefined_reference");
    CHECK(two.likeliest()->count == 2);
    CHECK(two.likeliest()->line == 1);
    CHECK(two.findings.size() == 2);
}

TEST_CASE("feature probes of a configuration and warnings are not failures") {
    for (const char* line :
         {"-- Could NOT find MPI (missing: MPI_C_FOUND)",
          "checking for mpi.h... fatal error: mpi.h: No such file",
          "  -- Looking for cublas_v2.h: No such file or directory",
          "a.c:3: warning: undefined reference to x", "gcc -Werror -c undefined reference to.c"}) {
        CAPTURE(line);
        CHECK(likeliest(examine(std::string(line) + "\n")) == "");
    }
    CHECK(likeliest(examine("make: warning:  Clock skew detected.  Your build may be incomplete.\n")) ==
          "machine.clock_skew");
}

TEST_CASE("the first error is what a terminal showed") {
    CHECK(first_error("\x1b[01m\x1b[Ka.c:1:1:\x1b[m\x1b[K \x1b[01;31m\x1b[Kerror: \x1b[m\x1b[Kno\n") ==
          "a.c:1:1: error: no");
    CHECK(first_error(" 10%\r 20%\r a.c:1:1: error: drawn over\r\n") == "a.c:1:1: error: drawn over");
}

TEST_CASE("an unknown failure shows its first error with file, line and context") {
    const Examination seen = examine(
        "1\n2\n3\n4\n5\nsrc/a.cpp:12:5: error: 'x' is odd\n   12 |  x;\n      |  ^\n8\n9\n10\nlast: error: "
        "no\n");
    CHECK(likeliest(seen) == "");
    REQUIRE(seen.first_error.has_value());
    CHECK(seen.first_error->line == 6);
    CHECK(seen.first_error->source.file == "src/a.cpp");
    CHECK(seen.first_error->source.line == 12);
    CHECK(seen.first_error->before == std::vector<std::string>{"2", "3", "4", "5"});
    CHECK(seen.first_error->after == std::vector<std::string>{"12 |  x;", "^", "8", "9"});
    CHECK(seen.lines == 12);
}

TEST_CASE("files and lines are found in each tool's notation") {
    struct Row {
        const char* line;
        const char* file;
        std::uint64_t number;
    };
    const Row rows[] = {
        {"src/a.cpp:12:5: error: no", "src/a.cpp", 12},
        {"CMake Error at cmake/Dependencies.cmake:219 (message):", "cmake/Dependencies.cmake", 219},
        {"a.cu(33): error: no", "a.cu", 33},
        {"  File \"/x/y z.py\", line 7, in <module>", "/x/y z.py", 7},
        {"ninja: build stopped", "", 0},
        {"time 12:30:00 error: no", "", 0},
        {"File \"cut", "", 0},
        {"", "", 0},
        {":1: error", "", 0},
    };
    for (const auto& row : rows) {
        CAPTURE(row.line);
        const SourceLine found = source_line_of(row.line);
        CHECK(found.file == row.file);
        CHECK(found.line == row.number);
    }
    const Examination python = examine(
        "Traceback (most recent call last):\n  File \"setup.py\", line 9, in <module>\n"
        "    f()\nValueError: no\n");
    CHECK(python.first_error->source.file == "setup.py");
    CHECK(python.first_error->source.line == 9);
}

std::string repeat(std::string_view text, std::size_t bytes) {
    std::string all;
    while (all.size() < bytes)
        all += text;
    return all;
}

TEST_CASE("a file, a line number and a probe's name are looked for in the beginning of a line only") {
    const std::string before = repeat("x ", max_parsed_line_bytes);
    CHECK(source_line_of(before + "a.c:12: error: no").line == 0);
    CHECK(source_line_of(before.substr(0, 100) + "a.c:12: error: no").line == 12);
    CHECK(!names_a_probe(before + "conftest.c"));
    CHECK(names_a_probe(before.substr(0, 100) + "conftest.c"));
}

// What one line may cost grows with its length. Where it grew with its square, this took longer than a test may.
TEST_CASE("long lines made of the words that the doctor looks for cost no more than others") {
    for (const char* words : {":1", "a.c:", "a.c:1", "(1", "cmtc_", "/tmp/tmp", "/tmp/tmpabcdefgh/",
                              "warning: ", "error:", "failed: ", "no such file or directory: '", "env: '",
                              ": not found", "killed", "\x1b[", "\r", "'", "could not find "}) {
        CAPTURE(words);
        const std::string rest = repeat(words, max_log_line_bytes - 100);
        Doctor doctor;
        for (std::size_t fed = 0; fed < 2 * base::mib; fed += 3 * max_log_line_bytes)
            doctor.feed("failed " + rest + "\ncc -o conftest conftest.c\n" + rest + "\nx: not found " + rest +
                        "\n");
        CHECK(doctor.finish().lines > 40);
    }
}

TEST_CASE("only the last marked phase counts, and the exit code is reported") {
    const Examination seen = examine(
        "@@wheelyard phase=requirements at=x\nWARNING: Could not resolve host: a\nold error: gone by\n"
        "@@wheelyard phase=build at=y\nfine\nx.c:1: error: late\n@@wheelyard exit=2 phase=build at=z\n");
    CHECK(seen.phase == "build");
    CHECK(seen.exit_code == 2);
    CHECK(seen.findings.empty());
    CHECK(seen.first_error->text == "x.c:1: error: late");
    CHECK(seen.first_error->line == 6);
    CHECK(likeliest(examine(
              "fine\n@@wheelyard stop requested: time_limit\n@@wheelyard exit=143 phase=build at=z\n")) ==
          "time.job_limit");
    CHECK(likeliest(examine("@@wheelyard phase=build at=y\n@@wheelyard exit=137 phase=build at=z\n")) ==
          "memory.child_killed");
}

TEST_CASE("a long line is cut and control characters are removed") {
    const std::string found = first_error("error: \x1b[31m" + std::string(5000, 'x'));
    CHECK(found.size() <= max_error_line_bytes + 3);
    CHECK(found.find('\x1b') == std::string::npos);
}

TEST_CASE("a long log gives the same result wherever its pieces are cut") {
    const std::string noise(100, '.');
    std::string log;
    while (log.size() < 3 * base::mib)
        log += noise + "\n";
    log.append(max_log_line_bytes * 3, 'x').append("error: after the cut of a line\n");
    const std::string last = "x.c:1: error: late";
    log += noise + "\n" + last;  // no final line feed
    const base::TempDir folder = *base::TempDir::make("log");
    testing::write(folder.path() / "log", log);
    const auto seen = examine_log(folder.path() / "log");
    REQUIRE(seen.has_value());
    CHECK(seen->first_error->text == last);
    CHECK(seen->bytes == log.size());
    CHECK(!examine_log(folder.path() / "none").has_value());
    for (const std::size_t step : {1U, 7U, 4096U}) {
        Doctor doctor;
        const std::string_view end = std::string_view(log).substr(log.size() - max_log_line_bytes * 2);
        for (std::size_t at = 0; at < end.size(); at += step)
            doctor.feed(end.substr(at, step));
        CHECK(doctor.finish().first_error->text == last);
    }
}

TEST_CASE("the report has the rule, the position and the remedy, in text and JSON") {
    const Examination seen = examine("a\npy.c:1:10: fatal error: Python.h: No such file or directory\nb\n");
    const std::string text = render_examination(seen, "build.log");
    for (const char* part :
         {"python.headers_missing: ", "build.log:2: py.c:1:10: fatal error", "what to do: Install",
          "agent: does not retry; run `wheelyard-builder retry --code python.headers_missing` after",
          "in py.c:1", "  > py.c:1:10", "3 lines"}) {
        CAPTURE(part);
        CHECK(text.find(part) != std::string::npos);
    }
    const auto json = io::parse_json(render_examination_json(seen, "build.log"));
    REQUIRE(json.has_value());
    CHECK(json->string_or("format", "") == "wheelyard.doctor/1");
    const auto& finding = json->find("findings")->as_array()->front();
    CHECK(finding.string_or("code", "") == "python.headers_missing");
    CHECK(finding.int_or("line", 0) == 2);
    CHECK(json->find("first_error")->int_or("file_line", 0) == 1);
    CHECK(render_examination(examine("fine\n@@wheelyard exit=0 phase=done at=x\n"), "l")
              .starts_with("The build succ"));
    CHECK(
        render_examination(examine("x.c:1: error: odd\n"), "l").starts_with("No rule matches this failure."));
    CHECK(io::parse_json(render_rules_json(RuleBook::ours()->rules())).has_value());
}

TEST_CASE("docs/reference/doctor-rules.md is up to date with the table") {
    CHECK(test_support::page_difference("reference/doctor-rules.md",
                                        render_doctor_rules_markdown(RuleBook::ours()->rules())) == "");
}

}  // namespace
}  // namespace wheelyard::builder
