// The output of a real OpenPBS 23.06 (tests/builder/schedule/data/pbs/), and what it means.
#include "builder/schedule/pbs/pbs.hpp"

#include <doctest/doctest.h>

#include "builder/attempt/limits.hpp"
#include "builder/schedule/pbs/pbs_scheduler.hpp"
#include "builder/schedule/scheduler.hpp"
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
        // Of pbs_job.h (JOB_EXEC_*), not seen.
        {-6, 93, "failed", EndCause::node_failure},
        {-11, 93, "failed", EndCause::requeued},
        {-17, 93, "failed", EndCause::not_launched},
        {-18, 93, "failed", EndCause::requeued},
        {-19, 93, "failed", EndCause::killed},
        {-24, 93, "failed", EndCause::failed},
        {-25, 93, "failed", EndCause::failed},
        {-30, 93, "failed", EndCause::not_launched},
        {-31, 93, "failed", EndCause::out_of_memory},
        {-32, 93, "failed", EndCause::requeued},
    };
    for (const auto& row : rows) {
        CAPTURE(row.exit_status);
        CAPTURE(row.comment);
        const JobView view = pbs::view_of(ended_job(row.exit_status, row.substate, row.comment));
        REQUIRE(view.end.has_value());
        CHECK(view.end->cause == row.cause);
    }
}

TEST_CASE("a job that PBS holds because its starts failed is not launched, and a person's hold waits") {
    pbs::Job job = pbs::read_qstat(recorded("qstat_held_json"))->jobs.front();
    CHECK(!pbs::view_of(job).end);
    job.runs = 21;
    job.comment = "job held, too many failed attempts to run";  // the comment of public reports
    REQUIRE(pbs::view_of(job).end.has_value());
    CHECK(pbs::view_of(job).end->cause == EndCause::not_launched);
    job.comment = "Can Never Run: Insufficient amount of resource: ncpus (R: 999 A: 64 T: 64)";
    CHECK(pbs::view_of(job).end.value().cause == EndCause::cannot_ever_run);
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

TEST_CASE("a refusal of qsub is temporary unless it names what the job asks for") {
    CHECK(pbs::judge_refusal(recorded("qsub_server_down")).code == "scheduler.not_now");
    // Texts of OpenPBS (pbs_err_to_txt), of its hooks as seen, and of a site's own hooks.
    for (const char* text :
         {"qsub: would exceed queue generic's per-user limit of jobs in 'Q' state",
          "qsub: Maximum number of jobs for user anna already in queue main",
          "qsub: Maximum number of jobs in 'Q' state for project lab already in complex",
          "qsub: in maintenance until 18:00",
          "qsub: request rejected as filter hook 'submit' got an alarm call. Please inform Admin",
          "qsub: request rejected as filter hook 'submit' encountered an exception. Please inform Admin",
          "qsub: the scheduler has a timeout today, an Unknown queue is unknown", "qsub: No free connections",
          "qsub: Bad UID for job execution", "qsub: Queue is not enabled", "qsub: Access to queue is denied",
          "qsub: Unauthorized Request", "qsub: Invalid Account", "qsub: Floating License unavailable", ""})
        CHECK_MESSAGE(pbs::judge_refusal({1, false, "", text}).code == "scheduler.not_now", text);
    for (const char* text : {"qsub: Job violates queue and/or server resource limits",
                             "qsub: Resource invalid in \"select\" specification: nosuch",
                             "qsub: illegal -N value", "qsub: cannot submit non-rerunable Array Job"})
        CHECK_MESSAGE(pbs::judge_refusal({1, false, "", text}).code == "scheduler.refused", text);
    CHECK(pbs::judge_refusal({187, false, "", "qsub: Unknown resource: ngpus"})
              .advice.starts_with(
                  "fix `gpus` of [scheduler] in site.toml, or `gpus_per_node` of the recipe's test"));
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
                           },
                           "root"};  // who made the recorded jobs
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

TEST_CASE("the resources of a node's part of a job stand in its chunk, also in a user's job") {
    QueueSettings queue{.queue = "main", .account = "", .options = {}};
    queue.gpus = 2;
    queue.chunk = {"gpu_type=a100", "jobfs=100gb"};
    JobRequest job{"w1", AttemptFolder{"/work/attempts/w1"}, {}, 8, 4096, 0};
    job.nodes = 2;
    CHECK(pbs::render_header(job, queue)
              .find("#PBS -l select=2:ncpus=8:mpiprocs=1:ngpus=2:mem=4096mb:gpu_type=a100:jobfs=100gb\n") !=
          std::string::npos);
    UserJob of_user{.name = "demo", .gpus_per_node = 1, .max_walltime_minutes = 30, .queue = queue};
    CHECK(find_scheduler_kind("pbs")->batch->render_user_header(of_user).find(
              ":ngpus=1:gpu_type=a100:jobfs=100gb\n") != std::string::npos);
}

