// What Slurm reports of itself, for `site init`. The parsers are pure.
//
// Sources: sinfo(1), scontrol(1), sacctmgr(1), slurm.conf(5) and gres.conf(5) of Slurm 22.05, and the output of a real
// 22.05.8 (the lines are in tests/builder/schedule/slurm/slurm_survey_test.cpp).
//
//     sinfo: gpu|1|64|2|32|512000|gpu:a100:4(S:0-1)|amd,nvme
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "builder/schedule/batch_survey.hpp"

namespace wheelyard::builder::slurm {

inline constexpr std::string_view sinfo_nodes = "sinfo --noheader --exact --format='%R|%D|%c|%X|%Y|%m|%G|%f'";

// Lines that cannot be parsed are left out.
[[nodiscard]] std::vector<NodeSurvey> parse_sinfo_nodes(std::string_view text);
// `scontrol --oneliner show partition`.
[[nodiscard]] std::vector<QueueSurvey> parse_partitions(std::string_view text, const SurveyUser& user);
// The accounts of `sacctmgr --parsable2 show associations`, one a line, each once.
[[nodiscard]] std::vector<std::string> parse_accounts(std::string_view text);
// "4-12:00:00", "120", "UNLIMITED" in minutes, rounded down; 0: no limit.
[[nodiscard]] std::int64_t parse_limit_minutes(std::string_view text);

// nullopt: this machine has no Slurm, or it does not answer.
[[nodiscard]] std::optional<BatchSurvey> survey(const SurveyUser& user, const AskMachine& ask);

}  // namespace wheelyard::builder::slurm
