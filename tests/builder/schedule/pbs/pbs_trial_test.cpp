// A job against the limits of a queue of PBS.
#include "builder/schedule/pbs/pbs_trial.hpp"

#include <doctest/doctest.h>

namespace wheelyard::builder {
namespace {

constexpr const char* queue = R"(Queue: main
    queue_type = Execution
    resources_max.walltime = 12:00:00
    resources_max.mem = 480gb
    resources_max.ncpus = 128
    resources_max.nodect = 2
    resources_max.ngpus = 8
    enabled = True
    started = True

)";

TrialJob example() {
    return {{"main", "UXYZ0001", 4, {}}, 2, 4, 16, 240'000, 720};
}

TEST_CASE("a job at the limits of its queue is taken, and each limit is named that it exceeds") {
    const TrialAnswer taken = pbs::read_trial(queue, example());
    CHECK(taken.end == TrialEnd::accepted);
    CHECK(taken.said == "PBS has no dry run; within the limits of queue main");
    struct Row {
        JobPart part;
        std::string limit;
        TrialJob job;
    };
    const auto with = [](auto change) {
        TrialJob job = example();
        change(job);
        return job;
    };
    for (const auto& row :
         {Row{JobPart::minutes, "resources_max.walltime = 12:00:00",
              with([](TrialJob& job) { job.minutes = 721; })},
          Row{JobPart::memory, "resources_max.mem = 480gb",
              with([](TrialJob& job) { job.memory_mib = 250'000; })},
          Row{JobPart::gpus, "resources_max.ngpus = 8", with([](TrialJob& job) { job.queue.gpus = 5; })},
          Row{JobPart::cores, "resources_max.ncpus = 128", with([](TrialJob& job) { job.cores = 17; })},
          Row{JobPart::nodes, "resources_max.nodect = 2", with([](TrialJob& job) {
                  job.nodes = 3;
                  job.memory_mib = job.queue.gpus = job.cores = 1;
              })}}) {
        CAPTURE(row.limit);
        const TrialAnswer refused = pbs::read_trial(queue, row.job);
        CHECK(refused.end == TrialEnd::refused);
        CHECK(refused.parts == std::vector<RefusedPart>{{row.part}});
        CHECK(refused.said == "queue main has " + row.limit);
    }
}

TEST_CASE("a queue that is closed or absent is named, and a default queue is not known") {
    const TrialAnswer closed = pbs::read_trial("Queue: main\n    enabled = False\n", example());
    CHECK(closed.end == TrialEnd::refused);
    CHECK(closed.parts == std::vector<RefusedPart>{{JobPart::queue}});
    const auto absent = [](const std::string& script) {
        CHECK(script == "qstat -Q -f main");
        return MachineAnswer{false, "", "qstat: Unknown queue main"};
    };
    const TrialAnswer unknown = pbs::try_job("", example(), absent);
    CHECK(unknown.end == TrialEnd::refused);
    CHECK(unknown.parts == std::vector<RefusedPart>{{JobPart::queue}});
    TrialJob job = example();
    job.queue.queue.clear();
    CHECK(pbs::try_job("", job, absent).end == TrialEnd::unknown);
}

}  // namespace
}  // namespace wheelyard::builder