TEST_CASE("each job is queried by its id, never all jobs of the machine") {
    Scene scene;
    const AttemptFolder other{scene.folder.path() / "w2"};
    testing::write(other.job_id(), "0.pbshost\n");
    testing::write(scene.attempt.job_id(), "1.pbshost\n");
    scene.answers["qstat"] = recorded("qstat_running_json");  // of 0
    const auto views = scene.scheduler.poll({{"w1", scene.attempt}, {"w2", other}});
    CHECK(views.at("w2").state == JobState::running);
    CHECK(views.at("w1").state == JobState::unknown);
    REQUIRE(scene.given.size() == 2);
    for (const auto& [at, id] : {std::pair(0u, "1.pbshost"), std::pair(1u, "0.pbshost")})
        CHECK(scene.given[at] == std::vector<std::string>{"qstat", "-f", "-F", "json", "-x", id});
}

TEST_CASE("between two queries the lock is kept, and a server that hangs is asked once") {
    Scene scene;
    std::map<std::string, AttemptFolder> attempts;
    for (const char* name : {"w1", "w2", "w3", "w4"}) {
        attempts[name] = AttemptFolder{scene.folder.path() / name};
        testing::write(attempts[name].job_id(), "0.pbshost\n");
    }
    int kept = 0;
    scene.scheduler.keep_alive = [&kept]() -> base::Status {
        ++kept;
        return {};
    };
    scene.answers["qstat"] = recorded("qstat_running_json");
    CHECK(scene.scheduler.poll(attempts).size() == 4);
    CHECK(kept == 4);
    scene.given.clear();
    scene.answers["qstat"] = {0, true, "", ""};
    for (const auto& [name, view] : scene.scheduler.poll(attempts)) {
        CHECK(view.state == JobState::unknown);
        CHECK(view.detail.find("did not answer in time") != std::string::npos);
    }
    CHECK(scene.given.size() == 1);
    scene.given.clear();
    scene.scheduler.keep_alive = []() -> base::Status {
        return base::fail("lock.lost", "Another tick works");
    };
    CHECK(scene.scheduler.poll(attempts).at("w3").state == JobState::unknown);
    CHECK(scene.given.empty());
}

TEST_CASE("a stranger's job of our name, or with our job's old id, is not ours") {
    Scene scene;
    base::Finished strangers = recorded("qstat_running_json");
    strangers.out = base::replace_all(strangers.out, "root@pbshost", "eve@pbshost");
    strangers.out = base::replace_all(strangers.out, "wy-torch", "w1");
    scene.answers["qstat"] = strangers;
    scene.answers["qselect"] = {0, false, "", ""};  // of our own jobs
    testing::write(scene.attempt.job_id(), "0.pbshost\n");
    CHECK(scene.look().state == JobState::unclaimed);
    const bool asks_for_ours = std::any_of(scene.given.begin(), scene.given.end(), [](const auto& argv) {
        return argv == std::vector<std::string>{"qselect", "-x", "-u", "root", "-N", "w1"};
    });
    CHECK(asks_for_ours);
    CHECK(scene.scheduler.cancel("w1", scene.attempt).has_value());
    CHECK(scene.given.back() == std::vector<std::string>{"qdel", "0.pbshost"});
}

