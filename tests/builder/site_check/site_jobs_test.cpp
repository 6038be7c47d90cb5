// The kinds of jobs of the known sites. tests/system/site_jobs_test.py tries them with a real Slurm.
#include "builder/site_check/site_check.hpp"

#include <doctest/doctest.h>

#include <algorithm>

#include "lib/base/text/text.hpp"

namespace wheelyard::builder {
namespace {

std::vector<std::string> kinds_of(const std::string& name) {
    const auto file = std::filesystem::path(WHEELYARD_TEST_DATA) / "../site-configs" / name / "site.toml";
    const auto site = read_site(file);
    REQUIRE_MESSAGE(site.has_value(), site.error().text());
    const auto recipes = read_recipes(*site);
    REQUIRE(recipes.has_value());
    std::vector<std::string> kinds;
    for (const SiteJob& job : site_jobs(*site, *recipes)) {
        const std::string kind = job.what.substr(0, job.what.find(" of "));
        if (kinds.empty() || kinds.back() != kind) kinds.push_back(kind);  // builds of other sizes
        for (const auto& named : job.keys) {
            const auto& key = named.second;
            CHECK_MESSAGE((key.place.empty() || key.place.find(".toml:") != std::string::npos), key.key);
        }
    }
    return kinds;
}

TEST_CASE("each known site's builds, tests and users' job are tried, and local jobs are not") {
    struct Row {
        std::string site, kinds;
    };
    for (const auto& row :
         {Row{"debian12", ""},
          Row{"bede-gh200",
              "build, largest retry, GPU test on gh200, multi-node test on gh200, multi-node test, job"},
          Row{"archer2", "build, largest retry, multi-node test on zen2, multi-node test, job"},
          Row{"derecho",
              "build, largest retry, GPU test on a100, GPU test on a100-cudnn8, multi-node test on a100, "
              "multi-node test on a100-cudnn8, multi-node test on a100, job"},
          Row{"alliance",
              "build, largest retry, GPU test on cuda-cudnn8, GPU test on cuda, multi-node test on "
              "cuda-cudnn8, multi-node test on cuda, job"},
          Row{"frontier",
              "build, largest retry, GPU test on mi250x, multi-node test on mi250x, multi-node test, job"}})
        CHECK_MESSAGE(base::join(kinds_of(row.site), ", ") == row.kinds, row.site);
}

TEST_CASE("a line names the key that decides a refused part, and where it was set") {
    Site site;
    site.scheduler = find_scheduler_kind("slurm");
    site.queue = {"nosuch", "project", 0, {}};
    site.max_walltime_minutes = 60;
    site.wants = {{"demo", {"1.0"}, {}}};
    site.places = {{"scheduler.partition", "site.toml:7:1"}};
    const auto lines = try_site_jobs(site, Recipes(), [](const std::string& script) {
        const bool good = script.find("nosuch") == std::string::npos;
        return MachineAnswer{good, good ? "" : "sbatch: error: invalid partition specified: nosuch\n", ""};
    });
    REQUIRE(lines.size() == 2);
    CHECK(lines[0].what == "build of demo");
    CHECK(lines[1].what == "largest retry of a build");
    for (const SiteLine& line : lines) {
        CHECK(!line.good);
        CHECK(line.found == "refused: invalid partition specified: nosuch");
        CHECK(line.advice == "correct what is refused: queue nosuch: scheduler.partition, site.toml:7:1");
    }
}

TEST_CASE(
    "a request from which nothing can be left out lacks something, or its account is wrong: both are named") {
    Site site;
    site.places = {{"scheduler.account", "site.toml:8:1"}};
    site.scheduler = find_scheduler_kind("slurm");
    site.max_walltime_minutes = 60;
    site.wants = {{"demo", {"1.0"}, {}}};
    std::string says = "Unspecified error";
    const auto advice_of = [&site, &says] {
        const auto lines = try_site_jobs(site, Recipes(), [&says](const std::string&) {
            return MachineAnswer{false, "sbatch: error: " + says + "\n", ""};
        });
        return lines.at(0).advice;
    };
    site.queue = {"workq", "", 0, {}};
    CHECK(advice_of().find("scheduler.account and scheduler.options are not set") != std::string::npos);
    site.queue = {"workq", "project", 0, {}};
    CHECK(
        advice_of() ==
        "no single part of the request is the reason: scheduler.options is not set, and a job script of the "
        "site's guide shows what it demands; check account project: scheduler.account, site.toml:8:1; "
        "otherwise ask the site's staff why it says `Unspecified error`");
    says = "project is not an active account";
    CHECK(advice_of().find("check account project: scheduler.account, site.toml:8:1; otherwise ask") !=
          std::string::npos);
    CHECK(advice_of().find("options") == std::string::npos);
    says = "Unspecified error";
    site.queue = {"workq", "project", 0, {"--qos=standard"}};
    CHECK(advice_of() ==
          "no single part of the request is the reason: check account project: scheduler.account, "
          "site.toml:8:1; otherwise ask the site's staff why it says `Unspecified error`");
    says = "Invalid account or account/partition combination specified";
    site.queue = {"workq", "", 0, {}};
    site.places.clear();
    CHECK(advice_of() == "correct what is refused: no account: scheduler.account, not set, its default");
}

TEST_CASE(
    "a refused option of a user's job is named where it was set: for all jobs of the site or for users") {
    struct Row {
        std::string option, key;
    };
    for (const Row& row : {Row{"--qos=site", "scheduler.options, site.toml:9:1"},
                           Row{"--reservation=course", "users.options, site.toml:30:1"}}) {
        CAPTURE(row.option);
        Site site;
        site.scheduler = find_scheduler_kind("slurm");
        site.queue = {"gh", "project", 0, {"--qos=site"}};
        site.users.emplace();
        site.users->options = {"--reservation=course"};
        site.places = {{"scheduler.options", "site.toml:9:1"}, {"users.options", "site.toml:30:1"}};
        const auto lines = try_site_jobs(site, Recipes(), [&row](const std::string& script) {
            const bool good = script.find(row.option) == std::string::npos;
            return MachineAnswer{good, good ? "" : "sbatch: error: Requested node is not available\n", ""};
        });
        const auto line = std::find_if(lines.begin(), lines.end(),
                                       [](const SiteLine& one) { return one.what == "job of a user"; });
        REQUIRE(line != lines.end());
        CHECK(!line->good);
        CHECK(line->advice == "correct what is refused: " + row.option + ": " + row.key);
    }
}

TEST_CASE(
    "a site whose filter refuses sizes is told the node type's keys, and with them its jobs are taken") {
    // As Setonix has it: a GPU brings its share of cores and memory, and a job that names these is refused.
    const auto filter = [](const std::string& script) {
        const bool good = script.find("--mem=") == std::string::npos &&
                          script.find("--cpus-per-task=") == std::string::npos &&
                          script.find("--gres=gpu:1") != std::string::npos;
        return MachineAnswer{
            good, good ? "" : "sbatch: error: Batch job submission failed: Unspecified error\n", ""};
    };
    Site site;
    site.scheduler = find_scheduler_kind("slurm");
    site.nodes.resize(1);
    site.nodes[0].name = "gpu";
    site.build_node = "gpu";
    site.queue = {"gpu", "project-gpu", 1, {}};
    site.cores = 8;
    site.memory_mib = site.max_memory_mib = 29'000;
    site.max_walltime_minutes = 60;
    site.wants = {{"demo", {"1.0"}, {}}};
    const auto refused = try_site_jobs(site, Recipes(), filter);
    REQUIRE_FALSE(refused.empty());
    CHECK_FALSE(refused.front().good);
    CHECK(refused.front().advice.find("not_asked = [\"memory\"] in [[node]] `gpu`") != std::string::npos);
    CHECK(refused.front().advice.find("not_asked = [\"cores\"] in [[node]] `gpu`") != std::string::npos);
    site.nodes.front().not_asked = {JobPart::memory, JobPart::cores};
    send_to(site.queue, site.nodes.front());
    for (const SiteLine& line : try_site_jobs(site, Recipes(), filter))
        CHECK_MESSAGE(line.good, line.what);
}

TEST_CASE("where no job may ask for GPUs the node type's key is named, and none of the common recipe") {
    // TACC's guides of Vista and Stampede3: `--gres`: "TACC does not support this option."
    const auto filter = [](const std::string& script) {
        const bool good = script.find("--gres=") == std::string::npos;
        return MachineAnswer{
            good, good ? "" : "sbatch: error: Invalid generic resource (gres) specification\n", ""};
    };
    Site site;
    site.scheduler = find_scheduler_kind("slurm");
    site.nodes.resize(1);
    site.nodes[0].name = "gh";
    site.nodes[0].gpus = 4;
    site.build_node = "gh";
    site.queue = {"gh", "project", 0, {}};
    site.hardware_tests.gpu = QueueSettings{"gh", "project", 4, {}};
    site.max_walltime_minutes = 60;
    site.wants = {{"demo", {"1.0"}, {}}};
    Recipe recipe = default_recipe("demo");
    recipe.gpu_test = {.command = "true", .gpus_per_node = 4, .minutes = 10};
    Recipes recipes;
    recipes.add(recipe);
    const auto advice = [&] {
        for (const SiteLine& line : try_site_jobs(site, recipes, filter))
            if (!line.good) return line.advice;
        return std::string();
    };
    CHECK(
        advice() ==
        "correct what is refused: gpus: no job here may ask for it; write not_asked = [\"gpus\"] in [[node]] "
        "`gh`, and in its options what the site's guide asks for instead");
    site.nodes[0].not_asked = {JobPart::gpus};
    send_to(site.queue, site.nodes[0]);
    CHECK(advice() == "");
}

TEST_CASE("each job of Setonix passes its filter, also the test of mpi4py, which needs no GPU") {
    const auto site =
        read_site(std::filesystem::path(WHEELYARD_TEST_DATA) / "../site-configs/setonix/site.toml");
    REQUIRE_MESSAGE(site.has_value(), site.error().text());
    const auto recipes = read_recipes(*site);
    REQUIRE(recipes.has_value());
    bool is_mpi4py_tested = false;
    for (const SiteLine& line : try_site_jobs(*site, *recipes, [](const std::string& script) {
             const bool good = script.find("--mem=") == std::string::npos &&
                               script.find("--cpus-per-task=") == std::string::npos &&
                               script.find("--gres=gpu:") != std::string::npos;
             return MachineAnswer{good, good ? "sbatch: Job 1 to start\n" : "cli_filter error", ""};
         })) {
        CHECK_MESSAGE(line.good, line.what);
        is_mpi4py_tested = is_mpi4py_tested || line.what == "multi-node test of mpi4py";
    }
    CHECK(is_mpi4py_tested);
}

TEST_CASE("a job that asks for no memory where the default is little is named") {
    Site site;
    site.scheduler = find_scheduler_kind("slurm");
    site.nodes.resize(1);
    site.nodes[0].name = "gpu";
    site.nodes[0].memory_per_core_mib = 256;
    site.users.emplace();
    site.users->accelerator = "";
    site.users->ranks_per_node = 4;
    site.places = {{"users.memory_mib", ""}};
    const auto taken = [](const std::string&) { return MachineAnswer{true, "sbatch: Job 1 to start\n", ""}; };
    const auto bad = [&] {
        std::vector<std::string> advice;
        for (const SiteLine& line : try_site_jobs(site, Recipes(), taken))
            if (!line.good) advice.push_back(line.advice);
        return advice;
    };
    REQUIRE(bad().size() == 1);
    CHECK(bad().front().find("gets 1024 MiB on a node") != std::string::npos);
    CHECK(bad().front().find("users.memory_mib") != std::string::npos);
    site.users->cores_per_rank = 8;
    CHECK(bad().empty());
    site.users->cores_per_rank = 0;
    site.users->memory_mib = 128'000;
    CHECK(bad().empty());
    site.users->memory_mib = 0;
    site.nodes.front().exclusive = true;
    CHECK(bad().empty());
}

}  // namespace
}  // namespace wheelyard::builder
