// wheelyard-builder: the command line only; commands.hpp has what does the work.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <exception>
#include <functional>
#include <iterator>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "builder/commands/commands.hpp"
#include "builder/site/site_file.hpp"
#include "lib/base/process/process.hpp"
#include "lib/base/process/terminal.hpp"
#include "lib/base/text/usage.hpp"
#include "lib/base/version.hpp"

namespace {

using namespace wheelyard::builder;

struct CommandRow {
    const char* group;  // "site" of `site init`; empty: none
    const char* name;
    const char* help;
    const char* examples;
    // Adds its options to the command line; what it returns runs it with them.
    std::function<int()> (*bind)(CLI::App&);
};
struct GroupRow {
    const char* name;
    const char* help;
};
// What --help lists together.
struct Heading {
    const char* title;
    std::vector<const char*> commands;
};

void add_plan_options(CLI::App& app, PlanOptions& options) {
    app.add_flag("--explain", options.explain, "Also show recipes, reasons, and where sources come from");
    app.add_option(
           "--script", options.script,
           "Print the script of this cell's job, or of any part of its name that only one has, and on "
           "standard error what is in it; starts nothing")
        ->type_name("CELL")
        ->check([](const std::string& cell) { return cell.empty() ? "CELL is empty" : ""; })
        ->excludes("--json");
}

void add_unchecked_option(CLI::App& app, TickOptions& options) {
    app.add_flag("--unchecked", options.unchecked,
                 "Submit jobs although the last `site check` found something wrong that builds need");
}

void add_run_options(CLI::App& app, TickOptions& options) {
    app.add_option("--interval", options.interval_s,
                   "Run a tick every SECONDS until stopped, where a site has no cron")
        ->check(CLI::Range(std::int64_t{1}, max_interval_s))
        ->type_name("SECONDS");
    add_unchecked_option(app, options);
}

void add_tick_options(CLI::App& app, TickOptions& options) {
    add_unchecked_option(app, options);
    app.add_flag("--stay", options.stay,
                 "Wait until the steps that it started on this node are done, for ticks inside a batch job");
}

void add_logs_options(CLI::App& app, LogsOptions& options) {
    app.add_option("ATTEMPT", options.attempt, "An attempt or a cell, as listed by `status`")->required();
    app.add_flag("-f,--follow", options.follow, "Keep printing until the attempt is over");
    app.add_flag("--raw", options.raw,
                 "Print control characters also on a terminal (default: only to a file or a pipe)");
}

void add_retest_options(CLI::App& app, RetestOptions& options) {
    app.add_option("NAME", options.test, "A test, the cell that it tests, or a package; default: all tests");
}

void add_doctor_options(CLI::App& app, DoctorOptions& options) {
    app.add_option("LOG", options.log, "A build log, or - for standard input");
    app.add_option("--site", options.site_beside,
                   "Ask first the rules in doctor.d beside this site file (default: as for other commands, "
                   "if there is one)")
        ->type_name("FILE");
    app.add_flag("--check-rules", options.check_rules,
                 "Check the site's own rules, or those in the folder LOG, and try each on its excerpt");
    app.add_option("--explain", options.explained, "Describe a rule, or `all` rules")->type_name("CODE");
    app.add_flag("--markdown", options.markdown, "With --explain all: print docs/reference/doctor-rules.md");
}

void add_retry_options(CLI::App& app, RetryOptions& options) {
    app.add_option("CELL", options.cell, "A cell or one of its attempts, as listed by `status`");
    app.add_flag("--all", options.all, "Every cell that is given up");
    app.add_option("--code", options.code,
                   "Every cell that is given up with this code, as `explain` and `status --json` show it")
        ->type_name("CODE");
    app.add_flag("--rebuild", options.rebuild,
                 "Build again: a wheel that the registry refused, after a change of its recipe, or one that "
                 "the index has, with the next build tag");
}

void add_check_options(CLI::App& app, CheckOptions& options) {
    app.add_flag("--report", options.report,
                 "Also print what the machine says about itself, to send to the maintainers");
}

void add_user_files_options(CLI::App& app, UserFilesOptions& options) {
    app.add_option("--to", options.to, "The folder to install the files in")->type_name("FOLDER");
}

void add_closure_options(CLI::App& app, ClosureOptions& options) {
    app.add_option("REQUIREMENT", options.requirement,
                   "A project, or one with versions: pandas, pandas==3.1.1, 'pandas>=3,<4'")
        ->required();
    app.add_option("--python", options.python, "The version of one [[python]] (default: the only one)")
        ->type_name("VERSION");
    CLI::Option* const compiled =
        app.add_flag("--compiled", options.compiled, "Build it and what has platform wheels (the default)");
    app.add_flag("--source", options.source, "Build everything, build tools too")->excludes(compiled);
    app.add_option("--explain", options.explained, "Show why a project is there")->type_name("NAME");
    app.add_option("--lock", options.lock, "Write the run-time part as a pylock.toml (PEP 751)")
        ->type_name("FILE");
    app.add_flag("--again", options.again, "Resolve again what was resolved before");
}

void add_login_options(CLI::App& app, LoginOptions& options) {
    app.add_option("--identity", options.identity, "The provider, where the registry has several")
        ->type_name("NAME");
}

void add_init_options(CLI::App& app, InitOptions& options) {
    app.add_option("--to", options.to, "The file to write, or - for standard output (default: site.toml)")
        ->type_name("FILE");
    app.add_flag("--yes", options.yes, "Ask nothing (the default without a terminal)");
    app.add_flag("--force", options.force, "Replace an existing file");
    app.add_option_function<std::string>(
           "--like", [&options](const std::string& name) { options.like = name; },
           "Copy the file of this known site, and list the lines that are of that site alone; without a "
           "name, "
           "list the known sites")
        ->expected(0, 1)
        ->type_name("SITE");
    auto& request = options.request;
    app.add_option("--name", request.name, "The site's name (default: the cluster's)")->type_name("NAME");
    app.add_option("--registry", request.registry, "The registry (default: none)")->type_name("URL");
    app.add_option("--index", request.index, "The index of the registry (default: the site's name)")
        ->type_name("NAME");
    app.add_option("--token-file", request.token_file, "The file with the registry's token")
        ->type_name("FILE");
    app.add_option("--queue", request.queue, "The queue or partition for builds (default: the cluster's)")
        ->type_name("NAME");
    app.add_option("--account", request.account, "The account that jobs are charged to")->type_name("NAME");
    app.add_option("--folder", request.folder,
                   "Keep state and builds in this folder (default: the home and scratch)")
        ->type_name("FOLDER");
}

void add_explain_options(CLI::App& app, CellOptions& options) {
    app.add_option("CELL", options.cell, "A cell or one of its attempts, as listed by `plan` and `status`")
        ->required();
}

void add_reproduce_options(CLI::App& app, CellOptions& options) {
    app.add_option("CELL", options.cell,
                   "A cell or one of its attempts, as listed by `status`, or part of its name")
        ->required();
}

void add_cancel_options(CLI::App& app, CancelOptions& options) {
    app.add_option("ATTEMPT", options.attempt, "An attempt, or a cell with a running attempt")->required();
}

// Names the site file where the command line does not. False: there is none, which it says.
bool find_site(std::filesystem::path& site) {
    if (!site.empty()) return true;
    const auto chosen = choose_site_file(wheelyard::base::current_environment(), ".");
    if (!chosen) {
        complain(chosen.error(), exit_usage);
        return false;
    }
    site = chosen->file;
    if (chosen->is_remembered)
        wheelyard::base::print(stderr, "wheelyard-builder: --site %s, which the last `site init` wrote\n",
                               site.c_str());
    return true;
}

template <typename Options, int (*run)(const Options&), void (*add)(CLI::App&, Options&) = nullptr>
std::function<int()> bind(CLI::App& app) {
    const auto options = std::make_shared<Options>();
    if constexpr (requires { options->site; }) {
        app.add_option("--site", options->site,
                       "The site file (default: $WHEELYARD_BUILDER_SITE, ./site.toml, else the one that "
                       "`site init` wrote last)")
            ->type_name("FILE");
    }
    if constexpr (requires { options->json; }) app.add_flag("--json", options->json, "Print JSON");
    if constexpr (add != nullptr) add(app, *options);
    return [options] {
        if constexpr (requires { options->site; }) {
            if (!find_site(options->site)) return exit_usage;
        }
        return run(*options);
    };
}

constexpr CommandRow commands[] = {
    {"site", "init", "Write a first site file from what this machine reports",
     "  wheelyard-builder site init\n"
     "  wheelyard-builder site init --yes --registry https://wheels.example.org --token-file token\n"
     "  wheelyard-builder site init --like perlmutter\n\n"
     "It looks for the batch system, its queues, limits and node types, for modules, compilers, Pythons, "
     "GPUs "
     "and folders, and writes a commented site file. On a terminal it asks what it cannot find. It starts no "
     "job. Later commands use this file where none is named and the current folder has no site.toml. --json "
     "prints what it found.\n"
     "Exit status: 0 the file is complete, 1 a person must fill in the lines that it lists, 2 usage, or the "
     "file exists.\n",
     bind<InitOptions, run_site_init, add_init_options>},
    {"site", "check", "Check that the machine matches the site file",
     "  wheelyard-builder site check --site site.toml\n"
     "  wheelyard-builder site check --site site.toml --json | jq '.lines[] | select(.good | not)'\n"
     "  wheelyard-builder site check --site site.toml --report > report.txt\n\n"
     "It tests modules, interpreters, compilers, launcher, scheduler, folders, token and registry. Each line "
     "that fails says what to do. --report adds versions, partitions and file systems; it contains no "
     "secrets.\n"
     "Exit status: 0 all checks pass, 1 a check failed, 2 usage or configuration.\n",
     bind<CheckOptions, run_site_check, add_check_options>},
    {"site", "user-files", "Write the files for the site's users",
     "  wheelyard-builder site user-files --site site.toml --to shared/pytorch\n\n"
     "These are modulefiles, hooks for environments, job scripts, scripts that pack the environment, and a "
     "LibTorch example, from [users] of the site file.\n",
     bind<UserFilesOptions, run_site_user_files, add_user_files_options>},
    {"", "plan", "Show every wanted wheel, its state and the reason; changes nothing",
     "  wheelyard-builder plan --site site.toml\n"
     "  wheelyard-builder plan --site site.toml --explain    also recipes and where sources come from\n"
     "  wheelyard-builder plan --site site.toml --script torch-2.14.0-cp312 > job.sh\n"
     "  wheelyard-builder plan --site site.toml --json | jq '.cells[] | select(.state != \"have\")'\n",
     bind<PlanOptions, run_plan, add_plan_options>},
    {"", "closure", "Show what a package needs to run and to be built, as pip resolves it on this machine",
     "  wheelyard-builder closure --site site.toml torch==2.15 --python 3.12\n"
     "  wheelyard-builder closure --site site.toml pandas --source --explain cython\n"
     "  wheelyard-builder closure --site site.toml pandas --lock pylock.toml\n\n"
     "The answer is kept in the site's state folder and is what a [[want]] with this `closure` builds. It "
     "starts no job. To ask for the build requirements of a source distribution runs its back end.\n"
     "Exit status: 0 everything can be had, 1 something cannot, or it cannot be resolved, 2 usage or "
     "configuration.\n",
     bind<ClosureOptions, run_closure, add_closure_options>},
    {"", "run", "Build and upload until nothing is left to do, showing progress",
     "  wheelyard-builder run --site site.toml\n"
     "  wheelyard-builder run --site site.toml --interval 300    where there is no cron\n\n"
     "Exit status: 0 every wanted wheel is available, 1 something failed or is missing, 2 usage or "
     "configuration.\n"
     "Wheels that need a person or the registry to continue (`retry`, a promotion) are listed, not waited "
     "for.\n"
     "It is safe to stop at any time: jobs continue, and so does the next run or tick.\n",
     bind<TickOptions, run_run, add_run_options>},
    {"", "tick", "Do one short step, for cron; without a terminal it prints nothing unless something happens",
     "  */5 * * * * wheelyard-builder tick --site /path/to/site.toml\n"
     "  wheelyard-builder tick --site site.toml --json | jq '.cells[] | select(.state == \"given up\")'\n\n"
     "Several login nodes may tick at the same time: one does the work, the others print its name and exit "
     "0.\n"
     "Clones and wheelhouses are prepared in the background and continue after the tick; use --stay where "
     "the end of the tick would kill them, such as in a job of scrontab.\n",
     bind<TickOptions, run_tick, add_tick_options>},
    {"", "status", "List the attempts, what they are doing, and the jobs of those that run",
     "  wheelyard-builder status --site site.toml\n"
     "  wheelyard-builder status --site site.toml --json\n",
     bind<StatusOptions, run_status>},
    {"", "explain", "Show the history of one cell: why it is built, every attempt, what failed, what is next",
     "  wheelyard-builder explain --site site.toml markupsafe-3.0.2-cp311\n"
     "  wheelyard-builder explain --site site.toml markupsafe-3.0.2-cp311 --json\n",
     bind<CellOptions, run_explain, add_explain_options>},
    {"", "logs", "Print the log of an attempt, or of the latest attempt of a cell",
     "  wheelyard-builder logs --site site.toml markupsafe-3.0.2-cp311\n"
     "  wheelyard-builder logs --site site.toml markupsafe-3.0.2-cp311 -f    follow until it is over\n",
     bind<LogsOptions, run_logs, add_logs_options>},
    {"", "doctor", "Find out why a build failed from its log, which may be of any size and from any tool",
     "  wheelyard-builder doctor build.log\n"
     "  pip wheel . 2>&1 | wheelyard-builder doctor -\n"
     "  wheelyard-builder doctor --json build.log | jq -r '.findings[0].code'\n"
     "  wheelyard-builder doctor --explain cuda.host_compiler\n"
     "  wheelyard-builder doctor --check-rules doctor.d\n\n"
     "Exit status: 0 no error in the log, 1 the log contains an error, 2 usage, or the log cannot be read.\n",
     bind<DoctorOptions, run_doctor, add_doctor_options>},
    {"", "retry", "Retry a cell that the agent has given up, or all such cells",
     "  wheelyard-builder retry --site site.toml markupsafe-3.0.2-cp311\n"
     "  wheelyard-builder retry --site site.toml --code scheduler.refused\n"
     "  wheelyard-builder retry --site site.toml --all\n"
     "  wheelyard-builder retry --site site.toml --rebuild torch-2.14.0-cp312\n\n"
     "If only the upload failed, the same wheel is uploaded again: the registry's policy may have changed. "
     "With --rebuild, and after any other failure, it is built from scratch.\n"
     "A published file never changes: --rebuild of a cell whose wheel the index has makes another file of "
     "the "
     "same version, whose build tag (PEP 427) is one above the highest there. pip and uv take that one.\n",
     bind<RetryOptions, run_retry, add_retry_options>},
    {"", "retest", "Run GPU and multi-node tests again, for example after a maintenance",
     "  wheelyard-builder retest --site site.toml                 all finished tests\n"
     "  wheelyard-builder retest --site site.toml torch           the tests of one package\n"
     "  wheelyard-builder retest --site site.toml torch-2.4.0-cp312-gpu-test\n\n"
     "A failing test does not withdraw a promoted wheel; `plan` shows the results.\n",
     bind<RetestOptions, run_retest, add_retest_options>},
    {"", "reproduce",
     "Build a wheel again from the same inputs, without compiler caches, and compare the two",
     "  wheelyard-builder reproduce --site site.toml markupsafe-3.0.2-cp311\n"
     "  wheelyard-builder reproduce --site site.toml markupsafe-3.0.2-cp311 --json | jq -r "
     "'.causes[].code'\n\n"
     "The new wheel is built in a job like any other and never uploaded. If its bytes differ from the "
     "recorded ones, the "
     "output names the members that have the path or the time of their build, the inputs that differ, and "
     "the command "
     "of diffoscope that shows the rest. It is also in differences.txt beside the attempt's log.\n"
     "Exit status: 0 identical, 1 the wheels differ or the build failed, 2 usage or configuration.\n"
     "It is safe to stop at any time: the next run, tick or reproduce continues.\n",
     bind<CellOptions, run_reproduce, add_reproduce_options>},
    {"", "cancel", "Stop an attempt and its job; the agent does not retry it until `retry`",
     "  wheelyard-builder cancel --site site.toml markupsafe-3.0.2-cp311\n",
     bind<CancelOptions, run_cancel, add_cancel_options>},
    {"notify", "test", "Run the command of [notify] on a test notice, and show what it prints",
     "  wheelyard-builder notify test --site site.toml\n\n"
     "Exit status: that of a success only if the command ended with 0.\n",
     bind<SiteOptions, run_notify>},
    {"", "enrol", "Enrol as the agent of this site at its registry, with a one-use code",
     "  wheelyard-builder enrol --site site.toml\n"
     "  wheelyard-builder enrol --site site.toml < code\n\n"
     "The registry's operator makes the code: wheelyard-registry agent enrol SITE --index INDEX. It is read "
     "from standard input. The token comes into the `token_file` of the site file; ticks renew it.\n"
     "Exit status: 0 the agent is enrolled, 1 the registry refused, 2 usage or configuration.\n",
     bind<SiteOptions, run_enrol>},
    {"", "login", "Get a token for the site's registry by your account, to read private indexes",
     "  wheelyard-builder login --site site.toml\n"
     "  wheelyard-builder login --site site.toml --identity campus\n\n"
     "It shows a code to enter in a browser, on any machine, and waits. The token lies in ~/.netrc, where "
     "pip, "
     "uv and the agent find it, and ends by itself. It reads, and asks for wheels as you; uploads need the "
     "`token_file` of the site file as before.\n"
     "Exit status: 0 you are logged in, 1 the log-in failed, 2 usage or configuration.\n",
     bind<LoginOptions, run_login, add_login_options>},
    {"", "logout", "Revoke the token of a log-in and take it out of ~/.netrc",
     "  wheelyard-builder logout --site site.toml\n\n"
     "Exit status: 0 there is no log-in any more, 1 the registry did not answer, 2 usage or configuration.\n",
     bind<SiteOptions, run_logout>},
    {"", "cron-line", "Print a crontab line that runs `tick` every five minutes",
     "  (crontab -l; wheelyard-builder cron-line --site site.toml) | crontab -\n",
     bind<SiteOptions, run_cron_line>},
    {"", "scrontab-line", "Print the same line for Slurm's scrontab, where cron is disabled",
     "  (scrontab -l; wheelyard-builder scrontab-line --site site.toml) | scrontab -\n",
     bind<SiteOptions, run_scrontab_line>},
};

constexpr GroupRow groups[] = {
    {"site", "Write a first site file, check that the machine matches it, write the files for its users"},
    {"notify", "Who is told what needs a person"},
};

CLI::App& group_of(CLI::App& app, const std::string& name) {
    for (CLI::App* const known :
         app.get_subcommands([&](const CLI::App* one) { return one->get_name() == name; }))
        return *known;
    const auto* row = std::find_if(std::begin(groups), std::end(groups),
                                   [&](const GroupRow& group) { return group.name == name; });
    CLI::App* const group = app.add_subcommand(name, row->help);
    group->require_subcommand(1);
    return *group;
}

}  // namespace

