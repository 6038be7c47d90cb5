// The doctor on short logs: cases.tsv, which holds what it once judged wrongly or not at all, and the 30 public reports
// that no rule was written for (public_logs.md).
#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>
#include <set>

#include "builder/doctor/doctor.hpp"
#include "tests/builder/fake_farm.hpp"

namespace wheelyard::builder {
namespace {

namespace fs = std::filesystem;

std::string read_case_file(const char* name) {
    return testing::read(fs::path(WHEELYARD_TEST_DATA) / "builder" / "doctor" / name);
}

std::vector<std::vector<std::string>> rows_of(const std::string& text) {
    std::vector<std::vector<std::string>> rows;
    for (const auto line : base::split_lines(text)) {
        if (line.empty() || line.starts_with('#')) continue;
        auto& row = rows.emplace_back();
        for (const auto cell : base::split(line, '\t')) {
            std::string plain = base::replace_all(cell, "\\\\", "\x01");
            plain = base::replace_all(base::replace_all(plain, "\\n", "\n"), "\\t", "\t");
            row.push_back(base::replace_all(plain, "\x01", "\\"));
        }
    }
    return rows;
}

Examination examine_case(const std::string& log) {
    Doctor doctor;
    doctor.feed(log);
    return doctor.finish();
}

std::string cause_in(const Examination& seen) {
    return seen.likeliest() == nullptr ? "-" : std::string(seen.likeliest()->rule->code);
}

TEST_CASE("each short log has its cause, and a failed one always an error") {
    const auto rows = rows_of(read_case_file("cases.tsv"));
    CHECK(rows.size() >= 60);
    for (const auto& row : rows) {
        REQUIRE(row.size() == 4);
        CAPTURE(row[0]);
        const Examination seen = examine_case(row[3]);
        const bool did_not_fail = row[1] == "+";
        CHECK(cause_in(seen) == (did_not_fail ? "-" : row[1]));
        CHECK(seen.first_error.has_value() == !did_not_fail);
        if (!row[2].empty() && seen.first_error) CHECK(seen.first_error->text == row[2]);
    }
}

TEST_CASE("what the doctor says of the public reports is the recorded cause") {
    const auto rows = rows_of(read_case_file("public_logs.tsv"));
    CHECK(rows.size() == 30);
    for (const auto& row : rows) {
        REQUIRE(row.size() == 7);
        CAPTURE(row[1]);
        const std::string cause = cause_in(examine_case(row[6]));
        CHECK((cause == "-" ? "none" : cause) == row[5]);
    }
}

TEST_CASE("the doctor leads to the cause of each report of fresh_logs.tsv and unseen_logs.tsv") {
    // unseen_logs.md says why.
    const std::set<std::string> unknown = {"8a.1", "29g.5", "1h.10", "16h.2", "19h.1", "30h.1"};
    auto rows = rows_of(read_case_file("fresh_logs.tsv"));
    CHECK(rows.size() == 40);
    const auto unseen = rows_of(read_case_file("unseen_logs.tsv"));
    CHECK(unseen.size() == 207);
    rows.insert(rows.end(), unseen.begin(), unseen.end());
    for (const auto& row : rows) {
        REQUIRE(row.size() == 6);
        CAPTURE(row[2]);
        const std::string cause = cause_in(examine_case(row[5]));
        const auto allowed = base::split(row[3], ' ');
        const bool is_right = std::any_of(allowed.begin(), allowed.end(), [&](std::string_view one) {
            return base::matches_glob(one, cause);
        });
        CHECK(is_right == !unknown.contains(row[0]));
    }
}

TEST_CASE("what the build went on after is listed apart") {
    const Examination seen = examine_case(
        "Package libffi was not found in the pkg-config search path.\nx.c:1:1: error: strange\n");
    CHECK(seen.findings.empty());
    REQUIRE(seen.set_aside.size() == 1);
    CHECK(seen.set_aside.front().rule->code == "build.pkg_config");
    CHECK(seen.set_aside.front().line == 1);
    CHECK(render_examination(seen, "l").find("the build went on after it:\n  build.pkg_config: l:1: ") !=
          std::string::npos);
}

}  // namespace
}  // namespace wheelyard::builder
