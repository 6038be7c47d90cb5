// The plans of the sites in this repository: every cell can be built, and the plan has what users install.
// tests/system/site_resolve_test.py installs these names and pins with real resolvers.
#include <doctest/doctest.h>

#include <algorithm>
#include <map>
#include <set>

#include "builder/plan/plan.hpp"
#include "builder/plan/version_choice.hpp"
#include "lib/base/files/file.hpp"
#include "lib/base/files/temp_dir.hpp"
#include "lib/base/limits.hpp"
#include "lib/base/text/text.hpp"
#include "tests/builder/documented_keys.hpp"
#include "tests/support/golden.hpp"

namespace wheelyard::builder {
namespace {

namespace fs = std::filesystem;

// Whose documents we were given: each has a stack of today, too.
const char* const documented[] = {"alliance", "archer2", "bede-gh200", "derecho", "frontier"};
const char* const sites[] = {"alliance", "archer2",      "bede-gh200",  "derecho",    "frontier",
                             "aurora",   "lumi",         "isambard-ai", "perlmutter", "setonix",
                             "jupiter",  "marenostrum5", "deucalion",   "polaris",    "dardel"};
const char* const built_sites[] = {"alliance",       "archer2",      "bede-gh200",  "derecho",    "frontier",
                                   "aurora",         "lumi",         "isambard-ai", "perlmutter", "setonix",
                                   "jupiter",        "marenostrum5", "deucalion",   "polaris",    "dardel",
                                   "debian12-slurm", "debian13"};

struct Known {
    Site site;
    Recipes recipes;
};

Known read_known(const std::string& name, const std::string& stack = {}) {
    auto site = read_site(fs::path(WHEELYARD_TEST_DATA) / "../site-configs" / name / "site.toml", stack);
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
        python.tags = {{"py3", "none", "any"}};
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
            offer.filename = "demo-" + offer.version.text() + "-py3-none-any.whl";
            offers.wheels.push_back(offer);
        }
        world.offers.emplace(want.package, offers);
    }
    return world;
}

std::string plan_line(const Cell& cell) {
    return cell.package + "==" + cell.version + " python" + cell.python +
           (cell.against.empty() ? "" : " against " + cell.against) + "\n";
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
            lines += plan_line(cell);
        }
        CHECK(test_support::golden_difference("builder/sites/plans/" + name + ".txt", lines) == "");
    }
}

TEST_CASE("what CUDA 13 or its source cannot compile for a V100 is impossible, with the source") {
    const fs::path configs = fs::path(WHEELYARD_TEST_DATA) / "../site-configs";
    std::string text = *base::read_file(fs::path(WHEELYARD_TEST_DATA) / "builder/sm70.toml", base::mib);
    const auto folder = *base::TempDir::make("v100");
    text = base::replace_all(text, "MAIN/site-configs", configs.string());
    text = base::replace_all(text, "STATE", folder.path().string());
    REQUIRE(base::replace_file(folder.path() / "site.toml", text).has_value());
    auto site = read_site(folder.path() / "site.toml");
    REQUIRE_MESSAGE(site.has_value(), site.error().text());
    const Known known{*site, *read_recipes(*site)};
    // Transformer Engine's extension has no code for GPUs, and no row names a vllm for this torch.
    const std::map<std::string, const char*> of_source = {
        {"flash-attn", "for sm_70, by the row gpu sm_80+ gfx90a gfx942 gfx950 (flash-attn>=2.8,"},
        {"causal-conv1d", "for sm_70, by the row gpu sm_75+ (causal-conv1d>=1.6.2,"},
        {"mamba-ssm", "for sm_70, by the row gpu sm_75+ (mamba-ssm>=2.3.2,"},
        {"vllm", "its recipe names no version for torch 2.12.0"}};
    const auto check = [&](const Known& of, const std::map<std::string, const char*>& impossible) {
        const Plan plan = make_plan(of.site, of.recipes, world_of(of));
        CHECK(plan.cells.size() == 7);
        for (const auto& cell : plan.cells) {
            CAPTURE(cell.name);
            CAPTURE(cell.reason);
            const auto reason = impossible.find(cell.package);
            CHECK((cell.state == CellState::impossible) == (reason != impossible.end()));
            if (reason != impossible.end()) CHECK(cell.reason.find(reason->second) != std::string::npos);
        }
    };
    auto all = of_source;
    const char* of_cuda = ": its nvcc --list-gpu-code; https://pypi.org/project/nvidia-cuda-nvcc/; ";
    all.emplace("torch", of_cuda);
    all.emplace("xformers", of_cuda);
    all.emplace("transformer-engine-torch", "torch");
    check(known, all);
    // With a CUDA that has it, the sources that do not stay impossible.
    Known older = known;
    older.site.provided_versions["cuda"] = "12.9";
    check(older, of_source);
}

