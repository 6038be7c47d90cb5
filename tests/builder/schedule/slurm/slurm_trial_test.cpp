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

// `sacctmgr --noheader --parsable2 show qos format=Name,MaxWall,Flags`
constexpr const char* qualities =
    "normal||\nsteady|1-00:00:00|\nshort|00:10:00|DenyOnLimit\nslow|00:10:00|\nover|00:45:00|OverPartQOS\n";

TEST_CASE(
    "a job that a QOS would leave pending for ever is refused, and one that it would refuse is Slurm's") {
    CHECK(slurm::parse_qualities(qualities).size() == 5);
    CHECK(slurm::parse_limit_minutes("1-00:00:00") == 1440);
    struct Row {
        std::vector<std::string> options;
        std::string default_quality, of_partition, enforced;
        std::int64_t minutes;
        std::string limit;  // empty: it is taken
    };
    const std::string enforced = "associations,limits,qos";
    for (const auto& row :
         {Row{{"--qos=slow"}, "normal", "N/A", enforced, 30, "slow is 10 minutes"},
          Row{{"--qos=slow"}, "normal", "N/A", enforced, 10, ""},
          Row{{"--qos=slow", "-q steady"}, "normal", "N/A", enforced, 30, ""},  // Slurm takes the last
          Row{{"--qos=steady"}, "normal", "N/A", enforced, 2000, "steady is 1440 minutes"},
          Row{{"--qos=slow"}, "normal", "N/A", "associations", 30, ""},  // limits are not enforced
          Row{{"--qos=short"}, "normal", "N/A", enforced, 30, ""},       // sbatch says that itself
          Row{{}, "slow", "N/A", enforced, 30, "slow is 10 minutes"},
          Row{{}, "slow\nsteady", "N/A", enforced, 30, ""},  // of which association is not known
          Row{{"--qos=steady"}, "normal", "slow", enforced, 30, "slow is 10 minutes"},
          Row{{"--qos=over"}, "normal", "slow", enforced, 30, ""},
          Row{{"--qos=over"}, "normal", "slow", enforced, 60, "over is 45 minutes"}}) {
        CAPTURE(row.limit);
        const auto ask = [&row](const std::string& script) {
            const auto asks = [&script](const char* text) { return script.find(text) != std::string::npos; };
            if (asks("show qos")) return MachineAnswer{true, qualities, ""};
            if (asks("show config"))
                return MachineAnswer{row.enforced.find("limits") != std::string::npos, "", ""};
            if (asks("show associations")) return MachineAnswer{true, row.default_quality + "\n", ""};
            if (asks("show partition")) return MachineAnswer{true, row.of_partition + "\n", ""};
            return MachineAnswer{true, "sbatch: Job 1 to start at noon\n", ""};
        };
        const TrialJob job{{"main", "project", 0, row.options}, 1, 1, 1, 100, row.minutes};
        const TrialAnswer answer = slurm::try_job("", job, ask);
        CHECK((answer.end == TrialEnd::accepted) == row.limit.empty());
        if (row.limit.empty()) continue;
        CHECK(answer.message.ends_with("(QOSMaxWallDurationPerJobLimit): the MaxWall of QOS " + row.limit));
        CHECK(answer.parts == std::vector<RefusedPart>{{JobPart::minutes}});
    }
}

}  // namespace
}  // namespace wheelyard::builder
