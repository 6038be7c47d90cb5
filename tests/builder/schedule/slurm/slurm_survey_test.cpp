// The lines are those of a real Slurm 22.05.8, with other names, sizes and limits in some.
#include "builder/schedule/slurm/slurm.hpp"

#include <doctest/doctest.h>

#include <map>

#include "lib/base/text/text.hpp"

namespace wheelyard::builder::slurm {
namespace {

constexpr const char* sinfo =
    "main|1|8|1|8|4096|(null)|amd\n"
    "main|1|8|1|8|4096|gpu:a100:4|amd,nvme\n"
    "gpu|12|128|2|32|512000|gpu:a100:4(S:0-1),nvme:1|(null)\n"  // two threads a core
    "big|2|64+|2|32|1031000+|gpu:2|bigmem\n"
    "fpga|1|8|1|8|4096|craynetwork:4,fpga:1|amd\n";
constexpr const char* partitions =
    "PartitionName=main AllowGroups=ALL AllowAccounts=ALL AllowQos=ALL AllocNodes=ALL Default=YES QoS=N/A "
    "DefaultTime=00:10:00 DisableRootJobs=NO ExclusiveUser=NO GraceTime=0 Hidden=NO MaxNodes=UNLIMITED "
    "MaxTime=02:00:00 MinNodes=0 LLN=NO MaxCPUsPerNode=UNLIMITED Nodes=yard18526,yard18526n2 "
    "PriorityJobFactor=1 PriorityTier=1 RootOnly=NO ReqResv=NO OverSubscribe=NO OverTimeLimit=NONE "
    "PreemptMode=CANCEL State=UP TotalCPUs=16 TotalNodes=2 SelectTypeParameters=NONE JobDefaults=(null) "
    "DefMemPerCPU=64 MaxMemPerNode=UNLIMITED TRES=cpu=16,mem=8G,node=2,billing=16\n"
    "PartitionName=gpu AllowGroups=ALL AllowAccounts=proj1,proj2 Default=NO MaxTime=1-12:00:00 RootOnly=NO "
    "State=UP OverSubscribe=EXCLUSIVE DefMemPerNode=UNLIMITED MaxMemPerNode=2000\n"
    "PartitionName=off AllowGroups=ALL AllowAccounts=ALL Default=NO MaxTime=UNLIMITED RootOnly=NO "
    "State=DOWN\n"
    "PartitionName=staff AllowGroups=ops,admin AllowAccounts=ALL Default=NO MaxTime=60 RootOnly=NO "
    "State=UP\n";

TEST_CASE("sinfo names the node types: physical cores, memory, GPUs and their type, features") {
    const auto nodes = parse_sinfo_nodes(sinfo);
    REQUIRE(nodes.size() == 5);
    CHECK(nodes[0].queue == "main");
    CHECK(nodes[0].gpus == 0);
    CHECK(nodes[0].features == std::vector<std::string>{"amd"});
    CHECK(nodes[1].gpus == 4);
    CHECK(nodes[1].gpu_type == "a100");
    CHECK(nodes[1].features == std::vector<std::string>{"amd", "nvme"});
    CHECK(nodes[2].count == 12);
    CHECK(nodes[2].cores == 64);
    CHECK(nodes[2].memory_mib == 512000);
    CHECK(nodes[2].gpus == 4);
    CHECK(nodes[2].features.empty());
    CHECK(nodes[3].cores == 64);
    CHECK(nodes[3].memory_mib == 1031000);
    CHECK(nodes[3].gpus == 2);
    CHECK(nodes[3].gpu_type.empty());
    CHECK(nodes[4].gpus == 0);
}

TEST_CASE("lines that are not sinfo's are left out") {
    for (const char* text :
         {"", "slurm_load_partitions: Unable to contact slurm controller", "a|b|c", "|1|8|1|8|4|x|y"})
        CHECK(parse_sinfo_nodes(text).empty());
}

TEST_CASE("scontrol names the partitions: limits, accounts, and why this user cannot use one") {
    const auto queues = parse_partitions(partitions, {"agent", {"users", "ops2"}});
    REQUIRE(queues.size() == 4);
    CHECK(queues[0].is_default);
    CHECK(queues[0].max_walltime_minutes == 120);
    CHECK(queues[0].max_memory_mib == 0);
    CHECK(queues[0].accounts.empty());
    CHECK(queues[0].closed.empty());
    CHECK(queues[1].max_walltime_minutes == 36 * 60);
    CHECK(queues[1].max_memory_mib == 2000);
    CHECK(queues[1].accounts == std::vector<std::string>{"proj1", "proj2"});
    CHECK(queues[0].memory_per_core_mib == 64);
    CHECK(!queues[0].is_exclusive);
    CHECK(queues[1].is_exclusive);
    CHECK(queues[1].memory_per_core_mib == 0);
    CHECK(queues[2].closed == "its state is DOWN");
    CHECK(queues[3].closed == "only for the groups ops,admin");
    CHECK(parse_partitions(partitions, {"agent", {"ops"}})[3].closed.empty());
}

TEST_CASE("time limits in every form of slurm.conf") {
    const std::pair<const char*, std::int64_t> rows[] = {
        {"UNLIMITED", 0}, {"infinite", 0},       {"30", 30}, {"02:00:00", 120}, {"1-12:00:00", 2160},
        {"00:30:00", 30}, {"7-00:00:00", 10080}, {"", 0},    {"NONE", 0},
    };
    for (const auto& [text, minutes] : rows) {
        CAPTURE(text);
        CHECK(parse_limit_minutes(text) == minutes);
    }
}

TEST_CASE("each account of the user once") {
    CHECK(parse_accounts("proj1\nproj1\nproj2\n\n") == std::vector<std::string>{"proj1", "proj2"});
    CHECK(parse_accounts("").empty());
}

AskMachine machine(std::map<std::string, MachineAnswer> answers) {
    return [answers = std::move(answers)](const std::string& script) {
        for (const auto& [program, answer] : answers) {
            if (script.starts_with(program)) return answer;
        }
        return MachineAnswer{false, "", "command not found"};
    };
}

TEST_CASE(
    "a machine without sbatch has no Slurm; one whose controller is silent has, and says what is missing") {
    CHECK(!survey({}, machine({})).has_value());
    const auto silent =
        survey({}, machine({{"sbatch --version", {true, "slurm 22.05.8\n", "slurm 22.05.8"}}}));
    REQUIRE(silent.has_value());
    CHECK(silent->version == "slurm 22.05.8");
    CHECK(silent->queues.empty());
    REQUIRE(!silent->problems.empty());
    CHECK(silent->problems.front() == "partitions: command not found");
}

TEST_CASE("without accounting there are no accounts, and this is no problem") {
    const auto found =
        survey({"agent", {}}, machine({{"sbatch --version", {true, "slurm 22.05.8\n", "slurm 22.05.8"}},
                                       {"scontrol --oneliner", {true, partitions, ""}},
                                       {"sinfo", {true, sinfo, ""}},
                                       {"scontrol show config", {true, "yard\n", "yard"}}}));
    REQUIRE(found.has_value());
    CHECK(found->problems.empty());
    CHECK(found->accounts.empty());
    CHECK(found->cluster == "yard");
    CHECK(found->default_queue()->name == "main");
}

}  // namespace
}  // namespace wheelyard::builder::slurm
