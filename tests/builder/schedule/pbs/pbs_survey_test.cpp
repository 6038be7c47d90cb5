// What PBS prints of its queues and nodes (tests/builder/schedule/data/pbs_survey/), and what `site init`
// reads from it.
#include "builder/schedule/pbs/pbs.hpp"

#include <doctest/doctest.h>

#include "tests/builder/documented_keys.hpp"

namespace wheelyard::builder::pbs {
namespace {

std::string printed(const std::string& name) {
    return testing::read_repository_file("tests/builder/schedule/data/pbs_survey/" + name + ".txt");
}

const QueueSurvey& queue(const std::vector<QueueSurvey>& queues, std::string_view name) {
    for (const auto& one : queues) {
        if (one.name == name) return one;
    }
    FAIL("no queue " << name);
    return queues.front();
}

TEST_CASE("qstat names the queues: limits, the default, and why this user cannot use one") {
    const auto queues = parse_queues(printed("queues"), {"agent", {"users"}}, "main");
    REQUIRE(queues.size() == 6);
    CHECK(queue(queues, "main").is_default);
    CHECK(queue(queues, "main").max_walltime_minutes == 720);
    CHECK(queue(queues, "main").closed.empty());
    CHECK(!queue(queues, "develop").is_default);
    CHECK(queue(queues, "develop").max_memory_mib == 235 * 1024);
    CHECK(queue(queues, "cpu").closed == "only through a routing queue");
    CHECK(queue(queues, "long").closed == "only for certain users");
    CHECK(queue(queues, "course").closed == "only for the groups teachers,pupils");
    CHECK(queue(queues, "course").max_walltime_minutes == 0);
    CHECK(queue(queues, "old").closed == "it is not enabled");
}

// Aurora's: ALCF user guides, Running Jobs on Aurora, Queues.
TEST_CASE("a routing queue takes what its destinations take: the widest of those for one node") {
    const std::string text =
        "Queue: prod\n    queue_type = Route\n    resources_max.walltime = 24:00:00\n"
        "    route_destinations = tiny,small,old\n    enabled = True\n\n"
        "Queue: tiny\n    queue_type = Execution\n    from_route_only = True\n"
        "    resources_max.mem = 1000gb\n    resources_max.walltime = 06:00:00\n\n"
        "Queue: small\n    from_route_only = True\n    resources_min.nodect = 513\n"
        "    resources_max.walltime = 12:00:00\n\n"
        "Queue: old\n    enabled = False\n    resources_max.walltime = 18:00:00\n\n"
        "Queue: debug\n    resources_max.walltime = 01:00:00\n";
    const auto queues = parse_queues(text, {"agent", {"users"}}, "prod");
    CHECK(queue(queues, "prod").max_walltime_minutes == 360);
    CHECK(queue(queues, "prod").max_memory_mib == 1000 * 1024);
    CHECK(queue(queues, "debug").max_walltime_minutes == 60);
    // One destination without a limit leaves the routing queue its own; so does a routing queue without any.
    for (const char* destination : {"open\n", "elsewhere@host\n"}) {
        const std::string routed =
            "Queue: q\n    queue_type = Route\n    resources_max.walltime = 02:00:00\n"
            "    route_destinations = tiny," +
            std::string(destination) + "\nQueue: open\n    from_route_only = True\n";
        CHECK(queue(parse_queues(routed, {}, ""), "q").max_walltime_minutes == 120);
    }
}

TEST_CASE("a queue's users and groups open it; a value that continues on the next line is whole") {
    const auto queues = parse_queues(printed("queues"), {"oscar", {"pupils"}}, "");
    CHECK(queue(queues, "long").closed.empty());
    CHECK(queue(queues, "course").closed.empty());
    CHECK(!queue(queues, "main").is_default);
}

TEST_CASE("equal nodes are one type: memory that differs by little does not part them") {
    const auto nodes = parse_nodes(printed("nodes"));
    REQUIRE(nodes.size() == 3);
    CHECK(nodes[0].count == 2);
    CHECK(nodes[0].cores == 64);
    CHECK(nodes[0].memory_mib == 527672488 / 1024);
    CHECK(nodes[0].gpus == 4);
    CHECK(nodes[0].gpu_type == "A100");
    CHECK(nodes[1].gpus == 0);
    CHECK(nodes[1].gpu_type.empty());
    CHECK(nodes[2].queue == "copy");
    CHECK(parse_nodes("pbsnodes: Server has no node list\n").empty());
    CHECK(parse_nodes("").empty());
}

TEST_CASE("programs of PBS's names that belong to another batch system are not PBS") {
    const auto machine = [](const std::string& version, bool good) {
        return [=](const std::string& script) {
            if (script.starts_with("qsub --version")) return MachineAnswer{good, version, version};
            if (script == "qstat -B -f") return MachineAnswer{true, printed("server"), ""};
            if (script == "qstat -Q -f") return MachineAnswer{true, printed("queues"), ""};
            return MachineAnswer{false, "", "pbsnodes: not allowed"};
        };
    };
    CHECK(!survey({}, machine("", false)).has_value());
    CHECK(!survey({}, machine("usage: qsub [-a start_time]", true)).has_value());
    const auto found = survey({"agent", {}}, machine("pbs_version = 23.06.06", true));
    REQUIRE(found.has_value());
    CHECK(found->default_queue()->name == "main");
    CHECK(found->problems == std::vector<std::string>{"node types: pbsnodes: not allowed"});
}

}  // namespace
}  // namespace wheelyard::builder::pbs
