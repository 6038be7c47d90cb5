// Output of batch systems (squeue, sacct, sbatch, qstat, qsub), which includes other users' text.
#include <cstddef>
#include <cstdint>
#include <string>

#include "builder/schedule/pbs/pbs.hpp"
#include "builder/schedule/slurm/slurm.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace wheelyard;
    const std::string text(reinterpret_cast<const char*>(data), size);
    for (const auto& jobs : {builder::slurm::parse_squeue(text), builder::slurm::parse_sacct(text)}) {
        if (!jobs) continue;
        for (const auto& job : *jobs)
            static_cast<void>(builder::slurm::view_of(job));
    }
    static_cast<void>(builder::slurm::judge_refusal(text));
    for (const bool good : {true, false})
        static_cast<void>(builder::slurm::read_trial(good, text));
    static_cast<void>(builder::pbs::read_trial(text, {}));
    const auto answer = builder::pbs::read_qstat({0, false, text, ""});
    if (answer) {
        for (const auto& job : answer->jobs)
            static_cast<void>(builder::pbs::view_of(job));
    }
    static_cast<void>(builder::pbs::read_qstat({153, false, "{}", text}));
    static_cast<void>(builder::pbs::judge_refusal({1, false, "", text}));
    return 0;
}
