// What Slurm reports of itself, for `site init`.
#include "builder/schedule/slurm/slurm.hpp"

#include <algorithm>
#include <map>

#include "builder/schedule/batch_command.hpp"
#include "lib/base/text/text.hpp"

namespace wheelyard::builder::slurm {
namespace {

constexpr std::int64_t s_per_minute = 60;
constexpr std::size_t node_fields = 8;

int number(std::string_view text) {
    // With `+` where nodes differ: at least as many.
    while (text.ends_with('+'))
        text.remove_suffix(1);
    const auto value = base::parse_decimal(text);
    return value ? static_cast<int>(std::min<std::uint64_t>(*value, 1'000'000'000)) : 0;
}

// "gpu:a100:4(S:0-1),nvme:1", "gpu:2", "(null)": the first GPUs of the list.
void read_gres(std::string_view text, NodeSurvey& node) {
    for (auto one : base::split(text, ',')) {
        one = base::trim(one).substr(0, one.find('('));
        const auto parts = base::split(one, ':');
        if (parts.size() < 2 || parts[0] != "gpu") continue;
        node.gpus = number(parts.back());
        if (parts.size() > 2) node.gpu_type = std::string(parts[1]);
        return;
    }
}

// "PartitionName=main AllowGroups=ALL …": values contain no spaces.
std::map<std::string, std::string, std::less<>> fields_of(std::string_view line) {
    std::map<std::string, std::string, std::less<>> fields;
    for (const auto word : base::split(line, ' ')) {
        const auto equals = word.find('=');
        if (equals != std::string_view::npos)
            fields.emplace(std::string(word.substr(0, equals)), std::string(word.substr(equals + 1)));
    }
    return fields;
}

}  // namespace

std::int64_t parse_limit_minutes(std::string_view text) {
    text = base::trim(text);
    if (const auto minutes = base::parse_decimal(text))
        return static_cast<std::int64_t>(std::min<std::uint64_t>(*minutes, 100'000'000));
    return parse_elapsed_s(text) / s_per_minute;
}

std::vector<NodeSurvey> parse_sinfo_nodes(std::string_view text) {
    std::vector<NodeSurvey> nodes;
    for (const auto line : base::split_lines(text)) {
        const auto parts = base::split(base::trim(line), '|');
        if (parts.size() != node_fields) continue;
        NodeSurvey node;
        node.queue = std::string(parts[0]);
        node.count = number(parts[1]);
        const int cpus = number(parts[2]);
        const int cores = number(parts[3]) * number(parts[4]);  // without hardware threads
        node.cores = cores > 0 ? std::min(cpus, cores) : cpus;
        node.memory_mib = number(parts[5]);
        read_gres(parts[6], node);
        for (const auto feature : base::split(parts[7], ',')) {
            if (!feature.empty() && feature != "(null)") node.features.emplace_back(feature);
        }
        if (!node.queue.empty() && node.cores > 0) nodes.push_back(std::move(node));
    }
    return nodes;
}

std::vector<QueueSurvey> parse_partitions(std::string_view text, const SurveyUser& user) {
    std::vector<QueueSurvey> queues;
    for (const auto line : base::split_lines(text)) {
        auto fields = fields_of(line);
        QueueSurvey queue;
        queue.name = fields["PartitionName"];
        if (queue.name.empty()) continue;
        queue.is_default = fields["Default"] == "YES";
        queue.max_walltime_minutes = parse_limit_minutes(fields["MaxTime"]);
        queue.max_memory_mib = number(fields["MaxMemPerNode"]);
        queue.is_exclusive = fields["OverSubscribe"] == "EXCLUSIVE";
        queue.memory_per_core_mib = number(fields["DefMemPerCPU"]);
        if (const auto& accounts = fields["AllowAccounts"]; !accounts.empty() && accounts != "ALL") {
            for (const auto account : base::split(accounts, ','))
                queue.accounts.emplace_back(account);
        }
        const auto& groups = fields["AllowGroups"];
        if (fields["State"] != "UP") {
            queue.closed = "its state is " + fields["State"];
        } else if (!groups.empty() && groups != "ALL" && !lists_any(groups, user.groups)) {
            queue.closed = "only for the groups " + groups;
        } else if (fields["RootOnly"] == "YES") {
            queue.closed = "only for root";
        }
        queues.push_back(std::move(queue));
    }
    return queues;
}

std::vector<std::string> parse_accounts(std::string_view text) {
    std::vector<std::string> accounts;
    for (const auto line : base::split_lines(text)) {
        const std::string account(base::trim(line));
        if (!account.empty() && std::find(accounts.begin(), accounts.end(), account) == accounts.end())
            accounts.push_back(account);
    }
    return accounts;
}

std::optional<BatchSurvey> survey(const SurveyUser& user, const AskMachine& ask) {
    BatchSurvey found;
    const MachineAnswer version = ask("sbatch --version");
    if (!version.good) return std::nullopt;
    found.version = version.last_line;
    const auto answer_to = [&](const std::string& what, const std::string& script) {
        const MachineAnswer answer = ask(script);
        if (!answer.good) found.problems.push_back(what + ": " + answer.last_line);
        return answer.good ? answer.out : std::string();
    };
    found.queues = parse_partitions(answer_to("partitions", "scontrol --oneliner show partition"), user);
    found.nodes = parse_sinfo_nodes(answer_to("node types", std::string(sinfo_nodes)));
    found.cluster =
        base::trim(answer_to("cluster", "scontrol show config | sed -n 's/^ClusterName *= *//p'"));
    // Without slurmdbd there are no accounts, and this is no problem.
    const MachineAnswer accounts =
        ask("sacctmgr --noheader --parsable2 show associations user=\"$(id -un)\" format=account");
    if (accounts.good) found.accounts = parse_accounts(accounts.out);
    return found;
}

}  // namespace wheelyard::builder::slurm