TEST_CASE(
    "one key changes each site from its document's stack to today's, and nothing of the older one is left") {
    for (const std::string name : documented) {
        CAPTURE(name);
        const Known known = read_known(name, "today.toml");
        const Plan plan = make_plan(known.site, known.recipes, world_of(known));
        std::string lines;
        for (const auto& cell : plan.cells) {
            CAPTURE(cell.name);
            CAPTURE(cell.reason);
            CHECK((cell.state == CellState::wanted || cell.state == CellState::held));
            lines += plan_line(cell);
        }
        CHECK(test_support::golden_difference("builder/stacks/" + name + "-today.txt", lines) == "");
        const Site older = read_known(name).site;
        CHECK(known.site.scheduler->name == older.scheduler->name);  // what the stack does not name stays
        CHECK(known.site.users->node_local == older.users->node_local);
        CHECK(known.site.users->directory != older.users->directory);  // both environments can be there
        for (const auto& requirement : known.site.users->requirements) {
            CAPTURE(requirement);
            CHECK(lines.find(requirement + " ") != std::string::npos);
        }
        // The site says how to take it.
        const auto text = testing::read_repository_file("site-configs/" + name + "/site.toml");
        CHECK(text.find("\n# stack = \"today.toml\"") != std::string::npos);
    }
}

