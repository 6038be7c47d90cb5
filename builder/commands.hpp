// The subcommands of wheelyard-builder. Each returns its exit status: 0 success, 1 something failed or is
// missing, 2 wrong usage or configuration.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

#include "builder/survey/site_request.hpp"

namespace wheelyard::builder {

inline constexpr std::int64_t max_interval_s = 86'400;  // `run --interval`

struct Arguments {
    std::filesystem::path site;
    bool json = false;
    bool explain = false;
    std::string name;          // an attempt or a cell; `doctor`: a log, or a folder of rules
    std::string explain_code;  // `doctor`
    bool markdown = false;
    bool check_rules = false;  // `doctor`
    bool follow = false;
    bool raw = false;             // print a log as it is, also on a terminal
    bool stay = false;            // `tick`
    bool unchecked = false;       // `run`, `tick`: begin jobs although `site check` fails
    std::filesystem::path to;     // `site user-files`, `site init`
    SiteRequest request;          // `site init`
    std::string like;             // the same: the known site whose file the new one begins with
    bool yes = false;             // the same: ask nothing
    bool force = false;           // the same: replace an existing file
    bool report = false;          // `site check`
    bool rebuild = false;         // `retry`
    bool all = false;             // `retry`
    std::string code;             // `retry`
    std::int64_t interval_s = 0;  // `run`; 0: until nothing is left to do
    std::string index;            // `pairs`; empty: pip's
    std::string python;           // `closure`: of [[python]]; empty: the only one
    bool compiled = false;        // the same: pure wheels are taken; the default
    bool source = false;          // the same: everything is built here
    std::string explain_release;  // the same
    std::filesystem::path lock;   // the same: pylock.toml
    bool again = false;           // the same: forget what was resolved
    std::string identity;         // `login`; empty: the registry's only provider
    std::string failpoint;        // tests only: WHEELYARD_FAILPOINT
};

[[nodiscard]] int run_plan(const Arguments& arguments);
[[nodiscard]] int run_closure(const Arguments& arguments);
[[nodiscard]] int run_site_init(const Arguments& arguments);
[[nodiscard]] int run_site_check(const Arguments& arguments);
[[nodiscard]] int run_site_user_files(const Arguments& arguments);
[[nodiscard]] int run_run(const Arguments& arguments);
[[nodiscard]] int run_tick(const Arguments& arguments);
[[nodiscard]] int run_notify(const Arguments& arguments);
[[nodiscard]] int run_status(const Arguments& arguments);
[[nodiscard]] int run_explain(const Arguments& arguments);
[[nodiscard]] int run_doctor(const Arguments& arguments);
[[nodiscard]] int run_logs(const Arguments& arguments);
[[nodiscard]] int run_retry(const Arguments& arguments);
[[nodiscard]] int run_retest(const Arguments& arguments);
[[nodiscard]] int run_reproduce(const Arguments& arguments);
[[nodiscard]] int run_cancel(const Arguments& arguments);
[[nodiscard]] int run_enrol(const Arguments& arguments);
[[nodiscard]] int run_login(const Arguments& arguments);
[[nodiscard]] int run_logout(const Arguments& arguments);
[[nodiscard]] int run_cron_line(const Arguments& arguments);
[[nodiscard]] int run_pairs_check(const Arguments& arguments);
[[nodiscard]] int run_pairs_update(const Arguments& arguments);
[[nodiscard]] int run_scrontab_line(const Arguments& arguments);

}  // namespace wheelyard::builder
