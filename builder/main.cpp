// wheelyard-builder: the command line. Wiring only; commands.cpp does the work.
#include <CLI/CLI.hpp>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <functional>

#include "builder/commands.hpp"
#include "builder/limits.hpp"

namespace {

using wheelyard::builder::Arguments;

struct CommandRow {
    const char* name;
    const char* help;
    const char* examples;
    int (*run)(const Arguments&);
    bool json;
    const char* positional;  // nullptr: none
    const char* positional_help;
    void (*more)(CLI::App&, Arguments&) = nullptr;
    bool has_site = true;
};

void add_plan_options(CLI::App& app, Arguments& arguments) {
    app.add_flag("--explain", arguments.explain, "Also recipes, and where sources come from");
}

void add_run_options(CLI::App& app, Arguments& arguments) {
    app.add_option("--interval", arguments.interval_s,
                   "Tick every so many seconds, for ever: where a site has no cron")
        ->check(CLI::Range(std::int64_t{1}, wheelyard::builder::max_interval_s))
        ->type_name("SECONDS");
}

void add_tick_options(CLI::App& app, Arguments& arguments) {
    app.add_flag("--stay", arguments.stay,
                 "Until what it started on this node is over: for ticks whose end would end that, too");
}

void add_logs_options(CLI::App& app, Arguments& arguments) {
    app.add_flag("-f,--follow", arguments.follow, "Go on until the attempt is over");
}

void add_retest_options(CLI::App& app, Arguments& arguments) {
    app.add_option("NAME", arguments.name,
                   "Of a test, of the task that it tests, or of a package; all without it");
}

void add_doctor_options(CLI::App& app, Arguments& arguments) {
    app.add_option("LOG", arguments.name, "A build's log, or - for standard input");
    app.add_option("--explain", arguments.explain_code, "Say what a rule means; all: every rule")
        ->type_name("CODE");
    app.add_flag("--markdown", arguments.markdown,
                 "With --explain all: as in docs/reference/doctor-rules.md");
}

void add_site_options(CLI::App& app, Arguments& arguments) {
    app.add_option("--to", arguments.to, "user-files: the folder that they go to, and are used from")
        ->type_name("DIR");
}

constexpr CommandRow commands[] = {
    {"plan", "Show every wanted wheel with its state and the reason; change nothing",
     "  wheelyard-builder plan --site site.toml\n"
     "  wheelyard-builder plan --site site.toml --explain    with recipes, and where sources come from\n"
     "  wheelyard-builder plan --site site.toml --json | jq '.cells[] | select(.state != \"have\")'\n",
     wheelyard::builder::run_plan, true, nullptr, nullptr, add_plan_options},
    {"site", "Ask on the spot whether the site is as its file says; write what its users need",
     "  wheelyard-builder site check --site site.toml\n"
     "  wheelyard-builder site check --site site.toml --json | jq '.lines[] | select(.good | not)'\n"
     "  wheelyard-builder site user-files --site site.toml --to shared/pytorch\n\n"
     "check: modules, interpreters, compilers, launcher, scheduler, folders, token and registry; each line "
     "that "
     "fails says "
     "what to do. Exit status: 0 all is well, 1 something is not.\n"
     "user-files: modulefiles, hooks for environments, job scripts, a packed environment, a LibTorch example "
     "([users] of the site file).\n",
     wheelyard::builder::run_site, true, "ACTION", "`check` or `user-files`", add_site_options},
    {"run", "Build and upload until nothing is left to do, with progress",
     "  wheelyard-builder run --site site.toml\n"
     "  wheelyard-builder run --site site.toml --interval 300    ticks like cron, where there is none\n\n"
     "Exit status: 0 every wanted wheel is there, 1 something failed or is missing, 2 usage or "
     "configuration.\n"
     "What only a person or the registry can move on (`retry`, a promotion) is told and not waited for.\n"
     "Safe to stop at any time: jobs go on, and the next run or tick continues.\n",
     wheelyard::builder::run_run, true, nullptr, nullptr, add_run_options},
    {"tick", "One short step of the same, for cron: quiet unless something happens",
     "  */5 * * * * wheelyard-builder tick --site /path/to/site.toml\n\n"
     "Several login nodes may tick at once: one works, the others say who and exit 0.\n"
     "Clones and wheelhouses are made beside it and go on after it; --stay is for places where they could "
     "not, "
     "such as a job of scrontab.\n",
     wheelyard::builder::run_tick, true, nullptr, nullptr, add_tick_options},
    {"status", "List the attempts",
     "  wheelyard-builder status --site site.toml\n"
     "  wheelyard-builder status --site site.toml --json\n",
     wheelyard::builder::run_status, true, nullptr, nullptr},
    {"explain", "Tell the story of one task: why, every attempt, what failed, what comes next",
     "  wheelyard-builder explain --site site.toml markupsafe-3.0.2-cp311\n"
     "  wheelyard-builder explain --site site.toml markupsafe-3.0.2-cp311 --json\n",
     wheelyard::builder::run_explain, true, "TASK",
     "Of a task or one of its attempts, as `plan` and `status` list them"},
    {"logs", "Print the log of an attempt, or of the latest attempt of a task",
     "  wheelyard-builder logs --site site.toml markupsafe-3.0.2-cp311\n"
     "  wheelyard-builder logs --site site.toml markupsafe-3.0.2-cp311 -f    until it is over\n",
     wheelyard::builder::run_logs, false, "ATTEMPT", "Of an attempt or a task, as `status` lists them",
     add_logs_options},
    {"doctor", "Say why a build failed, from its log alone; any build's log, of any size",
     "  wheelyard-builder doctor build.log\n"
     "  pip wheel . 2>&1 | wheelyard-builder doctor -\n"
     "  wheelyard-builder doctor --json build.log | jq -r '.findings[0].code'\n"
     "  wheelyard-builder doctor --explain cuda.host_compiler\n\n"
     "Exit status: 0 no error in the log, 1 something failed, 2 usage, or the log cannot be read.\n",
     wheelyard::builder::run_doctor, true, nullptr, nullptr, add_doctor_options, false},
    {"retry", "Let a task that was given up be tried again",
     "  wheelyard-builder retry --site site.toml markupsafe-3.0.2-cp311\n\n"
     "A wheel that the registry refused is offered again as it is; anything else is built anew.\n",
     wheelyard::builder::run_retry, false, "TASK",
     "Of a task or one of its attempts, as `status` lists them"},
    {"retest", "Run the tests on GPUs and several nodes again: after a maintenance",
     "  wheelyard-builder retest --site site.toml                 all that have ended\n"
     "  wheelyard-builder retest --site site.toml torch           those of one package\n"
     "  wheelyard-builder retest --site site.toml torch-2.4.0-cp312-gpu-test\n\n"
     "A wheel that was promoted stays so, whatever they say now; `plan` shows what they said.\n",
     wheelyard::builder::run_retest, false, nullptr, nullptr, add_retest_options},
    {"cancel", "Stop an attempt and its job; nothing of it is tried again before `retry`",
     "  wheelyard-builder cancel --site site.toml markupsafe-3.0.2-cp311\n", wheelyard::builder::run_cancel,
     false, "ATTEMPT", "Of an attempt, or of a task that has one under way"},
    {"cron-line", "Print the crontab line that lets the agent tick every five minutes",
     "  (crontab -l; wheelyard-builder cron-line --site site.toml) | crontab -\n",
     wheelyard::builder::run_cron_line, false, nullptr, nullptr},
    {"scrontab-line", "The same for scrontab, where a site switched cron off",
     "  (scrontab -l; wheelyard-builder scrontab-line --site site.toml) | scrontab -\n",
     wheelyard::builder::run_scrontab_line, false, nullptr, nullptr},
};

}  // namespace

