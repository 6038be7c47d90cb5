// Site files like those of the known sites, for another machine: what was found there replaces what is not of it.
#include "builder/survey/site_like.hpp"

#include <doctest/doctest.h>

#include <algorithm>

#include "builder/site/site.hpp"
#include "lib/base/files/file.hpp"

namespace wheelyard::builder {
namespace {

namespace fs = std::filesystem;

KnownSite known_site(const std::string& name) {
    const fs::path folder = fs::path(WHEELYARD_TEST_DATA) / "../site-configs" / name;
    const auto text = base::read_file(folder / "site.toml", 1 << 20);
    REQUIRE(text.has_value());
    return {name, *text, folder / "recipes"};
}

// A Cray with A100, as Perlmutter is, whose modules have other versions.
Survey cray() {
    Survey survey;
    survey.host = "uan01";
    survey.scheduler = find_scheduler_kind("slurm");
    survey.batch.cluster = "Newton";
    survey.batch.queues = {{"cpu", true, "", 1440, 0, {}}, {"gpu-a100", false, "", 2880, 0, {}}};
    survey.batch.nodes = {{"cpu", 90, 128, 256000, 0, "", {}}, {"gpu-a100", 40, 64, 512000, 4, "a100", {}}};
    survey.batch.accounts = {"n123"};
    survey.modules.init = "/opt/cray/pe/lmod/lmod/init/bash";
    survey.modules.available = parse_modules(
        "PrgEnv-gnu/8.6.0\ncudatoolkit/12.4\ncudatoolkit/12.6(default)\npython/3.12\ncray-mpich/8.1.30\n");
    survey.programs = {"cc", "CC", "ftn", "gcc", "g++", "srun"};
    survey.pythons = {{"3.12", "3.12.4", "/sw/bin/python3", true, true, false, "python/3.12"}};
    survey.folders = {{"$SCRATCH", "/lustre/me", "lustre", 1ULL << 40},
                      {"home", "/home/me", "nfs", 1ULL << 33}};
    return survey;
}

SiteRequest with_registry() {
    SiteRequest request;
    request.registry = "https://wheels.example.org";
    request.common_recipes = "/usr/share/wheelyard/site-configs/common";
    return request;
}

Site read_like(const SiteDraft& draft) {
    const auto site = parse_site(draft.text, "/etc/wheelyard/site.toml");
    REQUIRE_MESSAGE(site.has_value(), site.error().text() << "\n" << draft.text);
    return *site;
}

bool has(const std::vector<std::string>& texts, const std::string& words) {
    return std::any_of(texts.begin(), texts.end(),
                       [&](const std::string& one) { return one.find(words) != std::string::npos; });
}

TEST_CASE("a machine like Perlmutter has its compilers, flags, tests and wants, and what was found there") {
    SiteRequest request = with_registry();
    request.queue = "gpu-a100";
    const auto like = draft_like(cray(), request, known_site("perlmutter"));
    REQUIRE(like.has_value());
    const Site site = read_like(like->draft);
    CHECK(site.name == "newton");
    CHECK(site.label == "newton");
    CHECK(site.recipes.size() == 2);
    CHECK(site.queue.queue == "gpu-a100");
    CHECK(site.queue.account == "n123");
    CHECK(site.state_directory == "/home/me/wheelyard/newton/state");
    CHECK(site.nodes.size() == 2);
    CHECK(site.modules.init == "/opt/cray/pe/lmod/lmod/init/bash");
    CHECK(site.pythons.at(0).modules == std::vector<std::string>{"python/3.12"});
    const Site perlmutter = *parse_site(known_site("perlmutter").text, "/x/site.toml");
    CHECK(site.queue.options == perlmutter.queue.options);
    CHECK(site.queue.gpus == perlmutter.queue.gpus);
    CHECK(site.launcher == perlmutter.launcher);
    CHECK(site.compilers.c == "cc");
    CHECK(site.wants.size() == perlmutter.wants.size());
    REQUIRE(site.accelerators.size() == 1);
    CHECK(site.accelerators[0].name == "a100");
    CHECK(site.accelerators[0].environment == perlmutter.accelerators[0].environment);
    CHECK(like->draft.text.find("m1234") == std::string::npos);
    CHECK(has(like->found_here, "node"));
    CHECK(has(like->of_site, "compilers"));
    CHECK(std::count(like->of_site.begin(), like->of_site.end(), "node") == 0);
}

TEST_CASE("a module in another version is taken and named, one that is not here is to be filled in") {
    Survey survey = cray();
    survey.modules.available = parse_modules("PrgEnv-gnu/8.6.0\ncudatoolkit/12.6(default)\n");
    const auto like = draft_like(survey, with_registry(), known_site("perlmutter"));
    REQUIRE(like.has_value());
    const Site site = read_like(like->draft);
    CHECK(site.modules.load == std::vector<std::string>{"PrgEnv-gnu", "cudatoolkit/12.6"});
    CHECK(has(like->draft.fill_in,
              "`label` of the accelerators and the versions below are for cudatoolkit/12.9"));
    CHECK(has(like->draft.fill_in, "a module of perlmutter, is not here"));
}

TEST_CASE("GPUs of another type get what was found, not the known site's flags") {
    Survey survey = cray();
    survey.batch.nodes[1].gpu_type = "h100";
    const auto like = draft_like(survey, with_registry(), known_site("derecho"));
    CHECK_FALSE(like.has_value());  // PBS
    const auto other = draft_like(survey, with_registry(), known_site("alliance"));
    REQUIRE(other.has_value());
    const Site site = read_like(other->draft);
    CHECK(site.accelerators.back().name == "h100");
    CHECK(site.accelerators.back().architectures == std::vector<std::string>{"sm_90"});
}

TEST_CASE(
    "the file like each known site can be read, on a machine that says much and on one that says little") {
    Survey little;
    little.host = "login1";
    int of_slurm = 0;
    for (const auto& one : fs::directory_iterator(fs::path(WHEELYARD_TEST_DATA) / "../site-configs")) {
        if (!fs::exists(one.path() / "site.toml")) continue;
        const KnownSite known = known_site(one.path().filename().string());
        CAPTURE(known.name);
        const auto theirs = parse_site(known.text, "/x/site.toml");
        REQUIRE(theirs.has_value());
        for (Survey survey : {cray(), little}) {
            for (const SiteRequest& request : {with_registry(), SiteRequest()}) {
                survey.scheduler = survey.host == "login1" && theirs->scheduler->batch ? theirs->scheduler
                                                                                       : survey.scheduler;
                const auto like = draft_like(survey, request, known);
                CHECK(like.has_value() == (survey.scheduler->batch && theirs->scheduler == survey.scheduler));
                if (!like) {
                    CHECK(like.error().code == "site.other_batch");
                    continue;
                }
                of_slurm += survey.scheduler->name == "slurm" ? 1 : 0;
                const Site site = read_like(like->draft);
                CHECK((theirs->queue.account.empty() || site.queue.account != theirs->queue.account));
                CHECK(site.state_directory != theirs->state_directory);
                CHECK((!site.users || site.users->directory != theirs->users->directory));
                CHECK(site.wants.size() == theirs->wants.size());
            }
        }
    }
    CHECK(of_slurm > 20);
}

}  // namespace
}  // namespace wheelyard::builder
