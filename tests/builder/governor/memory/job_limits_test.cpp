// Checks the memory limits that a batch system sets for a job.
#include "builder/governor/memory/memory_limit.hpp"

#include <doctest/doctest.h>

#include "builder/governor/memory/limits.hpp"

using namespace wheelyard::governor;

namespace {

TEST_CASE("Slurm's limit is per node, or per CPU times the CPUs on this node") {
    struct Row {
        JobEnvironment environment;
        std::optional<std::uint64_t> mebibytes;
    };
    for (const auto& [environment, expected] : {
             Row{{}, std::nullopt},
             Row{{{"SLURM_MEM_PER_NODE", "16384"}}, 16384},
             Row{{{"SLURM_MEM_PER_NODE", "0"}}, std::nullopt},
             Row{{{"SLURM_MEM_PER_NODE", "lots"}}, std::nullopt},
             Row{{{"SLURM_MEM_PER_CPU", "4000"}, {"SLURM_CPUS_ON_NODE", "8"}}, 32000},
             Row{{{"SLURM_MEM_PER_CPU", "4000"}, {"SLURM_CPUS_PER_TASK", "4"}}, 16000},
             Row{{{"SLURM_MEM_PER_CPU", "4000"}}, 4000},
         }) {
        const auto bytes = slurm_limit_bytes(environment);
        CHECK(bytes.has_value() == expected.has_value());
        if (bytes && expected) CHECK(*bytes == *expected * mib);
    }
}

TEST_CASE("PBS: the chunks of this node are summed, from plain or JSON output, folded or not") {
    struct Row {
        const char *qstat, *host;
        std::optional<std::uint64_t> bytes;
    };
    for (const auto& [qstat, host, bytes] : {
             Row{"\t\"exec_vnode\":\t\"(pbshost:ncpus=8:mem=20971520kb)\",\n", "pbshost", 20 * gib},
             Row{"    exec_vnode = (n1:ncpus=8:mem=1048576kb)+(n2:ncpus=8:mem=2097152kb)\n", "n2.site",
                 2 * gib},
             Row{"    exec_vnode = (n1[0]:mem=1048576kb:ncpus=8)+(n1[1]:nc\n\tpus=8:mem=1048576kb)\n", "n1",
                 2 * gib},
             Row{"    exec_vnode = (n1:ncpus=8)\n    x = (n1:mem=5gb)\n", "n1", std::nullopt},
             Row{"    exec_vnode = (n1:mem=5gb)\n", "n10", std::nullopt},
             Row{"exec_vnode", "n1", std::nullopt},
             Row{"exec_vnode = (", "n1", std::nullopt},
             Row{"", "", std::nullopt},
         }) {
        CAPTURE(qstat);
        CHECK(pbs_limit_bytes(qstat, host) == bytes);
    }
}

TEST_CASE("only the batch systems that this job runs under have a limit") {
    CHECK(read_job_limits({}).empty());
    const auto limits = read_job_limits({{"SLURM_MEM_PER_NODE", "8192"}, {"PBS_JOBID", ""}});
    REQUIRE(limits.size() == 1);
    CHECK(limits[0].batch_system == "Slurm");
    CHECK(limits[0].bytes == 8 * gib);
}

}  // namespace