int main(int argc, char** argv) {
    CLI::App app("Turns the wheels that a site wants into wheels in its index.", "wheelyard-builder");
    app.set_version_flag("--version", std::string("wheelyard-builder " WHEELYARD_VERSION));
    app.require_subcommand(1);
    app.footer(
        "Examples:\n"
        "  wheelyard-builder plan --explain --site site-configs/debian12/site.toml\n"
        "  wheelyard-builder run --site site-configs/debian12/site.toml\n");
    Arguments arguments;
    if (const char* stop = std::getenv("WHEELYARD_STOP_AT")) arguments.stop_at = stop;
    for (const auto& command : commands) {
        CLI::App* sub = app.add_subcommand(command.name, command.help);
        sub->footer(std::string("Examples:\n") + command.examples);
        if (command.has_site) {
            sub->add_option("--site", arguments.site, "The site file (docs/reference/site.md)")
                ->required()
                ->type_name("FILE");
        }
        if (command.json) sub->add_flag("--json", arguments.json, "Machine-readable output");
        if (command.more != nullptr) command.more(*sub, arguments);
        if (command.positional != nullptr) {
            CLI::Option* name = sub->add_option(command.positional, arguments.name, command.positional_help);
            name->required();
            if (std::string(command.name) == "site") name->check(CLI::IsMember({"check", "user-files"}));
        }
    }
    try {
        app.parse(argc, argv);
    } catch (const CLI::ParseError& error) {
        return app.exit(error) == 0 ? 0 : 2;
    }
    try {
        for (const auto& command : commands) {
            if (app.got_subcommand(command.name)) return command.run(arguments);
        }
    } catch (const std::exception& error) {
        std::fprintf(stderr, "wheelyard-builder: a bug or a broken environment: %s\n", error.what());
        return 1;
    }
    return 2;
}
