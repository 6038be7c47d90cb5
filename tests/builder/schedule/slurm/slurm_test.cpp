// The output of Slurm's programs, and what it means. Some lines come from a real Slurm 22.05.8 and its
// slurmdbd, which the system tests run; the others follow the manual pages.
#include "builder/schedule/slurm/slurm.hpp"

#include <doctest/doctest.h>
#include <unistd.h>

#include <algorithm>

#include "builder/attempt/limits.hpp"
#include "builder/schedule/slurm/slurm_scheduler.hpp"
#include "tests/builder/fake_farm.hpp"

namespace wheelyard::builder {
namespace {

JobView view_of_line(const std::string& line) {
    const auto jobs = slurm::parse_squeue(line + "\n");
    REQUIRE_MESSAGE(jobs.has_value(), jobs.error().text());
    REQUIRE(jobs->size() == 1);
    return slurm::view_of(jobs->front());
}

TEST_CASE("every state that a real squeue printed gives its outcome") {
    struct Row {
        const char* line;
        JobState state;
        std::optional<EndCause> cause;
        std::optional<int> exit_code;
    };
    const Row rows[] = {
        {"2|w1|COMPLETED|None|0|0:00|yardnode|", JobState::vanished, EndCause::unexplained, 0},
        {"1|w1|FAILED|NonZeroExitCode|768|0:00|yardnode|", JobState::vanished, EndCause::failed, 3},
        {"10|w1|FAILED|NonZeroExitCode|36608|0:05|yardnode|", JobState::vanished, EndCause::failed, 143},
        {"3|w1|FAILED|JobLaunchFailure|9|0:00|yardnode|", JobState::vanished, EndCause::killed, 137},
        {"3|w1|FAILED|RaisedSignal:9(Killed)|9|0:00|yardnode|", JobState::vanished, EndCause::killed, 137},
        {"6|w1|FAILED|RaisedSignal:53(Real-time_signal_19)|53|0:00|yardnode|",
         JobState::vanished,
         EndCause::not_launched,
         {}},
        {"6|w1|FAILED|RaisedSignal:11(Segmentation_fault)|139|0:00|yardnode|",  // with a core
         JobState::vanished, EndCause::killed, 139},
        {"6|w1|FAILED|JobLaunchFailure|4021|0:00|yardnode|", JobState::vanished, EndCause::not_launched, {}},
        {"12|w1|FAILED|BadConstraints|1|0:00||", JobState::vanished, EndCause::cannot_ever_run, 129},
        {"4|w1|OUT_OF_MEMORY|OutOfMemory|253|0:01|yardnode|",
         JobState::vanished,
         EndCause::out_of_memory,
         {}},
        {"14|w1|PREEMPTED|None|15|0:01|yardnode|", JobState::vanished, EndCause::preempted, 143},
        {"8|w1|CANCELLED|None|15|1:50|yardnode|", JobState::vanished, EndCause::cancelled, 143},
        {"9|w1|CANCELLED|BeginTime|0|0:00||", JobState::vanished, EndCause::cancelled, 0},
        {"5|w1|TIMEOUT|TimeLimit|15|1:02|yardnode|", JobState::vanished, EndCause::time_limit, 143},
        {"5|w1|NODE_FAIL|NodeDown|1|0:02|yardnode|", JobState::vanished, EndCause::node_failure, 129},
        {"9|w1|PENDING|BeginTime|0|0:00||", JobState::queued, {}, {}},
        {"11|w1|PENDING|JobHeldUser|0|0:00||", JobState::queued, {}, {}},
        {"11|w1|PENDING|Resources|0|0:00||", JobState::queued, {}, {}},
        {"11|w1|PENDING|PartitionTimeLimit|0|0:00||", JobState::queued, EndCause::cannot_ever_run, {}},
        {"11|w1|PENDING|QOSMaxGRESPerJob|0|0:00||", JobState::queued, EndCause::cannot_ever_run, {}},
        {"11|w1|PENDING|AssocMaxMemPerNode|0|0:00||", JobState::queued, EndCause::cannot_ever_run, {}},
        {"11|w1|PENDING|QOSMinMemory|0|0:00||", JobState::queued, EndCause::cannot_ever_run, {}},
        {"11|w1|PENDING|QOSMaxMemoryPerUser|0|0:00||", JobState::queued, {}, {}},
        {"11|w1|PENDING|QOSMaxSubmitJobPerUserLimit|0|0:00||", JobState::queued, {}, {}},
        {"11|w1|PENDING|AssocGrpGRES|0|0:00||", JobState::queued, {}, {}},
        // Held by Slurm itself: both ways to print it are from public reports.
        {"11|w1|PENDING|launch_failed_requeued_held|0|0:00||1|",
         JobState::queued,
         EndCause::not_launched,
         {}},
        {"11|w1|PENDING|user env retrieval failed requeued held|0|0:00||1|",
         JobState::queued,
         EndCause::not_launched,
         {}},
        {"11|w1|PENDING|JobHoldMaxRequeue|0|0:00||5|", JobState::queued, EndCause::not_launched, {}},
        {"11|w1|PENDING|job_requeued_in_held_state|0|0:00||1|", JobState::queued, {}, {}},
        {"8|w1|POWER_UP_NODE|None|0|0:00|cloud1|", JobState::queued, {}, {}},
        {"8|w1|RUNNING|None|0|0:06|yardnode|", JobState::running, {}, {}},
        {"8|w1|COMPLETING|None|0|0:06|yardnode|", JobState::running, {}, {}},
        {"8|w1|A_STATE_OF_TOMORROW|None|0|0:06|yardnode|", JobState::unknown, {}, {}},
    };
    for (const auto& row : rows) {
        CAPTURE(row.line);
        const JobView view = view_of_line(row.line);
        CHECK(view.state == row.state);
        CHECK(view.end.has_value() == row.cause.has_value());
        if (!view.end || !row.cause) continue;
        CHECK(view.end->cause == *row.cause);
        CHECK(view.end->exit_code == row.exit_code);
    }
    CHECK(view_of_line("8|w1|TIMEOUT|TimeLimit|15|1-02:03:04|n1|").end->used.seconds == 93'784);
}

TEST_CASE("one invalid line makes the whole answer unknown") {
    CHECK(!slurm::parse_squeue("slurm_load_jobs: something new\n").has_value());
    CHECK(slurm::parse_squeue("\n").value().empty());
    CHECK(!slurm::parse_sacct("14|w1|COMPLETED\n").has_value());
}

TEST_CASE("sacct's states give the same outcomes, with the memory of the steps") {
    const auto jobs = slurm::parse_sacct(
        "14|w1|CANCELLED by 0|None|0:0|12|00:00:10.500||n7\n"
        "14.batch|batch|CANCELLED|None|0:15|12|00:00:10.500|204800K|n7\n"
        "14.extern|extern|COMPLETED|None|0:0|12|00:00:00|1M|n7\n"
        "15|w2|TIMEOUT|TimeLimit|0:0|60|00:01:00||n7\n"
        "16|w3|FAILED|NonZeroExitCode|3:0|1|00:00:01||n7\n"
        "17|w4|FAILED|JobLaunchFailure|0:53|0|00:00:00||n7\n"
        "18|w5|OUT_OF_MEMORY|OutOfMemory|0:125|1|00:00:01||n7\n");
    REQUIRE_MESSAGE(jobs.has_value(), jobs.error().text());
    REQUIRE(jobs->size() == 5);
    const auto cause = [&](std::size_t i) { return slurm::view_of(jobs->at(i)).end->cause; };
    CHECK(cause(0) == EndCause::cancelled);
    CHECK(jobs->at(0).used == JobUsage{12, 10, 204'800});
    CHECK(cause(1) == EndCause::time_limit);
    CHECK(cause(2) == EndCause::failed);
    CHECK(jobs->at(2).exit_code == 3);
    CHECK(cause(3) == EndCause::not_launched);
    CHECK(cause(4) == EndCause::out_of_memory);
}

TEST_CASE("a real sacct, which reports only reasons of waiting, gives the same outcomes") {
    struct Row {
        const char* lines;
        EndCause cause;
        std::optional<int> exit_code;
        JobUsage used;
    };
    const Row rows[] = {
        {"1|w1|COMPLETED|None|0:0|2|00:00.115||n1\n1.batch|batch|COMPLETED||0:0|2|00:00.115|13684K|n1\n",
         EndCause::unexplained,
         0,
         {2, 0, 13'684}},
        {"2|w1|FAILED|None|1:0|2|00:00.086||n1\n2.batch|batch|FAILED||1:0|2|00:00.086|13668K|n1\n",
         EndCause::failed,
         1,
         {2, 0, 13'668}},
        {"3|w1|CANCELLED by 0|None|0:0|1|00:00.084||n1\n3.batch|batch|FAILED||15:0|1|00:00.084|13672K|n1\n",
         EndCause::cancelled,
         0,
         {1, 0, 13'672}},
        {"4|w1|FAILED|None|0:9|2|00:00.002||n1\n4.batch|batch|CANCELLED||0:9|2|00:00.002|13868K|n1\n",
         EndCause::killed,
         137,
         {2, 0, 13'868}},
        {"5|w1|OUT_OF_MEMORY|None|0:125|2|00:00.355||n1\n"
         "5.batch|batch|OUT_OF_MEMORY||0:125|2|00:00.355|14060K|n1\n",
         EndCause::out_of_memory,
         {},
         {2, 0, 14'060}},
    };
    for (const auto& row : rows) {
        CAPTURE(row.lines);
        const auto jobs = slurm::parse_sacct(row.lines);
        REQUIRE(jobs.has_value());
        REQUIRE(jobs->size() == 1);
        const JobView view = slurm::view_of(jobs->front());
        CHECK(view.state == JobState::vanished);
        REQUIRE(view.end.has_value());
        CHECK(view.end->cause == row.cause);
        CHECK(view.end->exit_code == row.exit_code);
        CHECK(view.end->used == row.used);
    }
}

TEST_CASE("a refusal is temporary, permanent, or leaves open whether a job exists") {
    struct Row {
        const char* message;
        const char* code;
    };
    const Row rows[] = {
        {"sbatch: error: Batch job submission failed: Unable to contact slurm controller (connect failure)",
         "scheduler.not_now"},
        {"sbatch: error: Memory specification can not be satisfied\n"
         "sbatch: error: Batch job submission failed: Requested node configuration is not available",
         "scheduler.refused"},
        {"sbatch: error: Batch job submission failed: Requested time limit is invalid (missing or exceeds "
         "some limit)",
         "scheduler.refused"},
        {"sbatch: error: invalid partition specified: nosuch\n"
         "sbatch: error: Batch job submission failed: Invalid partition name specified",
         "scheduler.refused"},
        {"sbatch: unrecognized option '--nosuch'", "scheduler.refused"},
        {"sbatch: error: AssocMaxSubmitJobLimit\nsbatch: error: Batch job submission failed: Job violates "
         "accounting/QOS policy (job submit limit, user's size and/or time limits)",
         "scheduler.not_now"},
        {"sbatch: error: MaxSubmitJobsPerAccount\nsbatch: error: Batch job submission failed: Job violates "
         "accounting/QOS policy (job submit limit, user's size and/or time limits)",
         "scheduler.not_now"},
        {"sbatch: error: Batch job submission failed: Socket timed out on send/recv operation",
         "scheduler.unsure"},
        // job_submit/lua with slurm.log_user() and slurm.ERROR, as a real 22.05.8 printed it; with a code of its own.
        {"sbatch: error: in maintenance until 18:00\nsbatch: error: Batch job submission failed: Unspecified "
         "error",
         "scheduler.not_now"},
        {"sbatch: error: Requested time limit is invalid, they say\nsbatch: error: Batch job submission "
         "failed: "
         "Unspecified error",
         "scheduler.not_now"},
        {"sbatch: error: too long for this partition\nsbatch: error: Batch job submission failed: Requested "
         "time limit "
         "is invalid (missing or exceeds some limit)",
         "scheduler.refused"},
        {"sbatch: error: Batch job submission failed: Invalid account or account/partition combination "
         "specified",
         "scheduler.not_now"},
        {"sbatch: error: Batch job submission failed: Requested partition configuration not available now",
         "scheduler.not_now"},
        {"sbatch: error: Batch job submission failed: System submissions disabled", "scheduler.not_now"},
        {"sbatch: error: QOSMaxWallDurationPerJobLimit\nsbatch: error: Batch job submission failed: Job "
         "violates "
         "accounting/QOS policy (job submit limit, user's size and/or time limits)",
         "scheduler.refused"},
        {"sbatch: error: QOSMaxGRESPerJob\nsbatch: error: Batch job submission failed: Job violates "
         "accounting/QOS policy (job submit limit, the user's size and/or time limits)",
         "scheduler.refused"},
        {"sbatch: error: QOSMaxSubmitJobPerUserLimit\nsbatch: error: Batch job submission failed: Job "
         "violates "
         "accounting/QOS policy (job submit limit, the user's size and/or time limits)",
         "scheduler.not_now"},
        {"sbatch: error: Batch job submission failed: I/O error writing script/environment to file",
         "scheduler.not_now"},
        {"sbatch: error: Batch job submission failed: Zero Bytes were transmitted or received",
         "scheduler.unsure"},
        {"sbatch: error: Slurm temporarily unable to accept job, sleeping and retrying\n"
         "sbatch: error: Batch job submission failed: Resource temporarily unavailable",
         "scheduler.not_now"},
        {"sbatch: error: Invalid --time specification", "scheduler.refused"},
        {"squeue: fatal: Unable to process configuration file", "scheduler.not_now"},
        {"sbatch: fatal: Could not establish a configuration source", "scheduler.not_now"},
    };
    for (const auto& row : rows) {
        CAPTURE(row.message);
        CHECK(slurm::judge_refusal(row.message).code == row.code);
    }
    // Cut, but not inside a character.
    const std::string start(max_error_line_bytes - 1, 'a');
    CHECK(slurm::judge_refusal(start + "ö").value == start);
}

// A scheduler whose programs reply as written here, and the commands that it ran.
struct Scene {
    base::TempDir folder = *base::TempDir::make("slurm");
    AttemptFolder attempt{folder.path() / "w1"};
    std::map<std::string, base::Finished> answers;
    std::vector<BatchCommand> given;
    SlurmScheduler scheduler{{"gpu", "acct", 0, {"--qos=high"}},
                             {{"SLURM_CONF", "/c"}, {"SQUEUE_FORMAT", "%i"}, {"SECRET", "hunter2"}},
                             [this](const BatchCommand& command) -> base::Result<base::Finished> {
                                 given.push_back(command);
                                 return answers[command.argv.front()];
                             }};
    JobView look() { return scheduler.poll({{"w1", attempt}}).at("w1"); }
};

TEST_CASE("a failed query gives unknown, and a job that squeue does not list is looked up by sacct") {
    Scene scene;
    scene.answers["squeue"] = {1, false, "", "slurm_load_jobs error: Unable to contact slurm controller\n"};
    CHECK(scene.look().state == JobState::unknown);
    scene.answers["squeue"] = {0, true, "", ""};
    CHECK(scene.look().state == JobState::unknown);

    scene.answers["squeue"] = {0, false, "", ""};
    scene.answers["sacct"] = {1, false, "", "Slurm accounting storage is disabled\n"};
    CHECK(scene.look().state == JobState::unclaimed);
    scene.answers["sacct"] = {1, false, "", "sacct: error: slurm_persist_conn_open: Connection refused\n"};
    CHECK(scene.look().state == JobState::unknown);
    scene.answers["sacct"] = {0, false, "14|w1|NODE_FAIL|None|0:0|12|00:00:10||n7\n", ""};
    CHECK(scene.look().end->cause == EndCause::node_failure);

    scene.answers["sacct"] = {0, false, "", ""};
    testing::must(base::make_directories(scene.attempt.claim()));
    CHECK(scene.look().state == JobState::vanished);  // it started, and Slurm has no record of it
    CHECK(!scene.look().end.has_value());
}

TEST_CASE("of a job that failed, accounting knows whether one of its steps ran out of memory") {
    Scene scene;
    scene.answers["squeue"] = {0, false, "14|w1|FAILED|NonZeroExitCode|256|0:06|n1|0|1:00:00|\n", ""};
    const std::string job =
        "14|w1|FAILED|None|1:0|6|00:00:06||n1\n14.batch|batch|FAILED||1:0|6|00:00:01|9K|n1\n";
    scene.answers["sacct"] = {1, false, "", "Slurm accounting storage is disabled\n"};
    CHECK(scene.look().end->cause == EndCause::failed);
    scene.answers["sacct"] = {0, false, job, ""};
    CHECK(scene.look().end->cause == EndCause::failed);
    scene.answers["sacct"] = {0, false, job + "14.0|g++|OUT_OF_MEMORY||0:125|5|00:00:05|900M|n1\n", ""};
    CHECK(scene.look().end->cause == EndCause::out_of_memory);
    CHECK(scene.look().end->scheduler_status == "FAILED");
}

TEST_CASE("a job that accounting still counts, and squeue does not list, is missing") {
    // A runaway job: slurmctld lost it, or its end is on the way to slurmdbd.
    Scene scene;
    scene.answers["sacct"] = {0, false, "14|w1|PENDING|None|0:0|0|00:00:00||None assigned\n", ""};
    CHECK(scene.look().state == JobState::unclaimed);
    testing::must(base::make_directories(scene.attempt.claim()));
    for (const char* state : {"RUNNING", "PENDING", "SUSPENDED"}) {
        CAPTURE(state);
        scene.answers["sacct"] = {0, false, "14|w1|" + std::string(state) + "|None|0:0|912|00:00:00||n7\n",
                                  ""};
        const JobView view = scene.look();
        CHECK(view.state == JobState::vanished);
        CHECK_FALSE(view.end.has_value());  // judge_vanished() waits for more such answers
        CHECK(view.detail.find(state) != std::string::npos);
    }
}

TEST_CASE("only jobs of this user are asked for and cancelled, and a job's comment says what runs") {
    Scene scene;
    scene.answers["squeue"] = {0, false, "14|w1|RUNNING|None|0|0:06|n1|0|1:00:00|\n", ""};
    CHECK(scene.look().granted == JobGrant{60, 0});
    CHECK(scene.scheduler.cancel("w1", scene.attempt).has_value());
    REQUIRE(scene.given.size() == 2);
    for (const BatchCommand& command : scene.given) {
        const std::string own = "--user=" + std::to_string(::geteuid());
        CHECK(std::count(command.argv.begin(), command.argv.end(), own) == 1);
    }
    JobRequest job{"w1", scene.attempt, {}, 8, 0, 90};
    job.label = "debian12/demo-1.0-cp311";
    CHECK(slurm::render_header(job, {}).find("#SBATCH --comment=debian12/demo-1.0-cp311\n") !=
          std::string::npos);
}

TEST_CASE("of two jobs of one name the one that did the work is reported") {
    Scene scene;
    const std::string idle = "15|w1|COMPLETED|None|0|0:00|n1|\n";
    for (const std::string other :
         {"14|w1|RUNNING|None|0|0:06|n1|\n", "14|w1|TIMEOUT|TimeLimit|15|1:00|n1|\n"}) {
        CAPTURE(other);
        for (const auto& text : {idle + other, other + idle}) {
            scene.answers["squeue"] = {0, false, text, ""};
            CHECK(scene.look().detail.find("job 14") != std::string::npos);
        }
    }
}

TEST_CASE(
    "a job that was queued again after it had claimed its attempt is requeued, by squeue and by sacct") {
    Scene scene;
    const auto squeue = [&](const std::string& lines) {
        scene.answers["squeue"] = {0, false, lines, ""};
        return scene.look().end;
    };
    const std::string waits = "14|w1|PENDING|BeginTime|0|0:00||1|\n";
    CHECK(!squeue(waits));  // its launch failed: it may still build
    testing::must(base::make_directories(scene.attempt.claim()));
    CHECK(squeue(waits).value().cause == EndCause::requeued);
    CHECK(!squeue("14|w1|PENDING|Resources|0|0:00||0|\n"));
    // The second run finds the claim and ends well.
    CHECK(squeue("14|w1|COMPLETED|None|0|0:01|n1|1|\n").value().cause == EndCause::requeued);
    CHECK(squeue("14|w1|COMPLETED|None|0|0:01|n1|0|\n").value().cause == EndCause::unexplained);
    CHECK(squeue("14|w1|TIMEOUT|TimeLimit|15|1:00|n1|1|\n").value().cause == EndCause::time_limit);

    scene.answers["sacct"] = {
        0, false,
        "14|w1|REQUEUED|None|0:0|12|00:00:10||n7\n14.batch|batch|CANCELLED||0:15|12|00:10||n7\n"
        "14|w1|COMPLETED|None|0:0|1|00:00:01||n7\n",
        ""};
    CHECK(squeue("").value().cause == EndCause::requeued);
    const auto& given = scene.given.back().argv;
    CHECK(std::count(given.begin(), given.end(), "--duplicates") == 1);
}

TEST_CASE("a real slurmdbd has one row for each run of a job: the last one decides") {
    // sacct --duplicates of Slurm 22.05 after `scontrol requeue`, `requeuehold` and `scancel`, as it was printed.
    const auto jobs = slurm::parse_sacct(
        "1|requeued-done|REQUEUED|None|0:0|2|00:00.001||n1\n1.batch|batch|CANCELLED||0:15|2|00:00.001|3460K|"
        "n1\n"
        "2|requeued-failed|REQUEUED|None|0:0|4|00:00.002||n1\n2.batch|batch|CANCELLED||0:15|5|00:00.002|"
        "3444K|n1\n"
        "3|requeued-twice|REQUEUED|None|0:0|7|00:00.001||n1\n3.batch|batch|CANCELLED||0:15|8|00:00.001|3444K|"
        "n1\n"
        "4|requeued-cancelled|REQUEUED|None|0:0|9|00:00.002||n1\n4.batch|batch|CANCELLED||0:15|10|00:00.002|"
        "3424K|n1\n"
        "5|requeued-held|REQUEUED|None|0:0|11|00:00.002||n1\n5.batch|batch|CANCELLED||0:15|12|00:00.002|"
        "3516K|n1\n"
        "1|requeued-done|COMPLETED|BeginTime|0:0|0|00:00.001||n1\n1.batch|batch|COMPLETED||0:0|0|00:00.001|"
        "1236K|n1\n"
        "2|requeued-failed|FAILED|BeginTime|3:0|0|00:00.001||n1\n2.batch|batch|FAILED||3:0|0|00:00.001|1236K|"
        "n1\n"
        "3|requeued-twice|REQUEUED|BeginTime|0:0|3|00:00.002||n1\n3.batch|batch|CANCELLED||0:15|3|00:00.002|"
        "3416K|n1\n"
        "4|requeued-cancelled|CANCELLED by 0|BeginTime|0:0|2|00:00.002||n1\n"
        "4.batch|batch|CANCELLED||0:15|4|00:00.002|3500K|n1\n"
        "5|requeued-held|PENDING|JobHeldUser|0:0|0|00:00:00||None assigned\n"
        "3|requeued-twice|COMPLETED|BeginTime|0:0|0|00:00.002||n1\n3.batch|batch|COMPLETED||0:0|0|00:00.002|"
        "3264K|n1\n");
    REQUIRE_MESSAGE(jobs.has_value(), jobs.error().text());
    struct Row {
        const char* name;
        std::uint64_t restarts;
        EndCause of_claimed;  // the attempt had begun in the job's first run
        EndCause of_unclaimed;
        std::int64_t memory_kib;
    };
    constexpr auto open = EndCause::unexplained;
    const Row rows[] = {
        {"requeued-done", 1, EndCause::requeued, open, 1'236},
        {"requeued-failed", 1, EndCause::failed, EndCause::failed, 1'236},
        {"requeued-cancelled", 1, EndCause::cancelled, EndCause::cancelled, 3'500},
        {"requeued-twice", 2, EndCause::requeued, open, 3'264},
    };
    CHECK(jobs->size() == 5);
    for (const Row& row : rows) {
        CAPTURE(row.name);
        const auto job =
            std::find_if(jobs->begin(), jobs->end(), [&](const auto& one) { return one.name == row.name; });
        REQUIRE(job != jobs->end());
        CHECK(job->restarts == row.restarts);
        CHECK(job->used.memory_kib == row.memory_kib);
        CHECK(slurm::view_of(*job, true).end.value().cause == row.of_claimed);
        CHECK(slurm::view_of(*job, false).end.value().cause == row.of_unclaimed);
    }
    const auto held =
        std::find_if(jobs->begin(), jobs->end(), [](const auto& one) { return one.name == "requeued-held"; });
    REQUIRE(held != jobs->end());
    CHECK(slurm::view_of(*held, true).end.value().cause == EndCause::requeued);
    CHECK_FALSE(slurm::view_of(*held, false).end.has_value());
}

TEST_CASE("the number of a new job is found in what a site's wrapper prints around it") {
    for (const auto& [printed, number] : std::initializer_list<std::pair<const char*, const char*>>{
             {"4711\n", "4711"},
             {"4711;cluster\n", "4711"},
             {"*** Maintenance on 3 December ***\n2026\n\nBudget: 12 h; 3 left\n4711;cluster\n", "4711"},
             {"Submitted batch job 4711\n", "4711"},
             {"Welcome\nSubmitted batch job 4711 on cluster b\nThank you; see https://x/\n", "4711"},
             {"4711\nYour job was charged to p1\n", "4711"},
             {"no number\n", ""},
             {"", ""}}) {
        CAPTURE(printed);
        CHECK(slurm::parse_submitted(printed) == number);
    }
}

TEST_CASE("sbatch sees the job's environment and its server, and nothing else of the agent's") {
    Scene scene;
    scene.answers["sbatch"] = {0, false, "4711;cluster\n", ""};
    testing::must(base::make_directories(scene.attempt.root));
    testing::must(scene.scheduler.submit({"w1", scene.attempt, {{"PATH", "/bin"}}, 4, 2048, 90}));
    REQUIRE(scene.given.size() == 1);
    CHECK(scene.given[0].environment ==
          EnvironmentMap{{"LC_ALL", "C"}, {"PATH", "/bin"}, {"SLURM_CONF", "/c"}});
    CHECK(testing::read(scene.attempt.job_id()) == "4711\n");
    const std::string script = testing::read(scene.attempt.job_script());
    for (const char* line :
         {"--job-name=w1\n", "--cpus-per-task=4\n", "--mem=2048M\n", "--time=90\n", "--signal=B:USR1@300\n",
          "--partition=gpu\n", "--account=acct\n", "--qos=high\n"}) {
        CAPTURE(line);
        CHECK(script.find("#SBATCH " + std::string(line)) != std::string::npos);
    }
    CHECK(script.find("\nunset SLURM_EXPORT_ENV ") != std::string::npos);
    scene.look();
    CHECK(!scene.given.back().environment.contains("SQUEUE_FORMAT"));
}

}  // namespace
}  // namespace wheelyard::builder