int main(int argc, char** argv) {
    CLI::App app("Builds the Python wheels that a site wants, and uploads them to its index.",
                 "wheelyard-builder");
    app.set_version_flag("-V,--version",
                         wheelyard::base::version_text("wheelyard-builder", WHEELYARD_LIBRARIES));
    app.require_subcommand(1);
    app.footer(
        "Examples:\n"
        "  wheelyard-builder plan --explain --site site-configs/debian12/site.toml\n"
        "  wheelyard-builder run --site site-configs/debian12/site.toml\n"
        "  wheelyard-builder status --site site-configs/debian12/site.toml\n\n"
        "`wheelyard-builder COMMAND --help` shows the options and examples of a command.\n");
    std::vector<std::pair<const CLI::App*, std::function<int()>>> added;
    for (const auto& command : commands) {
        CLI::App& parent = *command.group == '\0' ? app : group_of(app, command.group);
        CLI::App* sub = parent.add_subcommand(command.name, command.help);
        sub->footer(std::string("Examples:\n") + command.examples);
        added.emplace_back(sub, command.bind(*sub));
    }
    const std::vector<Heading> headings = {
        {"Commands to set up a site",
         {"site", "enrol", "login", "logout", "cron-line", "scrontab-line", "notify"}},
        {"Commands to build", {"plan", "closure", "run", "tick"}},
        {"Commands to look at what is built", {"status", "explain", "logs", "doctor"}},
        {"Commands to change what is built", {"retry", "retest", "reproduce", "cancel"}},
    };
    for (const auto& heading : headings) {
        for (const char* command : heading.commands)
            app.get_subcommand(command)->group(heading.title);
    }
    try {
        app.parse(argc, argv);
    } catch (const CLI::ParseError& error) {
        return wheelyard::base::end_parse(app, error, argc, argv);
    }
    try {
        for (const auto& [sub, run] : added) {
            if (sub->parsed()) return run();
        }
    } catch (const std::exception& error) {
        wheelyard::base::print(stderr, "wheelyard-builder: internal error: %s\n", error.what());
        return 1;
    }
    return 2;
}
