// The plans of the sites in this repository: every cell can be built, and the plan has what users install.
// tests/system/site_resolve_test.py installs these names and pins with real resolvers.
#include <doctest/doctest.h>

#include <algorithm>
#include <set>

#include "builder/plan/plan.hpp"
#include "lib/base/files/file.hpp"
#include "lib/base/files/temp_dir.hpp"
#include "lib/base/text/text.hpp"
#include "tests/builder/documented_keys.hpp"
#include "tests/support/golden.hpp"

namespace wheelyard::builder {
namespace {

namespace fs = std::filesystem;

const char* const sites[] = {"alliance", "archer2", "bede-gh200", "derecho",
                             "frontier", "aurora",  "lumi",       "isambard-ai"};
const char* const built_sites[] = {"alliance", "archer2", "bede-gh200",  "derecho",        "frontier",
                                   "aurora",   "lumi",    "isambard-ai", "debian12-slurm", "debian13"};

struct Known {
    Site site;
    Recipes recipes;
};

Known read_known(const std::string& name) {
    auto site = read_site(fs::path(WHEELYARD_TEST_DATA) / "../site-configs" / name / "site.toml");
    REQUIRE_MESSAGE(site.has_value(), site.error().text());
    auto recipes = read_recipes(*site);
    REQUIRE_MESSAGE(recipes.has_value(), recipes.error().text());
    return {*site, *recipes};
}

// The site's Pythons exist, its indexes are empty, and every sdist that it asks for is offered.
World world_of(const Known& known) {
    World world;
    for (const auto& choice : known.site.pythons) {
        Python python;
        python.version = choice.version;
        python.full_version = choice.version + ".4";
        world.pythons.emplace(choice.version, python);
    }
    for (const auto& want : wanted_packages(known.site, known.recipes)) {
        world.published.emplace(want.package, std::optional<simple::ProjectPage>());
        SdistOffers offers;
        for (const auto& version : want.versions) {
            const auto parsed = wheel::Version::parse(version);
            SdistOffer offer;
            offer.version = parsed ? *parsed : *wheel::Version::parse("1.0");  // of `latest` and `<2`
            offers.sdists.push_back(offer);
        }
        world.offers.emplace(want.package, offers);
    }
    return world;
}

TEST_CASE("every cell of a known site can be built") {
    for (const std::string name : built_sites) {
        CAPTURE(name);
        const Known known = read_known(name);
        const Plan plan = make_plan(known.site, known.recipes, world_of(known));
        std::string lines;
        for (const auto& cell : plan.cells) {
            CAPTURE(cell.name);
            CAPTURE(cell.reason);
            const bool buildable = cell.state == CellState::wanted || cell.state == CellState::held;
            CHECK(buildable);
            lines += cell.package + "==" + cell.version + " python" + cell.python +
                     (cell.against.empty() ? "" : " against " + cell.against) + "\n";
        }
        CHECK(test_support::golden_difference("builder/sites/plans/" + name + ".txt", lines) == "");
    }
}

TEST_CASE(
    "one key changes a site from its document's stack to today's, and nothing of the older one is left") {
    const fs::path file = fs::path(WHEELYARD_TEST_DATA) / "../site-configs/frontier/site.toml";
    const auto site = read_site(file, "today.toml");
    REQUIRE_MESSAGE(site.has_value(), site.error().text());
    const auto recipes = read_recipes(*site);
    REQUIRE_MESSAGE(recipes.has_value(), recipes.error().text());
    const Known known{*site, *recipes};
    const Plan plan = make_plan(known.site, known.recipes, world_of(known));
    std::string lines;
    for (const auto& cell : plan.cells) {
        CAPTURE(cell.name);
        CAPTURE(cell.reason);
        CHECK((cell.state == CellState::wanted || cell.state == CellState::held));
        lines += cell.package + "==" + cell.version + " python" + cell.python +
                 (cell.against.empty() ? "" : " against " + cell.against) + "\n";
    }
    CHECK(test_support::golden_difference("builder/stacks/frontier-today.txt", lines) == "");
    CHECK(site->scheduler->name == "slurm");  // what the stack does not name stays
    CHECK(site->users->node_local == "/mnt/bb/${USER}");
}

// PyTorch's matrix: 2.9 for Python 3.10 to 3.14, CUDA 12.6 to 13.0, ROCm 6.4. 2.15's wheels: Python 3.11 to 3.15, CUDA 13.0 and
// 13.2; its ROCm is not published.
TEST_CASE("what a site answers to torch 2.9 for Python 3.13, and to torch 2.15") {
    struct Row {
        const char* site;
        const char* version;
        CellState state;
        const char* reason;
    };
    const Row rows[] = {
        {"bede-gh200", "2.9.0", CellState::impossible, "the site has cuda 12.3.2, it needs cuda>=12.6,<13.1"},
        {"bede-gh200", "2.15.0", CellState::impossible,
         "the site has cuda 12.3.2, it needs cuda>=13.0,<13.3"},
        {"archer2", "2.9.0", CellState::wanted, ""},
        {"archer2", "2.15.0", CellState::wanted, ""},
        {"derecho", "2.9.0", CellState::impossible, "the site has cuda 12.2.1, it needs cuda>=12.6,<13.1"},
        {"derecho", "2.15.0", CellState::impossible, "the site has cuda 12.2.1, it needs cuda>=13.0,<13.3"},
        {"alliance", "2.9.0", CellState::impossible, "the site has cuda 12.2, it needs cuda>=12.6,<13.1"},
        {"alliance", "2.15.0", CellState::impossible, "the site has cuda 12.2, it needs cuda>=13.0,<13.3"},
        {"frontier", "2.9.0", CellState::impossible, "the site has rocm 5.7.1, it needs rocm==6.4.*"},
        {"frontier", "2.15.0", CellState::unknown, "no row for torch 2.15.0 with rocm 5.7.1"},
    };
    for (const auto& row : rows) {
        CAPTURE(row.site);
        CAPTURE(row.version);
        Known known = read_known(row.site);
        known.site.pythons.front().version = "3.13";
        known.site.wants = {{"torch", {row.version}, {"3.13"}, {known.site.accelerators.front().name}}};
        const Plan plan = make_plan(known.site, known.recipes, world_of(known));
        REQUIRE(plan.cells.size() == 1);
        CHECK(plan.cells[0].state == row.state);
        CHECK_MESSAGE(plan.cells[0].reason.find(row.reason) != std::string::npos, plan.cells[0].reason);
    }
}

TEST_CASE("a stack that is missing or invalid is an error that names it") {
    const auto folder = *base::TempDir::make("stack");
    const fs::path file = folder.path() / "site.toml";
    const auto write = [](const fs::path& to, const std::string& text) {
        REQUIRE(base::replace_file(to, text).has_value());
    };
    const std::string text = testing::read_repository_file("site-configs/debian12/site.toml");
    write(file, "stack = \"new.toml\"\n" + text);
    CHECK(read_site(file).error().text().find("new.toml") != std::string::npos);
    write(folder.path() / "new.toml", "name = \"other\"\n[work]\ncache_gib = 7\n");
    const auto site = read_site(file);
    REQUIRE_MESSAGE(site.has_value(), site.error().text());
    CHECK(site->name == "other");
    CHECK(site->cache_gib == 7);
    CHECK(!site->work_directory.empty());  // of the same table
    write(folder.path() / "new.toml", "nmae = \"other\"\n");
    CHECK(read_site(file).error().text().find("nmae") != std::string::npos);
}

TEST_CASE(
    "an impossible cell is found: a companion without a version, and a Python that torch does not support") {
    Known known = read_known("alliance");
    known.site.wants = {{"torch", {"2.4.0"}, {"3.11"}, {"cuda"}, {}, {"torchtext"}}};
    Plan plan = make_plan(known.site, known.recipes, world_of(known));
    CHECK(plan.count(CellState::impossible) == 1);
    known = read_known("archer2");
    known.site.pythons.front().version = "3.12";
    for (auto& want : known.site.wants)
        want.pythons = {"3.12"};
    plan = make_plan(known.site, known.recipes, world_of(known));
    CHECK(plan.count(CellState::impossible) >= 1);
}

TEST_CASE("each requirement of users is a wheel of the plan, by its whole version") {
    for (const std::string name : sites) {
        CAPTURE(name);
        const Known known = read_known(name);
        REQUIRE(known.site.users.has_value());
        const Plan plan = make_plan(known.site, known.recipes, world_of(known));
        for (const auto& requirement : known.site.users->requirements) {
            CAPTURE(requirement);
            const bool planned = std::any_of(plan.cells.begin(), plan.cells.end(), [&](const Cell& cell) {
                return requirement == cell.package + "==" + cell.version &&
                       cell.python == known.site.users->python;
            });
            CHECK(planned);
        }
    }
}

}  // namespace
}  // namespace wheelyard::builder
