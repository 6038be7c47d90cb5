// A request is raised after a build ran out of memory, up to the site's maximum.
#include "builder/plan/request.hpp"

#include <doctest/doctest.h>

#include "builder/attempt/limits.hpp"
#include "lib/base/limits.hpp"

namespace wheelyard::builder {
namespace {

Site site_with(std::int64_t memory_mib, std::int64_t max_memory_mib) {
    Site site;
    site.memory_mib = memory_mib;
    site.max_memory_mib = max_memory_mib;
    return site;
}

Attempt ended(const std::string& cell, base::UnixMicros when, std::int64_t memory_mib,
              std::uint64_t could_not_fit = 0, std::uint64_t peak_mib = 0) {
    Attempt attempt;
    attempt.id = "w" + std::to_string(when);
    attempt.asked.package = "demo";
    attempt.asked.cell = cell;
    attempt.changed = when;
    attempt.job.submits = 1;
    attempt.state = State::failed;
    attempt.job.memory_mib = memory_mib;
    wire::GovernedBuild governed;
    governed.could_not_fit = could_not_fit;
    governed.limit_bytes = 8000 * base::mib;
    if (peak_mib > 0) governed.worst = {{"big.cu", peak_mib * base::mib, 60}};
    attempt.job.governed = governed;
    return attempt;
}

std::int64_t chosen(const Site& site, const std::vector<Attempt>& earlier) {
    return choose_memory(site, "demo", "demo-1-cp311", earlier).memory_mib;
}

TEST_CASE("the request is the site's until a build runs out of memory, then 1.5 times the limit") {
    const Site site = site_with(4000, 20000);
    CHECK(chosen(site, {}) == 4000);
    CHECK(choose_memory(site, "demo", "demo-1-cp311", {}).why.empty());
    CHECK(chosen(site, {ended("demo-1-cp311", 1, 4000)}) == 4000);
    CHECK(chosen(site, {ended("demo-1-cp311", 1, 4000, 1)}) == 6000);
    CHECK(choose_memory(site, "demo", "demo-1-cp311", {ended("demo-1-cp311", 1, 4000, 1)})
              .why.find("ran out of memory") != std::string::npos);
    CHECK(chosen(site, {ended("demo-1-cp311", 1, 4000, 1, 10000)}) == 15000);  // by the largest compile
    CHECK(chosen(site, {ended("demo-1-cp311", 1, 4000, 1), ended("demo-1-cp311", 2, 6000, 1)}) == 9000);
    CHECK(chosen(site, {ended("demo-1-cp311", 2, 9000), ended("demo-1-cp311", 1, 6000, 1)}) == 9000);  // kept
}

TEST_CASE("the request is never raised beyond the site's maximum, and not at all without one") {
    CHECK(chosen(site_with(4000, 5000), {ended("demo-1-cp311", 1, 4000, 1)}) == 5000);
    CHECK(chosen(site_with(4000, 4000), {ended("demo-1-cp311", 1, 4000, 1)}) == 4000);
    CHECK(chosen(site_with(0, 0), {ended("demo-1-cp311", 1, 0, 1)}) == 0);
    CHECK(chosen(site_with(0, 64000), {ended("demo-1-cp311", 1, 0, 1)}) ==
          12000);  // from the limit of its job
}

TEST_CASE("builds of the package for other Pythons count; other packages and unfinished builds do not") {
    const Site site = site_with(4000, 20000);
    CHECK(chosen(site, {ended("demo-1-cp312", 1, 6000, 1)}) == 9000);
    CHECK(chosen(site, {ended("demo-1-cp311", 1, 4000), ended("demo-1-cp312", 2, 6000, 1)}) == 4000);
    Attempt other = ended("other-1-cp311", 1, 6000, 1);
    other.asked.package = "other";
    Attempt running = ended("demo-1-cp311", 1, 6000, 1);
    running.state = State::running;
    Attempt never_started = ended("demo-1-cp311", 1, 6000, 1);
    never_started.job.submits = 0;
    CHECK(chosen(site, {other, running, never_started}) == 4000);
    CHECK(chosen(site, {other, running, never_started, ended("demo-1-cp311", 1, 4000, 1)}) == 6000);
}

TEST_CASE("a job killed by its scheduler for memory counts like a compile that did not fit") {
    Attempt attempt = ended("demo-1-cp311", 1, 4000);
    attempt.job.governed.reset();
    CHECK(!ran_out_of_memory(attempt));
    attempt.failure = Failure{"build", {"job.out_of_memory", "s"}, "", true, "", 0, EndCause::out_of_memory};
    CHECK(ran_out_of_memory(attempt));
    CHECK(chosen(site_with(4000, 20000), {attempt}) == 6000);
}

TEST_CASE("half as many jobs run if no more memory is available or fewer compilers may succeed") {
    struct Row {
        const char* what;
        const char* code;
        const char* cause;
        int had;           // cores; 0: the site's
        std::int64_t now;  // memory
        int cores;
        bool resumes;
    };
    const Row rows[] = {
        {"more memory", "job.out_of_memory", "memory.compiler_killed", 0, 6000, 0, true},
        {"no more memory", "job.out_of_memory", "memory.compiler_killed", 0, 4000, 8, true},
        {"again no more", "job.out_of_memory", "", 8, 4000, 4, true},
        {"down to one", "job.out_of_memory", "", 1, 4000, 1, true},
        {"a crash", "job.failed", "memory.nvcc_crashed", 0, 4000, 8, true},
        {"kept", "job.killed", "", 4, 4000, 4, true},
        {"of the source", "job.failed", "compiler.missing_header", 0, 4000, 0, false},
        {"unknown", "job.failed", "", 0, 4000, 0, false},
        {"a crash of a job that was cut", "job.time_limit", "memory.nvcc_crashed", 0, 4000, 0, true},
    };
    Site site = site_with(4000, 4000);
    site.cores = 16;
    for (const auto& row : rows) {
        CAPTURE(row.what);
        Attempt last = ended("demo-1-cp311", 1, 4000);
        last.job.governed.reset();
        last.job.cores = row.had;
        last.failure = Failure{"build", {row.code, "s"}, "", true, row.cause, 0, cause_of_code(row.code)};
        const auto chosen_cores = choose_cores(site, "demo-1-cp311", row.now, {last});
        CHECK(chosen_cores.cores == row.cores);
        CHECK(chosen_cores.why.empty() == (row.cores == 0));
        CHECK(resumes_after(*last.failure, site) == row.resumes);
    }
    CHECK(choose_cores(site, "demo-1-cp311", 4000, {}).cores == 0);
    // Fewer jobs do not help a compile that does not fit alone.
    Attempt giant = ended("demo-1-cp311", 1, 4000, 1);
    giant.failure = Failure{"build", {"job.out_of_memory", "s"}, "", true, "", 0, EndCause::out_of_memory};
    CHECK(choose_cores(site, "demo-1-cp311", 4000, {giant}).cores == 0);
}

// Frontier's limits, and the resources of the common torch recipe.
Site small_site() {
    Site site = site_with(400'000, 500'000);
    site.cores = 56;
    site.minutes = 60;
    site.max_walltime_minutes = 120;
    site.places = {{"scheduler.max_walltime_minutes", "site.toml:33:1"},
                   {"scheduler.max_memory_mib", "site.toml:31:1"},
                   {"node.batch.cores", "site.toml:90:1"}};
    site.nodes = {{"batch", "batch", 56, 512'000, 8, ""}};
    site.build_node = "batch";
    return site;
}

TEST_CASE("a retry asks for the time that the last job lacked, up to the site's limit") {
    Attempt last;
    last.asked.cell = "demo-1-cp311";
    last.job.max_walltime_minutes = 60;
    last.failure = Failure{};
    last.failure->end = EndCause::time_limit;
    for (const bool superseded : {false, true}) {
        last.superseded = superseded;
        CHECK(choose_minutes(small_site(), "demo-1-cp311", {last}) == 120);
    }
    last.failure->end = EndCause::failed;
    CHECK(choose_minutes(small_site(), "demo-1-cp311", {last}) == 60);
}

TEST_CASE("a site's limits bound a recipe's resources, never the reverse") {
    Recipe recipe;
    recipe.minutes = 480;
    recipe.memory_mib = 128'000;
    recipe.cores = 4;
    Site sized = sized_for(small_site(), recipe);
    CHECK(sized.minutes == 120);
    CHECK(sized.max_walltime_minutes == 120);
    CHECK(sized.memory_mib == 128'000);
    CHECK(sized.cores == 4);
    recipe.memory_mib = 600'000;
    recipe.cores = 64;
    sized = sized_for(small_site(), recipe);
    CHECK(sized.memory_mib == 500'000);
    CHECK(sized.max_memory_mib == 500'000);
    CHECK(sized.cores == 56);
    CHECK(choose_minutes(sized, "demo-1-cp311", {}) == 120);
    CHECK(choose_memory(sized, "demo", "demo-1-cp311", {}).memory_mib == 500'000);
}

TEST_CASE("a site without limits leaves the recipe's resources") {
    Recipe recipe;
    recipe.minutes = 480;
    recipe.memory_mib = 128'000;
    recipe.cores = 64;
    Site site = site_with(0, 0);
    site.cores = 2;
    const Site sized = sized_for(site, recipe);
    CHECK(sized.minutes == 480);
    CHECK(sized.memory_mib == 128'000);
    CHECK(sized.cores == 64);
    CHECK(bound_minutes(site, 480) == 480);
    CHECK(bound_memory(site, 480) == 480);
}

TEST_CASE("the limits bound the jobs of tests, too") {
    CHECK(bound_minutes(small_site(), 480) == 120);
    CHECK(bound_minutes(small_site(), 10) == 10);
    CHECK(bound_memory(small_site(), 600'000) == 500'000);
    CHECK(bound_memory(small_site(), 8'000) == 8'000);
}

TEST_CASE("each size names the key that decides it and where that key was set") {
    Recipe recipe;
    recipe.minutes = 480;
    recipe.memory_mib = 128'000;
    recipe.places = {{"resources.minutes", "torch.toml:24:1"}, {"resources.memory_mib", "torch.toml:23:1"}};
    CHECK(
        describe_sizes(small_site(), recipe) ==
        "cores = 56 (scheduler.cores of the site by default); "
        "memory_mib = 128000 (resources.memory_mib of the recipe, torch.toml:23:1); "
        "minutes = 120 (scheduler.max_walltime_minutes of the site, site.toml:33:1; the recipe asks for 480, "
        "torch.toml:24:1)");
    recipe.cores = 64;
    CHECK(describe(decide_sizes(small_site(), recipe).cores) ==
          "cores = 56 (node.batch.cores of the site, site.toml:90:1; the recipe asks for 64)");
    CHECK(describe(decide_sizes(site_with(0, 0), Recipe()).memory_mib) == "memory_mib: not requested");
    const base::Error error = with_sizes({"x", "y", "z", "fix it"}, small_site(), recipe);
    CHECK(error.advice.find("fix it. Its first job requests cores = 56 (node.batch.cores") == 0);
}

TEST_CASE("a job that had all that the site allows needs more than another attempt") {
    Site site = site_with(4000, 8000);
    site.cores = 8;
    site.max_walltime_minutes = 120;
    site.places["scheduler.max_walltime_minutes"] = "site.toml:33:1";
    const auto advice = [&site](EndCause cause, std::int64_t minutes, std::int64_t memory_mib, int cores,
                                std::uint64_t could_not_fit) {
        Attempt attempt = ended("demo-1-cp311", 1, memory_mib, could_not_fit);
        attempt.job.max_walltime_minutes = minutes;
        attempt.job.cores = cores;
        return with_the_maximum(error_of({cause, {}, {}, {}}), cause, attempt, site).advice;
    };
    const auto begins = [](const std::string& text, const char* with) { return text.find(with) == 0; };
    CHECK(begins(advice(EndCause::time_limit, 60, 0, 0, 0), "no action needed"));
    CHECK(advice(EndCause::time_limit, 120, 0, 0, 0) ==
          "its 120 minutes are all that the site allows: the next attempt continues in its build tree and "
          "gets no more. "
          "If it does not get to the end, raise scheduler.max_walltime_minutes of the site, site.toml:33:1, "
          "as far as its "
          "queue allows");
    CHECK(begins(advice(EndCause::out_of_memory, 60, 4000, 0, 0), "no action needed"));
    CHECK(begins(
        advice(EndCause::out_of_memory, 60, 8000, 0, 0),
        "its 8000 MiB are all that the site allows: the next attempt runs half as many jobs at once. If"));
    for (const auto& all :
         {advice(EndCause::out_of_memory, 60, 8000, 1, 0), advice(EndCause::out_of_memory, 60, 8000, 0, 1)})
        CHECK(begins(
            all, "its 8000 MiB are all that the site allows: raise scheduler.max_memory_mib of the site"));
    site.max_walltime_minutes = 0;  // no maximum
    CHECK(begins(advice(EndCause::time_limit, 120, 0, 0, 0), "no action needed"));
}

TEST_CASE("a job that has its node alone uses all of it, whatever a recipe asks for") {
    Site site = site_with(0, 0);
    site.nodes.resize(1);
    site.nodes[0].name = "standard";
    site.nodes[0].cores = 128;
    site.nodes[0].exclusive = true;
    site.build_node = "standard";
    site.cores = 128;
    site.places = {{"node.standard.cores", "site.toml:90:1"}};
    Recipe recipe;
    recipe.cores = 8;
    recipe.memory_mib = 64'000;
    const JobSizes sizes = decide_sizes(site, recipe);
    CHECK(describe(sizes.cores) == "cores = 128 (node.standard.cores of the site, site.toml:90:1)");
    CHECK(describe(sizes.memory_mib) == "memory_mib: not requested");
    CHECK(sized_for(site, recipe).cores == 128);
}

}  // namespace
}  // namespace wheelyard::builder
