// wheelyard-builder: the command line only; commands.hpp has what does the work.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include "builder/command_output.hpp"
#include "builder/commands.hpp"
#include "builder/site/site_file.hpp"
#include "lib/base/process/process.hpp"
#include "lib/base/process/terminal.hpp"
#include "lib/base/text/usage.hpp"
#include "lib/base/version.hpp"

namespace {

using wheelyard::builder::Arguments;

struct CommandRow {
    const char* group;  // "site" of `site init`; empty: none
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
struct GroupRow {
    const char* name;
    const char* help;
};
// What --help lists together.
struct Heading {
    const char* title;
    std::vector<const char*> commands;
};

void add_plan_options(CLI::App& app, Arguments& arguments) {
    app.add_flag("--explain", arguments.explain, "Also show recipes, reasons, and where sources come from");
}

void add_unchecked_option(CLI::App& app, Arguments& arguments) {
    app.add_flag("--unchecked", arguments.unchecked,
                 "Submit jobs although the last `site check` found something wrong that builds need");
}

void add_run_options(CLI::App& app, Arguments& arguments) {
    app.add_option("--interval", arguments.interval_s,
                   "Run a tick every SECONDS until stopped, where a site has no cron")
        ->check(CLI::Range(std::int64_t{1}, wheelyard::builder::max_interval_s))
        ->type_name("SECONDS");
    add_unchecked_option(app, arguments);
}

void add_tick_options(CLI::App& app, Arguments& arguments) {
    add_unchecked_option(app, arguments);
    app.add_flag("--stay", arguments.stay,
                 "Wait until the steps that it started on this node are done, for ticks inside a batch job");
}

void add_logs_options(CLI::App& app, Arguments& arguments) {
    app.add_flag("-f,--follow", arguments.follow, "Keep printing until the attempt is over");
    app.add_flag("--raw", arguments.raw,
                 "Print control characters also on a terminal (default: only to a file or a pipe)");
}

void add_retest_options(CLI::App& app, Arguments& arguments) {
    app.add_option("NAME", arguments.name,
                   "A test, the cell that it tests, or a package; default: all tests");
}

void add_doctor_options(CLI::App& app, Arguments& arguments) {
    app.add_option("LOG", arguments.name, "A build log, or - for standard input");
    app.add_option("--site", arguments.site,
                   "Ask first the rules in doctor.d beside this site file (default: as for other commands, "
                   "if there is one)")
        ->type_name("FILE");
    app.add_flag("--check-rules", arguments.check_rules,
                 "Check the site's own rules, or those in the folder LOG, and try each on its excerpt");
    app.add_option("--explain", arguments.explain_code, "Describe a rule, or `all` rules")->type_name("CODE");
    app.add_flag("--markdown", arguments.markdown,
                 "With --explain all: print docs/reference/doctor-rules.md");
}

void add_retry_options(CLI::App& app, Arguments& arguments) {
    app.add_option("CELL", arguments.name, "A cell or one of its attempts, as listed by `status`");
    app.add_flag("--all", arguments.all, "Every cell that is given up");
    app.add_option("--code", arguments.code,
                   "Every cell that is given up with this code, as `explain` and `status --json` show it")
        ->type_name("CODE");
    app.add_flag("--rebuild", arguments.rebuild,
                 "Build again a wheel that the registry refused: the recipe has changed");
}

void add_check_options(CLI::App& app, Arguments& arguments) {
    app.add_flag("--report", arguments.report,
                 "Also print what the machine says about itself, to send to the maintainers");
}

void add_user_files_options(CLI::App& app, Arguments& arguments) {
    app.add_option("--to", arguments.to, "The folder to install the files in")->type_name("FOLDER");
}

void add_pairs_options(CLI::App& app, Arguments& arguments) {
    app.add_option("--index", arguments.index, "Ask this index (default: those that pip is configured for)")
        ->type_name("URL");
}

void add_closure_options(CLI::App& app, Arguments& arguments) {
    app.add_option("--python", arguments.python, "The version of one [[python]] (default: the only one)")
        ->type_name("VERSION");
    CLI::Option* const compiled =
        app.add_flag("--compiled", arguments.compiled, "Take pure wheels from the index (the default)");
    app.add_flag("--source", arguments.source, "Build everything, build tools too")->excludes(compiled);
    app.add_option("--explain", arguments.explain_release, "Show why a project is there")->type_name("NAME");
    app.add_option("--lock", arguments.lock, "Write the run-time part as a pylock.toml (PEP 751)")
        ->type_name("FILE");
    app.add_flag("--again", arguments.again, "Resolve again what was resolved before");
}

void add_login_options(CLI::App& app, Arguments& arguments) {
    app.add_option("--identity", arguments.identity, "The provider, where the registry has several")
        ->type_name("NAME");
}

void add_init_options(CLI::App& app, Arguments& arguments) {
    app.add_option("--to", arguments.to, "The file to write, or - for standard output (default: site.toml)")
        ->type_name("FILE");
    app.add_flag("--yes", arguments.yes, "Ask nothing (the default without a terminal)");
    app.add_flag("--force", arguments.force, "Replace an existing file");
    app.add_option("--like", arguments.like,
                   "Begin with the file of this known site; folders, account, queues, nodes, Pythons and the "
                   "versions of modules are those found here")
        ->type_name("SITE");
    auto& request = arguments.request;
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
     wheelyard::builder::run_site_init, true, nullptr, nullptr, add_init_options, false},
    {"site", "check", "Check that the machine matches the site file",
     "  wheelyard-builder site check --site site.toml\n"
     "  wheelyard-builder site check --site site.toml --json | jq '.lines[] | select(.good | not)'\n"
     "  wheelyard-builder site check --site site.toml --report > report.txt\n\n"
     "It tests modules, interpreters, compilers, launcher, scheduler, folders, token and registry. Each line "
     "that fails says what to do. --report adds versions, partitions and file systems; it contains no "
     "secrets.\n"
     "Exit status: 0 all checks pass, 1 a check failed, 2 usage or configuration.\n",
     wheelyard::builder::run_site_check, true, nullptr, nullptr, add_check_options},
    {"site", "user-files", "Write the files for the site's users",
     "  wheelyard-builder site user-files --site site.toml --to shared/pytorch\n\n"
     "These are modulefiles, hooks for environments, job scripts, scripts that pack the environment, and a "
     "LibTorch example, from [users] of the site file.\n",
     wheelyard::builder::run_site_user_files, true, nullptr, nullptr, add_user_files_options},
    {"", "plan", "Show every wanted wheel, its state and the reason; changes nothing",
     "  wheelyard-builder plan --site site.toml\n"
     "  wheelyard-builder plan --site site.toml --explain    also recipes and where sources come from\n"
     "  wheelyard-builder plan --site site.toml --json | jq '.cells[] | select(.state != \"have\")'\n",
     wheelyard::builder::run_plan, true, nullptr, nullptr, add_plan_options},
    {"", "closure", "Show what a package needs to run and to be built, as pip resolves it on this machine",
     "  wheelyard-builder closure --site site.toml torch==2.15 --python 3.12\n"
     "  wheelyard-builder closure --site site.toml pandas --source --explain cython\n"
     "  wheelyard-builder closure --site site.toml pandas --lock pylock.toml\n\n"
     "The answer is kept in the site's state folder and is what a [[want]] with this `closure` builds. It "
     "starts no job. To ask for the build requirements of a source distribution runs its back end.\n"
     "Exit status: 0 everything can be had, 1 something cannot, or it cannot be resolved, 2 usage or "
     "configuration.\n",
     wheelyard::builder::run_closure, true, "REQUIREMENT",
     "A project, or one with versions: pandas, pandas==3.1.1, 'pandas>=3,<4'", add_closure_options},
    {"", "run", "Build and upload until nothing is left to do, showing progress",
     "  wheelyard-builder run --site site.toml\n"
     "  wheelyard-builder run --site site.toml --interval 300    where there is no cron\n\n"
     "Exit status: 0 every wanted wheel is available, 1 something failed or is missing, 2 usage or "
     "configuration.\n"
     "Wheels that need a person or the registry to continue (`retry`, a promotion) are listed, not waited "
     "for.\n"
     "It is safe to stop at any time: jobs continue, and so does the next run or tick.\n",
     wheelyard::builder::run_run, true, nullptr, nullptr, add_run_options},
    {"", "tick", "Do one short step, for cron; without a terminal it prints nothing unless something happens",
     "  */5 * * * * wheelyard-builder tick --site /path/to/site.toml\n"
     "  wheelyard-builder tick --site site.toml --json | jq '.cells[] | select(.state == \"given up\")'\n\n"
     "Several login nodes may tick at the same time: one does the work, the others print its name and exit "
     "0.\n"
     "Clones and wheelhouses are prepared in the background and continue after the tick; use --stay where "
     "the end of the tick would kill them, such as in a job of scrontab.\n",
     wheelyard::builder::run_tick, true, nullptr, nullptr, add_tick_options},
    {"", "status", "List the attempts, what they are doing, and the jobs of those that run",
     "  wheelyard-builder status --site site.toml\n"
     "  wheelyard-builder status --site site.toml --json\n",
     wheelyard::builder::run_status, true, nullptr, nullptr},
    {"", "explain", "Show the history of one cell: why it is built, every attempt, what failed, what is next",
     "  wheelyard-builder explain --site site.toml markupsafe-3.0.2-cp311\n"
     "  wheelyard-builder explain --site site.toml markupsafe-3.0.2-cp311 --json\n",
     wheelyard::builder::run_explain, true, "CELL",
     "A cell or one of its attempts, as listed by `plan` and `status`"},
    {"", "logs", "Print the log of an attempt, or of the latest attempt of a cell",
     "  wheelyard-builder logs --site site.toml markupsafe-3.0.2-cp311\n"
     "  wheelyard-builder logs --site site.toml markupsafe-3.0.2-cp311 -f    follow until it is over\n",
     wheelyard::builder::run_logs, false, "ATTEMPT", "An attempt or a cell, as listed by `status`",
     add_logs_options},
    {"", "doctor", "Find out why a build failed from its log, which may be of any size and from any tool",
     "  wheelyard-builder doctor build.log\n"
     "  pip wheel . 2>&1 | wheelyard-builder doctor -\n"
     "  wheelyard-builder doctor --json build.log | jq -r '.findings[0].code'\n"
     "  wheelyard-builder doctor --explain cuda.host_compiler\n"
     "  wheelyard-builder doctor --check-rules doctor.d\n\n"
     "Exit status: 0 no error in the log, 1 the log contains an error, 2 usage, or the log cannot be read.\n",
     wheelyard::builder::run_doctor, true, nullptr, nullptr, add_doctor_options, false},
    {"", "retry", "Retry a cell that the agent has given up, or all such cells",
     "  wheelyard-builder retry --site site.toml markupsafe-3.0.2-cp311\n"
     "  wheelyard-builder retry --site site.toml --code scheduler.refused\n"
     "  wheelyard-builder retry --site site.toml --all\n\n"
     "If only the upload failed, the same wheel is uploaded again: the registry's policy may have changed. "
     "With "
     "--rebuild, and after any other failure, it is built from scratch.\n",
     wheelyard::builder::run_retry, false, nullptr, nullptr, add_retry_options},
    {"", "retest", "Run GPU and multi-node tests again, for example after a maintenance",
     "  wheelyard-builder retest --site site.toml                 all finished tests\n"
     "  wheelyard-builder retest --site site.toml torch           the tests of one package\n"
     "  wheelyard-builder retest --site site.toml torch-2.4.0-cp312-gpu-test\n\n"
     "A failing test does not withdraw a promoted wheel; `plan` shows the results.\n",
     wheelyard::builder::run_retest, false, nullptr, nullptr, add_retest_options},
    {"", "reproduce",
     "Build a wheel again from the same inputs, without compiler caches, and compare the two",
     "  wheelyard-builder reproduce --site site.toml markupsafe-3.0.2-cp311\n"
     "  wheelyard-builder reproduce --site site.toml markupsafe-3.0.2-cp311 --json | jq -r "
     "'.causes[].code'\n\n"
     "The new wheel is built in a job like any other and never uploaded. If its bytes differ from the "
     "recorded "
     "ones, "
     "the output lists the members that differ, the likely causes, and what to set. It is also in "
     "differences.txt "
     "beside the attempt's log.\n"
     "Exit status: 0 identical, 1 the wheels differ or the build failed, 2 usage or configuration.\n"
     "It is safe to stop at any time: the next run, tick or reproduce continues.\n",
     wheelyard::builder::run_reproduce, true, "CELL",
     "A cell or one of its attempts, as listed by `status`, or part of its name"},
    {"", "cancel", "Stop an attempt and its job; the agent does not retry it until `retry`",
     "  wheelyard-builder cancel --site site.toml markupsafe-3.0.2-cp311\n", wheelyard::builder::run_cancel,
     false, "ATTEMPT", "An attempt, or a cell with a running attempt"},
    {"pairs", "check", "Compare a table of version pairs with the metadata of an index's wheels",
     "  wheelyard-builder pairs check site-configs/common/versions.toml\n"
     "  wheelyard-builder pairs check versions.toml --json | jq -r '.lines[] | select(.row).row'\n"
     "  wheelyard-builder pairs check versions.toml --index https://pypi.org/simple/\n\n"
     "It reads which torch each torchvision, torchaudio, xformers, vllm … requires, and the triton, cuDNN "
     "and "
     "Pythons of each torch; of other companions in the table, whether there is a newer release. Metadata "
     "does "
     "not name the CUDA and ROCm that a torch can be built with, compilers, or CMake: such rows stay a "
     "person's.\n"
     "Exit status: 0 the table says it all, 1 a row is proposed, differs or is lacking, or an index could "
     "not "
     "be "
     "read, 2 usage, or the table is invalid.\n",
     wheelyard::builder::run_pairs_check, true, "TABLE", "A file that `version_pairs` of a site file names",
     add_pairs_options, false},
    {"pairs", "update", "Do the same, and add the proposed rows to the table",
     "  wheelyard-builder pairs update site-configs/common/versions.toml && git diff\n\n"
     "Each row names its source. A row that is there is never changed: where metadata differs, it is only "
     "listed.\n"
     "Exit status: 0 the table says it all now, 1 something else is to look at, 2 usage, or the table is "
     "invalid.\n",
     wheelyard::builder::run_pairs_update, true, "TABLE", "A file that `version_pairs` of a site file names",
     add_pairs_options, false},
    {"notify", "test", "Run the command of [notify] on a test notice, and show what it prints",
     "  wheelyard-builder notify test --site site.toml\n\n"
     "Exit status: that of a success only if the command ended with 0.\n",
     wheelyard::builder::run_notify, false, nullptr, nullptr},
    {"", "enrol", "Enrol as the agent of this site at its registry, with a one-use code",
     "  wheelyard-builder enrol --site site.toml\n"
     "  wheelyard-builder enrol --site site.toml < code\n\n"
     "The registry's operator makes the code: wheelyard-registry agent enrol SITE --index INDEX. It is read "
     "from standard input. The token comes into the `token_file` of the site file; ticks renew it.\n"
     "Exit status: 0 the agent is enrolled, 1 the registry refused, 2 usage or configuration.\n",
     wheelyard::builder::run_enrol, false, nullptr, nullptr},
    {"", "login", "Get a token for the site's registry by your account, to read private indexes",
     "  wheelyard-builder login --site site.toml\n"
     "  wheelyard-builder login --site site.toml --identity campus\n\n"
     "It shows a code to enter in a browser, on any machine, and waits. The token lies in ~/.netrc, where "
     "pip, "
     "uv and the agent find it, and ends by itself. It reads, and asks for wheels as you; uploads need the "
     "`token_file` of the site file as before.\n"
     "Exit status: 0 you are logged in, 1 the log-in failed, 2 usage or configuration.\n",
     wheelyard::builder::run_login, false, nullptr, nullptr, add_login_options},
    {"", "logout", "Revoke the token of a log-in and take it out of ~/.netrc",
     "  wheelyard-builder logout --site site.toml\n\n"
     "Exit status: 0 there is no log-in any more, 1 the registry did not answer, 2 usage or configuration.\n",
     wheelyard::builder::run_logout, false, nullptr, nullptr},
    {"", "cron-line", "Print a crontab line that runs `tick` every five minutes",
     "  (crontab -l; wheelyard-builder cron-line --site site.toml) | crontab -\n",
     wheelyard::builder::run_cron_line, false, nullptr, nullptr},
    {"", "scrontab-line", "Print the same line for Slurm's scrontab, where cron is disabled",
     "  (scrontab -l; wheelyard-builder scrontab-line --site site.toml) | scrontab -\n",
     wheelyard::builder::run_scrontab_line, false, nullptr, nullptr},
};

constexpr GroupRow groups[] = {
    {"site", "Write a first site file, check that the machine matches it, write the files for its users"},
    {"pairs", "Which versions go together, by the metadata of an index's wheels"},
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

// Names the site file where the command line does not. False: there is none, which it says.
bool find_site(Arguments& arguments) {
    if (!arguments.site.empty()) return true;
    const auto chosen = wheelyard::builder::choose_site_file(wheelyard::base::current_environment(), ".");
    if (!chosen) {
        wheelyard::builder::complain(chosen.error(), wheelyard::builder::exit_usage);
        return false;
    }
    arguments.site = chosen->file;
    if (chosen->is_remembered)
        wheelyard::base::print(stderr, "wheelyard-builder: --site %s, which the last `site init` wrote\n",
                               arguments.site.c_str());
    return true;
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
    Arguments arguments;
    if (const char* stop = std::getenv("WHEELYARD_FAILPOINT")) arguments.failpoint = stop;
    std::vector<std::pair<const CLI::App*, const CommandRow*>> added;
    for (const auto& command : commands) {
        CLI::App& parent = *command.group == '\0' ? app : group_of(app, command.group);
        CLI::App* sub = parent.add_subcommand(command.name, command.help);
        added.emplace_back(sub, &command);
        sub->footer(std::string("Examples:\n") + command.examples);
        if (command.has_site) {
            sub->add_option("--site", arguments.site,
                            "The site file (default: $WHEELYARD_BUILDER_SITE, ./site.toml, else the one that "
                            "`site init` wrote last)")
                ->type_name("FILE");
        }
        if (command.json) sub->add_flag("--json", arguments.json, "Print JSON");
        if (command.more != nullptr) command.more(*sub, arguments);
        if (command.positional != nullptr) {
            CLI::Option* name = sub->add_option(command.positional, arguments.name, command.positional_help);
            name->required();
        }
    }
    const std::vector<Heading> headings = {
        {"Commands to set up a site",
         {"site", "enrol", "login", "logout", "cron-line", "scrontab-line", "notify", "pairs"}},
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
        for (const auto& [sub, command] : added) {
            if (!sub->parsed()) continue;
            if (command->has_site && !find_site(arguments)) return wheelyard::builder::exit_usage;
            return command->run(arguments);
        }
    } catch (const std::exception& error) {
        wheelyard::base::print(stderr, "wheelyard-builder: internal error: %s\n", error.what());
        return 1;
    }
    return 2;
}