TEST_CASE(
    "a job that a routing queue dropped is named with its id, its queue and the limits of the destinations") {
    Scene scene;
    scene.answers["qsub"] = recorded("qsub_ok");
    scene.answer = [&](const BatchCommand& command) -> base::Finished {
        const auto& argv = command.argv;
        if (argv.front() == "qsub") return recorded("qsub_ok");
        if (argv.front() == "qselect") return {0, false, "", ""};
        if (argv == std::vector<std::string>{"qstat", "-Q", "-f"})
            return {0, false,
                    "Queue: main\n    queue_type = Route\n    route_destinations = small,large\n"
                    "Queue: small\n    resources_max.ncpus = 4\n    resources_max.walltime = 01:00:00\n"
                    "Queue: other\n    resources_max.ncpus = 1\n"
                    "Queue: large\n    enabled = False\n",
                    ""};
        return {153, false, R"({"pbs_server":"pbshost"})", "qstat: Unknown Job Id 0.pbshost\n"};
    };
    testing::must(scene.scheduler.submit({"w1", scene.attempt, {}, 8, 20'480, 90}));
    const JobView view = scene.look();
    CHECK(view.state == JobState::unclaimed);  // it may be submitted again
    REQUIRE(view.end.has_value());
    CHECK(view.end->cause == EndCause::dropped);
    CHECK(view.end->scheduler_status ==
          "job 0.pbshost in queue main; limits: small: ncpus = 4, walltime = 01:00:00; large: not enabled");
    testing::must(base::make_directories(scene.attempt.claim()));
    CHECK(scene.look().state == JobState::vanished);  // it has started
}

TEST_CASE("a job that PBS removed before it started is neither killed nor a failure of its node") {
    pbs::Job job = ended_job({}, 92, "");
    job.comment = "";
    job.runs = 0;
    const JobView view = pbs::view_of(job);
    CHECK(view.state == JobState::vanished);
    CHECK(view.end->cause == EndCause::dropped);
    CHECK(view.end->scheduler_status == "Exit_status none, substate 92");
    CHECK(pbs::view_of(job, true).end->cause == EndCause::unexplained);  // it has claimed, so it ran
    job.runs = 1;
    CHECK(pbs::view_of(job).end->cause == EndCause::unexplained);
}

TEST_CASE("what PBS granted is read, and the job's alarm counts it") {
    Scene scene;
    scene.answers["qsub"] = recorded("qsub_ok");
    scene.answers["qstat"] = recorded("qstat_running_json");  // of 10 minutes and 20 GiB
    testing::must(scene.scheduler.submit({"w1", scene.attempt, {}, 8, 20'480, 90}));
    CHECK(testing::read(scene.attempt.alarm()) == std::to_string(alarm_after_s(10)) + "\n");
    CHECK(scene.look().granted == JobGrant{10, 20'480});
    base::Finished longer = recorded("qstat_running_json");
    longer.out = base::replace_all(longer.out, "00:10:00", "00:20:00");
    scene.answers["qstat"] = longer;
    CHECK(scene.look().granted.max_walltime_minutes == 20);
    CHECK(testing::read(scene.attempt.alarm()) == std::to_string(alarm_after_s(20)) + "\n");
}

TEST_CASE("a job's variables say what runs, beside those of the site's own options") {
    struct Row {
        std::vector<std::string> options;
        const char* line;
    };
    for (const Row& row :
         {Row{{}, "#PBS -v WHEELYARD_JOB=debian12/demo-1.0-cp311\n"},
          Row{{"-v OMP=1,X=2"}, "#PBS -v OMP=1,X=2,WHEELYARD_JOB=debian12/demo-1.0-cp311\n"}}) {
        JobRequest job{"w1", AttemptFolder{"/work/attempts/w1"}, {}, 8, 0, 0};
        job.label = "debian12/demo-1.0-cp311";
        const std::string header = pbs::render_header(job, {"main", "", 0, row.options});
        CHECK(header.find(row.line) != std::string::npos);
        const auto lists = header.find("#PBS -v ");
        CHECK(header.find("#PBS -v ", lists + 1) == std::string::npos);  // qsub uses the last one alone
    }
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
        const bool of_all = command.argv.back() == "json";  // which nobody asks
        return of_all || command.argv.back() == "1.pbshost" ? spoilt
                                                            : recorded("qstat_running_json");  // of 0
    };
    const auto views = scene.scheduler.poll({{"w1", scene.attempt}, {"w2", other}});
    CHECK(views.at("w1").state == JobState::running);
    CHECK(views.at("w2").state == JobState::unknown);
    CHECK(scene.given.size() == 2);
}

TEST_CASE("a job without a recorded id is found by its name, also among finished jobs") {
    Scene scene;
    scene.answers["qselect"] = {0, false, "1.pbshost\n0.pbshost\n", ""};
    scene.answer = [&](const BatchCommand& command) {
        if (command.argv.front() == "qselect") return scene.answers["qselect"];
        return recorded(command.argv.back() == "0.pbshost" ? "qstat_running_json" : "finished_exit4_json");
    };
    CHECK(scene.look().state == JobState::running);  // the living one of the two
    CHECK(scene.given.front() == std::vector<std::string>{"qselect", "-x", "-u", "root", "-N", "w1"});
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
    CHECK(given == std::vector<std::vector<std::string>>{{"qselect", "-x", "-u", "root", "-N", "w1"},
                                                         {"qselect", "-u", "root", "-N", "w1"}});
    CHECK(look().state == JobState::unclaimed);
    CHECK(given.size() == 3);
}

TEST_CASE_FIXTURE(SceneWithoutHistory, "without job history, a dropped job is explained with its id, too") {
    testing::write(attempt.job_id(), "102.pbshost\n");
    const JobView view = look();
    CHECK(view.state == JobState::unclaimed);
    REQUIRE(view.end.has_value());
    CHECK(view.end->cause == EndCause::dropped);
    CHECK(view.end->scheduler_status ==
          "job 102.pbshost; PBS keeps no job history: it may also have ended before the build began");
}

TEST_CASE_FIXTURE(SceneWithoutHistory, "without job history, a job that has ended is missing") {
    testing::write(attempt.job_id(), "102.pbshost\n");
    testing::must(base::make_directories(attempt.claim()));
    const JobView view = look();
    CHECK(view.state == JobState::vanished);
    CHECK(view.detail == "PBS has no job of this name any more, and keeps no job history");
    CHECK_FALSE(view.end.has_value());
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
