// What a retention rule gives up, as a table.
#include "lib/store/lifecycle/perform.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "lib/base/text/text.hpp"

using namespace wheelyard;
using lifecycle::choose_given_up;

namespace {

catalog::FileRow file(const std::string& version, const std::string& tag = "py3") {
    catalog::FileRow row;
    row.project = "torch";
    row.version = version;
    row.filename = version + "-" + tag;
    return row;
}

std::string given_up(const std::vector<catalog::FileRow>& files, std::int64_t keep) {
    std::vector<std::string> names;
    for (const auto& item : choose_given_up(files, keep))
        names.push_back(item.filename);
    std::sort(names.begin(), names.end());
    return base::join(names, " ");
}

std::vector<catalog::FileRow> files_of(const std::vector<std::string>& versions) {
    std::vector<catalog::FileRow> files;
    for (const auto& version : versions)
        files.push_back(file(version));
    return files;
}

}  // namespace

TEST_CASE("the newest versions of each series stay, in PEP 440's order") {
    struct Row {
        std::vector<std::string> versions;
        std::int64_t keep;
        const char* given_up;
    };
    for (const Row& row : {
             Row{{}, 1, ""},
             Row{{"2.4.0"}, 1, ""},
             Row{{"2.4.0", "2.4.1"}, 1, "2.4.0-py3"},
             Row{{"2.4.0", "2.4.1"}, 2, ""},
             Row{{"2.4.9", "2.4.10", "2.4.2"}, 1, "2.4.2-py3 2.4.9-py3"},
             Row{{"2.4.0", "2.5.0", "3.4.0"}, 1, ""},         // three series
             Row{{"2.4.0", "1!2.4.0"}, 1, ""},                // an epoch is a series
             Row{{"2", "2.0.1", "2.0"}, 1, "2-py3 2.0-py3"},  // 2 is 2.0
             Row{{"2.4.0rc1", "2.4.0", "2.4.0.dev1"}, 1, "2.4.0.dev1-py3 2.4.0rc1-py3"},
             Row{{"2.4.0", "2.4.0.post1"}, 1, "2.4.0-py3"},
             Row{{"2.4.0+cpu", "2.4.0+cu126", "2.4.0"}, 1, ""},  // one version
             Row{{"2.4.0+cpu", "2.4.0+cu126", "2.4.1+cpu"}, 1, "2.4.0+cpu-py3 2.4.0+cu126-py3"},
             Row{{"2.5.0.dev20260101", "2.5.0.dev20260102", "2.5.0.dev20260103"}, 2, "2.5.0.dev20260101-py3"},
             Row{{"not a version", "2.4.0"}, 1, ""},
         }) {
        CAPTURE(base::join(row.versions, ","));
        CHECK(given_up(files_of(row.versions), row.keep) == row.given_up);
        auto reversed = files_of(row.versions);
        std::reverse(reversed.begin(), reversed.end());
        CHECK(given_up(reversed, row.keep) == row.given_up);
    }
}

TEST_CASE("all files of a version stay or go together") {
    CHECK(given_up({file("1.0", "cp311"), file("1.0", "cp312"), file("1.0.1", "cp311")}, 1) ==
          "1.0-cp311 1.0-cp312");
}

TEST_CASE("what is pinned or quarantined is never given up, and takes no place of what is kept") {
    auto files = files_of({"1.0.0", "1.0.1", "1.0.2", "1.0.3"});
    files[0].pinned = true;
    files[3].pinned = true;
    CHECK(given_up(files, 1) == "1.0.1-py3");
    files[3].pinned = false;
    files[3].state = catalog::FileState::quarantined;
    CHECK(given_up(files, 1) == "1.0.1-py3");
}

TEST_CASE("what installers pass over pushes out nothing that they choose") {
    struct Row {
        std::vector<std::string> versions;  // "!": yanked
        std::int64_t keep;
        const char* given_up;
    };
    for (const Row& row : {
             Row{{"2.4.0", "!2.4.1"}, 1, ""}, Row{{"2.5.0", "2.5.1rc1"}, 1, ""},
             Row{{"2.5.0", "!2.5.1", "2.5.2rc1", "2.5.2.dev1"}, 1, "2.5.2.dev1-py3"},
             Row{{"2.4.0", "2.4.1", "!2.4.2", "2.4.3a1"}, 1, "2.4.0-py3"},
             Row{{"!2.4.0", "2.4.1", "2.4.2"}, 2, "2.4.0-py3"}, Row{{"!2.4.0", "2.4.1", "!2.4.2"}, 2, ""},
             Row{{"2.4.0rc1", "!2.4.0rc2", "2.4.0"}, 2, ""},
             Row{{"2.4.0rc1", "2.4.0rc2", "2.4.0"}, 2, "2.4.0rc1-py3"}, Row{{"!2.4.0", "2.4.1rc1"}, 1, ""},
             Row{{"!2.4.0", "!2.4.1"}, 1, ""},
             Row{{"2.4.0", "!2.4.1+cpu", "2.4.1+cu126"}, 1, "2.4.0-py3"},  // one of its files is not yanked
         }) {
        CAPTURE(base::join(row.versions, ","));
        std::vector<catalog::FileRow> files;
        for (const std::string& version : row.versions) {
            const bool is_yanked = version.starts_with("!");
            files.push_back(file(version.substr(is_yanked ? 1 : 0)));
            files.back().yanked = is_yanked;
        }
        CHECK(given_up(files, row.keep) == row.given_up);
    }
}

TEST_CASE("what is given up says of which series it was") {
    const auto given = choose_given_up(files_of({"1!2.4.0", "1!2.4.1"}), 1);
    REQUIRE(given.size() == 1);
    CHECK(given[0].series == "1!2.4");
}
