// Who supplies a project's files, and which names an inherited file keeps to itself.
#include "lib/store/catalog/inheritance.hpp"

#include <doctest/doctest.h>

#include <optional>
#include <string>
#include <vector>

#include "lib/base/text/text.hpp"
#include "tests/store/catalog/row_fixture.hpp"

using namespace wheelyard;
using catalog::AddOutcome;
using catalog::Inheritance;

namespace {

const catalog::Cause cause{.actor = "configuration", .reason = {}, .time = 1};

struct Family : catalog::CatalogFolder {
    std::unique_ptr<catalog::Catalog> opened = open();
    catalog::Catalog& catalog = *opened;
    void rules(const std::vector<catalog::IndexRule>& wanted) {
        REQUIRE(catalog.set_index_rules(wanted, cause));
    }
    [[nodiscard]] std::string source(const std::string& index, const std::string& project) const {
        const auto inheritance = catalog.inheritance().value();
        return catalog.source_of(inheritance, index, project).value().value_or("none");
    }
    [[nodiscard]] std::string shown(const std::string& index) const {
        return base::join(catalog.shown_projects(catalog.inheritance().value(), index).value(), " ");
    }
};

}  // namespace

TEST_CASE("an index comes before those that it inherits from, each of them before its own") {
    const Inheritance family(
        {{"gh200", {"site", "open"}}, {"site", {"base"}}, {"open", {"base", "old"}}, {"alone", {}, {"six"}}});
    CHECK(base::join(family.order("gh200"), " ") == "gh200 site base open old");
    CHECK(base::join(family.order("base"), " ") == "base");
    CHECK(base::join(family.order("unheard-of"), " ") == "unheard-of");
    CHECK(base::join(family.shown_by("base"), " ") == "base gh200 open site");
    CHECK(base::join(family.shown_by("gh200"), " ") == "gh200");
    CHECK(family.inherits("site"));
    CHECK_FALSE(family.inherits("alone"));
    CHECK(family.owns("alone", "six"));
    CHECK_FALSE(family.owns("gh200", "six"));
    const Inheritance child(
        {{"gh200", {"site"}}, {.index = "site", .upstreams = {"site.up"}}, {"alone", {}}});
    CHECK(child.has_upstream("gh200"));
    CHECK_FALSE(child.has_upstream("alone"));
    CHECK_FALSE(child.has_upstream("unheard-of"));
    const Inheritance circle({{"a", {"b"}}, {"b", {"a"}}});  // a configuration has none; a catalog may be odd
    CHECK(base::join(circle.order("a"), " ") == "a b");
}

TEST_CASE("a private index is of the readers with a token, and in the order of no public index") {
    const auto rules = std::vector<catalog::IndexRule>{
        {.index = "open", .inherits = {"hidden"}, .upstreams = {"hidden.up"}},
        {.index = "hidden", .inherits = {"base"}, .upstreams = {"hidden.up"}, .is_private = true}};
    const Inheritance everyone(rules);
    CHECK(base::join(everyone.order("open"), " ") == "open");
    CHECK(base::join(everyone.order("hidden"), " ") == "hidden base hidden.up");
    CHECK(base::join(everyone.shown_by("base"), " ") == "base");
    CHECK(everyone.shown_by("hidden").empty());
    CHECK(everyone.is_private("hidden.up"));
    CHECK_FALSE(everyone.is_in("hidden.up"));
    const Inheritance readers(rules, catalog::Readers::with_token);
    CHECK(base::join(readers.shown_by("base"), " ") == "hidden");
    CHECK_FALSE(readers.is_in("open"));
    const Inheritance any(rules, catalog::Readers::any);
    CHECK(base::join(any.shown_by("base"), " ") == "base hidden");
}

TEST_CASE("an index stays private when its rule is gone, until a rule makes it public") {
    Family family;
    family.rules({{.index = "hidden", .upstreams = {"hidden.up"}, .is_private = true},
                  {.index = "hidden.up", .is_private = true}});
    family.rules({});
    CHECK(family.catalog.inheritance()->is_private("hidden"));
    CHECK(family.catalog.inheritance()->is_private("hidden.up"));
    const auto serial = family.catalog.last_serial().value();
    family.rules({});
    CHECK(family.catalog.last_serial().value() == serial);
    family.rules({{.index = "hidden"}});
    CHECK_FALSE(family.catalog.inheritance()->is_private("hidden"));
    CHECK(family.catalog.inheritance()->is_private("hidden.up"));
}