// PyTorch's matrix: 2.9 for Python 3.10 to 3.14, CUDA 12.6 to 13.0, ROCm 6.4. 2.15's wheels: Python 3.11 to
// 3.15, CUDA 13.0 and 13.2; its ROCm is not published. The cuda.cmake in them refuses CUDA below 12.0 and
// below 12.6.
TEST_CASE("what a site answers to torch 2.9 for Python 3.13, and to torch 2.15") {
    struct Row {
        const char* site;
        const char* stack;
        const char* version;
        CellState state;
        const char* reason;
    };
    const Row rows[] = {
        {"bede-gh200", "", "2.9.0", CellState::unknown, "with cuda>=12.6,<13.1, the site has cuda 12.3.2"},
        {"bede-gh200", "", "2.15.0", CellState::impossible, "the site has cuda 12.3.2, it needs cuda>=12.6 "},
        {"bede-gh200", "today.toml", "2.9.0", CellState::unknown, "the site has cuda 12.3.2"},
        {"bede-gh200", "today.toml", "2.15.0", CellState::impossible, "the site has cuda 12.3.2"},
        {"archer2", "", "2.9.0", CellState::wanted, ""},
        {"archer2", "", "2.15.0", CellState::wanted, ""},
        {"archer2", "today.toml", "2.9.0", CellState::wanted, ""},
        {"archer2", "today.toml", "2.15.0", CellState::wanted, ""},
        {"derecho", "", "2.9.0", CellState::unknown, "with cuda>=12.6,<13.1, the site has cuda 12.2.1"},
        {"derecho", "", "2.15.0", CellState::impossible,
         "; torch>=2.12,<2.14 is the newest that takes cuda 12.2.1"},
        {"derecho", "today.toml", "2.9.0", CellState::unknown, "the site has cuda 12.2.1"},
        {"derecho", "today.toml", "2.15.0", CellState::impossible, "the site has cuda 12.2.1"},
        {"alliance", "", "2.9.0", CellState::unknown, "with cuda>=12.6,<13.1, the site has cuda 12.2"},
        {"alliance", "", "2.15.0", CellState::impossible, "the site has cuda 12.2, it needs cuda>=12.6 "},
        {"alliance", "today.toml", "2.9.0", CellState::unknown,
         "with cuda>=12.6,<13.1, the site has cuda 13.2"},
        {"alliance", "today.toml", "2.15.0", CellState::wanted, ""},
        {"frontier", "", "2.9.0", CellState::unknown, "with rocm==6.4.*, the site has rocm 5.7.1"},
        {"frontier", "", "2.15.0", CellState::unknown, "no row for torch 2.15.0 with rocm 5.7.1"},
        {"frontier", "today.toml", "2.9.0", CellState::unknown, "with rocm==6.4.*, the site has rocm 7.1.1"},
        {"frontier", "today.toml", "2.15.0", CellState::unknown, "no row for torch 2.15.0 with rocm 7.1.1"},
        // Those from public guides. No row is about XPU.
        {"aurora", "", "2.9.0", CellState::wanted, ""},
        {"aurora", "", "2.15.0", CellState::wanted, ""},
        {"lumi", "", "2.9.0", CellState::unknown, "with rocm==6.4.*, the site has rocm 6.3.4"},
        {"lumi", "", "2.15.0", CellState::unknown, "no row for torch 2.15.0 with rocm 6.3.4"},
        {"isambard-ai", "", "2.9.0", CellState::wanted, ""},
        {"isambard-ai", "", "2.15.0", CellState::unknown, "with cuda>=13.0,<13.3"},
        {"perlmutter", "", "2.9.0", CellState::wanted, ""},
        {"perlmutter", "", "2.15.0", CellState::unknown, "with cuda>=13.0,<13.3, the site has cuda 12.9"},
        {"setonix", "", "2.9.0", CellState::unknown, "with rocm==6.4.*, the site has rocm 6.3.3"},
        {"setonix", "", "2.15.0", CellState::unknown, "no row for torch 2.15.0 with rocm 6.3.3"},
        // [versions] says 12.6, the module's name only 12.
        {"jupiter", "", "2.9.0", CellState::wanted, ""},
        {"jupiter", "", "2.15.0", CellState::unknown, "with cuda>=13.0,<13.3, the site has cuda 12.6"},
        {"marenostrum5", "", "2.9.0", CellState::wanted, ""},
        {"marenostrum5", "", "2.15.0", CellState::unknown, "with cuda>=13.0,<13.3, the site has cuda 12.6"},
        {"deucalion", "", "2.9.0", CellState::wanted, ""},
        {"deucalion", "", "2.15.0", CellState::wanted, ""},
        {"polaris", "", "2.9.0", CellState::wanted, ""},
        {"polaris", "", "2.15.0", CellState::wanted, ""},
        {"dardel", "", "2.9.0", CellState::unknown, "with rocm==6.4.*, the site has rocm 6.3.3"},
        {"dardel", "", "2.15.0", CellState::unknown, "no row for torch 2.15.0 with rocm 6.3.3"},
    };
    std::string table = "| site | stack | torch 2.9.0 for Python 3.13 | torch 2.15.0 |\n|---|---|---|---|";
    for (const auto& row : rows) {
        CAPTURE(row.site);
        CAPTURE(row.stack);
        CAPTURE(row.version);
        Known known = read_known(row.site, row.stack);
        known.site.pythons.front().version = "3.13";
        known.site.wants = {{"torch", {row.version}, {"3.13"}, {known.site.accelerators.front().name}}};
        const Plan plan = make_plan(known.site, known.recipes, world_of(known));
        REQUIRE(plan.cells.size() == 1);
        const Cell& cell = plan.cells[0];
        CHECK(cell.state == row.state);
        CHECK_MESSAGE(cell.reason.find(row.reason) != std::string::npos, cell.reason);
        if (std::string_view(row.version) == "2.9.0")
            table += std::string("\n| ") + row.site + " | " + (*row.stack == 0 ? "document" : "today") + " |";
        // Without the row's source and what to do, which `plan --explain` adds.
        const std::string reason =
            cell.reason.substr(0, std::min(cell.reason.find(" ("), cell.reason.find(';')));
        table += " " + std::string(cell_state_text(cell.state)) +
                 (cell.state == CellState::wanted ? "" : ": " + reason) + " |";
    }
    CHECK(test_support::part_difference("how-to/sites/README.md", "answers", table + "\n") == "");
}

