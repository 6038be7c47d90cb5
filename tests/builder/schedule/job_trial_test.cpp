// Which part of a refused job is named, with batch systems that refuse by a rule.
#include "builder/schedule/job_trial.hpp"

#include <doctest/doctest.h>

#include <functional>

#include "builder/schedule/scheduler_kind.hpp"

namespace wheelyard::builder {
namespace {

// Refuses a script that has one of these texts.
AskMachine refusing(std::vector<std::string> texts, int& queries) {
    return [texts = std::move(texts), &queries](const std::string& script) {
        ++queries;
        for (const auto& text : texts) {
            if (script.find(text) != std::string::npos)
                return MachineAnswer{
                    false, "allocation failure: Requested node configuration is not available\n", ""};
        }
        return MachineAnswer{true, "sbatch: Job 1 to start at noon\n", ""};
    };
}

TrialJob example() {
    return {{"big", "project", 2, {"--qos=standard", "--constraint=nvme"}}, 3, 4, 5, 6000, 70};
}

TEST_CASE("the part is named without which the job would be taken") {
    struct Row {
        std::string refused;
        RefusedPart part;
    };
    const BatchSystem& slurm = *find_scheduler_kind("slurm")->batch;
    for (const auto& row :
         {Row{"--time=70\n", {JobPart::minutes}}, Row{"--mem=6000M\n", {JobPart::memory}},
          Row{"--nodes=3\n", {JobPart::nodes}}, Row{"--gres=gpu:2\n", {JobPart::gpus}},
          Row{"--cpus-per-task=5\n", {JobPart::cores}},
          Row{"--qos=standard\n", {JobPart::options, "--qos=standard"}},
          Row{"--constraint=nvme\n", {JobPart::options, "--constraint=nvme"}},
          Row{"--account=project\n", {JobPart::account}}, Row{"--partition=big\n", {JobPart::queue}}}) {
        CAPTURE(row.refused);
        int queries = 0;
        const TrialAnswer answer = try_job(slurm, example(), refusing({row.refused}, queries));
        CHECK(answer.end == TrialEnd::refused);
        CHECK(answer.parts == std::vector<RefusedPart>{row.part});
        CHECK(queries <= 20);
    }
}

TEST_CASE("a part is found that a site's filter does not permit to be named, of whatever size") {
    const BatchSystem& slurm = *find_scheduler_kind("slurm")->batch;
    const auto unnameable = [](JobPart part) { return RefusedPart{.part = part, .by_name = true}; };
    int queries = 0;
    for (const auto& [text, part] :
         {std::pair{"--mem=", JobPart::memory}, std::pair{"--cpus-per-task=", JobPart::cores},
          std::pair{"--gres=", JobPart::gpus}, std::pair{"--nodes=", JobPart::nodes}}) {
        CAPTURE(text);
        CHECK(try_job(slurm, example(), refusing({text}, queries)).parts ==
              std::vector<RefusedPart>{unnameable(part)});
    }
    const TrialAnswer both = try_job(slurm, example(), refusing({"--mem=", "--cpus-per-task="}, queries));
    CHECK(both.parts == std::vector<RefusedPart>{unnameable(JobPart::memory), unnameable(JobPart::cores)});
    TrialJob silent = example();
    silent.queue.not_asked = {JobPart::memory, JobPart::cores, JobPart::gpus, JobPart::nodes};
    const std::string header = render_trial_header(slurm, silent);
    for (const char* text : {"--mem=", "--cpus-per-task=", "--gres=", "--nodes="})
        CHECK_MESSAGE(header.find(text) == std::string::npos, text);
    // Too large, not forbidden.
    const TrialAnswer large =
        try_job(slurm, example(), refusing({"--mem=6000M\n", "--cpus-per-task=5\n"}, queries));
    CHECK(large.parts == std::vector<RefusedPart>{{JobPart::memory}, {JobPart::cores}});
}

TEST_CASE("all sizes are named that are refused on their own, and nothing where no part is the reason") {
    const BatchSystem& slurm = *find_scheduler_kind("slurm")->batch;
    int queries = 0;
    const TrialAnswer two = try_job(slurm, example(), refusing({"--time=70\n", "--mem=6000M\n"}, queries));
    CHECK(two.parts == std::vector<RefusedPart>{{JobPart::minutes}, {JobPart::memory}});
    const auto is_small = [](const std::string& script) {
        const auto has = [&](const char* text) { return script.find(text) != std::string::npos; };
        if (has("--partition=big\n") && (has("--time=70\n") || has("--mem=6000M\n")))
            return MachineAnswer{false, "allocation failure: Requested node configuration is not available\n",
                                 ""};
        return MachineAnswer{true, "sbatch: Job 1 to start at noon\n", ""};
    };
    CHECK(try_job(slurm, example(), is_small).parts == std::vector<RefusedPart>{{JobPart::queue}});
    const TrialAnswer never = try_job(slurm, example(), refusing({"#SBATCH"}, queries));
    CHECK(never.end == TrialEnd::refused);
    CHECK(never.parts.empty());
    const TrialAnswer words = try_job(slurm, example(), [](const std::string&) {
        return MachineAnswer{false, "allocation failure: Invalid qos specification\n", ""};
    });
    CHECK(words.parts == std::vector<RefusedPart>{{JobPart::options, "--qos=standard"}});
    queries = 0;
    const TrialAnswer taken = try_job(slurm, example(), refusing({}, queries));
    CHECK(taken.end == TrialEnd::accepted);
    CHECK(taken.message == "Job 1 to start at noon");
    CHECK(queries == 2);  // the job, and the limits of QOS
}

TEST_CASE("a query without an answer is repeated, a few times") {
    const BatchSystem& slurm = *find_scheduler_kind("slurm")->batch;
    int queries = 0, lost = 2;
    const auto busy = [&](const std::string&) {
        ++queries;
        if (lost-- > 0)
            return MachineAnswer{false, "sbatch: error: Socket timed out on send/recv operation\n", ""};
        return MachineAnswer{true, "sbatch: Job 1 to start at noon\n", ""};
    };
    CHECK(try_job(slurm, example(), busy).end == TrialEnd::accepted);
    CHECK(queries == 4);
    lost = 100;
    CHECK(try_job(slurm, example(), busy).end == TrialEnd::unknown);
    CHECK(queries == 7);
}

TEST_CASE("a job is tried with the directive lines of its submission") {
    const BatchSystem& slurm = *find_scheduler_kind("slurm")->batch;
    TrialJob job = example();
    const std::string header = render_trial_header(slurm, job);
    for (const char* line :
         {"#SBATCH --nodes=3\n", "#SBATCH --ntasks=12\n", "#SBATCH --ntasks-per-node=4\n",
          "#SBATCH --cpus-per-task=5\n", "#SBATCH --mem=6000M\n", "#SBATCH --time=70\n",
          "#SBATCH --signal=B:USR1@", "#SBATCH --partition=big\n", "#SBATCH --account=project\n",
          "#SBATCH --gres=gpu:2\n", "#SBATCH --qos=standard\n"})
        CHECK_MESSAGE(header.find(line) != std::string::npos, line);
    job.of_user = true;
    CHECK(render_trial_header(slurm, job).find("#SBATCH --export=NONE\n") != std::string::npos);
}

}  // namespace
}  // namespace wheelyard::builder
