// Runs sbatch with the directive lines of the job.
#include "builder/schedule/slurm/slurm.hpp"

#include <algorithm>
#include <array>

#include "builder/attempt/limits.hpp"
#include "lib/base/text/encoding.hpp"
#include "lib/base/text/text.hpp"
#include "lib/base/text/utf8.hpp"

namespace wheelyard::builder::slurm {
namespace {

// Refusals whose words suggest a part (slurm_strerror() and sbatch of 22.05), for a site without a default
// queue, account or QOS.
struct ReasonRow {
    std::string_view text;
    JobPart part;
    std::string_view option = {};  // its beginning
};
constexpr std::array<ReasonRow, 5> reasons = {{
    {"invalid partition specified", JobPart::queue},
    {"Invalid partition name specified", JobPart::queue},
    {"Invalid account or account/partition combination", JobPart::account},
    {"Invalid qos specification", JobPart::options, "--qos"},
    {"Requested time limit is invalid", JobPart::minutes},
}};

// Answers that say nothing about the request: slurmctld is down, or the user has submitted enough. What a
// plugin says counts: `site check` shows it.
constexpr std::array<std::string_view, 17> not_about_it = {
    "Unable to contact slurm controller (connect failure)",
    "Connection refused",
    "standby mode",
    "Munge encode failed",  // munged is not running on this node
    "Failed to access \"",
    "authentication credential",
    "Unable to process configuration file",
    "Could not establish a configuration source",  // slurmctld serves it (configless) and does not answer
    "AssocMaxSubmitJobLimit",                      // limit of submitted jobs
    "AssocGrpSubmitJobsLimit",
    "QOSMaxSubmitJobPerUserLimit",
    "QOSGrpSubmitJobsLimit",
    "MaxSubmitJobsPerAccount",
    "Required partition not available",
    "Required node not available",
    "Slurm temporarily unable to accept job",
    "Resource temporarily unavailable",
};

constexpr std::array<std::string_view, 2> beginnings = {"sbatch: error: ", "sbatch: "};
constexpr std::string_view failure = "allocation failure: ";

std::string without_beginning(std::string_view line) {
    for (const auto beginning : beginnings) {
        if (line.starts_with(beginning)) line.remove_prefix(beginning.size());
    }
    if (line.starts_with(failure)) line.remove_prefix(failure.size());
    return std::string(line);
}

}  // namespace

TrialAnswer read_trial(bool good, std::string_view printed) {
    std::vector<std::string> lines;
    for (const auto line : base::split_lines(printed)) {
        std::string words = without_beginning(base::trim(line));
        if (!words.empty() && std::find(lines.begin(), lines.end(), words) == lines.end())
            lines.push_back(std::move(words));
    }
    TrialAnswer answer;
    answer.message = std::string(base::cut_utf8(base::join(lines, "; "), max_error_line_bytes));
    if (good) {
        answer.end = TrialEnd::accepted;
        return answer;
    }
    const bool is_about_it =
        judge_refusal(printed).kind != base::ErrorKind::unreachable &&
        std::none_of(not_about_it.begin(), not_about_it.end(),
                     [&](std::string_view text) { return printed.find(text) != std::string_view::npos; });
    const bool refused = is_about_it && !lines.empty();
    answer.end = refused ? TrialEnd::refused : TrialEnd::unknown;
    if (answer.end == TrialEnd::unknown) return answer;
    for (const auto& [text, part, option] : reasons) {
        if (printed.find(text) != std::string_view::npos) {
            answer.likely = RefusedPart{part, std::string(option)};
            break;
        }
    }
    return answer;
}

TrialAnswer try_job(const std::string& header, const TrialJob& /*job*/, const AskMachine& ask) {
    const std::string script = "#!/bin/bash\n" + header + "exit\n";
    const MachineAnswer answer = ask("printf %s " + base::quote_shell(script) + " | sbatch --test-only 2>&1");
    return read_trial(answer.good, answer.out.empty() ? answer.last_line : answer.out);
}

}  // namespace wheelyard::builder::slurm