// The least CUDA of each release, by its cuda.cmake; no line of their sources refuses a ROCm, or a Python
// from 3.11 on.
TEST_CASE(
    "torch 2.9 to 2.15 is impossible only where a line of its source refuses the toolkit, which is cited") {
    const std::pair<const char*, const char*> least[] = {
        {"2.9.1", "12.0"},  {"2.10.0", "12.0"}, {"2.11.0", "12.0"}, {"2.12.1", "12.1"},
        {"2.13.0", "12.1"}, {"2.14.0", "12.6"}, {"2.15.0", "12.6"}};
    const std::map<std::string, std::vector<std::string>> toolkits = {
        {"cuda", {"12.1", "12.2", "12.3", "12.4", "12.5", "12.6", "12.8", "12.9", "13.0", "13.2"}},
        {"rocm", {"6.2", "6.3", "6.4", "7.0", "7.1"}}};
    int impossible = 0, others = 0;
    for (const std::string name : sites) {
        Known known = read_known(name);
        for (const Accelerator& accelerator : std::vector<Accelerator>(known.site.accelerators)) {
            const auto versions = toolkits.find(accelerator.kind);
            if (versions == toolkits.end()) continue;
            for (const auto& toolkit : versions->second) {
                Site site = known.site;
                std::erase_if(site.modules.load,
                              [](const std::string& module) { return module.starts_with("cuda"); });
                site.accelerators = {accelerator};
                site.accelerators.front().modules = {accelerator.kind + "/" + toolkit};
                for (const auto& [torch, cuda] : least) {
                    for (const char* python_version : {"3.11.9", "3.12.4", "3.13.3", "3.14.0"}) {
                        CAPTURE(name + ", torch " + torch + ", " + accelerator.kind + " " + toolkit);
                        Python python;
                        python.full_version = python_version;
                        const auto version = *wheel::Version::parse(torch);
                        Recipe recipe = recipe_for(site, known.recipes, "torch", torch, accelerator.name);
                        recipe.beside.clear();  // of NCCL and its plugin, which have rows of their own
                        const auto misfit = find_misfit({site, recipe, version, python, accelerator.name});
                        const bool is_refused =
                            accelerator.kind == "cuda" &&
                            *wheel::Version::parse(toolkit) < *wheel::Version::parse(cuda);
                        CHECK(misfit.has_value() == is_refused);
                        ++(is_refused ? impossible : others);
                        if (!misfit) continue;
                        const std::string line =
                            std::string("PyTorch requires CUDA ") + cuda + " or above; https://";
                        CHECK_MESSAGE(misfit->find(line) != std::string::npos, *misfit);
                        CHECK_MESSAGE(
                            misfit->find("is the newest that takes cuda " + toolkit) != std::string::npos,
                            *misfit);
                    }
                }
            }
        }
    }
    CHECK(impossible > 100);
    CHECK(others > 1000);
}

