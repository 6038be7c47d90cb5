// Touched projects are read many at once: a database that is a round trip away is asked a few times, not twice for each.
#include "indexer/publish/touched_views.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "indexer/publish/touched.hpp"
#include "tests/store/catalog/counting_catalog.hpp"
#include "tests/store/catalog/row_fixture.hpp"

using namespace wheelyard;
using namespace wheelyard::indexer;
using catalog::row_of;

namespace {

struct Seen {
    std::vector<std::string> shown;  // "INDEX/PROJECT from SOURCE: FILES"
    std::vector<std::string> missing;
    std::size_t most_rows = 0;  // of one read
};

Seen read_all(const catalog::Catalog& catalog, const TouchedProjects& touched, std::size_t max_rows) {
    Seen seen;
    const auto inheritance = *catalog.inheritance();
    TouchedViews views(catalog, inheritance, touched);
    while (true) {
        const auto read = *views.read_some(max_rows);
        if (read.empty()) return seen;
        std::size_t rows = 0;
        for (const ProjectRead& project : read) {
            const auto& [index, name] = project.touched->first;
            const auto& [source, view, hidden, kept] = project.found;
            CHECK(kept == nullptr);
            rows += 1;
            if (!project.is_shown) {
                seen.missing.push_back(index + "/" + name);
                continue;
            }
            CHECK(view.project == name);
            for (const auto& row : view.files)
                CHECK((row.index == index && row.project == name));
            rows += view.files.size() + hidden.size();
            seen.shown.push_back(index + "/" + name + " from " + source + ": " +
                                 std::to_string(view.files.size()));
        }
        seen.most_rows = std::max(seen.most_rows, rows);
    }
}

}  // namespace

TEST_CASE("hundreds of projects are read with a few queries, and no read has many more rows than it may") {
    catalog::CountingCatalog catalog;
    TouchedProjects touched;
    std::vector<catalog::FileRow> rows;
    for (int number = 0; number < 400; ++number) {
        const std::string name = "p" + std::to_string(number);
        for (const char* version : {"1", "2"})
            rows.push_back(row_of("main", name, version));
        touched[{"main", name}].newest = number;
    }
    for (int version = 0; version < 300; ++version)
        rows.push_back(row_of("main", "large", std::to_string(version)));
    touched[{"main", "large"}].newest = 200;
    REQUIRE(catalog.add_files(rows));
    const Seen seen = read_all(catalog, touched, 90);
    REQUIRE(seen.shown.size() == 401);
    CHECK(seen.shown[0] == "main/p0 from main: 2");
    CHECK(seen.shown[400] == "main/p399 from main: 2");
    CHECK(seen.most_rows <= 90 + 301);
    CHECK(catalog.queries < 60);
}

TEST_CASE("projects of many indexes are read together, each from the index that supplies it") {
    catalog::CountingCatalog catalog;
    const std::vector<catalog::FileRow> rows{
        row_of("base", "six", "1", 'a'),    row_of("base", "torch", "1", 'b'),
        row_of("gh200", "torch", "2", 'c'), row_of("base", "owned", "1", 'd'),
        row_of("gh200", "own", "1", 'e'),   row_of("gh200", "own", "2", 'f')};
    REQUIRE(catalog.add_files(rows));
    REQUIRE(catalog.set_index_rules({{.index = "gh200", .inherits = {"base"}, .owns = {"owned"}}},
                                    {.actor = "configuration", .reason = {}, .time = 1}));
    TouchedProjects touched;
    for (const std::string index : {"base", "gh200"}) {
        for (const std::string name : {"six", "torch", "owned", "own", "none"})
            touched[{index, name}] = {};
    }
    Seen seen = read_all(catalog, touched, 1'000);
    std::sort(seen.shown.begin(), seen.shown.end());
    CHECK(seen.shown == std::vector<std::string>{"base/owned from base: 1", "base/six from base: 1",
                                                 "base/torch from base: 1", "gh200/own from gh200: 2",
                                                 "gh200/six from base: 1", "gh200/torch from gh200: 1"});
    CHECK(seen.missing.size() == 4);
    CHECK(catalog.queries <= 6);
}

TEST_CASE("after a change of rules, what a project no longer shows is looked for in the other indexes only") {
    catalog::CountingCatalog catalog;
    const std::vector<catalog::FileRow> rows{row_of("gh200", "torch", "2", 'c'),
                                             row_of("base", "torch", "1", 'b')};
    REQUIRE(catalog.add_files(rows));
    const auto inheritance = *catalog.inheritance();
    const auto found = *read_project(catalog, inheritance, "gh200", "torch");
    Touched moved;
    moved.is_moved = true;
    const int before = catalog.queries;
    CHECK(gone_from_project(catalog, inheritance, {"gh200", "torch"}, moved, *found, {"gh200"})->empty());
    CHECK(catalog.queries == before);
    const auto gone =
        *gone_from_project(catalog, inheritance, {"gh200", "torch"}, moved, *found, {"base", "gh200"});
    CHECK(gone == std::set<TreeFile>{{std::string(64, 'b'), rows[1].filename}});
    CHECK(catalog.queries == before + 1);
}
