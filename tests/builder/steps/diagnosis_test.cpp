// What the doctor's rules add to a failure, and whether it is tried again.
#include "builder/steps/steps.hpp"

#include <doctest/doctest.h>

#include "tests/builder/fake_farm.hpp"

namespace wheelyard::builder {
namespace {

constexpr const char* missing_header = "x.c:1:10: fatal error: hdf5.h: No such file or directory";
constexpr const char* broken_object = "/usr/bin/ld: error: a.o: file too short";

struct Scene {
    base::TempDir folder = *base::TempDir::make("diagnosis");
    AttemptFolder files{folder.path()};
    Attempt attempt;
    std::shared_ptr<const RuleBook> rules = RuleBook::ours();
    std::uint64_t free_bytes = 1ULL << 30;

    [[nodiscard]] Failure of_job(const std::string& log, EndCause end = EndCause::failed) const {
        testing::write(files.log(), log + "\n");
        Failure failure{"build", {"job.failed", "Phase build ended with exit code 1"}, ""};
        failure.end = end;
        diagnose(attempt, files, *rules, free_bytes, failure);
        return failure;
    }
    // `log`: nullptr: there is none.
    [[nodiscard]] Failure of_login_step(const char* log) const {
        if (log != nullptr) testing::write(files.login_log(), std::string(log) + "\n");
        Failure failure{"prepare", {"source.step", "A step failed", files.login_log().string()}, ""};
        failure.error.kind = base::ErrorKind::program;
        diagnose(attempt, files, *rules, free_bytes, failure);
        return failure;
    }
};

TEST_CASE("a job's log decides whether another attempt could end otherwise") {
    struct Row {
        const char* log;
        const char* builds_in;  // the attempt whose tree it continued
        const char* cause;
        bool try_again;
    };
    for (const Row& row :
         {Row{missing_header, "", "compiler.missing_header", false},
          Row{missing_header, "w1", "compiler.missing_header", false},
          Row{"fatal: unable to access 'https://x/': Could not resolve host: x", "", "network.no_name", true},
          Row{broken_object, "", "link.broken_object", false},
          Row{broken_object, "w1", "link.broken_object", true},
          Row{"x.c:1:1: error: it is odd", "", "", true}}) {
        CAPTURE(row.log);
        CAPTURE(row.builds_in);
        Scene scene;
        scene.attempt.job.builds_in = row.builds_in;
        const Failure failure = scene.of_job(row.log);
        CHECK(failure.cause == row.cause);
        CHECK(failure.first_error == row.log);
        CHECK(failure.try_again == row.try_again);
        CHECK((failure.error.advice.find("wheelyard-builder retry") != std::string::npos) == !row.try_again);
    }
}

TEST_CASE("a network that fails is no failure of the build, and its remedy stays") {
    const Scene scene;
    const Failure failure = scene.of_job(
        "WARNING: Retrying (Retry(total=0)) after connection broken by 'ConnectionResetError(104, "
        "'Connection reset by "
        "peer')': /simple/x/\nERROR: Could not find a version that satisfies the requirement x (from "
        "versions: none)");
    CHECK(failure.cause == "network.interrupted");
    CHECK(failure.try_again);
    REQUIRE(failure.end.has_value());
    CHECK(*failure.end == EndCause::network);
    CHECK(end_row(*failure.end).limit == FailureLimit::network);
    CHECK(failure.error.code == "job.network");
    CHECK(failure.error.advice.find("offline_jobs") != std::string::npos);
}

TEST_CASE("what the scheduler wrote explains an error that no rule knows, if it is about the machine") {
    struct Row {
        const char* log;
        const char* scheduler;
        const char* cause;
        const char* first_error;
    };
    constexpr const char* killed = "slurmstepd: error: Detected 1 oom_kill event in StepId=7.0.";
    for (const Row& row :
         {Row{"x.c:1:1: error: it is odd", killed, "memory.job_limit", killed},
          Row{"x.c:1:1: error: it is odd", "bash: gcc: command not found", "", "x.c:1:1: error: it is odd"},
          Row{"RuntimeError: a worker ended", killed, "memory.job_limit", killed},
          Row{"RuntimeError: odd", "bash: gcc: command not found", "build.own_check", "RuntimeError: odd"},
          Row{missing_header, killed, "compiler.missing_header", missing_header},
          Row{"@@wheelyard exit=1 phase=build at=z", killed, "memory.job_limit", killed},
          Row{"quiet\n@@wheelyard exit=1 phase=build at=z", "", "", "quiet"}}) {
        CAPTURE(row.log);
        CAPTURE(row.scheduler);
        const Scene scene;
        testing::write(scene.files.scheduler_log(), std::string(row.scheduler) + "\n");
        const Failure failure = scene.of_job(row.log);
        CHECK(failure.cause == row.cause);
        CHECK(failure.first_error == row.first_error);
    }
}

TEST_CASE("what the scheduler wrote names the end of a job of which it reports no reason") {
    struct Row {
        EndCause reported;
        const char* scheduler;
        EndCause end;
    };
    constexpr auto killed = EndCause::killed;
    constexpr auto vanished = EndCause::unexplained;  // no accounting, no job history
    for (
        const Row& row :
        // Without cgroups, Slurm's memory watch kills like anybody else: slurmstepd's own line, and a notice by way of
        // slurmctld, which comes too late for a job that ends at once.
        {Row{killed, "slurmstepd-n1: error: StepId=1.batch exceeded memory limit (441 > 268), being killed",
             EndCause::out_of_memory},
         Row{killed,
             "slurmstepd-n1: error: StepId=1.batch exceeded virtual memory limit (9 > 8), being killed",
             EndCause::out_of_memory},
         Row{killed, "slurmstepd-n1: error: Exceeded job memory limit", EndCause::out_of_memory},
         Row{killed,
             "slurmstepd-n1: error: Detected 1 oom-kill event(s) in StepId=1.batch. Some of your processes "
             "may "
             "have been killed by the cgroup out-of-memory handler.",
             EndCause::out_of_memory},
         Row{killed,
             "slurmstepd-n1: error: Detected 1 oom_kill event in StepId=1.batch. Some of the step tasks have "
             "been "
             "OOM Killed.",
             EndCause::out_of_memory},
         Row{killed,
             "Cgroup mem limit exceeded: oom-kill:constraint=CONSTRAINT_MEMCG,nodemask=(null),cpuset=4464.d",
             EndCause::out_of_memory},
         // The hook of PBS writes this also where the kernel only took back caches.
         Row{killed, "Cgroup memsw limit exceeded: ", killed},
         Row{vanished, "=>> PBS: job killed: mem 2097152kb exceeded limit 1048576kb",
             EndCause::out_of_memory},
         Row{vanished, "=>> PBS: job killed: walltime 86415 exceeded limit 86400", EndCause::time_limit},
         Row{vanished,
             "slurmstepd: error: *** JOB 9 ON n1 CANCELLED AT 2021-06-18T13:05:36 DUE TO PREEMPTION ***",
             EndCause::preempted},
         Row{vanished,
             "slurmstepd: error: *** JOB 9 ON n1 CANCELLED AT 2024-04-20T09:09:37 DUE TO TIME LIMIT ***",
             EndCause::time_limit},
         Row{vanished, "bash: gcc: command not found", vanished}, Row{vanished, "", vanished},
         Row{EndCause::cancelled, "slurmstepd: error: Detected 1 oom_kill event in StepId=7.0.",
             EndCause::cancelled}}) {
        CAPTURE(row.scheduler);
        for (const char* log : {"[ 3/90] g++ -c x.cpp", missing_header}) {
            CAPTURE(log);
            const Scene scene;
            testing::write(scene.files.scheduler_log(), std::string(row.scheduler) + "\n");
            const Failure failure = scene.of_job(log, row.reported);
            CHECK(failure.end == row.end);
            CHECK((failure.error.code == end_row(row.end).code) == (row.end != row.reported));
        }
    }
    // What kills a whole job also kills its compilers.
    const Failure failure =
        Scene().of_job("c++: fatal error: Killed signal terminated program cc1plus", killed);
    CHECK(failure.end == killed);
    CHECK(failure.cause.empty());
}

TEST_CASE("who was killed is told as memory unless the scheduler and the kernel deny it") {
    struct Row {
        EndCause reported;
        const char* exit_record;  // its member of the kernel's word; nullptr: there is none
        EndCause end;
    };
    for (const char* line :
         {"c++: fatal error: Killed signal terminated program cc1plus",
          "nvcc error   : 'cicc' died due to signal 9",
          "collect2: fatal error: ld terminated with signal 9 [Killed]", "make: *** [Mk:2: a] Killed"}) {
        CAPTURE(line);
        for (const Row& row :
             {Row{EndCause::failed, R"("oom_kills": 0)", EndCause::killed},
              Row{EndCause::failed, R"("oom_kills": 2)", EndCause::out_of_memory},
              Row{EndCause::failed, R"("ended_ms": 1)", EndCause::out_of_memory},  // it says nothing
              Row{EndCause::out_of_memory, R"("oom_kills": 0)", EndCause::out_of_memory}}) {
            CAPTURE(row.exit_record);
            Scene scene;
            scene.attempt.id = "w1";
            scene.attempt.job.end = JobEnd{row.reported, 1, "FAILED NonZeroExitCode", {}};
            testing::write(scene.files.exit_record(),
                           R"({"format":"wheelyard.exit/1","attempt":"w1","exit_code":1,"phase":"build",)" +
                               std::string(row.exit_record) + "}");
            const Failure failure = scene.of_job(line, row.reported);
            CHECK(failure.end == row.end);
            CHECK(failure.try_again);
            CHECK(failure.first_error == line);
            CHECK(failure.cause.empty() == (row.end == EndCause::killed));
        }
    }
}

TEST_CASE("a node that fails counts as a node's failure also where only Slurm's log says so") {
    const Scene scene;
    testing::write(
        scene.files.scheduler_log(),
        "slurmstepd: error: *** JOB 7 ON n1 CANCELLED AT 2026-01-02T03:04:05 DUE TO NODE FAILURE, SEE "
        "SLURMCTLD LOG FOR DETAILS ***\n");
    CHECK(scene.of_job("[ 3/90] g++ -c x.cpp", EndCause::unexplained).end == EndCause::node_failure);
    const Failure known = scene.of_job("[ 3/90] g++ -c x.cpp", EndCause::node_failure);
    REQUIRE(known.cause == "machine.node_failure");
    const std::string sentence = automatic_sentence(*scene.rules->find(known.cause));
    CHECK(sentence.find("counts as a node failure") != std::string::npos);
    CHECK(sentence.find("preemption") == std::string::npos);
}

TEST_CASE("a full work folder is the cause of whatever the log says, also where the log says nothing") {
    for (const EndCause end : {EndCause::failed, EndCause::unexplained}) {
        for (const char* log : {"[ 3/90] g++ -c x.cpp", missing_header, ""}) {
            CAPTURE(log);
            Scene scene;
            scene.free_bytes = 0;
            const Failure failure = scene.of_job(log, end);
            CHECK(failure.cause == "disk.full");
            CHECK(failure.first_error.find(scene.files.root.string() + ": no space left on it, 0 bytes") ==
                  0);
            CHECK(!failure.try_again);
            CHECK(failure.error.sentence.find("A file system is full") != std::string::npos);
        }
    }
}

TEST_CASE("the log of a step on the login node names the cause that only a person can fix") {
    const Scene scene;
    const Failure unread = scene.of_login_step(nullptr);
    CHECK(unread.try_again);
    CHECK(unread.cause.empty());
    CHECK(unread.error.sentence == "A step failed");
    const Failure read = scene.of_login_step("ERROR: No matching distribution found for nobody-has-this");
    CHECK(!read.try_again);
    CHECK(read.cause == "pip.no_version");
    CHECK(read.error.sentence.starts_with("A step failed: "));
    CHECK(read.error.advice.ends_with("Then: wheelyard-builder retry"));
}

}  // namespace
}  // namespace wheelyard::builder
