#include "builder/schedule/batch_survey.hpp"

#include <algorithm>

#include "builder/schedule/batch_command.hpp"
#include "lib/base/process/process.hpp"
#include "lib/base/text/text.hpp"

namespace wheelyard::builder {

std::vector<AccountPair> accounts_by_kind(const std::vector<std::string>& accounts) {
    std::vector<AccountPair> pairs;
    for (const auto& account : accounts) {
        for (const std::string_view ending : {"-gpu", "_g"}) {  // Pawsey's, NERSC's
            if (!account.ends_with(ending)) continue;
            const std::string cpu = account.substr(0, account.size() - ending.size());
            if (std::find(accounts.begin(), accounts.end(), cpu) != accounts.end())
                pairs.push_back({cpu, account});
        }
    }
    return pairs;
}

bool lists_any(std::string_view list, const std::vector<std::string>& names) {
    const auto listed = base::split(list, ',');
    return std::any_of(names.begin(), names.end(), [&](const std::string& name) {
        return std::any_of(listed.begin(), listed.end(), [&](auto one) { return base::trim(one) == name; });
    });
}

namespace {

constexpr std::int64_t machine_query_timeout_ms = 60'000;  // one question of `site check` or `site init`

std::string last_line(const std::string& text) {
    const auto lines = base::split_lines(base::trim(text));
    return lines.empty() ? "" : std::string(lines.back());
}

// "/bin/bash: line 3: cc: command not found" → "cc: command not found": the line is one of our script.
std::string without_shell(std::string line) {
    for (const std::string_view shell : {"/bin/bash: line ", "bash: line "}) {
        if (!line.starts_with(shell)) continue;
        const auto end = line.find(": ", shell.size());
        const std::string_view number(line.data() + shell.size(),
                                      (end == std::string::npos ? 0 : end - shell.size()));
        if (base::parse_decimal(number)) return line.substr(end + 2);
    }
    return line;
}

// The first line with "error", without Lmod's introduction; otherwise the last. Lmod ends with hints,
// Environment Modules begin with what they load.
std::string reason_line(const std::string& text) {
    constexpr std::string_view lmod = "Lmod has detected the following error:";
    const auto lines = base::split_lines(text);
    for (std::size_t i = 0; i < lines.size(); ++i) {
        auto line = base::trim(lines[i]);
        if (base::ascii_lower(line).find("error") == std::string::npos) continue;
        if (!line.starts_with(lmod)) return std::string(line);
        line = base::trim(line.substr(lmod.size()));
        while (line.empty() && ++i < lines.size())
            line = base::trim(lines[i]);
        std::string reason(line);
        if (line.ends_with(':') && i + 1 < lines.size())  // the names of modules are on the next line
            reason.append(" ").append(base::trim(lines[i + 1]));
        if (!line.empty()) return reason;
    }
    return last_line(text);
}

}  // namespace

std::string reason_in(const std::string& text) {
    return without_shell(reason_line(text));
}

MachineAnswer query_machine(const std::string& script, const EnvironmentMap& environment) {
    base::Command command;
    command.argv = {"/bin/bash", "-c", script};
    command.environment = environment;
    command.timeout_ms = machine_query_timeout_ms;
    command.output_limit_bytes = max_queue_bytes;  // pbsnodes prints some 2 KiB for each node of the cluster
    const auto finished = base::run_command(command);
    if (!finished) return {false, "", finished.error().sentence};
    if (finished->timed_out) return {false, finished->out, "no answer within a minute"};
    if (finished->exit_code == 0) return {true, finished->out, last_line(finished->out)};
    return {false, finished->out, reason_in(finished->err.empty() ? finished->out : finished->err)};
}

}  // namespace wheelyard::builder