struct Companion {
    const char* package;
    const char* version;               // the newest release
    const char* requires_python = "";  // of its sdist, by its page of the index
};
const Companion companions[] = {
    {"apex", "25.9"},
    {"bitsandbytes", "0.50.2"},
    {"causal-conv1d", "1.7.0", ">=3.9"},
    {"cupy", "14.2.0", ">=3.10"},
    {"deepspeed", "0.19.8"},
    {"detectron2", "0.6"},
    {"flash-attn", "2.8.3.post2", ">=3.9"},
    {"h5py", "3.16.0", ">=3.10"},
    {"mamba-ssm", "2.3.2.post1", ">=3.9"},
    {"mmcv", "2.2.0", ">=3.7"},
    {"petsc4py", "3.26.1"},
    {"pyg-lib", "0.5.0"},
    {"slepc4py", "3.26.1"},
    {"torch-cluster", "1.6.3", ">=3.8"},
    {"torch-scatter", "2.1.2", ">=3.8"},
    {"torch-sparse", "0.6.18", ">=3.8"},
    {"torch-spline-conv", "1.2.2", ">=3.7"},
    {"torchao", "0.16.0"},
    {"transformer-engine-torch", "2.20.2", ">=3.10.0"},
    {"vllm", "0.33.0", "<3.15,>=3.11"},
    {"xformers", "", ">=3.9"},  // the one of the site's torch
};

Want want_of(const Site& site, const std::string& package, const std::string& version) {
    Want want;
    want.package = package;
    want.pythons = {site.pythons.front().version};
    want.versions = {version};
    return want;
}

// The plan of a site that wants every companion beside the first torch of its own.
Plan plan_with_companions(const std::string& name) {
    Known known = read_known(name);
    std::string torch;
    for (const auto& want : known.site.wants) {
        if (want.package == "torch" && torch.empty()) torch = want.versions.front();
    }
    bool has_mpi4py = false;
    for (const auto& want : known.site.wants)
        has_mpi4py = has_mpi4py || want.package == "mpi4py";
    if (!has_mpi4py) known.site.wants.push_back(want_of(known.site, "mpi4py", "4.1.2"));
    for (const auto& one : companions) {
        std::string version = one.version;
        if (version.empty()) {
            const auto companion = companion_of(known.recipes.of(one.package), *wheel::Version::parse(torch));
            version = companion ? companion->text() : "0.0.35";
        }
        known.site.wants.push_back(want_of(known.site, one.package, version));
    }
    World world = world_of(known);
    for (const auto& one : companions) {
        for (auto& offer : world.offers.at(one.package)->sdists)
            offer.requires_python = one.requires_python;
    }
    return make_plan(known.site, known.recipes, world);
}

// One site's answer to each row of wants.tsv, whose answers were written before any plan was asked.
TEST_CASE("what users of HPC sites ask for is built, taken from upstream, or refused with the reason") {
    int rows = 0;
    const std::string table = testing::read_repository_file("tests/builder/wants.tsv");
    for (const auto line : base::split_lines(table)) {
        if (line.starts_with('#')) continue;
        const auto fields = base::split(line, '\t');
        REQUIRE(fields.size() == 4);
        const std::string_view release = fields[0];
        const std::string package(release.substr(0, release.find("=="))), offered(fields[1]),
            answer(fields[2]), why(fields[3]);
        const std::string version(package == release ? "latest" : release.substr(package.size() + 2));
        CAPTURE(package);
        Known known = read_known("alliance");
        known.site.accelerators.resize(1);
        Want torch = want_of(known.site, "torch", "2.4.0");
        const bool is_of_torch = known.recipes.of(package).against == "torch" || why == "of torch";
        if (is_of_torch) torch.follow_ups = {package};
        known.site.wants = {is_of_torch || package == "torch" ? torch
                                                              : want_of(known.site, package, version)};
        World world = world_of(known);
        if (const auto found = world.offers.find(package); found != world.offers.end() && offered == "wheels")
            found->second->sdists.clear();
        const Plan plan = make_plan(known.site, known.recipes, world);
        const auto cell = std::find_if(plan.cells.begin(), plan.cells.end(),
                                       [&](const Cell& one) { return one.package == package; });
        REQUIRE(cell != plan.cells.end());
        const bool is_mirrored =
            known.recipes.of(package, cell->version, "cuda").source == SourceKind::upstream;
        const bool buildable = cell->state == CellState::wanted || cell->state == CellState::held;
        CHECK_MESSAGE((buildable ? is_mirrored ? "mirrored" : "built" : "refused") == answer, cell->reason);
        if (!buildable) CHECK_MESSAGE(cell->reason.find(why) != std::string::npos, cell->reason);
        ++rows;
    }
    CHECK(rows >= 80);
}

