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

std::vector<Quality> parse_qualities(std::string_view text) {
    std::vector<Quality> qualities;
    for (const auto line : base::split_lines(text)) {
        const auto fields = base::split(base::trim(line), '|');
        if (fields.size() != 3 || fields[0].empty()) continue;
        const auto flags = base::split(fields[2], ',');
        const auto has = [&flags](std::string_view flag) {
            return std::find(flags.begin(), flags.end(), flag) != flags.end();
        };
        qualities.push_back(
            {std::string(fields[0]), parse_limit_minutes(fields[1]), has("DenyOnLimit"), has("OverPartQOS")});
    }
    return qualities;
}

namespace {

// What such an option of the job says, the last one; empty: none does.
std::string named_quality(const TrialJob& job) {
    std::string name;
    for (const std::string& option : job.queue.all_options()) {
        for (const std::string_view begin : {"--qos=", "--qos ", "-q "})
            if (option.starts_with(begin)) name = base::trim(std::string_view(option).substr(begin.size()));
    }
    return name;
}

// The QOS whose limit of time counts for the job; nullopt: none has one, or that is not known.
std::optional<Quality> limiting_quality(const TrialJob& job, const AskMachine& ask) {
    const auto qualities =
        parse_qualities(ask("sacctmgr --noheader --parsable2 show qos format=Name,MaxWall,Flags").out);
    const auto find = [&qualities](std::string_view name) {
        const auto found = std::find_if(qualities.begin(), qualities.end(),
                                        [&](const Quality& one) { return one.name == name; });
        return found == qualities.end() ? std::nullopt : std::optional(*found);
    };
    const bool may_limit = std::any_of(qualities.begin(), qualities.end(), [&job](const Quality& one) {
        return !one.denies && one.max_minutes > 0 && one.max_minutes < job.minutes;
    });
    if (!may_limit || !ask("scontrol show config | grep -q '^AccountingStorageEnforce .*limits'").good)
        return std::nullopt;
    std::string name = named_quality(job);
    if (name.empty()) {
        const std::string& account = job.queue.account;
        const std::string of_account = account.empty() ? "" : " account=" + base::quote_shell(account);
        name = base::trim(ask("sacctmgr --noheader --parsable2 show associations user=\"$(id -un)\"" +
                              of_account + " format=DefaultQOS | sort -u")
                              .out);
    }
    const auto own = find(name);
    std::optional<Quality> of_partition;
    if (!job.queue.queue.empty())
        of_partition =
            find(base::trim(ask("scontrol --oneliner show partition " + base::quote_shell(job.queue.queue) +
                                " | sed -n 's/.* QoS=\\([^ ]*\\).*/\\1/p'")
                                .out));
    if ((own && own->denies) || (of_partition && of_partition->denies)) return std::nullopt;
    const bool is_of_partition = of_partition && of_partition->max_minutes > 0 &&
                                 !(own && own->outranks_partition && own->max_minutes > 0);
    return is_of_partition ? of_partition : own;
}

}  // namespace

TrialAnswer try_job(const std::string& header, const TrialJob& job, const AskMachine& ask) {
    const std::string script = "#!/bin/bash\n" + header + "exit\n";
    const MachineAnswer tried = ask("printf %s " + base::quote_shell(script) + " | sbatch --test-only 2>&1");
    TrialAnswer answer = read_trial(tried.good, tried.out.empty() ? tried.last_line : tried.out);
    if (answer.end != TrialEnd::accepted) return answer;
    const auto quality = limiting_quality(job, ask);
    if (!quality || quality->max_minutes == 0 || job.minutes <= quality->max_minutes) return answer;
    return {
        TrialEnd::refused,
        "Slurm takes it, and it would wait for ever (QOSMaxWallDurationPerJobLimit): the MaxWall of QOS " +
            quality->name + " is " + std::to_string(quality->max_minutes) + " minutes",
        {{.part = JobPart::minutes}}};
}

}  // namespace wheelyard::builder::slurm
