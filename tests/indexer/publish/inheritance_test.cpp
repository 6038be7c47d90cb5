// Indexes that inherit projects: their pages, files, flat views, logs and wheel lists.
#include <doctest/doctest.h>

#include <set>

#include "indexer/check/check.hpp"
#include "indexer/publish/publish.hpp"
#include "indexer/publish/publish_run.hpp"
#include "indexer/tree/paths.hpp"
#include "indexer/wheel_list/wheel_list_file.hpp"
#include "lib/base/files/file.hpp"
#include "lib/base/limits.hpp"
#include "lib/base/text/text.hpp"
#include "tests/indexer/store_fixture.hpp"

using namespace wheelyard;
using namespace wheelyard::indexer;

namespace {

namespace fs = std::filesystem;

const std::string torch = "torch-2.4.0-cp312-cp312-linux_aarch64.whl";

struct Family : StoreFixture {
    void rules(const std::vector<catalog::IndexRule>& wanted) {
        REQUIRE(catalog.set_index_rules(wanted, {.actor = "configuration", .reason = {}, .time = noon}));
    }
    PublishReport publish() {
        auto report = indexer::publish(catalog, blobs, tree, {"base", "gh200"}, clock, {.find_links = true});
        REQUIRE(report);
        LocalDisk disk;
        REQUIRE(update_wheel_lists(disk, catalog, tree, clock));
        const auto checked = check_with_catalog(catalog, tree);
        for (const auto& finding : checked->findings)
            FAIL_CHECK(finding.code << " " << finding.page << " " << finding.detail);
        return *report;
    }
    // Of the index's last event, as the tree's record says.
    [[nodiscard]] catalog::Serial serial_of(const std::string& index) const {
        const auto record = base::read_file(published_file(tree), base::mib);
        return parse_published_state(record.value_or("")).value().serials.at(index);
    }
    [[nodiscard]] std::string text(const fs::path& file) const {
        return base::read_file(tree / file, base::mib).value_or("nothing");
    }
    // The bytes of every file that `index` shows. Pages, flat view and wheel list must agree.
    [[nodiscard]] std::string shown(const std::string& index) const {
        std::set<std::string> files;
        if (!fs::exists(tree / index / "files")) return {};
        for (const auto& entry : fs::recursive_directory_iterator(tree / index / "files")) {
            if (entry.is_regular_file() && entry.path().extension() == ".whl")
                files.insert(entry.path().filename().native() + "=" + text(entry.path()).substr(6));
        }
        std::set<std::string> flat;
        for (const auto& entry : fs::directory_iterator(flat_folder(tree, index))) {
            if (entry.path().filename() == html_page) continue;
            flat.insert(entry.path().filename().native() + "=" + text(entry.path()).substr(6));
        }
        CHECK(flat == files);
        std::set<std::string> listed;
        REQUIRE(simple::WheelList::open(root_folder(tree, index))
                    ->visit_all([](std::string_view) { return true; },
                                [&](const simple::WheelListView& view) {
                                    for (const auto line : base::split_lines(view.lines)) {
                                        const auto wheel = simple::parse_wheel_list_line(line).file();
                                        const fs::path file = file_folder(tree, index, wheel.sha256);
                                        listed.insert(std::string(wheel.filename) + "=" +
                                                      text(file / wheel.filename).substr(6));
                                    }
                                }));
        CHECK(listed == files);
        return base::join(std::vector<std::string>(files.begin(), files.end()), "\n");
    }
};

std::string of(const std::string& index, const std::string& filename) {
    return filename + "=" + index + " " + filename;
}

}  // namespace

TEST_CASE("an index shows inherited projects as its own files and follows their changes") {
    Family family;
    const std::string six = "six-1.16.0-py3-none-any.whl";
    family.rules({{"gh200", {"base"}}});
    family.add("base", "six", "1.16.0", six);
    family.publish();
    CHECK(family.shown("gh200") == of("base", six));
    CHECK(family.text("gh200/simple/index.html").find("six/") != std::string::npos);
    REQUIRE(family.catalog.set_yanked({"base", six}, true, {.actor = "anna", .reason = "bad", .time = noon}));
    family.publish();
    CHECK(family.text("gh200/simple/six/index.html").find("data-yanked=\"bad\"") != std::string::npos);
    CHECK(family.serial_of("gh200") == *family.catalog.last_serial());
    REQUIRE(family.catalog.delete_file({"base", six}, {.actor = "anna", .reason = {}, .time = noon}));
    family.publish();
    CHECK(family.shown("gh200").empty());
    CHECK(family.text("gh200/simple/six/index.html").find(six) == std::string::npos);
}

