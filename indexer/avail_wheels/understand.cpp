// Interprets the command line: checks choices, reads files, applies defaults.
#include <algorithm>
#include <iterator>
#include <set>
#include <system_error>
#include <utility>

#include "indexer/avail_wheels/source/source.hpp"
#include "indexer/avail_wheels/table/table.hpp"
#include "indexer/avail_wheels/words.hpp"
#include "lib/base/files/file.hpp"
#include "lib/base/text/text.hpp"
#include "lib/base/text/url.hpp"
#include "lib/simple/limits.hpp"
#include "lib/simple/pip_config.hpp"

namespace wheelyard::avail_wheels {

namespace {

constexpr const char* system_site_file = "/etc/wheelyard/avail_wheels.toml";

// A value outside its choices.
base::Error bad_choice(const std::string& option, const std::string& value, const std::string& advice) {
    return {"usage.choice", option + ": invalid choice", value, advice};
}

base::Status check_choice(const std::string& option, const std::string& value,
                          const std::vector<std::string>& choices, std::string_view meant = {},
                          bool takes_many = false) {
    if (std::find(choices.begin(), choices.end(), value) != choices.end()) return {};
    const auto likely = meant.empty() ? base::nearest(value, choices) : std::string(meant);
    return base::fail(bad_choice(
        option, value,
        (likely ? "did you mean " + *likely + "? " : "") + "choose from " + base::join(choices, ", ") +
            (takes_many ? "; put wheel names before " + option.substr(0, option.find('/')) + " or after --"
                        : "")));
}

// The wanted names of the command line, with -v's version if given, then the names of requirements files that
// the command line does not have.
base::Result<std::vector<Wanted>> collect_wanted(const Words& words, const EnvironmentMap& environment) {
    std::vector<Wanted> wanted;
    std::set<std::string> patterns;
    std::vector<std::string> texts = words.wheels;
    texts.insert(texts.end(), words.names.begin(), words.names.end());
    if (texts.empty() && words.requirement_files.empty() && words.lock_file.empty()) texts.emplace_back("*");
    const bool has_version = !words.version.empty() && !words.all;
    const auto star = words.version.find_first_of("*?");
    const bool is_prefix = words.version.ends_with(".*") && star + 1 == words.version.size() && star > 1;
    for (const auto& text : texts) {
        WHEELYARD_ASSIGN(auto one, parse_wanted(text));
        if (has_version && star != std::string::npos && !is_prefix) {
            one.specifiers = {};
            one.version_glob = words.version;
        } else if (has_version) {
            auto specifiers = wheel::SpecifierSet::parse("==" + words.version);
            if (!specifiers || words.version.find_first_of("<>=!~,") != std::string::npos) {
                return base::fail("usage.version", "-v/--version: not a version", words.version,
                                  "write it as 1.21.3 or 1.21.*; other conditions follow a name, as in "
                                  "'numpy<1.23'");
            }
            one.specifiers = std::move(*specifiers);
        }
        patterns.insert(one.pattern);
        wanted.push_back(std::move(one));
    }
    for (const auto& file : words.requirement_files) {
        WHEELYARD_ASSIGN(auto required, read_requirements(file, environment));
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
        std::string_view digits = text;
        for (const std::string_view before : {"python", "py"}) {  // the command, python3.11, and a tag, py311
            if (text.starts_with(before)) {
                digits.remove_prefix(before.size());
                break;
            }
        }
        auto python = parse_python(digits);
        if (!python) {
            return base::fail(
                bad_choice("-p/--python", text,
                           "choose 3.2 or newer, as in 3.11; put wheel names before -p or after --"));
        }
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
    const bool has_lock = !words.lock_file.empty();
    const Pair pairs[] = {
        {words.all_versions && !words.version.empty(), "--all-versions", "-v/--version"},
        {words.all_pythons && !words.pythons.empty(), "--all-pythons", "-p/--python"},
        {words.all_archs && !words.archs.empty(), "--all-archs", "-a/--arch"},
        {!words.wheelhouse.empty() && !words.index_url.empty(), "--wheelhouse", "--index-url"},
        {words.here && !words.on.empty(), "--on", "--here"},
        {words.status && !words.requests.empty(), "--request", "--status"},
        {words.raw && words.json, "--json", "--raw"},
        {words.web && (words.status || !words.requests.empty()), "--web", "--status or --request"},
        {words.web && words.install_line, "--web", "--install-line"},
        {has_lock && (!words.wheels.empty() || !words.names.empty() || !words.requirement_files.empty()),
         "--lock", "NAME or -r/--requirement"},
        {has_lock && (words.all || words.all_versions || words.all_pythons || words.all_archs), "--lock",
         "--all, --all-versions, --all-pythons or --all-archs"},
        {has_lock && (!words.version.empty() || !words.archs.empty()), "--lock", "-v/--version or -a/--arch"},
        {has_lock && (words.raw || words.condense || words.modules || !words.columns.empty()), "--lock",
         "--raw, --condense, --modules or --column"},
        {has_lock && (words.status || words.web || words.install_line || !words.requests.empty()), "--lock",
         "--status, --web, --install-line or --request"},
    };
    for (const auto& pair : pairs) {
        if (!pair.both) continue;
        return base::fail("usage.exclusive",
                          std::string(pair.first) + ": cannot be used with " + pair.second);
    }
    const std::pair<bool, const char*> of_lock[] = {{words.request_missing, "--request-missing"},
                                                    {!words.lock_extras.empty(), "--lock-extra"},
                                                    {!words.lock_groups.empty(), "--lock-group"}};
    for (const auto& [is_given, option] : of_lock) {
        if (is_given && !has_lock)
            return base::fail("usage.needs", std::string(option) + ": needs --lock", {},
                              "name the lock, too: --lock pylock.toml");
    }
    return {};
}

// What other programs call one of our formats; empty: none.
std::string_view format_called(std::string_view name) {
    if (name == "markdown" || name == "md") return "github";
    if (name == "table") return "simple";
    if (name == "text" || name == "txt") return "plain";
    return {};
}

base::Status check_choices(const Words& words) {
    if (!words.format.empty())
        WHEELYARD_TRY(check_choice("--format", words.format, table_formats(), format_called(words.format)));
    const std::vector<std::string> columns(all_columns.begin(), all_columns.end());
    for (const auto& column : words.columns)
        WHEELYARD_TRY(check_choice("--column", column, columns, {}, true));
    for (const auto& arch : words.archs)
        WHEELYARD_TRY(check_choice("-a/--arch", arch, known_archs(), machine_called(arch), true));
    return check_choice("--color", words.color, color_choices());
}

// The site file: --site, $WHEELYARD_SITE, otherwise the system-wide one if it exists.
base::Result<Site> find_site(const Words& words, const EnvironmentMap& environment) {
    if (!words.site_file.empty()) return read_site(words.site_file);
    if (const auto variable = environment.find("WHEELYARD_SITE");
        variable != environment.end() && !variable->second.empty())
        return read_site(variable->second);
    std::error_code gone;
    if (std::filesystem::exists(system_site_file, gone)) return read_site(system_site_file);
    return Site{};
}

// The folders of `find-links` in [wheel] of pip's configuration, where the Alliance's clusters list the parts
// of their wheelhouse that suit the loaded environment and processor. Empty: none.
std::vector<std::filesystem::path> find_links_of_pip(const std::string& file) {
    std::vector<std::filesystem::path> folders;
    if (file.empty()) return folders;
    const auto text = base::read_file(file, simple::max_pip_config_bytes);
    const auto ini = text ? simple::parse_ini(*text, file) : base::Result<simple::Ini>(simple::Ini());
    if (!ini || !ini->contains("wheel")) return folders;
    const auto& section = ini->at("wheel");
    const auto links = section.find("find-links");
    if (links == section.end()) return folders;
    for (const auto line : base::split_lines(links->second)) {
        for (const auto link : base::split(line, ' ')) {
            const auto folder = base::trim(link);
            if (folder.starts_with('/')) folders.emplace_back(folder);
        }
    }
    return folders;
}

// Where pip looks besides its index; empty: nowhere.
std::string unread_places_of(const simple::PipConfig& pip) {
    std::vector<std::string> unread = pip.find_links();
    for (const std::string& extra : pip.extra_index_urls()) {
        const auto url = base::parse_url(extra);
        unread.push_back(url ? url->text_without_secrets() : extra);
    }
    return base::join(unread, ", ");
}

// Takes the first source that is set: command line, node type, environment, site file, pip's configuration.
base::Status choose_source(const Words& words, const EnvironmentMap& environment, Options& options) {
    const auto variable = [&](const char* name) {
        const auto found = environment.find(name);
        return found == environment.end() ? std::string() : found->second;
    };
    const auto type = options.site.nodes.find(options.node.on);
    const std::string of_type = type == options.site.nodes.end() ? std::string() : type->second.index_url;
    struct Place {
        std::string url;
        std::filesystem::path folder = {};
        std::vector<std::filesystem::path> find_links = {};
    };
    // From its environment and its files.
    const auto pip = simple::read_pip_config(environment, "/usr").value_or(simple::PipConfig());
    const Place places[] = {
        {words.index_url, words.wheelhouse},   {of_type, {}},
        {variable("WHEELYARD_INDEX_URL"), {}}, {{}, {}, find_links_of_pip(variable("PIP_CONFIG_FILE"))},
        {{}, variable("WHEELHOUSE")},          {options.site.index_url, {}},
        {{}, options.site.wheelhouse},         {pip.index_url(), {}},
    };
    for (const auto& place : places) {
        const auto url = base::trim(place.url);
        if (url.empty() && place.folder.empty() && place.find_links.empty()) continue;
        options.source.wheelhouse = place.folder;
        if (const auto file = base::parse_url(url); file && file->scheme == "file") {
            // An index in a folder, which pip takes as well.
            WHEELYARD_ASSIGN(options.source.wheelhouse, base::file_path(*file));
        } else if (url.starts_with('/')) {
            options.source.wheelhouse = url;
        } else {
            options.source.index_url = url;
        }
        options.source.find_links = place.find_links;
        if (const std::string unread = unread_places_of(pip);
            &place == std::end(places) - 1 && !unread.empty())
            options.warning = "pip also looks in " + unread +
                              ", and this does not: name it with --index-url or --wheelhouse";
        return {};
    }
    base::Error none{"usage.source",
                     "No index and no wheelhouse is set",
                     {},
                     "give --index-url URL or --wheelhouse DIR, or set WHEELYARD_INDEX_URL or WHEELHOUSE"};
    if (pip.no_index())
        none = {"usage.source",
                "pip has no index: no-index is set by " + pip.origin("no-index"),
                {},
                "give --index-url URL or --wheelhouse DIR"};
    return base::fail_as(base::ErrorKind::missing, base::Recovery::person, std::move(none));
}

base::Status choose_node(const Words& words, Options& options) {
    options.node.on = words.on;
    options.node.assumptions = words.assumptions;
    options.node.has_pythons = !words.pythons.empty();
    options.node.all_pythons = words.all_pythons || words.all;
    if (!words.on.empty() && !options.site.nodes.contains(words.on)) {
        std::vector<std::string> names;
        for (const auto& [name, type] : options.site.nodes)
            names.push_back(name);
        if (names.empty())
            return base::fail(bad_choice(
                "--on", words.on,
                "node types are defined in a site file (--site), and there is none; without one a GPU is "
                "--assume gpu=a100"));
        return check_choice("--on", words.on, names);
    }
    Node probe;
    for (const auto& one : words.assumptions)
        WHEELYARD_TRY(assume(probe, one));
    return {};
}

base::Result<Mode> choose_mode(const Words& words, const Site& site) {
    if (words.completes_name) return CompletionMode{words.complete_name};
    if (words.status) return StatusMode{};
    if (!words.requests.empty()) return RequestMode{words.requests};
    if (words.web) return WebMode{};
    if (!words.lock_file.empty()) {
        LockMode mode{{}, words.lock_file, words.request_missing};
        WHEELYARD_ASSIGN(mode.lock, simple::read_lock(words.lock_file));
        WHEELYARD_TRY(simple::choose_of_lock(mode.lock, words.lock_extras, words.lock_groups));
        return mode;
    }
    const bool names_node = words.here || !words.on.empty() || !words.assumptions.empty() || site.here;
    return ListMode{names_node && !words.why && !words.all, words.why,
                    words.all || words.all_archs || !words.archs.empty(), words.install_line};
}

void choose_columns(const Words& words, Options& options) {
    options.display.rows.columns = words.columns;
    if (options.display.rows.columns.empty()) {
        options.display.rows.columns.assign(default_columns.begin(), default_columns.end());
        if (words.why)
            options.display.rows.columns.insert(options.display.rows.columns.end(),
                                                {"runs", "why", "advice"});
        if (words.modules) options.display.rows.columns.emplace_back("modules");
    }
    options.display.rows.condense = words.condense;
    options.display.rows.not_available = words.not_available;
    options.display.rows.not_available_only = words.not_available_only;
    options.display.format = words.json             ? "json"
                             : words.mediawiki      ? "mediawiki"
                             : words.format.empty() ? "simple"
                                                    : words.format;
    options.display.raw = words.raw;
    options.display.color = words.color == "always"  ? Color::always
                            : words.color == "never" ? Color::never
                                                     : Color::automatic;
    options.display.pager = !words.no_pager;
}

}  // namespace

const std::vector<std::string>& color_choices() {
    static const std::vector<std::string> choices{"auto", "always", "never"};
    return choices;
}

base::Result<Options> understand(const Words& words, const EnvironmentMap& environment) {
    Options options;
    WHEELYARD_TRY(check_exclusions(words));
    WHEELYARD_TRY(check_choices(words));
    WHEELYARD_ASSIGN(options.site, find_site(words, environment));
    WHEELYARD_TRY(choose_node(words, options));
    options.source.refresh = words.refresh;
    // Farm commands need no wheels.
    const auto source = choose_source(words, environment, options);
    if (!words.status && words.requests.empty()) WHEELYARD_TRY(source);
    WHEELYARD_ASSIGN(options.query.pythons, collect_pythons(words, environment));
    WHEELYARD_ASSIGN(options.query.wanted, collect_wanted(words, environment));
    options.query.archs = words.all ? std::vector<std::string>{} : words.archs;
    options.query.all_versions = words.all || words.all_versions || !words.version.empty();
    options.query.everything = words.all;
    options.query.prereleases =
        words.wheels.empty() && words.names.empty() && words.requirement_files.empty();
    choose_columns(words, options);
    WHEELYARD_ASSIGN(options.mode, choose_mode(words, options.site));
    if (words.all && (!words.archs.empty() || !words.version.empty() || !words.pythons.empty())) {
        options.warning = "Ignoring --arch, --version and --python since --all is set.";
    } else if (words.all && !words.why && (words.here || !words.on.empty() || !words.assumptions.empty())) {
        options.warning = "Ignoring the node since --all is set; --why says what runs there.";
    }
    return options;
}

}  // namespace wheelyard::avail_wheels