TEST_CASE("each companion that users ask for has a cell at each site, or a row that says why not") {
    std::string lines;
    for (const std::string name : sites) {
        CAPTURE(name);
        const Plan plan = plan_with_companions(name);
        for (const auto& companion : companions) {
            CAPTURE(std::string(companion.package));
            std::set<std::string> seen;
            for (const auto& cell : plan.cells) {
                if (cell.package != companion.package) continue;
                const bool buildable = cell.state == CellState::wanted || cell.state == CellState::held;
                CHECK((buildable || !cell.reason.empty()));
                const std::string line =
                    name + ": " + cell.package + "==" + cell.version +
                    (cell.against.empty() ? "" : " against " + cell.against) + ": " +
                    (buildable ? "built" : cell.reason.substr(0, cell.reason.find(" (")));
                if (seen.insert(line).second) lines += line + "\n";
            }
            CHECK(!seen.empty());
        }
    }
    CHECK(test_support::golden_difference("builder/companions.txt", lines) == "");
    struct Row {
        const char* line;
        const char* why;  // of the package's documents
    };
    const Row rows[] = {
        {"archer2: flash-attn==2.8.3.post2: ", "GPUs alone"},
        {"bede-gh200: flash-attn==2.8.3.post2+cu123.gh200 against torch==2.4.0+cu123.gh200: built",
         "CUDA 12, torch 2.2"},
        {"frontier: flash-attn==2.8.3.post2+rocm57.gfx90a: the site has rocm 5.7.1, it needs rocm>=6.0",
         "ROCm 6.0"},
        {"derecho: vllm==0.33.0+cu122.a100: the site file wants no torch==2.14.0 ", "its wheel requires it"},
        {"bede-gh200: mamba-ssm==2.3.2.post1+cu123.gh200: the site file wants no torch>=2.9 ", "triton 3.5"},
        {"archer2: bitsandbytes==0.50.2+archer2: the site has python 3.9", "Python 3.10"},
        {"archer2: torch-scatter==2.1.2+archer2 against torch==1.13.1+archer2: built", "CPU"},
        {"archer2: h5py==3.16.0+archer2 against mpi4py==4.0.1+archer2: it requires Python >=3.10, and this "
         "is 3.9",
         "its sdist says so"},
        {"derecho: h5py==3.16.0+derecho against mpi4py==4.0.1+cu122.a100: it is built against the site's "
         "hdf5, "
         "and site.toml names none",
         "HDF5 is a module there that the document does not load"},
    };
    for (const auto& row : rows) {
        CHECK_MESSAGE(lines.find(row.line) != std::string::npos, row.line);
    }
}

// Their setup.py: FORCE_CUDA makes _scatter_cuda.so and _scatter_cpu.so of the same sources, and __init__.py
// loads the first.
TEST_CASE("a companion of PyTorch Geometric compiles each source once, for the GPU or for the CPU") {
    const Known gpu = read_known("bede-gh200"), cpu = read_known("archer2");
    for (const std::string package :
         {"torch-scatter", "torch-sparse", "torch-cluster", "torch-spline-conv"}) {
        CAPTURE(package);
        const auto environment_of = [&](const Known& known) {
            return recipe_for(known.site, known.recipes, package, "1.0", known.site.accelerators.front().name)
                .build_environment;
        };
        const auto has = [](const Environment& all, const std::string& name) {
            return std::any_of(all.begin(), all.end(), [&](const auto& one) { return one.first == name; });
        };
        CHECK(has(environment_of(gpu), "FORCE_ONLY_CUDA"));
        CHECK(!has(environment_of(gpu), "FORCE_CUDA"));
        CHECK(has(environment_of(cpu), "FORCE_ONLY_CPU"));
        CHECK(!recipe_for(gpu.site, gpu.recipes, package, "1.0", "gh200").gpu_test.command.empty());
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
    known.site.pythons.front().version = "3.6";
    for (auto& want : known.site.wants)
        want.pythons = {"3.6"};
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
