// The subcommands of wheelyard-builder, each with its options. Each returns its exit status: 0 success,
// 1 something failed or is missing, 2 wrong usage or configuration.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "builder/attempt/attempt.hpp"
#include "builder/attempt/environment.hpp"
#include "builder/doctor/rule_book.hpp"
#include "builder/plan/plan.hpp"
#include "builder/survey/site_draft.hpp"
#include "lib/base/result.hpp"
#include "lib/wire/task.hpp"

namespace wheelyard::builder {

inline constexpr std::int64_t max_interval_s = 86'400;  // `run --interval`

struct SiteOptions {
    std::filesystem::path site;
};
[[nodiscard]] int run_notify(const SiteOptions& options);
[[nodiscard]] int run_enrol(const SiteOptions& options);
[[nodiscard]] int run_logout(const SiteOptions& options);
[[nodiscard]] int run_cron_line(const SiteOptions& options);
[[nodiscard]] int run_scrontab_line(const SiteOptions& options);

struct InitOptions {
    bool json = false;
    std::filesystem::path to;  // empty: site.toml
    SiteRequest request;
    std::optional<std::string> like;  // the known site whose file is copied; empty: name those that are known
    bool yes = false;                 // ask nothing
    bool force = false;               // replace an existing file
};
[[nodiscard]] int run_site_init(const InitOptions& options);

struct CheckOptions : SiteOptions {
    bool json = false;
    bool report = false;
};
[[nodiscard]] int run_site_check(const CheckOptions& options);

struct UserFilesOptions : SiteOptions {
    bool json = false;
    std::filesystem::path to;  // a folder
};
[[nodiscard]] int run_site_user_files(const UserFilesOptions& options);

struct PlanOptions : SiteOptions {
    bool json = false;
    bool explain = false;
    std::string script;  // a cell; empty: the plan
};
[[nodiscard]] int run_plan(const PlanOptions& options);
[[nodiscard]] int run_plan_script(const PlanOptions& options);

struct ClosureOptions : SiteOptions {
    bool json = false;
    std::string requirement;
    std::string python;          // of [[python]]; empty: the only one
    bool compiled = false;       // only what is wanted and what has platform wheels; the default
    bool source = false;         // everything is built here
    std::string explained;       // a project
    std::filesystem::path lock;  // pylock.toml
    bool again = false;          // forget what was resolved
};
[[nodiscard]] int run_closure(const ClosureOptions& options);

// The options of `run` and `tick`.
struct TickOptions : SiteOptions {
    bool json = false;
    bool unchecked = false;       // begin jobs although `site check` fails
    std::int64_t interval_s = 0;  // `run`; 0: until nothing is left to do
    bool stay = false;            // `tick`
};
[[nodiscard]] int run_run(const TickOptions& options);
[[nodiscard]] int run_tick(const TickOptions& options);

struct StatusOptions : SiteOptions {
    bool json = false;
};
[[nodiscard]] int run_status(const StatusOptions& options);

// The options of `explain` and `reproduce`.
struct CellOptions : SiteOptions {
    bool json = false;
    std::string cell;  // or one of its attempts, or a part of its name
};
[[nodiscard]] int run_explain(const CellOptions& options);
[[nodiscard]] int run_reproduce(const CellOptions& options);

struct LogsOptions : SiteOptions {
    std::string attempt;  // or a cell
    bool follow = false;
    bool raw = false;  // print a log as it is, also on a terminal
};
[[nodiscard]] int run_logs(const LogsOptions& options);

struct DoctorOptions {
    bool json = false;
    std::string log;  // "-": standard input; with check_rules a folder of rules
    std::filesystem::path
        site_beside;  // the site file beside its own rules; empty: as other commands find it
    bool check_rules = false;
    std::string explained;  // a rule's code, or "all"
    bool markdown = false;
};
[[nodiscard]] int run_doctor(const DoctorOptions& options);

struct RetryOptions : SiteOptions {
    std::string cell;  // or one of its attempts
    bool all = false;
    std::string code;
    bool rebuild = false;
};
[[nodiscard]] int run_retry(const RetryOptions& options);

struct RetestOptions : SiteOptions {
    std::string test;  // or the cell that it tests, or a package; empty: all tests
};
[[nodiscard]] int run_retest(const RetestOptions& options);

struct CancelOptions : SiteOptions {
    std::string attempt;  // or a cell
};
[[nodiscard]] int run_cancel(const CancelOptions& options);

struct LoginOptions : SiteOptions {
    std::string identity;  // empty: the registry's only provider
};
[[nodiscard]] int run_login(const LoginOptions& options);

inline constexpr int exit_well = 0;    // success
inline constexpr int exit_failed = 1;  // something failed or is missing
inline constexpr int exit_usage = 2;   // wrong usage or configuration

void print(const std::string& text);  // to standard output
void tell(const std::string& text);   // the same for prose: on a terminal its lines are broken between words
// Prints the error to standard error; returns `status`.
int complain(const base::Error& error, int status);

struct CronInput {
    std::filesystem::path program;  // wheelyard-builder, absolute
    std::filesystem::path site;     // absolute
    std::filesystem::path log;      // absolute
    EnvironmentMap environment;
    std::string account = {};  // that the site's jobs are charged to
    std::int64_t tick_minutes = 5;
    std::int64_t max_step_minutes = 0;  // scrontab only: how long a tick may wait for its login-node steps
};
[[nodiscard]] std::string render_cron_line(const CronInput& input);
[[nodiscard]] std::string render_scrontab_line(const CronInput& input);

struct CellStory {
    std::string name;               // of the cell
    std::optional<Cell> cell;       // from the plan; absent: no [[want]] names it (any more)
    std::vector<Attempt> attempts;  // sorted by number
    std::string sizes = {};         // of its job: each number with the key that decides it (request.hpp)
    std::optional<wire::Task> claimed_task = {};  // the registry's task that it is built for
    std::map<std::string, std::string> jobs =
        {};                                   // by attempt, in its scheduler's words now; absent: none runs
    std::vector<HeldQueue> held_queues = {};  // those that refuse its jobs for now
    std::vector<std::string> tests_not_run = {};    // of its recipe, each with the reason (hardware_test.hpp)
    std::string retry = "wheelyard-builder retry";  // the whole command
    std::shared_ptr<const RuleBook> rules = RuleBook::ours();  // of the site
};

[[nodiscard]] std::string render_story(const CellStory& story);
[[nodiscard]] std::string render_story_json(const CellStory& story);  // "wheelyard.explained_cell/1"

}  // namespace wheelyard::builder
