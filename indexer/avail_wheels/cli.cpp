// CLI11 takes the line apart; what the words mean is decided below it.
#include "indexer/avail_wheels/cli.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <set>
#include <utility>

#include "indexer/avail_wheels/source.hpp"
#include "indexer/avail_wheels/table.hpp"
#include "lib/base/text.hpp"

namespace wheelyard::avail_wheels {

namespace {

constexpr int usage_status = 2;

// The words of the command line, before they are understood.
struct Words {
    std::vector<std::string> wheels;
    std::vector<std::string> names;
    std::vector<std::string> requirement_files;
    std::string version;
    std::vector<std::string> pythons;
    std::vector<std::string> archs;
    std::vector<std::string> columns;
    std::string format = "simple";
    std::string index_url;
    std::string wheelhouse;
    bool all = false;
    bool all_versions = false;
    bool all_pythons = false;
    bool all_archs = false;
    bool raw = false;
    bool condense = false;
    bool not_available = false;
    bool not_available_only = false;
    bool json = false;
    bool mediawiki = false;
};

constexpr const char* description =
    "Lists the wheels that are available, from an index or a wheelhouse. By default only\n"
    "  - the newest version of each package (a pre-release only where there is nothing else);\n"
    "  - wheels for the Python of the active virtual environment or of the loaded module, else for every "
    "Python.";

constexpr const char* examples =
    "Examples:\n"
    "    avail_wheels \"*cdf*\"\n"
    "    avail_wheels numpy -v \"1.21.*\"\n"
    "    avail_wheels 'numpy<1.23' scipy --all-versions\n"
    "    avail_wheels numpy --python 3.11 3.12\n"
    "    avail_wheels -r requirements.txt --not-available\n"
    "    avail_wheels torch --column name version localversion python arch\n"
    "    avail_wheels --all --json\n"
    "\n"
    "Where wheels are looked for, first of: --index-url, --wheelhouse, $WHEELYARD_INDEX_URL, $WHEELHOUSE, "
    "$PIP_INDEX_URL.";

constexpr const char* version_group = "Version";
constexpr const char* python_group = "Python";
constexpr const char* arch_group = "Architecture";
constexpr const char* display_group = "Display";
constexpr const char* source_group = "Where to look";

void add_choosing_options(CLI::App& app, Words& words) {
    const auto list = [&](const char* names, std::vector<std::string>& into, const char* type,
                          const char* help) {
        return app.add_option(names, into, help)->expected(1, -1)->type_name(type);
    };
    app.add_option("wheel", words.wheels, "Names, globs or requirements to look for (case ignored)")
        ->type_name("");
    list("-n,--name", words.names, "NAME", "The same, as an option");
    list("-r,--requirement", words.requirement_files, "FILE",
         "Look for what a requirements.txt or a pyproject.toml asks for");
    app.add_flag("--all", words.all,
                 "Everything: --all-versions --all-pythons --all-archs, and files that are yanked or for "
                 "other systems");
    app.add_option("-v,--version", words.version, "This version (1.21.3 or 1.21.*)")
        ->type_name("VERSION")
        ->group(version_group);
    app.add_flag("--all-versions,--all_versions", words.all_versions, "Every version")->group(version_group);
    list("-p,--python", words.pythons, "PYTHON", "For these Pythons (3.11)")->group(python_group);
    app.add_flag("--all-pythons,--all_pythons", words.all_pythons, "For every Python")->group(python_group);
    list("-a,--arch", words.archs, "ARCH", "For these architectures (generic, x86_64, aarch64, avx2 ...)")
        ->group(arch_group);
    app.add_flag("--all-archs,--all_archs", words.all_archs, "For every architecture (default)")
        ->group(arch_group);
}

void add_display_options(CLI::App& app, Words& words) {
    app.add_option("--format", words.format,
                   "One of " + base::join(table_formats(), ", ") + " (default: simple)")
        ->type_name("FORMAT")
        ->group(display_group);
    app.add_flag("--mediawiki", words.mediawiki, "The same as --format mediawiki")->group(display_group);
    app.add_flag("--json", words.json, "The same as --format json: all that is known of each wheel")
        ->group(display_group);
    app.add_flag("--raw", words.raw, "File names only")->group(display_group);
    app.add_option("--column", words.columns,
                   "Which columns, in this order: name version localversion build python abi platform arch")
        ->expected(1, -1)
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
}

// A value outside its choices.
base::Error bad_choice(const std::string& option, const std::string& value, const std::string& choices) {
    return {"usage.choice", "argument " + option + ": invalid choice", value, "choose from " + choices};
}

// What is wanted: names of the command line, each with -v's version if one is given, then those of files that
// it does not name itself.
base::Result<std::vector<Wanted>> collect_wanted(const Words& words) {
    std::vector<Wanted> wanted;
    std::set<std::string> patterns;
    std::vector<std::string> texts = words.wheels;
    texts.insert(texts.end(), words.names.begin(), words.names.end());
    if (texts.empty() && words.requirement_files.empty()) texts.emplace_back("*");
    const bool has_version = !words.version.empty() && !words.all;
    for (const auto& text : texts) {
        WHEELYARD_ASSIGN(auto one, parse_wanted(text));
        if (has_version) {
            auto specifiers = wheel::SpecifierSet::parse("==" + words.version);
            if (!specifiers) {
                return base::fail("usage.version", "argument -v/--version: this is no version", words.version,
                                  "write it as 1.21.3 or 1.21.*");
            }
            one.specifiers = std::move(*specifiers);
        }
        patterns.insert(one.pattern);
        wanted.push_back(std::move(one));
    }
    for (const auto& file : words.requirement_files) {
        WHEELYARD_ASSIGN(auto required, read_requirements(file));
        for (auto& one : required) {
            if (!patterns.contains(one.pattern)) wanted.push_back(std::move(one));
        }
    }
    return wanted;
}

base::Result<std::vector<Python>> collect_pythons(const Words& words, const EnvironmentMap& environment) {
    std::vector<Python> pythons;
    if (words.all || words.all_pythons) return pythons;
    for (const auto& text : words.pythons) {
        auto python = parse_python(text);
        if (!python) return base::fail(bad_choice("-p/--python", text, "3.2 and newer, as in 3.11"));
        pythons.push_back(std::move(*python));
    }
    if (pythons.empty()) {
        if (auto python = python_of_shell(environment)) pythons.push_back(std::move(*python));
    }
    return pythons;
}

base::Status check_exclusions(const Words& words) {
    struct Pair {
        bool both;
        const char* first;
        const char* second;
    };
    const Pair pairs[] = {
        {words.all_versions && !words.version.empty(), "--all-versions", "-v/--version"},
        {words.all_pythons && !words.pythons.empty(), "--all-pythons", "-p/--python"},
        {words.all_archs && !words.archs.empty(), "--all-archs", "-a/--arch"},
        {!words.wheelhouse.empty() && !words.index_url.empty(), "--wheelhouse", "--index-url"},
    };
    for (const auto& pair : pairs) {
        if (!pair.both) continue;
        return base::fail("usage.exclusive", std::string("argument ") + pair.first +
                                                 ": not allowed with argument " + pair.second);
    }
    return {};
}

base::Status check_choices(const Words& words) {
    const auto& formats = table_formats();
    if (std::find(formats.begin(), formats.end(), words.format) == formats.end()) {
        return base::fail(bad_choice("--format", words.format, base::join(formats, ", ")));
    }
    const std::vector<std::string> columns(all_columns.begin(), all_columns.end());
    for (const auto& column : words.columns) {
        if (std::find(columns.begin(), columns.end(), column) == columns.end()) {
            return base::fail(bad_choice("--column", column, base::join(columns, ", ")));
        }
    }
    for (const auto& arch : words.archs) {
        if (std::find(known_archs().begin(), known_archs().end(), arch) == known_archs().end()) {
            return base::fail(bad_choice("-a/--arch", arch, base::join(known_archs(), ", ")));
        }
    }
    return {};
}

base::Status choose_source(const Words& words, const EnvironmentMap& environment, Options& options) {
    const auto variable = [&](const char* name) {
        const auto found = environment.find(name);
        return found == environment.end() ? std::string() : found->second;
    };
    options.index_url = words.index_url;
    options.wheelhouse = words.wheelhouse;
    if (!options.index_url.empty() || !options.wheelhouse.empty()) return {};
    options.index_url = variable("WHEELYARD_INDEX_URL");
    if (!options.index_url.empty()) return {};
    options.wheelhouse = variable("WHEELHOUSE");
    if (!options.wheelhouse.empty()) return {};
    options.index_url = variable("PIP_INDEX_URL");
    if (!options.index_url.empty()) return {};
    return base::fail("usage.source", "no index and no wheelhouse is known", {},
                      "give --index-url URL or --wheelhouse DIR, or set WHEELYARD_INDEX_URL or WHEELHOUSE");
}

base::Result<Options> understand(const Words& words, const EnvironmentMap& environment) {
    Options options;
    WHEELYARD_TRY(check_exclusions(words));
    WHEELYARD_TRY(check_choices(words));
    WHEELYARD_TRY(choose_source(words, environment, options));
    WHEELYARD_ASSIGN(options.query.pythons, collect_pythons(words, environment));
    WHEELYARD_ASSIGN(auto wanted, collect_wanted(words));
    options.query.wanted = applicable(std::move(wanted), options.query.pythons);
    options.query.archs = words.all ? std::vector<std::string>{} : words.archs;
    options.query.all_versions = words.all || words.all_versions || !words.version.empty();
    options.query.everything = words.all;
    options.rows.columns = words.columns;
    if (options.rows.columns.empty())
        options.rows.columns.assign(default_columns.begin(), default_columns.end());
    options.rows.condense = words.condense;
    options.rows.not_available = words.not_available;
    options.rows.not_available_only = words.not_available_only;
    options.format = words.json ? "json" : words.mediawiki ? "mediawiki" : words.format;
    options.raw = words.raw;
    if (words.all && (!words.archs.empty() || !words.version.empty() || !words.pythons.empty())) {
        options.warning = "Ignoring --arch, --version and --python since --all is set.";
    }
    return options;
}

}  // namespace

std::variant<Options, Leave> parse_command_line(const std::vector<std::string>& arguments,
                                                const EnvironmentMap& environment) {
    Words words;
    CLI::App app(description, "avail_wheels");
    app.footer(examples);
    app.set_version_flag("-V", "avail_wheels " WHEELYARD_VERSION);
    add_choosing_options(app, words);
    add_display_options(app, words);
    const auto complain = [](const std::string& what) {
        return Leave{usage_status, "avail_wheels: error: " + what + "\nSee avail_wheels --help.\n"};
    };
    try {
        app.parse(std::vector<std::string>(arguments.rbegin(),
                                           arguments.rend()));  // CLI11 wants them from the last to the first
    } catch (const CLI::CallForHelp&) {
        return Leave{0, app.help()};
    } catch (const CLI::CallForVersion& version) {
        return Leave{0, std::string(version.what()) + "\n"};
    } catch (const CLI::ParseError& error) {
        return complain(error.what());
    }
    auto options = understand(words, environment);
    if (!options) return complain(options.error().text());
    return std::move(*options);
}

}  // namespace wheelyard::avail_wheels
