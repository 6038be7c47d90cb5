#include "indexer/pages/project_view.hpp"

#include <doctest/doctest.h>

#include <algorithm>

#include "tests/indexer/sample_view.hpp"

using namespace wheelyard;
using namespace wheelyard::indexer;

namespace {

std::vector<std::string> order_of(std::vector<std::string> versions) {
    std::vector<catalog::FileRow> rows;
    for (const auto& version : versions)
        rows.push_back(sample_row(version, "sample-" + version + "-py3-none-any.whl", 'a'));
    const auto view = make_project_view("sample", rows);
    const auto listed = versions_of(view);
    return {listed.begin(), listed.end()};
}

}  // namespace

TEST_CASE("files are sorted by version") {
    const std::vector<std::string> sorted{"0.9",       "1.0.dev1",  "1.0a2", "1.0rc1", "1.0",  "1.0+cpu",
                                          "1.0+cu126", "1.0.post1", "1.9",   "1.10",   "1!0.1"};
    auto shuffled = sorted;
    std::reverse(shuffled.begin(), shuffled.end());
    CHECK(order_of(shuffled) == sorted);
    std::rotate(shuffled.begin(), shuffled.begin() + 4, shuffled.end());
    CHECK(order_of(shuffled) == sorted);
}

TEST_CASE("files of one version are sorted by name") {
    const auto view =
        make_project_view("sample", {sample_row("1.0", "sample-1.0-cp312-cp312-linux_x86_64.whl", 'a'),
                                     sample_row("1.0", "sample-1.0-cp311-cp311-linux_x86_64.whl", 'b')});
    CHECK(view.files[0].filename == "sample-1.0-cp311-cp311-linux_x86_64.whl");
    CHECK(versions_of(view) == std::vector<std::string_view>{"1.0"});
}

TEST_CASE("equal versions with different spellings are each listed once") {
    CHECK(order_of({"1.0.0", "1.0", "1.0.0", "1.0"}) == std::vector<std::string>{"1.0", "1.0.0"});
}

TEST_CASE("plain releases sort as they do among other versions") {
    // Up to four numbers, more than four, and numbers that overflow an integer.
    const std::vector<std::string> plain{"2.999999999", "1.0.0.1", "1.10",    "20240101.1",
                                         "1.2",         "0.9",     "1.0.0.0", "1",
                                         "2.0.1.0",     "1.0.1",   "1.0",     "999999999.1.2.3"};
    const auto in_order = order_of(plain);
    auto among_others = plain;
    among_others.insert(among_others.begin(), {"1.0rc1", "1.0.0.0.1", "12345678901234567890.1"});
    auto also = order_of(among_others);
    CHECK(also.back() == "12345678901234567890.1");
    std::erase_if(also, [&](const std::string& version) {
        return std::find(plain.begin(), plain.end(), version) == plain.end();
    });
    CHECK(in_order == also);
    CHECK(in_order.front() == "0.9");
    CHECK(in_order.back() == "999999999.1.2.3");
}

TEST_CASE("a project without any plain release is sorted by version, too") {
    CHECK(order_of({"2.10.0+cu126", "2.9.0+cu126", "2.4.0+cu126"}) ==
          std::vector<std::string>{"2.4.0+cu126", "2.9.0+cu126", "2.10.0+cu126"});
    CHECK(order_of({"1.0rc10", "1.0rc9"}) == std::vector<std::string>{"1.0rc9", "1.0rc10"});
}

TEST_CASE("a file is offered if it is active and its project is not quarantined") {
    using catalog::FileState;
    using catalog::ProjectStatus;
    auto row = sample_row("1.0", "sample-1.0-py3-none-any.whl", 'a');
    for (const auto status : {ProjectStatus::active, ProjectStatus::archived, ProjectStatus::deprecated}) {
        row.state = FileState::active;
        CHECK(is_offered(row, status));
        row.state = FileState::quarantined;
        CHECK_FALSE(is_offered(row, status));
    }
    for (const auto state : {FileState::active, FileState::quarantined}) {
        row.state = state;
        CHECK_FALSE(is_offered(row, ProjectStatus::quarantined));
    }
}

TEST_CASE("an invalid version does not break the page") {
    CHECK(order_of({"1.0", "not a version"}) == std::vector<std::string>{"not a version", "1.0"});
    CHECK(order_of({"1.0", "1..2", "1.0.", ".5", "0.9"}) ==
          std::vector<std::string>{".5", "1..2", "1.0.", "0.9", "1.0"});
    // Invalid ones are in the order of their texts.
    CHECK(order_of({"2.", "10."}) == std::vector<std::string>{"10.", "2."});
}