TEST_CASE("what an upstream supplied becomes private with its index, also when the upstream is gone") {
    Family family;
    family.rules({{.index = "hidden", .upstreams = {"hidden.up"}}, {.index = "hidden.up"}});
    REQUIRE(family.catalog.add_file(catalog::row_of("hidden.up", "six", "1.0"))->outcome ==
            AddOutcome::added);
    family.rules({{.index = "hidden"}});
    CHECK_FALSE(family.catalog.inheritance()->is_private("hidden.up"));
    family.rules({{.index = "hidden", .is_private = true}});
    CHECK(family.catalog.inheritance()->is_private("hidden.up"));
    family.rules({{.index = "hidden"}});
    CHECK(family.catalog.inheritance()->is_private("hidden.up"));
}

TEST_CASE("no promotion leads from a private index to a public one") {
    Family family;
    family.rules({{.index = "hidden", .is_private = true}, {.index = "vault", .is_private = true}});
    const auto row = catalog::row_of("hidden", "six", "1.0");
    REQUIRE(family.catalog.add_file(row)->outcome == AddOutcome::added);
    const auto promoted = [&](const std::string& to) {
        return catalog::promote_file(family.catalog, {"hidden", row.filename}, to, cause)->outcome;
    };
    CHECK(promoted("open") == catalog::ChangeOutcome::would_publish);
    CHECK(promoted("vault") == catalog::ChangeOutcome::changed);
}

TEST_CASE("the caches of upstreams come after every index of the order, and what an index owns binds them") {
    const catalog::IndexRule base{"base", {}, {}, {"base.public", "base.cuda"}};
    Family family;
    family.rules({{"gh200", {"base", "other"}, {}, {"gh200.mirror"}}, base, {"other", {}, {"torch"}}});
    const auto inheritance = family.catalog.inheritance().value();
    CHECK(base::join(inheritance.order("gh200"), " ") ==
          "gh200 base other gh200.mirror base.public base.cuda");
    CHECK(base::join(inheritance.shown_by("base.public"), " ") == "base base.public gh200");
    CHECK(inheritance.inherits("base"));
    for (const auto& [index, project] :
         {std::pair("base.public", "six"), std::pair("base.public", "torch"),
          std::pair("base.public", "numpy"), std::pair("other", "numpy"), std::pair("base.cuda", "six")})
        REQUIRE(family.catalog.add_file(catalog::row_of(index, project, "1.0"))->outcome ==
                AddOutcome::added);
    CHECK(family.source("gh200", "six") == "base.public");
    CHECK(family.source("gh200", "torch") == "none");
    CHECK(family.source("gh200", "numpy") == "other");
    CHECK(family.source("base", "torch") == "base.public");
    CHECK(family.shown("base") == "numpy six torch");
    family.rules({});
    CHECK(family.source("base", "six") == "none");
}

TEST_CASE("the first index in order that has a project or owns its name supplies it, whole") {
    Family family;
    family.rules({{"gh200", {"site"}, {"torch"}}, {"site", {"base"}, {"secret"}}});
    for (const auto& [index, project] :
         {std::pair("base", "six"), std::pair("base", "torch"), std::pair("base", "secret"),
          std::pair("site", "numpy"), std::pair("base", "numpy"), std::pair("site", "mpi4py")})
        REQUIRE(family.catalog.add_file(catalog::row_of(index, project, "1.0"))->outcome ==
                AddOutcome::added);
    struct Expected {
        std::string index, project, source;
    };
    const std::vector<Expected> table{{"gh200", "six", "base"},    {"gh200", "numpy", "site"},
                                      {"gh200", "torch", "none"},  {"site", "torch", "base"},
                                      {"gh200", "secret", "none"}, {"site", "secret", "none"},
                                      {"base", "secret", "base"},  {"gh200", "mpi4py", "site"},
                                      {"base", "mpi4py", "none"},  {"gh200", "nowhere", "none"}};
    for (const auto& [index, project, source] : table) {
        CAPTURE(index + " " + project);
        CHECK(family.source(index, project) == source);
    }
    CHECK(family.shown("gh200") == "mpi4py numpy six");
    CHECK(family.shown("site") == "mpi4py numpy six torch");
    CHECK(family.shown("base") == "numpy secret six torch");
    CHECK(base::join(family.catalog.shown_indexes(family.catalog.inheritance().value()).value(), " ") ==
          "base gh200 site");
}

