// Hardware tests and promotions, run by the agent: their order, and the effects of failures and kills.
#include "builder/script/hardware_test.hpp"

#include <doctest/doctest.h>
#include <sys/wait.h>
#include <unistd.h>

#include "builder/attempt/limits.hpp"
#include "builder/schedule/pbs/pbs.hpp"
#include "builder/schedule/slurm/slurm.hpp"
#include "tests/builder/fake_farm.hpp"
#include "tests/support/golden.hpp"

namespace wheelyard::builder {
namespace {

using testing::Farm;
namespace fs = std::filesystem;

// A farm whose demo project has a GPU test, and whose wheels are promoted once the test has passed.
struct TestedFarm : Farm {
    explicit TestedFarm(const std::string& command = "echo tested >> \"$folder/../../tested\"") {
        site.registry->promote_to = "main";
        site.registry->promote_token_file = folder.path() / "other-token";
        site.hardware_tests.gpu = QueueSettings();
        Recipe recipe = recipes.of("demo");
        recipe.gpu_test.command = command;
        recipes.add(recipe);
    }
    [[nodiscard]] std::string installed() const { return testing::read(folder.path() / "installed"); }
    // "build done, gpu-test done, promotion done"
    [[nodiscard]] std::string story() const {
        std::string text;
        for (const auto& attempt : attempts()) {
            text += (text.empty() ? "" : ", ") + std::string(purpose_text(attempt.asked.purpose)) + " " +
                    std::string(state_text(attempt.state)) + (attempt.superseded ? " (superseded)" : "");
        }
        return text;
    }
};

TEST_CASE("a published wheel is tested in a separate job, then promoted") {
    TestedFarm farm;
    const TickReport report = farm.settle();
    CHECK(report.plan.count(CellState::have) == 3);
    CHECK(farm.builds() == 1);
    CHECK(farm.story() == "build done, gpu-test done, promotion done");
    CHECK(farm.registry.promoted() == std::set<std::string>{"demo-1.0-py3-none-any.whl"});
    const Attempt test = farm.attempts()[1];
    CHECK(test.asked.cell == "demo-1.0-cp311-gpu-test");
    CHECK(test.source.kind == "wheel");
    CHECK(test.job.phases.back().name == "done");
    CHECK(test.job.max_walltime_minutes == 30);
    // The job installs the published wheel, checked by its digest.
    CHECK(farm.installed().find("demo @ http://127.0.0.1:1/test/files/demo-1.0-py3-none-any.whl#sha256=" +
                                test.source.sha256) != std::string::npos);
    CHECK(fs::exists(farm.site.work_directory / "tested"));
    CHECK(!fs::exists(farm.site.work_directory / "attempts" / test.id / "venv"));
    const auto outcome = wire::parse_outcome(testing::read(farm.journal->outcome_file(test.id)));
    REQUIRE(outcome.has_value());
    CHECK(outcome->purpose == "gpu-test");
    CHECK(outcome->done);
    CHECK(!farm.tick().moved);
}

TEST_CASE("a wheel that fails its test is not promoted, and retry tests it again without a build") {
    TestedFarm farm("test -e " + base::quote_shell("{version}") + " && exit 3; false");
    TickReport report = farm.settle();
    CHECK(farm.story() == "build done, gpu-test failed, gpu-test failed, gpu-test failed");
    CHECK(report.plan.cells[1].state == CellState::given_up);
    CHECK(report.plan.cells[1].reason.find("the last in test: Phase test ended with exit code 1") !=
          std::string::npos);
    CHECK(report.plan.cells[2].state == CellState::impossible);
    CHECK(farm.registry.promotions == 0);
    CHECK(Agent(farm.parts()).retry("demo-1.0-cp311-gpu-test").value() ==
          "the next `tick` or `run` repeats demo-1.0-cp311-gpu-test");
    farm.settle();
    CHECK(farm.attempts().size() == 7);
    CHECK(farm.builds() == 1);
}

TEST_CASE("retest repeats passed tests and does not withdraw a promotion") {
    TestedFarm farm;
    farm.settle();
    CHECK(Agent(farm.parts()).retest("nothing").error().code == "retest.nothing");
    CHECK(Agent(farm.parts()).retest("demo").value() ==
          "run again by the next ticks: demo-1.0-cp311-gpu-test");
    const TickReport report = farm.settle();
    CHECK(report.plan.count(CellState::have) == 3);
    CHECK(farm.story() == "build done, gpu-test done (superseded), promotion done, gpu-test done");
    CHECK(farm.builds() == 1);
}

TEST_CASE("a promotion that the registry rejects is reported, and not repeated until retry") {
    TestedFarm farm;
    farm.registry.promote_refusal = "The uploader of a file cannot promote it";
    const TickReport report = farm.settle();
    CHECK(report.plan.cells[2].state == CellState::given_up);
    CHECK(report.plan.cells[2].reason ==
          "failed for good in promote: The uploader of a file cannot promote it");
    farm.tick();
    CHECK(farm.registry.promotions == 1);
    farm.registry.promote_refusal.clear();
    testing::must(Agent(farm.parts()).retry("demo-1.0-cp311-promotion").map([](const auto&) {}));
    CHECK(farm.settle().plan.count(CellState::have) == 3);
}

TEST_CASE("tests and promotions that site or recipe no longer want end without passing") {
    TestedFarm farm;
    farm.registry.promote_refusal = "not yet";
    farm.settle();  // published, tested; the promotion is refused
    CHECK(Agent(farm.parts()).retest("").has_value());
    testing::must(Agent(farm.parts()).retry("demo-1.0-cp311-promotion").map([](const auto&) {}));
    // Both are started by a tick that is killed before their first step.
    Attempt test = farm.attempts()[1];
    Attempt promotion = farm.attempts()[2];
    for (Attempt* again : {&test, &promotion}) {
        again->id = new_attempt_id(farm.clock.now());
        again->number = 2;
        again->state = State::planned;
        again->superseded = false;
        again->failure.reset();
        testing::must(farm.journal->write(*again));
    }
    Recipe recipe = farm.recipes.of("demo");
    recipe.gpu_test = {};
    farm.recipes.add(recipe);
    farm.site.registry->promote_to.clear();
    farm.tick();
    std::set<std::string> codes;
    for (const auto& attempt : farm.attempts()) {
        if (attempt.failure) codes.insert(attempt.failure->error.code);
    }
    CHECK(codes == std::set<std::string>{"upload.refused", "test.gone", "promote.nowhere"});
}

TEST_CASE("a test does not delay the next build, and takes a job slot") {
    TestedFarm farm;
    farm.add_python("3.12", 12);
    farm.site.pythons.push_back({"3.12", (farm.folder.path() / "python").string()});
    farm.site.wants = {{"demo", {"1.0"}, {"3.11", "3.12"}}};
    const TickReport report = farm.settle();
    CHECK(report.plan.count(CellState::have) == 6);  // a pure wheel, tested under both Pythons
    CHECK(farm.builds() == 1);
}

TEST_CASE("tests and promotions converge after a kill at every step, and nothing runs twice") {
    for (const auto point : agent_failpoints) {
        CAPTURE(point);
        TestedFarm farm;
        farm.tick();
        farm.tick();  // the wheel is published, or nearly so
        for (int tick = 0; tick < 3; ++tick) {
            const pid_t child = ::fork();
            REQUIRE(child >= 0);
            if (child == 0) {
                Agent agent(farm.parts(std::string(point)));
                ::_exit(agent.tick() ? 0 : 1);
            }
            int status = 0;
            REQUIRE(::waitpid(child, &status, 0) == child);
            farm.clock.sleep_ms(max_wait_ms * 2);
        }
        const TickReport report = farm.settle();
        CHECK(report.plan.count(CellState::have) == 3);
        CHECK(farm.builds() == 1);
        CHECK(testing::read(farm.site.work_directory / "tested") == "tested\n");
    }
}

TEST_CASE("a test that the site does not run is named with the reason") {
    Site site;
    site.accelerators = {Accelerator{}};
    site.accelerators[0].name = site.accelerators[0].kind = "cpu";
    Recipe recipe;
    CHECK(tests_not_run(recipe, site, "cpu").empty());
    recipe.own_tests.files = {"test/test_indexing.py"};
    CHECK(tests_not_run(recipe, site, "cpu").empty());
    recipe.source = SourceKind::upstream;
    CHECK(tests_not_run(recipe, site, "cpu") ==
          std::vector<std::string>{"the source's own tests: an upstream's wheel comes without its source"});
    recipe.own_tests.files.clear();
    recipe.gpu_test.command = recipe.multi_node_test.command = "true";
    recipe.gpu_test.gpus_per_node = 1;
    CHECK(tests_not_run(recipe, site, "cpu") ==
          std::vector<std::string>{"gpu-test: [hardware_tests.gpu] is not in the site file",
                                   "multi-node-test: [hardware_tests.multi_node] is not in the site file"});
    site.hardware_tests.gpu = site.hardware_tests.multi_node = QueueSettings();
    CHECK(tests_not_run(recipe, site, "cpu") == std::vector<std::string>{"gpu-test: `cpu` has no GPU"});
    site.accelerators[0].kind = "cuda";
    CHECK(tests_not_run(recipe, site, "cpu").empty());
}

TEST_CASE("a test job gets the size and the queue of its test") {
    Site site;
    site.scheduler = find_scheduler_kind("slurm");
    site.cores = 32;
    site.queue = {"build", "acct", 0, {"--qos=builds"}};
    site.nodes = {NodeType{"grace-hopper", "gh", 72, 0, 1, "gh200"}};
    site.hardware_tests.gpu = QueueSettings{"", "", 0, {"--qos=debug"}};
    site.hardware_tests.multi_node = QueueSettings{"multi", "big", 0, {}};
    const HardwareTest on_gpu{"x", 1, 1, 1, 10};
    const HardwareTest on_nodes{"x", 2, 4, 4, 30};
    const TestJob one = size_test_job(on_gpu, Purpose::gpu_test, site, "gh200");
    const TestJob two = size_test_job(on_nodes, Purpose::multi_node_test, site, "gh200");
    const AttemptFolder folder{"/work/attempts/w1"};
    const auto request = [&](const TestJob& test, std::int64_t minutes) {
        JobRequest job{"w1", folder, {}, test.cores, 0, minutes};
        job.nodes = test.nodes;
        job.ranks_per_node = test.ranks_per_node;
        job.queue = &test.queue;
        return job;
    };
    const auto holds = [](const std::string& text, std::initializer_list<const char*> lines) {
        for (const char* line : lines) {
            CAPTURE(line);
            CHECK(text.find(line) != std::string::npos);
        }
    };
    holds(slurm::render_header(request(one, on_gpu.minutes), site.queue),
          {"--nodes=1\n", "--ntasks=1\n", "--cpus-per-task=32\n", "--time=10\n", "--partition=gh\n",
           "--account=acct\n", "--gres=gpu:1\n", "--qos=debug\n"});
    holds(slurm::render_header(request(two, on_nodes.minutes), site.queue),
          {"--nodes=2\n", "--ntasks=8\n", "--ntasks-per-node=4\n", "--cpus-per-task=18\n", "--time=30\n",
           "--partition=multi\n", "--account=big\n", "--gres=gpu:4\n"});
    CHECK(slurm::render_header(request(two, on_nodes.minutes), site.queue).find("qos") == std::string::npos);
    holds(pbs::render_header(request(two, on_nodes.minutes), site.queue),
          {"-l select=2:ncpus=72:mpiprocs=4:ngpus=4\n", "-l place=scatter\n", "-l walltime=0:30:00\n",
           "-q multi\n", "-A big\n"});
    CHECK(pbs::render_header(request(one, on_gpu.minutes), site.queue).find("place") == std::string::npos);
}

TEST_CASE("a test without GPUs goes to the nodes of builds, by their rules") {
    // As at Setonix: a GPU brings its cores and memory, and the filter refuses jobs that name these.
    Site site;
    site.scheduler = find_scheduler_kind("slurm");
    site.cores = 8;
    site.nodes.resize(2);
    site.nodes[0] = {"gpu", "gpu", 64, 0, 8, "mi250x"};
    site.nodes[0].not_asked = {JobPart::cores, JobPart::memory};
    site.nodes[1] = {"work", "work", 128, 0, 0, ""};
    site.nodes[1].options = {"--hint=nomultithread"};
    site.build_node = "gpu";
    site.queue.gpus = 1;
    send_to(site.queue, site.nodes[0]);
    const HardwareTest over_nodes{"x", 2, 4, 0, 10};
    const auto header_of_test_in = [&](const std::string& queue) {
        site.hardware_tests.multi_node = QueueSettings{queue, "", 0, {}};
        const TestJob test = size_test_job(over_nodes, Purpose::multi_node_test, site, "");
        JobRequest job{"w1", AttemptFolder{"/work/attempts/w1"}, {}, test.cores, 4000, 10};
        job.nodes = test.nodes;
        job.ranks_per_node = test.ranks_per_node;
        job.queue = &test.queue;
        return slurm::render_header(job, site.queue);
    };
    const auto has = [](const std::string& text, const char* words) {
        return text.find(words) != std::string::npos;
    };
    const std::string gpu = header_of_test_in("");
    CHECK(has(gpu, "--partition=gpu\n"));
    CHECK(has(gpu, "--gres=gpu:1\n"));  // or the partition gives no cores
    CHECK(has(gpu, "--ntasks-per-node=4\n"));
    CHECK_FALSE(has(gpu, "--cpus-per-task"));
    CHECK_FALSE(has(gpu, "--mem"));
    const std::string work = header_of_test_in("work");
    CHECK(has(work, "--partition=work\n"));
    CHECK(has(work, "--hint=nomultithread\n"));
    CHECK(has(work, "--cpus-per-task=2\n"));
    CHECK(has(work, "--mem=4000M\n"));
    CHECK_FALSE(has(work, "--gres"));
    const std::string other = header_of_test_in("copy");  // no node type is of it
    CHECK(has(other, "--cpus-per-task=2\n"));
    CHECK_FALSE(has(other, "--gres"));
}

TEST_CASE("the script of a test matches its golden file, online and offline, and bash accepts it") {
    Attempt attempt;
    attempt.id = "w1ng012h6crvmar";
    attempt.asked.cell = "torch-2.4.0+cu123.gh200-cp312-multi-node-test";
    attempt.asked.purpose = Purpose::multi_node_test;
    attempt.asked.package = "torch";
    attempt.asked.version = "2.4.0+cu123.gh200";
    attempt.asked.python = "3.12";
    attempt.asked.accelerator = "gh200";
    attempt.source = {{"wheel",
                       "https://wheels.example.org/bede/files/ab/abcd/"
                       "torch-2.4.0%2Bcu123.gh200-cp312-cp312-linux_aarch64.whl",
                       "torch-2.4.0+cu123.gh200-cp312-cp312-linux_aarch64.whl", std::string(64, 'a')},
                      {},
                      {},
                      {},
                      {}};
    Recipe recipe = default_recipe("torch");
    recipe.multi_node_test = {"{launcher} python all_reduce.py --want {version}", 2, 4, 4, 30};
    recipe.test_requires = {"numpy<3"};
    Site site;
    site.name = "bede-gh200";
    site.registry = RegistrySettings{"https://wheels.example.org", "bede", "token"};
    site.launcher = "srun --nodes={nodes} --ntasks={ranks}";
    site.modules.load = {"gcc/12.2"};
    site.accelerators = {Accelerator{"gh200", "cuda", {"sm_90"}, "cu123.gh200", {"cuda/12.3"}, {}}};
    const AttemptFolder folder{"/work/attempts/w1ng012h6crvmar"};
    const ScriptInput input{site, recipe, attempt, "/usr/bin/python3.12", folder};
    const std::string name = "builder/multi-node-test";
    const std::string online = render_test_script(input);
    site.offline_jobs = true;
    const std::string offline = render_test_script(input);
    const std::string wheelhouse = render_test_wheelhouse_script(input);
    CHECK(test_support::golden_difference(name + ".sh", online) == "");
    CHECK(test_support::golden_changes(name + "-offline", name, online, offline) == "");
    CHECK(test_support::golden_difference(name + "-wheelhouse.sh", wheelhouse) == "");
    for (const auto& script : {online, offline, wheelhouse}) {
        base::Command command;
        command.argv = {"/bin/bash", "-n", "-c", script};
        command.environment = base::current_environment();
        const auto checked = base::run_command(command);
        REQUIRE(checked.has_value());
        CHECK_MESSAGE(checked->exit_code == 0, checked->err);
    }
}

}  // namespace
}  // namespace wheelyard::builder
