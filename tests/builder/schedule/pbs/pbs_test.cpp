// The output of a real OpenPBS 23.06 (tests/builder/schedule/data/pbs/), and what it means.
#include "builder/schedule/pbs/pbs.hpp"

#include <doctest/doctest.h>

#include "builder/attempt/limits.hpp"
#include "builder/schedule/pbs/pbs_scheduler.hpp"
#include "tests/builder/documented_keys.hpp"
#include "tests/builder/fake_farm.hpp"

namespace wheelyard::builder {
namespace {

// A recording: "$ command", standard output, "[stderr]" and standard error if there was any, "[rc N]".
base::Finished recorded(const std::string& name) {
    const std::string text =
        testing::read_repository_file("tests/builder/schedule/data/pbs/" + name + ".txt");
    const auto begin = text.find('\n') + 1;
    const auto err = text.find("[stderr]\n");
    const auto rc = text.find("[rc ");
    REQUIRE(rc != std::string::npos);
    base::Finished finished;
    finished.out = text.substr(begin, std::min(err, rc) - begin);
    if (err != std::string::npos) finished.err = text.substr(err + 9, rc - err - 9);
    finished.exit_code = std::stoi(text.substr(rc + 4));
    return finished;
}

TEST_CASE("every recorded job gives its outcome") {
    struct Row {
        const char* recording;
        JobState state;
        std::optional<EndCause> cause;
        std::optional<int> exit_code;
    };
    const Row rows[] = {
        {"finished_ok_json", JobState::vanished, EndCause::unexplained, 0},
        {"finished_exit4_json", JobState::vanished, EndCause::failed, 4},
        {"finished_sigkill_json", JobState::vanished, EndCause::killed, 137},
        {"finished_walltime_json", JobState::vanished, EndCause::time_limit, {}},
        {"finished_trapterm_json", JobState::vanished, EndCause::time_limit, {}},
        {"finished_deleted_json", JobState::vanished, EndCause::cancelled, 0},
        {"qstat_running_json", JobState::running, {}, {}},
        {"qstat_held_json", JobState::queued, {}, {}},
        {"qstat_cannot_run_json", JobState::queued, EndCause::cannot_ever_run, {}},
    };
    for (const auto& row : rows) {
        CAPTURE(row.recording);
        const auto answer = pbs::read_qstat(recorded(row.recording));
        REQUIRE_MESSAGE(answer.has_value(), answer.error().text());
        REQUIRE(answer->jobs.size() == 1);
        const JobView view = pbs::view_of(answer->jobs.front());
        CHECK(view.state == row.state);
        CHECK(view.end.has_value() == row.cause.has_value());
        if (!view.end || !row.cause) continue;
        CHECK(view.end->cause == *row.cause);
        CHECK(view.end->exit_code == row.exit_code);
    }
    const auto walltime = pbs::read_qstat(recorded("finished_walltime_json"));
    CHECK(pbs::view_of(walltime->jobs.front()).end->used == JobUsage{11, 0, 0});
}

// A recorded job that ended, with what the same server reported of another end.
pbs::Job ended_job(std::optional<std::int64_t> exit_status, std::int64_t substate,
                   const std::string& comment) {
    pbs::Job job = pbs::read_qstat(recorded("finished_exit4_json"))->jobs.front();
    job.exit_status = exit_status;
    job.substate = substate;
    job.comment = "Job run at Sun Nov 22 at 07:23 on (pbshost:ncpus=2:mem=1024000kb) and " + comment;
    return job;
}

TEST_CASE("every end that a real OpenPBS showed has its cause") {
    struct Row {
        std::int64_t exit_status;
        std::int64_t substate;
        const char* comment;
        EndCause cause;
    };
    const Row rows[] = {
        {0, 92, "finished", EndCause::unexplained},
        {1, 93, "failed", EndCause::failed},
        {271, 91, "terminated by wypbs@pbshost", EndCause::cancelled},
        {143, 91, "terminated by wypbs@pbshost", EndCause::cancelled},  // the script caught the signal
        {271, 91, "terminated by Scheduler@pbshost", EndCause::preempted},
        {-29, 93, "exceeded resource walltime", EndCause::time_limit},
        {-27, 93, "exceeded resource mem", EndCause::out_of_memory},
        {137, 93, "failed", EndCause::killed},
        {265, 93, "failed", EndCause::killed},
        {-4, 93, "failed", EndCause::node_failure},
        {-20, 93, "Job deleted, execution node down", EndCause::node_failure},
        {-7, 93, "failed", EndCause::not_launched},
    };
    for (const auto& row : rows) {
        CAPTURE(row.exit_status);
        CAPTURE(row.comment);
        const JobView view = pbs::view_of(ended_job(row.exit_status, row.substate, row.comment));
        REQUIRE(view.end.has_value());
        CHECK(view.end->cause == row.cause);
    }
}

TEST_CASE("a job that exceeded its CPU time is killed: 137, with as much CPU time used as it may use") {
    pbs::Job job = ended_job(137, 93, "failed");
    job.used.cpu_seconds = 61;
    CHECK(pbs::view_of(job).end->cause == EndCause::killed);
    job.max_cpu_s = 60;
    CHECK(pbs::view_of(job).end->cause == EndCause::time_limit);
    job.used.cpu_seconds = 59;
    CHECK(pbs::view_of(job).end->cause == EndCause::killed);
}

TEST_CASE(
    "a job that was queued again after it had claimed its attempt is requeued, and a job in its first queue "
    "is not") {
    pbs::Job job = pbs::read_qstat(recorded("qstat_held_json"))->jobs.front();
    CHECK(job.runs == 0);
    CHECK(!pbs::view_of(job, true).end);
    job.state = 'Q';
    job.runs = 1;
    CHECK(!pbs::view_of(job, false).end);  // its launch failed: it may still build
    REQUIRE(pbs::view_of(job, true).end.has_value());
    CHECK(pbs::view_of(job, true).end->cause == EndCause::requeued);
    // The second run finds the claim and ends well.
    pbs::Job second = pbs::read_qstat(recorded("finished_ok_json"))->jobs.front();
    CHECK(second.runs == 1);
    second.runs = 2;
    CHECK(pbs::view_of(second, true).end->cause == EndCause::requeued);
}

TEST_CASE("a suspended job runs, and its view says that it is suspended") {
    pbs::Job job = pbs::read_qstat(recorded("qstat_running_json"))->jobs.front();
    CHECK(!pbs::view_of(job).suspended);
    job.state = 'S';
    CHECK(pbs::view_of(job).state == JobState::running);
    CHECK(pbs::view_of(job).suspended);
    CHECK(pbs::view_of(job).detail.starts_with("PBS job 0.pbshost, suspended: "));
}

TEST_CASE("qstat's answers for several, unknown and finished jobs, and without a server") {
    CHECK(pbs::read_qstat(recorded("qstat_several_json"))->jobs.size() ==
          1);  // although three were requested
    const auto unknown = pbs::read_qstat(recorded("qstat_unknown_job"));
    REQUIRE(unknown.has_value());
    CHECK(unknown->jobs.empty());
    CHECK(unknown->unknown == std::set<std::string>{"99999.pbshost"});
    const auto finished = pbs::read_qstat(recorded("qstat_finished_without_x"));
    REQUIRE(finished.has_value());
    CHECK(finished->jobs.empty());
    CHECK(finished->unknown.empty());  // the job is known, only not reported
    const auto down = pbs::read_qstat(recorded("qstat_server_down"));
    REQUIRE(!down.has_value());
    CHECK(down.error().code == "scheduler.unavailable");
    CHECK(!pbs::read_qstat({0, false, "{\"Jobs\":", ""}).has_value());
    CHECK(!pbs::read_qstat({0, true, "", ""}).has_value());
    CHECK(!pbs::read_qstat({1, false, "{}", ""}).has_value());
}

TEST_CASE("numbers may be strings, and strings numbers") {
    const auto answer = pbs::read_qstat(
        {0, false,
         R"({"Jobs":{"5.s":{"Job_Name":12,"job_state":"F","substate":"93","Exit_status":"-29",)"
         R"("resources_used":{"walltime":"01:00:01","cput":"00:00:02","mem":"2mb"},)"
         R"("run_count":"1","Resource_List":{"cput":"01:00:00"}},)"
         R"("6.s":{"Job_Name":"w","job_state":"F","Exit_status":265},"7.s":{"job_state":"?"}}})",
         ""});
    REQUIRE(answer.has_value());
    REQUIRE(answer->jobs.size() == 3);
    CHECK(answer->jobs[0].name == "12");
    const auto end = pbs::view_of(answer->jobs[0]).end;
    CHECK(end->cause == EndCause::time_limit);
    CHECK(end->used == JobUsage{3601, 2, 2048});
    CHECK(answer->jobs[0].runs == 1);
    CHECK(answer->jobs[0].max_cpu_s == 3600);
    CHECK(pbs::view_of(answer->jobs[1]).end->exit_code == 137);  // 256 + signal
    CHECK(pbs::view_of(answer->jobs[2]).state == JobState::unknown);
}

TEST_CASE("a refusal of qsub is temporary or permanent") {
    CHECK(pbs::judge_refusal(recorded("qsub_server_down")).code == "scheduler.not_now");
    for (const char* text : {"qsub: would exceed queue generic's per-user limit of jobs in 'Q' state",
                             "qsub: Maximum number of jobs for user anna already in queue main",
                             "qsub: Maximum number of jobs in 'Q' state for project lab already in complex"})
        CHECK(pbs::judge_refusal({1, false, "", text}).code == "scheduler.not_now");
    for (const char* name :
         {"qsub_unknown_queue", "qsub_bad_resource", "qsub_bad_walltime", "qsub_missing_script"}) {
        CAPTURE(name);
        CHECK(pbs::judge_refusal(recorded(name)).code == "scheduler.refused");
        CHECK(!pbs::judge_refusal(recorded(name)).value.empty());
    }
    CHECK(pbs::judge_refusal({0, true, "", ""}).code == "scheduler.unsure");
    // Cut, but not inside a character.
    const std::string start(max_error_line_bytes - 1, 'a');
    CHECK(pbs::judge_refusal({1, false, "", start + "ö"}).value == start);
}

// A scheduler whose programs reply with recordings, and the commands that it ran.
struct Scene {
    base::TempDir folder = *base::TempDir::make("pbs");
    AttemptFolder attempt{folder.path() / "w1"};
    std::map<std::string, base::Finished> answers;
    std::function<base::Finished(const BatchCommand&)> answer;  // instead of `answers`
    std::vector<std::vector<std::string>> given;
    PbsScheduler scheduler{{"main", "UABC0001", 0, {"-l place=excl"}},
                           {},
                           [this](const BatchCommand& command) -> base::Result<base::Finished> {
                               given.push_back(command.argv);
                               return answer ? answer(command) : answers[command.argv.front()];
                           }};
    Scene() { testing::must(base::make_directories(attempt.root)); }
    JobView look(const std::string& name = "w1") { return scheduler.poll({{name, attempt}}).at(name); }
};

TEST_CASE("a job is queried by its id, or without one by its name") {
    Scene scene;
    scene.answers["qsub"] = recorded("qsub_ok");
    testing::must(scene.scheduler.submit({"w1", scene.attempt, {}, 8, 20'480, 90}));
    CHECK(testing::read(scene.attempt.job_id()) == "0.pbshost\n");
    const std::string script = testing::read(scene.attempt.job_script());
    for (const char* line : {"-N w1\n", "-l select=1:ncpus=8:mem=20480mb\n", "-l walltime=1:30:00\n",
                             "-q main\n", "-A UABC0001\n", "-l place=excl\n", "-r n\n"}) {
        CAPTURE(line);
        CHECK(script.find("#PBS " + std::string(line)) != std::string::npos);
    }
    CHECK(script.find("SLURM") == std::string::npos);
    scene.answers["qstat"] = recorded("qstat_running_json");
    CHECK(scene.look().state == JobState::running);
    CHECK(scene.given.back() == std::vector<std::string>{"qstat", "-f", "-F", "json", "-x", "0.pbshost"});

    std::filesystem::remove(scene.attempt.job_id());
    scene.answers["qselect"] = {0, false, "0.pbshost\n", ""};
    CHECK(scene.look("wy-torch").state == JobState::running);
    CHECK(scene.given.back() == std::vector<std::string>{"qstat", "-f", "-F", "json", "-x", "0.pbshost"});
    scene.answers["qselect"] = {0, false, "", ""};
    CHECK(scene.look("another").state == JobState::unclaimed);
}

TEST_CASE("the nodes of a job are different ones, unless the site's options place it or it has one node") {
    struct Row {
        int nodes;
        std::vector<std::string> options;
        bool scatters;
    };
    for (const Row& row : {Row{1, {}, false}, Row{2, {}, true}, Row{2, {"-l place=excl"}, false},
                           Row{2, {"-l foo=1"}, true}}) {
        CAPTURE(row.nodes);
        JobRequest job{"w1", AttemptFolder{"/work/attempts/w1"}, {}, 8, 0, 0};
        job.nodes = row.nodes;
        const std::string header = pbs::render_header(job, {"main", "", 0, row.options});
        CHECK((header.find("#PBS -l place=scatter\n") != std::string::npos) == row.scatters);
    }
}

TEST_CASE("several jobs take one query, plus one for each that has ended") {
    Scene scene;
    const AttemptFolder other{scene.folder.path() / "w2"};
    testing::write(other.job_id(), "0.pbshost\n");
    testing::write(scene.attempt.job_id(), "1.pbshost\n");
    scene.answers["qstat"] = recorded("qstat_running_json");  // of 0
    const auto views = scene.scheduler.poll({{"w1", scene.attempt}, {"w2", other}});
    CHECK(views.at("w2").state == JobState::running);
    CHECK(views.at("w1").state == JobState::unknown);
    REQUIRE(scene.given.size() == 2);
    CHECK(scene.given[0] == std::vector<std::string>{"qstat", "-f", "-F", "json"});
    CHECK(scene.given[1].back() == "1.pbshost");
}

TEST_CASE(
    "a job that PBS has forgotten vanished if it had started, and is unknown while the server is down") {
    Scene scene;
    testing::write(scene.attempt.job_id(), "99999.pbshost\n");
    scene.answers["qstat"] = recorded("qstat_unknown_job");
    CHECK(scene.look().state == JobState::unclaimed);
    testing::must(base::make_directories(scene.attempt.claim()));
    CHECK(scene.look().state == JobState::vanished);
    scene.answers["qstat"] = recorded("qstat_server_down");
    CHECK(scene.look().state == JobState::unknown);
    scene.answers["qstat"] = recorded("finished_exit4_json");  // of another job
    CHECK(scene.look().state == JobState::unknown);
}

TEST_CASE("another user's job with invalid JSON hides none of ours: each is queried alone") {
    Scene scene;
    const AttemptFolder other{scene.folder.path() / "w2"};
    testing::must(base::make_directories(other.root));
    testing::write(scene.attempt.job_id(), "0.pbshost\n");
    testing::write(other.job_id(), "1.pbshost\n");
    const base::Finished spoilt{0, false, R"({"Jobs":{"7.pbshost":{"comment":"a "quoted" word"}}})", ""};
    CHECK(pbs::read_qstat(spoilt).error().kind == base::ErrorKind::malformed);
    scene.answer = [&](const BatchCommand& command) {
        return command.argv.back() == "json" ? spoilt : recorded("qstat_running_json");  // of 0
    };
    const auto views = scene.scheduler.poll({{"w1", scene.attempt}, {"w2", other}});
    CHECK(views.at("w1").state == JobState::running);
    CHECK(views.at("w2").state == JobState::unknown);  // the answer is of another job
    CHECK(scene.given.size() == 3);
}

TEST_CASE("a job without a recorded id is found by its name, also among finished jobs") {
    Scene scene;
    scene.answers["qselect"] = {0, false, "1.pbshost\n0.pbshost\n", ""};
    scene.answer = [&](const BatchCommand& command) {
        if (command.argv.front() == "qselect") return scene.answers["qselect"];
        return recorded(command.argv.back() == "0.pbshost" ? "qstat_running_json" : "finished_exit4_json");
    };
    CHECK(scene.look().state == JobState::running);  // the living one of the two
    CHECK(scene.given.front() == std::vector<std::string>{"qselect", "-x", "-N", "w1"});
    scene.answers["qselect"] = {0, false, "", ""};
    CHECK(scene.look().state == JobState::unclaimed);
    scene.answers["qselect"] = {1, false, "", "qselect: cannot connect to server pbshost (errno=15010)\n"};
    CHECK(scene.look().state == JobState::unknown);
    scene.answers["qselect"] = {0, false, "what is this\n", ""};
    CHECK(scene.look().state == JobState::unknown);
}

TEST_CASE("a living job of the name is seen beside the recorded one that has ended") {
    Scene scene;
    testing::write(scene.attempt.job_id(), "1.pbshost\n");
    testing::must(base::make_directories(scene.attempt.claim()));
    scene.answer = [](const BatchCommand& command) -> base::Finished {
        if (command.argv.front() == "qselect") return {0, false, "0.pbshost\n1.pbshost\n", ""};
        return recorded(command.argv.back() == "0.pbshost" ? "qstat_running_json" : "finished_exit4_json");
    };
    CHECK(scene.look().state == JobState::running);
    CHECK(scene.given.size() == 3);
}

// A server with OpenPBS's default settings: it refuses -x, and does not know a job that has ended.
struct SceneWithoutHistory : Scene {
    SceneWithoutHistory() {
        answer = [](const BatchCommand& command) -> base::Finished {
            const bool asks_history =
                std::find(command.argv.begin(), command.argv.end(), "-x") != command.argv.end();
            if (asks_history)
                return {35, false, "", "qstat: PBS is not configured to maintain job history 102.pbshost\n"};
            if (command.argv.front() == "qselect") return {0, false, "", ""};
            return {153, false, R"({"pbs_server":"pbshost"})",
                    "qstat: Unknown Job Id " + command.argv.back() + "\n"};
        };
    }
};

TEST_CASE_FIXTURE(SceneWithoutHistory,
                  "a server without job history is queried without -x, once it has said so") {
    CHECK(look().state == JobState::unclaimed);
    CHECK(given ==
          std::vector<std::vector<std::string>>{{"qselect", "-x", "-N", "w1"}, {"qselect", "-N", "w1"}});
    CHECK(look().state == JobState::unclaimed);
    CHECK(given.size() == 3);
}

TEST_CASE_FIXTURE(SceneWithoutHistory, "without job history, a job without a record is seen to end") {
    testing::write(attempt.job_id(), "102.pbshost\n");
    testing::must(base::make_directories(attempt.claim()));
    const JobView view = look();
    CHECK(view.state == JobState::vanished);
    // An end without a known cause: the agent waits for the record, which a network file system may show late.
    REQUIRE(view.end.has_value());
    CHECK(view.end->cause == EndCause::unexplained);
    CHECK(!view.end->exit_code);
}

TEST_CASE("cancel deletes all jobs of a name, also those of earlier submissions") {
    Scene scene;
    testing::write(scene.attempt.job_id(), "5.pbshost\n");
    scene.answers["qselect"] = {0, false, "4.pbshost\n5.pbshost\n", ""};
    CHECK(scene.scheduler.cancel("w1", scene.attempt).has_value());
    CHECK(scene.given.back() == std::vector<std::string>{"qdel", "5.pbshost", "4.pbshost"});
    // If the names cannot be queried, the job with the known id is deleted nevertheless.
    scene.answers["qselect"] = {1, false, "", "qselect: cannot connect to server\n"};
    CHECK(scene.scheduler.cancel("w1", scene.attempt).has_value());
    CHECK(scene.given.back() == std::vector<std::string>{"qdel", "5.pbshost"});
}

TEST_CASE("cancelling a job that has ended succeeds, and a server that is down is an error") {
    Scene scene;
    testing::write(scene.attempt.job_id(), "99999.pbshost\n");
    scene.answers["qdel"] = recorded("qdel_unknown");
    CHECK(scene.scheduler.cancel("w1", scene.attempt).has_value());
    scene.answers["qdel"] = {255, false, "", "qdel: cannot connect to server pbshost (errno=15010)\n"};
    const auto refused = scene.scheduler.cancel("w1", scene.attempt);
    REQUIRE(!refused.has_value());
    CHECK(refused.error().code == "scheduler.unavailable");
}

}  // namespace
}  // namespace wheelyard::builder
