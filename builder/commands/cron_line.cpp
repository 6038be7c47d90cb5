// Lines for crontab(5) and scrontab(1).
#include "builder/commands/commands.hpp"

#include <algorithm>
#include <array>
#include <vector>

#include "builder/schedule/batch_command.hpp"
#include "builder/schedule/scheduler_kind.hpp"
#include "builder/script/script.hpp"
#include "lib/base/text/encoding.hpp"
#include "lib/base/text/text.hpp"

namespace wheelyard::builder {
namespace {

// Variables that locate programs; neither these nor those that locate a batch system are secret.
constexpr std::array<std::string_view, 3> plain = {"PATH", "LANG", "TZ"};
// Files and folders of certificates and settings: paths, which are no secrets.
constexpr std::array<std::string_view, 8> paths = {"SSL_CERT_FILE",      "SSL_CERT_DIR",   "CURL_CA_BUNDLE",
                                                   "REQUESTS_CA_BUNDLE", "GIT_SSL_CAINFO", "PIP_CERT",
                                                   "PIP_CLIENT_CERT",    "PIP_CONFIG_FILE"};
// Variables that cron or the login sets itself.
constexpr std::array<std::string_view, 4> given = {"HOME", "LOGNAME", "SHELL", "USER"};

template <typename Names>
bool is_among(const Names& names, const std::string& name) {
    return std::find(names.begin(), names.end(), name) != names.end();
}

bool is_carried(const std::string& name) {
    if (is_among(plain, name) || is_among(paths, name) || name == kerberos_variable) return true;
    const auto kinds = scheduler_kinds();
    return std::any_of(kinds.begin(), kinds.end(), [&name](const SchedulerKind* kind) {
        return kind->batch && is_among(kind->batch->server_variables, name);
    });
}

std::string command(const CronInput& input) {
    std::string text = "env";
    for (const auto& [name, value] : input.environment) {
        if (is_carried(name)) text += " " + name + "=" + base::quote_shell(value);
    }
    text += " " + base::quote_shell(input.program.string()) + " tick --site " +
            base::quote_shell(input.site.string());
    return text;
}

// A comment that names the variables that a tick from this shell has and a tick from cron does not.
std::string left_out(const CronInput& input) {
    std::vector<std::string> names;
    const EnvironmentMap job = job_environment(input.environment);
    for (const auto& [name, value] : input.environment) {
        const bool is_seen = job.contains(name) || name.starts_with("PIP_") ||  // read by the agent
                             base::ascii_lower(name).ends_with("_proxy");
        if (is_seen && !is_carried(name) && !is_among(given, name)) names.push_back(name);
    }
    if (names.empty()) return "";
    return "# Set in this shell, but not copied because they may contain secrets: " +
           base::join(names, ", ") +
           ".\n# Every tick reads pip's configuration files (see `pip config list`).\n";
}

// crontab(5): an unescaped % ends the command.
std::string schedule(const std::string& command, std::int64_t tick_minutes) {
    return "*/" + std::to_string(tick_minutes) + " * * * * " + base::replace_all(command, "%", "\\%");
}

}  // namespace

std::string render_cron_line(const CronInput& input) {
    return left_out(input) +
           schedule(command(input) + " >> " + base::quote_shell(input.log.string()) + " 2>&1",
                    input.tick_minutes) +
           "\n";
}

std::string render_scrontab_line(const CronInput& input) {
    constexpr std::int64_t tick_job_minutes = 10;
    std::string text = left_out(input) + "#SCRON --job-name=wheelyard-tick --time=" +
                       std::to_string(tick_job_minutes + input.max_step_minutes) + " --ntasks=1\n";
    if (!input.account.empty()) text += "#SCRON --account=" + input.account + "\n";
    // A batch job ends with all its processes, so the tick must stay until its steps are done.
    return text + "#SCRON --output=" + input.log.string() + " --open-mode=append\n" +
           schedule(command(input) + " --stay", input.tick_minutes) + "\n";
}

}  // namespace wheelyard::builder