TEST_CASE("other bytes under a visible inherited name are refused, under a hidden one they are not") {
    Family family;
    family.rules({{"gh200", {"base"}, {"torch"}}});
    for (const char* project : {"torch", "six", "numpy"})
        REQUIRE(family.catalog.add_file(catalog::row_of("base", project, "1.0", 'a'))->outcome ==
                AddOutcome::added);
    REQUIRE(family.catalog.add_file(catalog::row_of("gh200", "numpy", "0.9", 'b'))->outcome ==
            AddOutcome::added);
    const auto taken = family.catalog.add_file(catalog::row_of("gh200", "six", "1.0", 'b')).value();
    CHECK(taken.outcome == AddOutcome::name_taken);
    CHECK(taken.sha256_there == std::string(64, 'a'));
    CHECK(taken.index_there == "base");
    CHECK(taken.filename_there.empty());
    // A second spelling, also of the version, as one would be in the index itself.
    for (const auto& [filename, version] :
         {std::pair("Six-1.0-py3-none-any.whl", "1.0"), std::pair("six-1.0.0-py3-none-any.whl", "1.0.0")}) {
        catalog::FileRow row = catalog::row_of("gh200", "six", version, 'b');
        row.filename = filename;
        const auto spelled = family.catalog.add_file(row).value();
        CHECK(spelled.outcome == AddOutcome::name_taken);
        CHECK(spelled.sha256_there == std::string(64, 'a'));
        CHECK(spelled.index_there == "base");
        CHECK(spelled.filename_there == "six-1.0-py3-none-any.whl");
    }
    const auto outcome = [&](const char* project, const char* version, char hash) {
        return family.catalog.add_file(catalog::row_of("gh200", project, version, hash))->outcome;
    };
    CHECK(outcome("torch", "1.0", 'b') == AddOutcome::added);  // its own name: two wheels, two indexes
    CHECK(outcome("numpy", "1.0", 'b') == AddOutcome::added);  // its own project by now
    CHECK(outcome("six", "1.0", 'a') == AddOutcome::added);    // the same bytes
    CHECK(family.catalog.file("base", "torch-1.0-py3-none-any.whl").value()->sha256 == std::string(64, 'a'));
    CHECK(family.catalog.file("gh200", "torch-1.0-py3-none-any.whl").value()->sha256 == std::string(64, 'b'));
    // Promotion asks the same.
    REQUIRE(family.catalog.add_file(catalog::row_of("staging", "jax", "1.0", 'c'))->outcome ==
            AddOutcome::added);
    REQUIRE(family.catalog.add_file(catalog::row_of("base", "jax", "1.0", 'a'))->outcome ==
            AddOutcome::added);
    CHECK(catalog::promote_file(family.catalog, {"staging", "jax-1.0-py3-none-any.whl"}, "gh200", cause)
              ->outcome == catalog::ChangeOutcome::name_taken);
}

TEST_CASE("a rule that changes is one event; one that stays is none; one that is forgotten is gone") {
    Family family;
    family.rules({{"gh200", {"base"}, {"torch"}}, {"base", {}, {}}});
    CHECK(family.catalog.last_serial().value() == 1);
    const auto event = family.catalog.events_after(0, 1).value().at(0);
    CHECK(event.kind == catalog::EventKind::index_changed);
    CHECK(event.index == "gh200");
    CHECK(event.project.empty());
    CHECK(event.details_json ==
          R"({"format":"wheelyard.index-rule/1","inherits":["base"],"owns":["torch"]})");
    family.rules({{"gh200", {"base"}, {"torch"}}, {"base", {}, {}}});
    CHECK(family.catalog.last_serial().value() == 1);
    family.rules({{"base", {}, {}}});
    CHECK(family.catalog.last_serial().value() == 2);
    CHECK(family.catalog.inheritance().value().rules().empty());
}

TEST_CASE("the log is walked in order, between two serials, until somebody objects") {
    Family family;
    for (int i = 0; i < 5; ++i)
        REQUIRE(family.catalog.add_file(catalog::row_of("base", "six", "1." + std::to_string(i))));
    std::string seen;
    const auto note = [&](const catalog::Event& event) -> base::Status {
        seen += std::to_string(event.serial);
        if (event.serial == 4) return base::fail("test", "enough");
        return {};
    };
    CHECK(family.catalog.for_each_event(1, 3, note));
    CHECK(seen == "23");
    CHECK(family.catalog.for_each_event(2, catalog::newest_of_all, note).error().code == "test");
    CHECK(seen == "2334");
    CHECK(family.catalog.for_each_event(5, catalog::newest_of_all, note));
    CHECK(seen == "2334");
}

TEST_CASE("the list of indexes is written with the rules, and stays without one") {
    Family family;
    CHECK(family.catalog.index_list().value().empty());
    REQUIRE(family.catalog.set_index_rules({{.index = "a"}}, {.actor = "me"}, {{"a", "created"}}, "[1]"));
    CHECK(family.catalog.index_list().value() == "[1]");
    family.rules({{.index = "a"}});
    CHECK(family.catalog.index_list().value() == "[1]");
}
