// A job against the limits of a queue of PBS, and against its nodes.
#include "builder/schedule/pbs/pbs.hpp"

#include <doctest/doctest.h>

#include "tests/builder/documented_keys.hpp"

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
    CHECK(taken.message == "PBS has no dry run; within the limits of queue main");
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
        CHECK(refused.message == "queue main has " + row.limit);
    }
}

// Two nodes of 64 cores, 515305 MiB and 4 GPUs; one of 128 cores and 257658 MiB; one of the queue `copy` alone.
std::string nodes() {
    return testing::read_repository_file("tests/builder/schedule/data/pbs_survey/nodes.txt");
}

constexpr const char* open_queue = "Queue: main\n    queue_type = Execution\n";

TEST_CASE("a job fits if enough nodes are as large as one chunk, and what no node has is named") {
    struct Row {
        int nodes;
        int gpus;
        int cores;
        std::int64_t memory_mib;
        std::string message;
        std::vector<RefusedPart> parts = {};
    };
    for (const auto& row :
         {Row{2, 4, 64, 515'305, "2 nodes have 64 cores, 515305 MiB, 4 GPUs"},
          Row{1, 0, 128, 257'658, "1 node has 128 cores, 257658 MiB"},
          Row{3, 0, 64, 0, "3 nodes have 64 cores"},
          Row{3,
              4,
              64,
              200'000,
              "only 2 nodes have 64 cores, 200000 MiB, 4 GPUs, of 3 that it asks for",
              {{JobPart::nodes}}},
          Row{1,
              4,
              64,
              515'306,
              "no node of queue main has 64 cores, 515306 MiB, 4 GPUs; at most 128 cores, 515305 MiB, 4 GPUs",
              {{JobPart::memory}}},
          Row{1,
              8,
              129,
              1'000,
              "no node of queue main has 129 cores, 1000 MiB, 8 GPUs; at most 128 cores, 515305 MiB, 4 GPUs",
              {{JobPart::cores}, {JobPart::gpus}}},
          // Each alone is there.
          Row{1,
              4,
              65,
              1'000,
              "no node of queue main has 65 cores, 1000 MiB, 4 GPUs; at most 128 cores, 515305 MiB, 4 GPUs",
              {{JobPart::cores}, {JobPart::gpus}}}}) {
        CAPTURE(row.message);
        TrialJob job{{"main", "", row.gpus, {}}, row.nodes, 1, row.cores, row.memory_mib, 60};
        TrialAnswer found = pbs::compare_with_nodes(open_queue, nodes(), job);
        CHECK(found.message == row.message);
        CHECK(found.parts == row.parts);
        CHECK(found.end == (row.parts.empty() ? TrialEnd::accepted : TrialEnd::refused));
        if (row.cores % 4 != 0) continue;
        job.cores = row.cores / 4;  // of each of four ranks
        job.ranks_per_node = 4;
        found = pbs::compare_with_nodes(open_queue, nodes(), job);
        CHECK(found.message == row.message);
    }
}

TEST_CASE("a queue with nodes of its own has only these, and a routing queue may have any") {
    const TrialJob small{{"copy", "", 0, {}}, 1, 1, 48, 1'000, 60};
    TrialJob large = small;
    large.cores = 64;
    CHECK(pbs::compare_with_nodes("Queue: copy\n", nodes(), small).end == TrialEnd::accepted);
    CHECK(pbs::compare_with_nodes("Queue: copy\n", nodes(), large).end == TrialEnd::refused);
    const TrialAnswer routed =
        pbs::compare_with_nodes("Queue: copy\n    queue_type = Route\n", nodes(), small);
    CHECK(routed.message == "4 nodes have 48 cores, 1000 MiB");
    CHECK(pbs::compare_with_nodes(open_queue, "", small).end == TrialEnd::unknown);
    TrialJob of_user = small;  // its cores are a node's
    of_user.of_user = true;
    of_user.ranks_per_node = 4;
    CHECK(pbs::compare_with_nodes("Queue: copy\n", nodes(), of_user).end == TrialEnd::accepted);
}

TEST_CASE("a job within the limits of its queue is compared with the nodes, unless they are not known") {
    const auto asked = [](const MachineAnswer& about_nodes, const TrialJob& job) {
        return pbs::try_job("", job, [&](const std::string& script) {
            return script == "pbsnodes -av" ? about_nodes : MachineAnswer{true, queue, ""};
        });
    };
    const std::string limits = "PBS has no dry run; within the limits of queue main; ";
    TrialJob job = example();
    CHECK(asked({true, nodes(), ""}, job).message == limits + "2 nodes have 64 cores, 240000 MiB, 4 GPUs");
    const TrialAnswer unknown = asked({false, "", "pbsnodes: not allowed"}, job);
    CHECK(unknown.end == TrialEnd::accepted);
    CHECK(unknown.message == limits + "sizes of nodes not checked: pbsnodes: not allowed");
    job.nodes = 1;
    job.memory_mib = 480 * 1024;
    job.queue.gpus = 5;
    const TrialAnswer refused = asked({true, nodes(), ""}, job);
    CHECK(refused.end == TrialEnd::refused);
    CHECK(refused.parts == std::vector<RefusedPart>{{JobPart::gpus}});
}

TEST_CASE("a queue that is closed or absent is named, and the limits of the default queue are looked up") {
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
    std::string asked;
    const auto server = [&asked](const std::string& script) -> MachineAnswer {
        asked += script + "\n";
        if (script == "qstat -B -f") return {true, "Server: pbshost\n    default_queue = main\n", ""};
        return {true, "Queue: main\n    resources_max.walltime = 00:01:00\n", ""};
    };
    const TrialAnswer too_long = pbs::try_job("", job, server);
    CHECK(too_long.end == TrialEnd::refused);
    CHECK(too_long.parts == std::vector<RefusedPart>{{JobPart::minutes}});
    CHECK(asked == "qstat -B -f\nqstat -Q -f main\n");
    const auto nameless = [](const std::string&) { return MachineAnswer{true, "Server: pbshost\n", ""}; };
    CHECK(pbs::try_job("", job, nameless).end == TrialEnd::unknown);
}

}  // namespace
}  // namespace wheelyard::builder
