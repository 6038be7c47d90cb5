// Parses the command line with CLI11; understand.cpp interprets the values.
#include "indexer/avail_wheels/cli.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <utility>

#include "indexer/avail_wheels/source/source.hpp"
#include "indexer/avail_wheels/table/table.hpp"
#include "indexer/avail_wheels/words.hpp"
#include "lib/base/digest/digest.hpp"
#include "lib/base/text/text.hpp"
#include "lib/base/text/usage.hpp"
#include "lib/base/version.hpp"

namespace wheelyard::avail_wheels {

namespace {

constexpr int usage_status = 2;

constexpr const char* description =
    "Lists the wheels that are available, from an index or a wheelhouse. By default only\n"
    "  - the newest version of each package (with a name, a pre-release only if there is no other);\n"
    "  - wheels for the Python of the active virtual environment or of the loaded module, otherwise for "
    "every "
    "Python;\n"
    "  - wheels for this machine's kind of processor (uname -m).";

constexpr const char* examples =
    "Examples:\n"
    "    avail_wheels \"*cdf*\"\n"
    "    avail_wheels numpy -v \"1.21.*\"\n"
    "    avail_wheels 'numpy<1.23' scipy --all-versions\n"
    "    avail_wheels numpy --python 3.11 3.12\n"
    "    avail_wheels -r requirements.txt --not-available\n"
    "    avail_wheels --lock pylock.toml            what of a lock is here for this node\n"
    "    avail_wheels torch --column name version localversion python arch\n"
    "    avail_wheels torch --here                  what runs on this node\n"
    "    avail_wheels torch --why                   why the others do not\n"
    "    avail_wheels torch --on gh200 --install-line\n"
    "    avail_wheels torch --web                   its page, for this machine\n"
    "    avail_wheels torch --modules               what it was built against\n"
    "    avail_wheels login                         a token of yours, by your account; logout ends it\n"
    "    avail_wheels verify WHEEL                  what proves a wheel that lies here\n"
    "    eval \"$(avail_wheels --completion bash)\"\n"
    "\n"
    "Wheels come from the first of these: --index-url or --wheelhouse, the node type's index, "
    "$WHEELYARD_INDEX_URL, [wheel] find-links in $PIP_CONFIG_FILE, $WHEELHOUSE, the site file's source, "
    "$PIP_INDEX_URL.";

constexpr std::string_view login_word = "login";
constexpr std::string_view logout_word = "logout";
constexpr const char* login_help =
    "Gets a token by your account: enter the code that it shows in a browser, on any machine. The token "
    "reads, "
    "and asks for wheels as you; it lies in ~/.netrc, where pip and uv find it, and ends by itself.";
constexpr const char* logout_help = "Revokes the token of a log-in and takes it out of ~/.netrc.";
constexpr const char* login_examples =
    "Examples:\n"
    "    avail_wheels login                                  at the registry of your index\n"
    "    avail_wheels login https://wheels.example.org\n"
    "    avail_wheels logout\n\n"
    "A wheel of this name: avail_wheels --name login. Exit status: 0, 1 the log-in failed, 2 usage.";

constexpr const char* verify_help =
    "Proves wheels that lie here: the hash against the page of the index, what its registry signed about "
    "them, and the attestations of their publishers (PEP 740). Files beside the wheel, WHEEL.prov and "
    "WHEEL.pep740, are read before the index is asked.";
constexpr const char* verify_examples =
    "Examples:\n"
    "    avail_wheels verify torch-2.4.0-cp312-cp312-linux_aarch64.whl --root root.json --uploaded-to main\n"
    "    avail_wheels verify *.whl --index-url https://wheels.example.org/main/simple/\n"
    "    avail_wheels verify demo-1.0-py3-none-any.whl --offline --sha256 9f86d081...\n\n"
    "With --root or --key a wheel without a statement is not verified, nor one without an attestation with "
    "--publisher. A warning (a wheel from quarantine, a yanked one, no --uploaded-to, an expired root) "
    "leaves "
    "the status 0. A wheel of this name: avail_wheels --name "
    "verify. Exit status: 0 each file is proved by something that you named and nothing speaks against it, 1 "
    "one "
    "is not, "
    "2 usage.";

constexpr const char* version_group = "Version";
constexpr const char* python_group = "Python";
constexpr const char* arch_group = "Architecture";
constexpr const char* node_group = "Node";
constexpr const char* farm_group = "Build farm";
constexpr const char* display_group = "Display";
constexpr const char* source_group = "Source";
constexpr const char* shell_group = "Shell";

void add_choosing_options(CLI::App& app, Words& words) {
    const auto list = [&](const char* names, std::vector<std::string>& into, const char* type,
                          const char* help) {
        return app.add_option(names, into, help)->expected(1, -1)->type_name(type);
    };
    app.add_option("wheel", words.wheels, "Names, globs or requirements to look for (case ignored)")
        ->type_name("");
    list("-n,--name", words.names, "NAME", "The same, as an option");
    list("-r,--requirement", words.requirement_files, "FILE",
         "Look for the requirements of a requirements.txt, pyproject.toml or pylock.toml");
    app.add_option(
           "--lock", words.lock_file,
           "What of a pylock.toml is here for this node, what is missing and why; its markers count with "
           "no extra and the default groups")
        ->type_name("FILE");
    list("--lock-extra", words.lock_extras, "EXTRA", "With --lock: these extras of it count, too");
    list("--lock-group", words.lock_groups, "GROUP",
         "With --lock: these dependency groups of it count, in place of the default ones");
    app.add_flag("--all", words.all,
                 "Everything: --all-versions --all-pythons --all-archs, and files that are yanked or for "
                 "other systems");
    app.add_option("-v,--version", words.version,
                   "This version (1.21.3 or 1.21.*); without one, that of this program")
        ->type_name("VERSION")
        ->group(version_group);
    app.add_flag("--all-versions,--all_versions", words.all_versions, "Every version")->group(version_group);
    list("-p,--python", words.pythons, "PYTHON", "For these Pythons (3.11)")
        ->delimiter(',')
        ->group(python_group);
    app.add_flag("--all-pythons,--all_pythons", words.all_pythons, "For every Python")->group(python_group);
    list("-a,--arch", words.archs, "ARCH", "For these architectures (generic, x86_64, aarch64, avx2 ...)")
        ->delimiter(',')
        ->group(arch_group);
    app.add_flag("--all-archs,--all_archs", words.all_archs, "For every architecture, also of other machines")
        ->group(arch_group);
}

void add_display_options(CLI::App& app, Words& words) {
    app.add_option("--format", words.format,
                   "Table format, one of " + base::join(table_formats(), ", ") + " (default: simple)")
        ->type_name("FORMAT")
        ->group(display_group);
    app.add_flag("--mediawiki", words.mediawiki, "The same as --format mediawiki")->group(display_group);
    app.add_flag("--json", words.json, "The same as --format json: everything known about each wheel")
        ->group(display_group);
    app.add_flag("--raw", words.raw, "File names only")->group(display_group);
    app.add_option(
           "--column", words.columns,
           "Columns to show, in this order: name version localversion build python abi platform arch, and "
           "runs why advice modules")
        ->expected(1, -1)
        ->delimiter(',')
        ->type_name("COLUMN")
        ->group(display_group);
    app.add_flag("--condense", words.condense, "One line for each name")->group(display_group);
    app.add_flag("--not-available", words.not_available, "Also show names that have no wheel")
        ->group(display_group);
    app.add_flag("--not-available-only", words.not_available_only, "Show only names that have no wheel")
        ->group(display_group);
    app.add_option("--index-url", words.index_url, "The index to ask (a .../simple/ URL)")
        ->type_name("URL")
        ->group(source_group);
    app.add_option("--wheelhouse", words.wheelhouse, "The folder of wheels to look in")
        ->type_name("DIR")
        ->group(source_group);
    app.add_option("--site", words.site_file,
                   "The site's file (default: $WHEELYARD_SITE, /etc/wheelyard/avail_wheels.toml)")
        ->type_name("FILE")
        ->group(source_group);
    app.add_flag("--refresh", words.refresh, "Ask the index even if the cached wheel list is recent")
        ->group(source_group);
    app.add_option("--color", words.color, "auto (on a terminal), always or never")
        ->type_name("WHEN")
        ->group(display_group);
    app.add_flag("--no-pager", words.no_pager, "Do not show long tables in $PAGER")->group(display_group);
}

void add_node_options(CLI::App& app, Words& words) {
    app.add_flag("--here", words.here,
                 "Only what runs on this node: Python, glibc, processor, GPU, driver, MPI")
        ->group(node_group);
    app.add_option("--on", words.on, "The same for a node type of the site file")
        ->type_name("NODETYPE")
        ->group(node_group);
    app.add_flag("--why", words.why,
                 "Show for every wheel whether it runs there, and if not, what is missing")
        ->group(node_group);
    app.add_option("--assume", words.assumptions,
                   "Override the node's machine, glibc, cpu, gpu, driver or modules, as in gpu=sm_90")
        ->expected(1, -1)
        ->type_name("KEY=VALUE")
        ->group(node_group);
    app.add_flag("--modules", words.modules,
                 "Show the modules that a wheel was built against; with --raw only their names")
        ->group(node_group);
    app.add_flag("--install-line", words.install_line, "Print the pip command that installs what is listed")
        ->group(node_group);
    app.add_flag("--status", words.status, "What the farm is building, and what failed and why")
        ->group(farm_group);
    app.add_flag("--web", words.web,
                 "Print the address of the index's pages that sets \"My machine\" to this node or --on: of "
                 "the project "
                 "that is named, else what runs there")
        ->group(farm_group);
    app.add_option("--request", words.requests, "Request a package from the farm, as in 'torch==2.6'")
        ->expected(1, -1)
        ->type_name("REQUIREMENT")
        ->group(farm_group);
    app.add_flag("--request-missing", words.request_missing,
                 "With --lock: request what of it has no wheel for this node")
        ->group(farm_group);
    app.add_option("--completion", words.completion, "Print the completion for bash, zsh or fish")
        ->type_name("SHELL")
        ->group(shell_group);
    app.add_flag("--man", words.manual, "Print the manual page: avail_wheels --man | man -l -")
        ->group(shell_group);
    app.add_option("--complete-name", words.complete_name)->group("");  // used by the completion scripts
}

// The possible values of an option, if there is a fixed list.
std::vector<std::string> choices_of(const std::string& name) {
    if (name == "--format") return table_formats();
    if (name == "--column") return {all_columns.begin(), all_columns.end()};
    if (name == "--arch") return known_archs();
    if (name == "--color") return color_choices();
    if (name == "--completion") return completion_shells();
    return {};
}

std::vector<OptionHelp> describe(const CLI::App& app) {
    std::vector<OptionHelp> options;
    for (const auto* option : app.get_options()) {
        if (option->get_group().empty()) continue;
        OptionHelp help;
        for (const auto& name : option->get_snames())
            help.names.push_back("-" + name);
        for (const auto& name : option->get_lnames())
            help.names.push_back("--" + name);
        help.value = option->get_expected_max() == 0 ? std::string() : option->get_type_name();
        help.takes_many = option->get_expected_max() > 1;
        help.help = option->get_description();
        help.group = option->get_group();
        if (!option->get_lnames().empty()) help.choices = choices_of("--" + option->get_lnames().front());
        options.push_back(std::move(help));
    }
    return options;
}

// Options of pip, and ours of the same purpose.
constexpr std::pair<std::string_view, std::string_view> pip_options[] = {
    {"-f", "--wheelhouse"},
    {"--find-links", "--wheelhouse"},
    {"-i", "--index-url"},
    {"--platform", "--arch"},
    {"--pre", "--all-versions"},
    {"--python-version", "--python"},
    {"--extra-index-url", "--index-url"},
};

// Options that people expect, and how it is said here.
constexpr std::pair<std::string_view, std::string_view> expected_options[] = {
    {"--gpu", "a node's GPU is --assume gpu=a100"},
    {"--cuda", "a loaded module is --assume modules=cuda/12.2; what a wheel was built against: --modules"},
    {"--driver", "a node's driver is --assume driver=550.54.15"},
    {"--latest", "the newest version is what it lists"},
    {"--newest", "the newest version is what it lists"},
    {"--upgrade", "the newest version is what it lists"},
    {"-U", "the newest version is what it lists"},
    {"--no-color", "colours are off by --color never"},
    {"--download", "--install-line prints the pip command"},
    {"--install", "--install-line prints the pip command"},
    {"--markdown", "a format is --format github"},
    {"--limit", "cut a list by `| head`"},
    {"--sort", "it is sorted by name, the newest version first"},
};

// What is said of an option that is not ours; empty: nothing that is known.
std::string instead_of(const std::vector<std::string>& words) {
    const auto& formats = table_formats();
    for (const auto& word : words) {
        if (word == "--") break;
        const auto name = word.substr(0, word.find('='));
        for (const auto& [expected, sentence] : expected_options) {
            if (name == expected) return std::string(sentence);
        }
        if (name.starts_with("--") &&
            std::find(formats.begin(), formats.end(), name.substr(2)) != formats.end())
            return "a format is --format " + name.substr(2);
    }
    return {};
}

// The option that a misspelt one probably means, or those that it abbreviates; empty: no suggestion.
std::string likely_option(const CLI::App& app, const std::vector<std::string>& words) {
    std::vector<std::string> names;
    for (const auto& option : describe(app))
        names.insert(names.end(), option.names.begin(), option.names.end());
    for (const auto& word : words) {
        const auto name = word.substr(0, word.find('='));
        for (const auto& [of_pip, ours] : pip_options) {
            if (name == of_pip) return std::string(ours);
        }
        if (!word.starts_with("--") || word == "--") continue;
        if (std::find(names.begin(), names.end(), name) != names.end()) continue;
        std::vector<std::string> longer;
        std::copy_if(names.begin(), names.end(), std::back_inserter(longer), [&](const std::string& one) {
            return one.starts_with(name) && one.find('_') == std::string::npos;
        });
        if (longer.size() > 1) return base::join(longer, " or ");
        if (const auto likely = base::nearest(name, names)) return *likely;
    }
    return {};
}

// Options of the Alliance's program. An abbreviation that is unambiguous among them means them, even where
// ours add another option with the same start.
constexpr std::string_view alliance_options[] = {
    "--help",         "--name",         "--all",       "--requirement",   "--version",
    "--all_versions", "--all-versions", "--python",    "--all_pythons",   "--all-pythons",
    "--arch",         "--all_archs",    "--all-archs", "--mediawiki",     "--format",
    "--raw",          "--column",       "--condense",  "--not-available", "--not-available-only"};

// `--all-version` → `--all-versions`, as Python's argparse does it; unchanged: exact, unknown or ambiguous,
// which the parser reports.
std::string unabbreviated(const std::string& word, const std::vector<std::string>& names) {
    const auto equals = word.find('=');
    const std::string start = word.substr(0, equals);
    if (!start.starts_with("--") || start.size() < 3 ||
        std::find(names.begin(), names.end(), start) != names.end())
        return word;
    std::vector<std::string> found;
    for (const auto& option : alliance_options) {
        if (option.starts_with(start)) found.emplace_back(option);
    }
    if (found.empty()) {
        std::copy_if(names.begin(), names.end(), std::back_inserter(found),
                     [&](const std::string& name) { return name.starts_with(start); });
    }
    // Spellings of one option, as --all-versions and --all_versions, are not ambiguous.
    for (auto& name : found)
        std::replace(name.begin() + 2, name.end(), '_', '-');
    std::sort(found.begin(), found.end());
    found.erase(std::unique(found.begin(), found.end()), found.end());
    if (found.size() != 1) return word;
    return found.front() + (equals == std::string::npos ? "" : word.substr(equals));
}

std::vector<std::string> unabbreviated(const CLI::App& app, std::vector<std::string> words) {
    std::vector<std::string> names{"--complete-name"};
    for (const auto& option : describe(app))
        names.insert(names.end(), option.names.begin(), option.names.end());
    for (auto& word : words) {
        if (word == "--") break;
        word = unabbreviated(word, names);
        // `-p=3.11` is `-p3.11`, also as in argparse.
        if (word.size() > 3 && word[0] == '-' && base::is_ascii_alnum(word[1]) && word[2] == '=')
            word.erase(2, 1);
    }
    return words;
}

// `-all`, which the parser would take for `-a ll`; empty: there is no such word.
std::string long_option_with_one_dash(const CLI::App& app, const std::vector<std::string>& words) {
    for (const auto& word : words) {
        if (word == "--") break;
        const bool has_one_dash = word.size() > 2 && word[0] == '-' && word[1] != '-';
        if (has_one_dash && app.get_option_no_throw("-" + word.substr(0, word.find('='))) != nullptr)
            return word;
    }
    return {};
}

Leave usage_error(const std::string& what) {
    return {usage_status, "avail_wheels: error: " + what + "\nSee avail_wheels --help.\n"};
}

// A value that is empty comes from a variable of a shell that is not set, and is no answer.
std::optional<Leave> check_values(const CLI::App& app, const std::vector<std::string>& arguments) {
    for (const auto& word : arguments) {
        if (word == "--") break;
        if (word.starts_with("--") && word.find('=') == word.size() - 1)
            return usage_error(word.substr(0, word.size() - 1) + ": the value is empty");
    }
    for (const auto* option : app.get_options()) {
        const auto& values = option->results();
        if (!option->check_lname("complete-name") &&
            std::find(values.begin(), values.end(), std::string()) != values.end())
            return usage_error(option->get_name() + ": a value is empty");
    }
    return {};
}

// Of a command whose word begins the arguments; nullopt: they are right.
std::optional<Leave> parse_command(CLI::App& app, const std::vector<std::string>& arguments,
                                   std::size_t help_columns) {
    try {
        app.parse(std::vector<std::string>(arguments.rbegin(), arguments.rend() - 1));
    } catch (const CLI::CallForHelp&) {
        return Leave{0, base::wrap_help(app.help(), help_columns)};
    } catch (const CLI::ParseError& error) {
        return usage_error(error.what());
    }
    return check_values(app, arguments);
}

// The word of a command that stands behind options, where it would be a wheel's name; empty: there is none.
std::string late_command(const std::vector<std::string>& names, const std::vector<std::string>& arguments) {
    if (arguments.empty() || !arguments.front().starts_with('-')) return {};
    const auto end = std::find(arguments.begin(), arguments.end(), "--");
    const auto found = std::find_if(names.begin(), names.end(), [&](const std::string& name) {
        return (is_login_command(name) || name == verify_word) &&
               std::find(arguments.begin(), end, name) != end;
    });
    return found == names.end() ? std::string() : *found;
}

}  // namespace

std::variant<Options, Leave> parse_command_line(const std::vector<std::string>& arguments,
                                                const EnvironmentMap& environment, std::size_t help_columns) {
    Words words;
    CLI::App app(description, "avail_wheels");
    app.footer(examples);
    app.set_version_flag("-V", base::version_text("avail_wheels"));
    add_choosing_options(app, words);
    add_display_options(app, words);
    add_node_options(app, words);
    // With a value it is the Alliance's option for a wheel's version.
    if (arguments == std::vector<std::string>{"--version"})
        return Leave{0, base::version_text("avail_wheels") + "\n"};
    if (const auto word = long_option_with_one_dash(app, arguments); !word.empty())
        return usage_error("two dashes begin a long option: did you mean -" + word + "?");
    try {
        auto words_given = unabbreviated(app, arguments);
        std::reverse(words_given.begin(), words_given.end());  // CLI11 expects reverse order
        app.parse(std::move(words_given));
    } catch (const CLI::CallForHelp&) {
        return Leave{0, base::wrap_help(app.help(), help_columns)};
    } catch (const CLI::CallForVersion& version) {
        return Leave{0, std::string(version.what()) + "\n"};
    } catch (const CLI::ExtrasError& error) {
        if (const auto instead = instead_of(arguments); !instead.empty())
            return usage_error(std::string(error.what()) + "; " + instead);
        const auto likely = likely_option(app, arguments);
        return usage_error(error.what() +
                           (likely.empty() ? std::string() : "; did you mean " + likely + "?"));
    } catch (const CLI::ParseError& error) {
        return usage_error(error.what());
    }
    if (auto leave = check_values(app, arguments)) return *std::move(leave);
    if (const auto word = late_command(words.wheels, arguments); !word.empty())
        return usage_error("the word of a command is the first: avail_wheels " + word +
                           " ...; a wheel of this name: --name " + word);
    if (words.manual) return Leave{0, render_manual(describe(app), description, examples)};
    if (!words.completion.empty()) {
        const auto& shells = completion_shells();
        if (std::find(shells.begin(), shells.end(), words.completion) == shells.end())
            return usage_error("--completion: invalid choice: `" + words.completion + "` (choose from " +
                               base::join(shells, ", ") + ")");
        return Leave{0, render_completion(words.completion, describe(app))};
    }
    words.completes_name = app.count("--complete-name") > 0;
    auto options = understand(words, environment);
    if (!options) return usage_error(options.error().text());
    return std::move(*options);
}

bool is_login_command(std::string_view word) {
    return word == login_word || word == logout_word;
}

std::variant<LoginWords, Leave> parse_login(const std::vector<std::string>& arguments,
                                            std::size_t help_columns) {
    LoginWords words;
    words.is_login = arguments.front() == login_word;
    CLI::App app(words.is_login ? login_help : logout_help, "avail_wheels " + arguments.front());
    app.footer(login_examples);
    app.add_option("REGISTRY", words.registry, "Its address (default: that of the index that is listed)")
        ->type_name("");
    if (words.is_login)
        app.add_option("--identity", words.identity, "The provider, where the registry has several")
            ->type_name("NAME");
    app.add_option("--site", words.site_file,
                   "The site's file (default: $WHEELYARD_SITE, /etc/wheelyard/avail_wheels.toml)")
        ->type_name("FILE");
    if (auto leave = parse_command(app, arguments, help_columns)) return *std::move(leave);
    return words;
}

std::variant<VerifyWords, Leave> parse_verify(const std::vector<std::string>& arguments,
                                              std::size_t help_columns) {
    VerifyWords words;
    CLI::App app(verify_help, "avail_wheels " + std::string(verify_word));
    app.footer(verify_examples);
    app.add_option("FILE", words.files, "The wheels, under their published names")->required()->type_name("");
    const auto file = [&](const char* name, std::filesystem::path& into, const char* help) {
        return app.add_option(name, into, help)->type_name("FILE")->check(CLI::ExistingFile.description(""));
    };
    auto* root = file("--root", words.question.root, "The registry's root document, which you trust");
    auto* key =
        file("--key", words.question.key, "The registry's public key (PEM) instead: no revocation is known");
    const auto list = [&](const char* name, std::vector<std::string>& into, const char* type,
                          const char* help) {
        return app.add_option(name, into, help)->type_name(type)->allow_extra_args(false);
    };
    auto* uploaded_to = list("--uploaded-to", words.question.uploaded_to, "INDEX",
                             "Name of an index where it may have been uploaded; repeatable. A promoted wheel "
                             "keeps the name of its first index");
    list("--publisher", words.question.publishers, "WHO",
         "Who is to attest it, as https://github.com/OWNER/REPO; repeatable. Without it attestations are "
         "told, "
         "and prove nothing");
    app.add_option("--sha256", words.question.sha256, "The wheel's hash, as you know it")->type_name("HEX");
    file("--sigstore-root", words.question.sigstore_root,
         "trusted_root.json of another Sigstore instance than the public one");
    auto* index = app.add_option("--index-url", words.index_url,
                                 "The index to ask (a .../simple/ URL; default: the one that is listed)")
                      ->type_name("URL");
    auto* site =
        app.add_option("--site", words.site_file,
                       "The site's file (default: $WHEELYARD_SITE, /etc/wheelyard/avail_wheels.toml)")
            ->type_name("FILE");
    app.add_flag("--offline", words.is_offline, "Send no request")->excludes(index)->excludes(site);
    app.add_flag("--json", words.json, "One JSON document, with both statements of the registry");
    if (auto leave = parse_command(app, arguments, help_columns)) return *std::move(leave);
    if (uploaded_to->count() > 0 && root->count() + key->count() == 0)
        return usage_error("--uploaded-to needs --root or --key");
    auto& sha256 = words.question.sha256;
    if (sha256.empty()) return words;
    if (words.files.size() > 1) return usage_error("--sha256 is about one file");
    sha256 = base::ascii_lower(sha256);
    if (!base::is_sha256_hex(sha256)) return usage_error("--sha256 has 64 hexadecimal digits");
    return words;
}

}  // namespace wheelyard::avail_wheels
