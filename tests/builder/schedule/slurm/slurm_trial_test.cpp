// What a real Slurm 22.05.8 printed for `sbatch --test-only`.
#include "builder/schedule/slurm/slurm.hpp"

#include <doctest/doctest.h>

namespace wheelyard::builder {
namespace {

TEST_CASE("the answers of sbatch --test-only have their end, their words and what these suggest") {
    struct Row {
        bool good;
        std::string printed;
        TrialEnd end;
        std::string message;
        std::optional<RefusedPart> likely;
    };
    for (const auto& row :
         {Row{true,
              "sbatch: Job 1 to start at 2026-11-23T07:27:45 using 1 processors on nodes n1\n",
              TrialEnd::accepted,
              "Job 1 to start at 2026-11-23T07:27:45 using 1 processors on nodes n1",
              {}},
          Row{false,
              "sbatch: error: invalid partition specified: nosuch\nallocation failure: Invalid partition "
              "name "
              "specified\n",
              TrialEnd::refused, "invalid partition specified: nosuch; Invalid partition name specified",
              RefusedPart{JobPart::queue}},
          Row{false, "allocation failure: Invalid account or account/partition combination specified\n",
              TrialEnd::refused, "Invalid account or account/partition combination specified",
              RefusedPart{JobPart::account}},
          Row{false, "allocation failure: Requested time limit is invalid (missing or exceeds some limit)\n",
              TrialEnd::refused, "Requested time limit is invalid (missing or exceeds some limit)",
              RefusedPart{JobPart::minutes}},
          Row{false,
              "allocation failure: Requested node configuration is not available\n",
              TrialEnd::refused,
              "Requested node configuration is not available",
              {}},
          Row{false,
              "sbatch: error: QOSMaxSubmitJobPerUserLimit\nallocation failure: Job violates accounting/QOS "
              "policy\n",
              TrialEnd::unknown,
              "QOSMaxSubmitJobPerUserLimit; Job violates accounting/QOS policy",
              {}},
          Row{false,
              "allocation failure: Unable to contact slurm controller (connect failure)\n",
              TrialEnd::unknown,
              "Unable to contact slurm controller (connect failure)",
              {}},
          Row{false, "", TrialEnd::unknown, "", {}}}) {
        CAPTURE(row.printed);
        const TrialAnswer answer = slurm::read_trial(row.good, row.printed);
        CHECK(answer.end == row.end);
        CHECK(answer.message == row.message);
        CHECK(answer.likely == row.likely);
        CHECK(answer.parts.empty());
    }
}

}  // namespace
}  // namespace wheelyard::builder
