// The strict reader of site.toml.
#include "builder/site.hpp"

#include <algorithm>

#include "builder/limits.hpp"
#include "lib/base/text.hpp"
#include "lib/base/url.hpp"
#include "lib/io/toml.hpp"
#include "lib/wheel/name.hpp"
#include "lib/wheel/specifier.hpp"
#include "lib/wheel/version.hpp"

namespace wheelyard::builder {
namespace {

namespace fs = std::filesystem;

bool is_python_version(std::string_view text) {
    const auto parts = base::split(text, '.');
    return parts.size() == 2 && parts[0] == "3" && base::parse_decimal(parts[1]).has_value();
}

bool is_site_name(std::string_view text) {
    return !text.empty() && text.size() <= 64 && base::is_ascii_alnum(text.front()) &&
           std::all_of(text.begin(), text.end(), [](char c) {
               return base::is_ascii_digit(c) || (c >= 'a' && c <= 'z') || c == '-' || c == '_' || c == '.';
           });
}

bool is_version_choice(const std::string& text) {
    return text == "latest" || wheel::Version::parse(text) || wheel::SpecifierSet::parse(text);
}

std::optional<RegistrySettings> read_registry(io::TomlTable root) {
    if (!root.has("registry")) return std::nullopt;
    io::TomlTable table = root.table("registry");
    RegistrySettings registry;
    registry.url = table.string("url");
    registry.index = table.string("index");
    registry.token_file = table.path("token_file");
    while (registry.url.ends_with('/'))
        registry.url.pop_back();
    if (!registry.url.empty()) {
        const auto url = base::parse_url(registry.url);
        if (!url || (url->scheme != "http" && url->scheme != "https")) {
            table.report("url", "expected an http or https URL, found `" + registry.url + "`");
        } else if (!url->userinfo.empty()) {
            table.report("url", "a URL with a password in it: put the token into `token_file`");
        }
    }
    if (!registry.index.empty() && !is_site_name(registry.index)) {
        table.report("index", "expected an index name such as `debian12`, found `" + registry.index + "`");
    }
    return registry;
}

// What a batch system's own option lines would choke on.
bool fits_into_a_directive(std::string_view text) {
    return text.find_first_of(" \t\r\n%\"'\\") == std::string_view::npos;
}

void read_queue(io::TomlTable table, Site& site) {
    if (site.scheduler_kind == "local") return;  // its keys are unknown there
    site.queue.queue =
        site.scheduler_kind == "slurm" ? table.string_or("partition", "") : table.string_or("queue", "");
    site.queue.account = table.string_or("account", "");
    for (const auto* text : {&site.queue.queue, &site.queue.account}) {
        if (!fits_into_a_directive(*text))
            table.report("kind", "no name of a queue or an account: `" + *text + "`");
    }
    site.queue.options = table.strings_or("options", {});
    for (const auto& option : site.queue.options) {
        if (!option.starts_with('-') || option.find_first_of("\r\n") != std::string::npos)
            table.report(
                "options",
                "expected one option such as `--qos=standard` or `-l place=excl`, found `" + option + "`");
    }
    if (!fits_into_a_directive(site.work_directory.native())) {
        table.report("kind",
                     "a batch system takes no blanks, quotes or `%` in the path of the work folder: `" +
                         site.work_directory.string() + "`");
    }
}

void read_scheduler(io::TomlTable root, Site& site) {
    io::TomlTable table = root.table_or_empty("scheduler");
    site.scheduler_kind = table.choice_or("kind", "local", {"local", "slurm", "pbs"});
    read_queue(table, site);
    site.most_jobs = static_cast<int>(table.integer_or("most_jobs", 1, 1, 1000));
    site.cores = static_cast<int>(table.integer_or("cores", 1, 1, 4096));
    site.most_attempts = static_cast<int>(table.integer_or("most_attempts", default_most_attempts, 1, 10));
    site.memory_mib = table.integer_or("memory_mib", 0, 0, most_memory_mib);
    site.most_memory_mib = table.integer_or("most_memory_mib", site.memory_mib, 0, most_memory_mib);
    if (site.most_memory_mib < site.memory_mib)
        table.report("most_memory_mib", "less than memory_mib = " + std::to_string(site.memory_mib));
    site.minutes = table.integer_or("minutes", 0, 0, longest_most_minutes);
    site.most_minutes =
        table.integer_or("most_minutes", site.scheduler_kind == "local" ? default_most_minutes : site.minutes,
                         0, longest_most_minutes);
}

void read_governor(io::TomlTable root, Site& site) {
    io::TomlTable table = root.table_or_empty("governor");
    site.governor.use = table.boolean_or("use", true);
    site.governor.program = table.path_if("program").value_or("");
}

void read_pythons(io::TomlTable root, Site& site) {
    for (io::TomlTable table : root.tables("python")) {
        PythonChoice python;
        python.version = table.string("version");
        python.executable = table.string_or("executable", "python" + python.version);
        if (!python.version.empty() && !is_python_version(python.version)) {
            table.report("version",
                         "expected a Python version such as `3.11`, found `" + python.version + "`");
        }
        const bool twice = std::any_of(site.pythons.begin(), site.pythons.end(),
                                       [&](const auto& other) { return other.version == python.version; });
        if (twice) table.report("version", "Python `" + python.version + "` is described twice");
        site.pythons.push_back(std::move(python));
    }
    if (site.pythons.empty()) root.report("python", "expected at least one [[python]] table");
}

void read_wants(io::TomlTable root, Site& site) {
    std::vector<std::string> known;
    for (const auto& python : site.pythons)
        known.push_back(python.version);
    for (io::TomlTable table : root.tables("want")) {
        Want want;
        const std::string package = table.string("package");
        if (!package.empty() && !wheel::is_valid_name(package)) {
            table.report("package", "not a project name (PEP 508): `" + package + "`");
        }
        want.package = wheel::normalize_name(package);
        want.versions = table.strings_or("versions", {"latest"});
        for (const auto& version : want.versions) {
            if (!is_version_choice(version)) {
                table.report(
                    "versions",
                    "expected a version, `latest` or a specifier such as `>=2,<3`, found `" + version + "`");
            }
        }
        want.pythons = table.strings_or("pythons", known);
        for (const auto& python : want.pythons) {
            if (std::find(known.begin(), known.end(), python) == known.end()) {
                table.report("pythons", "Python `" + python + "` has no [[python]] table here (known: " +
                                            base::join(known, ", ") + ")");
            }
        }
        site.wants.push_back(std::move(want));
    }
}

base::Result<Site> read_document(io::TomlDocument& document, const fs::path& file) {
    io::TomlTable root = document.root();
    Site site;
    root.integer("config_version", 1, 1);
    site.name = root.string("name");
    if (!site.name.empty() && !is_site_name(site.name)) {
        root.report("name", "expected a site name such as `bede-gh200` (lower case, digits, - _ .), found `" +
                                site.name + "`");
    }
    site.registry = read_registry(root);
    site.state_directory = root.table("state").path("directory");
    site.work_directory = root.table("work").path("directory");
    read_scheduler(root, site);
    read_governor(root, site);
    read_pythons(root, site);
    const fs::path folder = fs::absolute(file).parent_path();
    for (const auto& recipes : root.strings_or("recipes", {})) {
        site.recipes.push_back((folder / recipes).lexically_normal());
    }
    site.environment = root.string_map("environment");
    for (const auto& [name, value] : site.environment) {
        if (!is_environment_name(name)) {
            root.report("environment", "not the name of an environment variable: `" + name + "`");
        }
    }
    read_wants(root, site);
    WHEELYARD_TRY(document.finish());
    return site;
}

}  // namespace

bool is_environment_name(std::string_view name) {
    if (name.empty() || base::is_ascii_digit(name.front())) return false;
    return std::all_of(name.begin(), name.end(), [](char c) { return base::is_ascii_alnum(c) || c == '_'; });
}

base::Result<Site> read_site(const fs::path& file) {
    WHEELYARD_ASSIGN(auto document, io::TomlDocument::read(fs::absolute(file)));  // jobs run in other folders
    return read_document(document, file);
}

base::Result<Site> parse_site(std::string_view text, const fs::path& file) {
    WHEELYARD_ASSIGN(auto document, io::TomlDocument::parse(text, file));
    return read_document(document, file);
}

}  // namespace wheelyard::builder
