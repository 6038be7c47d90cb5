// What leaves the site: states, failures and the ends of logs, without secrets.
#include "builder/workplace/status_report.hpp"

#include <doctest/doctest.h>

#include "builder/site/script_setup.hpp"

namespace wheelyard::builder {
namespace {

Attempt attempt(const std::string& id, State state) {
    Attempt made;
    made.id = id;
    made.asked.cell = "demo-1.0-cp311";
    made.asked.package = "demo";
    made.asked.version = "1.0";
    made.asked.python = "3.11";
    made.state = state;
    made.created = 1'000'000;
    return made;
}

Attempt failed(const std::string& id, base::UnixMicros when) {
    Attempt made = attempt(id, State::failed);
    made.changed = when;
    made.failure =
        Failure{"build", {"job.exit", "The build failed", "", "use http://me:hunter2@proxy/"}, "boom"};
    made.failure->cause = "memory.compiler_killed";
    return made;
}

struct Made {
    Site site;
    Recipes recipes;
    Plan plan;
    Pythons pythons;
    std::vector<AttemptView> views;
    std::map<std::string, AttemptLog> logs;
    Made() {
        site.name = "bede";
        site.registry = RegistrySettings{"http://127.0.0.1:1", "bede-gh200", "token"};
        site.pythons = {{.version = "3.11", .executable = "python3.11"}};
        auto& accelerator = site.accelerators.emplace_back();
        accelerator.name = "h100";
        accelerator.kind = "cuda";
        accelerator.architectures = {"sm_90"};
        auto& node = site.nodes.emplace_back();
        node.name = "gh";
        node.cores = 72;
        node.gpus = 1;
        node.accelerator = "h100";
        plan.cells = {{"demo-1.0-cp311", "demo", "1.0", "3.11", "h100", "", 0, CellState::active,
                       "fetching https://me:hunter2@host/x", "w2", "default recipe"}};
    }
    [[nodiscard]] status::SiteReport report() const {
        return make_status_report({site, recipes, plan, pythons, views, 5'000'000, 9'000'000, {"wy_secret"}},
                                  logs);
    }
};

}  // namespace

TEST_CASE("a queue that refuses jobs is reported with the batch system's words, and without secrets") {
    Made made;
    CHECK(made.report().held_queues.empty());
    made.plan.held_queues = {{"main", "qsub: see http://me:hunter2@help/ wy_secret", 1'000'000, 3, 0, {}}};
    const auto held = made.report().held_queues;
    REQUIRE(held.size() == 1);
    CHECK(held.front().queue == "main");
    CHECK(held.front().since == 1'000'000);
    CHECK(held.front().reason.starts_with("qsub: see "));
    CHECK(held.front().reason.find("hunter2") == std::string::npos);
    CHECK(held.front().reason.find("wy_secret") == std::string::npos);
}

TEST_CASE("users learn how a job of theirs begins on each node type, without the account of the builds") {
    Made made;
    CHECK(made.report().submit.empty());  // jobs are processes of the agent's machine
    CHECK(made.report().nodes.front().job.empty());
    made.site.scheduler = find_scheduler_kind("slurm");
    made.site.queue = {.queue = "builds", .account = "bdxyz01", .options = {"--qos=normal"}};
    made.site.nodes.front().queue = "gh";
    made.site.modules = {.init = "/etc/profile.d/modules.sh", .use = {"/sw/modules"}, .load = {"gcc/12"}};
    made.site.accelerators.back().modules = {"cuda/12.3"};
    made.site.pythons.front().modules = {"python/3.11"};
    const auto report = made.report();
    CHECK(report.submit == "sbatch");
    CHECK(report.nodes.front().job ==
          std::vector<std::string>{
              "#SBATCH --job-name=wheel", "#SBATCH --nodes=1", "#SBATCH --ntasks-per-node=1",
              "#SBATCH --time=30", "#SBATCH --partition=gh", "#SBATCH --account=ACCOUNT",
              "#SBATCH --export=NONE", "#SBATCH --qos=normal", "#SBATCH --gpus-per-node=1"});
    REQUIRE(report.setups.size() == 1);
    const status::SetupReport& setup = report.setups.front();
    CHECK(setup.python == "3.11");
    CHECK(setup.accelerator == "h100");
    CHECK(setup.program == "python3.11");
    CHECK(setup.lines ==
          std::vector<std::string>{"type module > /dev/null 2>&1 || . /etc/profile.d/modules.sh",
                                   "module use /sw/modules", "module load gcc/12 cuda/12.3 python/3.11"});
    // What the guide tells users stands where they copy these lines from, and runs nothing.
    made.site.users.emplace();
    made.site.users->advice = {"Log in with `ghlogin`", "one\nrm -rf two"};
    const auto advised = made.report().setups.front().lines;
    REQUIRE(advised.size() == setup.lines.size() + 3);
    CHECK(advised.at(0) == "# Log in with `ghlogin`");
    CHECK(advised.at(2) == "# rm -rf two");
    CHECK(advised.back() == setup.lines.back());
    made.site.users.reset();
    CHECK(status::render_site_report(report).find("bdxyz01") == std::string::npos);
    const auto read = status::parse_site_report(status::render_site_report(report));
    REQUIRE(read.has_value());
    CHECK(read->setups.front().lines == setup.lines);
    CHECK(read->nodes.front().job == report.nodes.front().job);
    // Options that ask for GPUs stay as the site has them; PBS asks by itself.
    made.site.queue.options = {"--gres=gpu:1"};
    CHECK(made.report().nodes.front().job.back() == "#SBATCH --gres=gpu:1");
    // Nor in an option, where also the address of who runs the builds may stand.
    for (const char* option : {"--account=bdxyz01", "--account bdxyz01", "-A bdxyz01", "-Abdxyz01",
                               "-P bdxyz01", "--mail-user=me@bdxyz01.example"}) {
        CAPTURE(option);
        made.site.queue.options = {option, "--qos=normal"};
        const std::string text = status::render_site_report(made.report());
        CHECK(text.find("bdxyz01") == std::string::npos);
        CHECK(text.find("#SBATCH --qos=normal") != std::string::npos);
    }
    made.site.queue.options = {"-A bdxyz01"};
    CHECK(made.report().nodes.front().job.at(7) == "#SBATCH -A ACCOUNT");
    made.site.scheduler = find_scheduler_kind("pbs");
    made.site.queue.options.clear();
    CHECK(made.report().submit == "qsub");
    CHECK(made.report().nodes.front().job ==
          std::vector<std::string>{"#PBS -N wheel", "#PBS -j oe",
                                   "#PBS -l select=1:ncpus=72:mpiprocs=1:ngpus=1", "#PBS -l walltime=0:30:00",
                                   "#PBS -q gh", "#PBS -A ACCOUNT"});
}

TEST_CASE("a node type has the machine and glibc of the Pythons, unless the site file names others") {
    struct Row {
        const char* name;
        std::string machine, glibc;  // of the site file
        std::string of_node;
    };
    for (const Row& row :
         {Row{"as the agent's host", "", "", "x86_64 2.28"},
          Row{"another machine", "aarch64", "2.34", "aarch64 2.34"},
          Row{"another glibc", "", "2.34", "x86_64 2.34"},
          Row{"another machine with a glibc that nobody named", "aarch64", "", "aarch64 "}}) {
        CAPTURE(row.name);
        Made made;
        made.pythons.emplace("3.10", base::fail("python.missing", "There is no such interpreter"));
        Python python;
        python.environment.glibc_major = 2;
        python.environment.glibc_minor = 28;
        made.pythons.emplace("3.11", python);
        made.site.nodes.front().machine = row.machine;
        made.site.nodes.front().glibc = row.glibc;
        const auto report = made.report();
        CHECK(report.machine + " " + report.glibc == "x86_64 2.28");
        CHECK(report.nodes.front().machine + " " + report.nodes.front().glibc == row.of_node);
    }
    const auto unknown = Made().report();
    CHECK(unknown.machine + unknown.nodes.front().machine + unknown.nodes.front().glibc == "");
}

TEST_CASE("a report has the plan, the attempts that run and the failures, newest first") {
    Made made;
    made.views = {{failed("w0", 2'000'000), {}},
                  {failed("w1", 3'000'000), {}},
                  {attempt("w2", State::running), {"build", 3, 9}}};
    Attempt old = failed("w9", 4'000'000);
    old.superseded = true;
    made.views.push_back({old, {}});
    Attempt done = attempt("w8", State::done);
    done.job.phases = {{"venv", 1'000'000}, {"build", 2'000'000}, {"done", 45'000'000}};
    done.job.ended = 45'000'000;
    made.views.push_back({done, {}});
    made.views[1].attempt.job = done.job;
    made.views[1].attempt.job.phases.pop_back();
    made.logs["w2"] = {{"[3/9] cc"}, {{{"unpack", 1'000'000}, {"build", 1'500'000}}, {12, 40}}};
    const auto report = made.report();
    CHECK(report.site == "bede");
    CHECK(report.index == "bede-gh200");
    CHECK(report.next_tick == 9'000'000);
    CHECK(report.pythons == std::vector<std::string>{"3.11"});
    CHECK(report.nodes.at(0).architectures == std::vector<std::string>{"sm_90"});
    CHECK(report.cells.at(0).state == "active");
    CHECK(report.cells.at(0).purpose.empty());
    REQUIRE(report.attempts.size() == 1);
    CHECK(report.attempts[0].phase == "build");
    CHECK(report.attempts[0].total == 9);
    CHECK(report.attempts[0].log_tail == std::vector<std::string>{"[3/9] cc"});
    CHECK(report.attempts[0].phases == std::vector<std::string>{"unpack", "build"});
    CHECK(report.attempts[0].phase_seconds == std::vector<std::int64_t>{0, 3});
    CHECK(report.attempts[0].memory_mib == std::vector<std::int64_t>{12, 40});
    REQUIRE(report.failures.size() == 2);
    CHECK(report.failures[0].id == "w1");
    CHECK(report.failures[1].id == "w0");
    CHECK(report.failures[0].cause == "The build failed [boom]");
    REQUIRE(report.finished.size() == 1);
    for (const auto& [phases, seconds] :
         {std::pair(report.failures[0].phases, report.failures[0].phase_seconds),
          std::pair(report.finished[0].phases, report.finished[0].phase_seconds)}) {
        CHECK(phases == std::vector<std::string>{"venv", "build"});
        CHECK(seconds == std::vector<std::int64_t>{1, 43});
    }
    CHECK(report.failures[1].phases.empty());
    CHECK(status::parse_site_report(status::render_site_report(report)).has_value());
}

TEST_CASE("a failure has the end of its log and commands to paste, without secrets") {
    Made made;
    made.site.file = "/home/me/my site.toml";
    made.plan.cells[0].reason =
        "it failed; `" + pasted_command("retry", "demo-1.0-cp311", made.site) + "` builds it again";
    Attempt attempt = failed("w1", 3'000'000);
    attempt.failure->error.advice =  // as the agent writes it
        "Free space; then: " + pasted_command("retry", "demo-1.0-cp311", made.site);
    made.views = {{attempt, {}}};
    made.logs["w1"].last_lines = {"fetching https://me:hunter2@host/x", "error: wy_secret"};
    const auto report = made.report();
    REQUIRE(report.failures.size() == 1);
    CHECK(report.failures[0].remedy == "Free space; then: wheelyard-builder retry demo-1.0-cp311");
    CHECK(report.cells[0].reason == "it failed; `wheelyard-builder retry demo-1.0-cp311` builds it again");
    REQUIRE(report.failures[0].log_tail.size() == 2);
    for (const std::string& line : report.failures[0].log_tail) {
        CHECK(line.find("hunter2") == std::string::npos);
        CHECK(line.find("wy_secret") == std::string::npos);
    }
    CHECK(report.claims == "no");
}

TEST_CASE(
    "a site that takes requests only for packages with a recipe names them, and without one takes none") {
    Made made;
    made.site.registry->claim_tasks = "recipes";
    CHECK(made.report().claims == "no");
    Recipe recipe;
    recipe.package = "demo";
    made.recipes.add(recipe);
    CHECK(made.report().claims == "recipes");
    CHECK(made.report().recipes == std::vector<std::string>{"demo"});
    made.site.registry->claim_tasks = "any";
    CHECK(made.report().recipes.empty());
}

TEST_CASE("a build says where its source came from, and no folder of the agent") {
    Made made;
    made.views = {{failed("w0", 2'000'000), {}}, {attempt("w2", State::running), {}}};
    wire::SourceFile& folder = made.views[0].attempt.source;
    folder = {"path", "/home/me/demo", "demo", ""};
    wire::SourceFile& file = made.views[1].attempt.source;
    file = {"sdist", "https://files.example.org/demo-1.0.tar.gz", "demo-1.0.tar.gz", std::string(64, 'a')};
    const auto report = made.report();
    CHECK(report.failures.at(0).source == "demo");
    CHECK(report.failures.at(0).source_sha256.empty());
    CHECK(report.attempts.at(0).source == "https://files.example.org/demo-1.0.tar.gz");
    CHECK(report.attempts.at(0).source_sha256 == std::string(64, 'a'));
    CHECK(status::render_site_report(report).find("/home/me") == std::string::npos);
}

TEST_CASE("failures of the same moment stay in the order of their attempts") {
    Made made;
    for (const char* id : {"w1", "w2", "w3"})
        made.views.push_back({failed(id, 2'000'000), {}});
    const auto report = made.report();
    REQUIRE(report.failures.size() == 3);
    CHECK(report.failures[0].id == "w1");
    CHECK(report.failures[1].id == "w2");
    CHECK(report.failures[2].id == "w3");
}

TEST_CASE("no secret of the site leaves it in a report") {
    Made made;
    made.views = {{failed("w0", 2'000'000), {}}, {attempt("w2", State::running), {}}};
    made.views[1].attempt.waiting = {WaitFor::retry, 1, 0, 0, "no answer of https://u:hunter2@index/"};
    made.logs["w2"].last_lines = {
        "token wy_secret", "pip https://u:hunter2@index/",
        "wy_5f0c9a31d2be_0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"};
    const std::string text = status::render_site_report(made.report());
    for (const char* secret : {"hunter2", "wy_secret", "0123456789abcdef"})
        CHECK_MESSAGE(text.find(secret) == std::string::npos, secret);
    CHECK(text.find("(hidden)") != std::string::npos);
}

TEST_CASE("the end of a log is its last lines with text, as a progress bar left them") {
    CHECK(last_log_lines("").empty());
    CHECK(last_log_lines("a\n\n  \nb\r\n 10%\r 50%\r100%\r\nlast") ==
          std::vector<std::string>{"a", "b", "100%", "last"});
    std::string many;
    for (int i = 0; i < 60; ++i)
        many += "line " + std::to_string(i) + "\n";
    const auto lines = last_log_lines(many);
    CHECK(lines.size() == status::max_log_lines);
    CHECK(lines.front() == "line 10");
    CHECK(lines.back() == "line 59");
}

}  // namespace wheelyard::builder