TEST_CASE("projects do not leak into each other's pages although they share buffers") {
    Family family;
    family.rules({{"gh200", {"base"}, {"owned"}}});
    const auto add = [&](const std::string& project, const std::string& version) {
        family.add("base", project, version, project + "-" + version + "-py3-none-any.whl");
    };
    for (const char* project : {"a", "b", "c", "d", "owned", "p"})
        add(project, "1");
    for (int version = 1; version < 7; ++version)
        add("many", std::to_string(version));
    add("c", "2");
    const catalog::Cause cause{.actor = "anna", .reason = "slow", .time = noon};
    REQUIRE(family.catalog.set_project_status({"base", "a", catalog::ProjectStatus::quarantined, "looked at"},
                                              cause));
    REQUIRE(family.catalog.set_project_status({"base", "many", catalog::ProjectStatus::deprecated, "old"},
                                              cause));
    REQUIRE(family.catalog.set_yanked({"base", "c-1-py3-none-any.whl"}, true, cause));
    REQUIRE(family.catalog.set_file_state({"base", "c-2-py3-none-any.whl"}, catalog::FileState::quarantined,
                                          cause));
    LocalDisk disk;
    const PublishSettings singly{.rows_per_read = 1};
    REQUIRE(publish_with(disk, family.catalog, family.blobs, family.tree, {"base", "gh200"}, family.clock, {},
                         singly));
    REQUIRE(update_wheel_lists(disk, family.catalog, family.tree, family.clock));
    const auto checked = check_with_catalog(family.catalog, family.tree);
    REQUIRE(checked);
    for (const auto& finding : checked->findings)
        FAIL_CHECK(finding.code << " " << finding.page << " " << finding.detail);
    CHECK(family.text("gh200/simple/a/index.json").find("looked at") != std::string::npos);
    CHECK(family.text("gh200/simple/b/index.json").find("looked at") == std::string::npos);
    CHECK(family.text("gh200/simple/owned/index.json") == "nothing");
}

TEST_CASE("two wheels with one name in two indexes keep their own bytes") {
    Family family;
    family.rules({{"gh200", {"base"}, {"torch"}}});
    family.add("base", "torch", "2.4.0", torch);
    family.add("gh200", "torch", "2.4.0", torch);
    family.publish();
    CHECK(family.shown("base") == of("base", torch));
    CHECK(family.shown("gh200") == of("gh200", torch));
}

TEST_CASE(
    "a name that an index owns is never inherited, not even before its first "
    "file") {
    Family family;
    family.rules({{"gh200", {"base"}, {"torch"}}});
    family.add("base", "torch", "9.9", "torch-9.9-py3-none-any.whl");
    family.publish();
    CHECK(family.shown("gh200").empty());
    CHECK(!fs::exists(project_folder(family.tree, "gh200", "torch")));
    CHECK(family.text("gh200/simple/index.html").find("torch") == std::string::npos);
}

TEST_CASE("a project's first own file replaces all inherited ones") {
    Family family;
    family.rules({{"gh200", {"base"}}, {"gh200-test", {"gh200"}}});
    family.add("base", "torch", "2.3.0", "torch-2.3.0-py3-none-any.whl");
    family.add("base", "torch", "2.5.0", "torch-2.5.0-py3-none-any.whl");
    family.publish();
    CHECK(family.shown("gh200-test") ==
          of("base", "torch-2.3.0-py3-none-any.whl") + "\n" + of("base", "torch-2.5.0-py3-none-any.whl"));
    family.add("gh200", "torch", "2.4.0", torch);
    family.publish();
    CHECK(family.shown("gh200") == of("gh200", torch));
    CHECK(family.shown("gh200-test") == of("gh200", torch));
    CHECK(family.shown("base").find("2.5.0") != std::string::npos);
    // Files added there later stay there.
    family.add("base", "torch", "2.6.0", "torch-2.6.0-py3-none-any.whl");
    family.publish();
    CHECK(family.shown("gh200") == of("gh200", torch));
}

TEST_CASE("a changed rule moves and removes projects, and restored projects are complete") {
    Family family;
    family.rules({{"gh200", {"base"}}});
    family.add("base", "torch", "2.4.0", torch);
    family.add("base", "six", "1.16.0", "six-1.16.0-py3-none-any.whl");
    family.add("other", "torch", "2.4.0", torch);
    family.publish();
    family.rules({{"gh200", {"base"}, {"torch"}}});
    family.publish();
    CHECK(family.shown("gh200") == of("base", "six-1.16.0-py3-none-any.whl"));
    CHECK(!fs::exists(project_folder(family.tree, "gh200", "torch")));
    CHECK(family.serial_of("gh200") == *family.catalog.last_serial());
    CHECK(family.serial_of("base") < family.serial_of("gh200"));
    family.rules({{"gh200", {"other"}}});
    family.publish();
    CHECK(family.shown("gh200") == of("other", torch));
    // Deleted in an index that is no longer inherited, in the same run that changes the rule.
    family.rules({{"gh200", {"base"}}});
    family.publish();
    family.rules({{"gh200", {"other"}}});
    REQUIRE(family.catalog.delete_file({"base", "six-1.16.0-py3-none-any.whl"},
                                       {.actor = "anna", .reason = {}, .time = noon}));
    family.publish();
    CHECK(family.shown("gh200") == of("other", torch));
    family.rules({});
    family.publish();
    CHECK(family.shown("gh200").empty());
    CHECK(family.shown("base") == of("base", torch));
}

TEST_CASE("a run only writes pages of inheriting indexes that change") {
    Family family;
    family.rules({{"gh200", {"base"}}});
    family.add("base", "six", "1.16.0", "six-1.16.0-py3-none-any.whl");
    family.add("gh200", "torch", "2.4.0", torch);
    family.publish();
    family.add("base", "torch", "2.4.0", torch);  // hidden there
    const auto report = family.publish();
    CHECK(report.project_pages == 1);
    CHECK(report.root_pages == 1);
    CHECK(report.files_linked == 1);
}
