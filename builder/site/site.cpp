// The strict reader of site.toml.
#include "builder/site/site.hpp"

#include <algorithm>
#include <cstdint>

#include "builder/attempt/limits.hpp"
#include "builder/site/limits.hpp"
#include "builder/site/site_parts.hpp"
#include "lib/base/process/user.hpp"
#include "lib/base/text/encoding.hpp"
#include "lib/base/text/text.hpp"
#include "lib/base/text/url.hpp"
#include "lib/io/toml.hpp"
#include "lib/wheel/name.hpp"
#include "lib/wheel/specifier.hpp"
#include "lib/wheel/version.hpp"

namespace wheelyard::builder {
namespace {

constexpr std::int64_t max_tick_minutes = 60;   // the field of minutes of a cron line
constexpr std::int64_t default_cache_gib = 50;  // source cache: holds a few clones of torch
constexpr std::int64_t max_cache_gib = 1024 * 1024;

namespace fs = std::filesystem;

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
    registry.promote_to = table.string_or("promote_to", "");
    if (!registry.promote_to.empty()) registry.promote_token_file = table.path("promote_token_file");
    registry.variants_to = table.string_or("variants_to", "");
    registry.claim_tasks = table.choice_or("claim_tasks", "no", {"no", "recipes", "any"});
    registry.report = table.choice_or("report", "all", {"all", "no_logs", "no"});
    while (registry.url.ends_with('/'))
        registry.url.pop_back();
    if (!registry.url.empty()) {
        const auto url = base::parse_url(registry.url);
        if (!url || (url->scheme != "http" && url->scheme != "https")) {
            table.report("url", "expected an http or https URL, found `" + registry.url + "`");
        } else if (!url->userinfo.empty()) {
            table.report("url", "the URL contains a password; put the token into `token_file`");
        }
    }
    for (const auto& [key, index] :
         {std::pair{"index", registry.index}, std::pair{"promote_to", registry.promote_to},
          std::pair{"variants_to", registry.variants_to}}) {
        if (!index.empty() && !is_site_name(index))
            table.report(key, "expected an index name such as `debian12`, found `" + index + "`");
    }
    if (!registry.promote_to.empty() && registry.promote_to == registry.index)
        table.report("promote_to", "the same as `index`, to which wheels are already published");
    if (!registry.variants_to.empty() &&
        (registry.variants_to == registry.index || registry.variants_to == registry.promote_to))
        table.report("variants_to",
                     "an index of wheels with a local version, which installers prefer to every variant: "
                     "variants need an index of their own");
    return registry;
}

// Whether `text` can be part of a directive line ("#SBATCH", "#PBS") without quoting.
bool fits_into_a_directive(std::string_view text) {
    return text.find_first_of(" \t\r\n%\"'\\") == std::string_view::npos;
}

void note_places(const io::TomlTable& table, const std::string& section,
                 const std::vector<std::string_view>& keys, Site& site) {
    for (const auto key : keys) {
        if (table.has(key)) site.places[section + std::string(key)] = table.place(key);
    }
}

// The options of one kind of jobs. Where jobs are processes of this machine these keys are unknown.
QueueSettings read_queue_names(io::TomlTable& table, const SchedulerKind& scheduler) {
    QueueSettings queue;
    if (!scheduler.batch) return queue;
    const std::string_view key = scheduler.batch->queue_key;
    queue.queue = table.string_or(key, "");
    queue.account = table.string_or("account", "");
    for (const auto& [name, text] :
         {std::pair{key, queue.queue}, std::pair{std::string_view("account"), queue.account}}) {
        if (!fits_into_a_directive(text))
            table.report(name, "not a valid name of a queue or an account: `" + text + "`");
    }
    queue.options = read_options(table);
    return queue;
}

const SchedulerKind* read_scheduler_kind(io::TomlTable& table) {
    const auto kinds = scheduler_kinds();
    std::vector<std::string> names;
    for (const SchedulerKind* kind : kinds)
        names.emplace_back(kind->name);
    return find_scheduler_kind(table.choice_or("kind", names.front(), names));
}

void read_queue(io::TomlTable table, Site& site) {
    site.queue = read_queue_names(table, *site.scheduler);
    if (!site.scheduler->batch) return;
    note_places(table, "scheduler.",
                {site.scheduler->batch->queue_key, "account", "accounts", "options", "gpus"}, site);
    site.queue.gpus = static_cast<int>(table.integer_or("gpus", 0, 0, 64));
    for (const auto& [package, account] : table.string_map("accounts")) {
        if (!fits_into_a_directive(account))
            table.report("accounts", "not a valid name of an account: `" + account + "`");
        site.accounts[wheel::normalize_name(package)] = account;
    }
    if (!fits_into_a_directive(site.work_directory.native())) {
        table.report("kind",
                     "batch systems accept no spaces, quotes or `%` in the path of the work folder: `" +
                         site.work_directory.string() + "`");
    }
}

// Checks that jobs fit the node type that they are sent to.
void read_build_node(io::TomlTable& table, Site& site) {
    if (site.build_node.empty()) return;
    std::vector<std::string> known;
    const NodeType* node = nullptr;
    for (const auto& one : site.nodes) {
        known.push_back(one.name);
        if (one.name == site.build_node) node = &one;
    }
    if (node == nullptr) {
        const auto near = base::nearest(site.build_node, known);
        return table.report("node", "no [[node]] of this name: `" + site.build_node + "`" +
                                        (near ? "; did you mean `" + *near + "`?" : ""));
    }
    send_to(site.queue, *node);
    if (node->exclusive && node->cores > 0 && !table.has("cores")) site.cores = node->cores;
    const auto check = [&](std::string_view key, std::int64_t asked, std::int64_t there) {
        if (there > 0 && asked > there)
            table.report(key, "a node of the type `" + node->name + "` has at most " + std::to_string(there));
    };
    check("cores", site.cores, node->cores);
    check("max_memory_mib", std::max(site.memory_mib, site.max_memory_mib), node->memory_mib);
    check("gpus", site.queue.gpus, node->gpus);
}

void read_scheduler(io::TomlTable root, Site& site) {
    io::TomlTable table = root.table_or_empty("scheduler");
    site.scheduler = read_scheduler_kind(table);
    read_queue(table, site);
    site.max_jobs = static_cast<int>(table.integer_or("max_jobs", 1, 1, 1000));
    site.cores = static_cast<int>(table.integer_or("cores", 1, 1, 4096));
    site.build_node = table.string_or("node", "");
    site.max_attempts = static_cast<int>(table.integer_or("max_attempts", default_max_attempts, 1, 10));
    site.max_preemptions =
        static_cast<int>(table.integer_or("max_preemptions", default_max_preemptions, 1, 1000));
    site.max_node_failures =
        static_cast<int>(table.integer_or("max_node_failures", default_max_node_failures, 1, 100));
    site.memory_mib = table.integer_or("memory_mib", 0, 0, max_memory_mib);
    site.max_memory_mib = table.integer_or("max_memory_mib", site.memory_mib, 0, max_memory_mib);
    if (site.max_memory_mib < site.memory_mib)
        table.report("max_memory_mib", "less than memory_mib = " + std::to_string(site.memory_mib));
    note_places(table, "scheduler.",
                {"cores", "memory_mib", "max_memory_mib", "minutes", "max_walltime_minutes"}, site);
    read_build_node(table, site);
    site.minutes = table.integer_or("minutes", 0, 0, max_walltime_minutes_limit);
    site.max_walltime_minutes = table.integer_or(
        "max_walltime_minutes", site.scheduler->batch ? site.minutes : default_max_walltime_minutes, 0,
        max_walltime_minutes_limit);
}

void read_hardware_tests(io::TomlTable root, Site& site) {
    io::TomlTable kinds = root.table_or_empty("hardware_tests");
    for (const auto& [kind, settings] : {std::pair{"gpu", &site.hardware_tests.gpu},
                                         std::pair{"multi_node", &site.hardware_tests.multi_node}}) {
        if (!kinds.has(kind)) continue;
        io::TomlTable table = kinds.table(kind);
        *settings = read_queue_names(table, *site.scheduler);
        if (site.scheduler->batch)
            note_places(table, std::string("hardware_tests.") + kind + ".",
                        {site.scheduler->batch->queue_key, "account", "options"}, site);
        if (!site.registry) kinds.report(kind, "hardware tests install wheels from an index; add [registry]");
    }
}

void read_governor(io::TomlTable root, Site& site) {
    io::TomlTable table = root.table_or_empty("governor");
    site.governor.use = table.boolean_or("use", true);
    site.governor.program = table.path_if("program").value_or("");
}

void read_build(io::TomlTable root, Site& site) {
    io::TomlTable table = root.table_or_empty("build");
    if (table.choice_or("home", "own", {"own", "user"}) == "user") site.build_home = BuildHome::user;
}

// Reports names that the site file does not define, with the nearest one as a suggestion.
void check_names(io::TomlTable& table, std::string_view key, const std::vector<std::string>& used,
                 const std::vector<std::string>& known, std::string_view what) {
    for (const auto& name : used) {
        if (std::find(known.begin(), known.end(), name) != known.end()) continue;
        const auto near = base::nearest(name, known);
        table.report(key, std::string(what) + " `" + name +
                              "` is not described here (known: " + base::join(known, ", ") + ")" +
                              (near ? "; did you mean `" + *near + "`?" : ""));
    }
}

wheel::SpecifierSet read_versions_of(io::TomlTable& table) {
    const std::string text = table.string_or("versions", "");
    auto set = wheel::SpecifierSet::parse(text);
    if (set) return *set;
    table.report("versions", "expected a specifier such as `>=2.3,<2.6`, found `" + text + "`");
    return {};
}

struct Known {
    std::vector<std::string> pythons;
    std::vector<std::string> accelerators;
};

void read_exclusions(io::TomlTable& want_table, const Known& known, Want& want) {
    for (io::TomlTable table : want_table.tables("exclude")) {
        Exclusion exclusion;
        exclusion.versions = read_versions_of(table);
        exclusion.pythons = table.strings_or("pythons", {});
        check_names(table, "pythons", exclusion.pythons, known.pythons, "Python");
        exclusion.accelerators = table.strings_or("accelerators", {});
        check_names(table, "accelerators", exclusion.accelerators, known.accelerators, "accelerator");
        exclusion.reason = table.string("reason");
        want.exclude.push_back(std::move(exclusion));
    }
}

void read_want(io::TomlTable table, const Known& known, Site& site) {
    Want want;
    const std::string package = table.string("package");
    if (!package.empty() && !wheel::is_valid_name(package)) {
        table.report("package", "not a project name (PEP 508): `" + package + "`");
    }
    want.package = wheel::normalize_name(package);
    want.versions = table.strings_or("versions", {"latest"});
    for (const auto& version : want.versions) {
        if (is_version_choice(version)) continue;
        const auto near = base::nearest(version, {"latest"});
        table.report("versions", "expected a version, `latest` or a specifier such as `>=2,<3`, found `" +
                                     version + "`" + (near ? "; did you mean `" + *near + "`?" : ""));
    }
    want.pythons = table.strings_or("pythons", known.pythons);
    check_names(table, "pythons", want.pythons, known.pythons, "Python");
    want.accelerators = table.strings_or("accelerators", {});
    check_names(table, "accelerators", want.accelerators, known.accelerators, "accelerator");
    read_exclusions(table, known, want);
    want.closure = closure_modes.find(table.choice_or("closure", "none", {"none", "compiled", "source"}))
                       .value_or(ClosureMode::none);
    if (want.closure != ClosureMode::none && !site.registry)
        table.report("closure", "builds install from the index that they fill; add [registry]");
    for (const auto& follow_up : table.strings_or("follow_ups", {})) {
        if (!wheel::is_valid_name(follow_up))
            table.report("follow_ups", "not a project name (PEP 508): `" + follow_up + "`");
        want.follow_ups.push_back(wheel::normalize_name(follow_up));
    }
    want.from = table.string_or("from", "");
    const auto index = base::parse_url(want.from);
    if (!want.from.empty() && want.from != "upstream" && !index)
        table.report("from", "expected `upstream` or the URL of a Simple index, found `" + want.from + "`");
    if (index && !index->userinfo.empty())
        table.report("from", "the URL contains a password, which job logs would show; remove it");
    // One recipe serves all wants of a package.
    const auto other = std::find_if(site.wants.begin(), site.wants.end(), [&](const Want& one) {
        return one.package == want.package && one.from != want.from;
    });
    if (other != site.wants.end())
        table.report("from", "another [[want]] of `" + want.package +
                                 "` says otherwise: name the versions in an [[override]] of its recipe");
    site.wants.push_back(std::move(want));
}

// A version to use instead must not be bad itself.
void check_replacements(io::TomlTable& root, const Site& site) {
    for (const auto& bad : site.known_bad) {
        const auto instead = wheel::Version::parse(bad.instead);
        if (!instead) continue;
        for (const auto& other : site.known_bad) {
            const bool same_accelerators = bad.accelerators.empty() || other.accelerators.empty() ||
                                           bad.accelerators == other.accelerators;
            if (other.package == bad.package && same_accelerators &&
                other.versions.contains(*instead, wheel::Prereleases::allowed))
                root.report("known_bad", "`instead = \"" + bad.instead + "\"` of " + bad.package +
                                             " is known to be bad, too: " + other.reason);
        }
    }
}

void read_wants(io::TomlTable root, Site& site) {
    Known known;
    for (const auto& python : site.pythons)
        known.pythons.push_back(python.version);
    for (const auto& accelerator : site.accelerators)
        known.accelerators.push_back(accelerator.name);
    for (const io::TomlTable& table : root.tables("want"))
        read_want(table, known, site);
    for (io::TomlTable table : root.tables("known_bad")) {
        KnownBad bad;
        bad.package = wheel::normalize_name(table.string("package"));
        bad.versions = read_versions_of(table);
        bad.accelerators = table.strings_or("accelerators", {});
        check_names(table, "accelerators", bad.accelerators, known.accelerators, "accelerator");
        bad.reason = table.string("reason");
        bad.instead = table.string_or("instead", "");
        if (!bad.instead.empty() && !wheel::Version::parse(bad.instead))
            table.report("instead", "expected a version, found `" + bad.instead + "`");
        site.known_bad.push_back(std::move(bad));
    }
    check_replacements(root, site);
}

// Tables by key, anything else as a whole.
io::Json replaced(io::Json below, const io::Json& above) {
    if (below.as_object() == nullptr || above.as_object() == nullptr) return above;
    for (const auto& [key, value] : *above.as_object()) {
        const io::Json* there = below.find(key);
        below.set(key, there == nullptr ? value : replaced(*there, value));
    }
    return below;
}

// `stack = "today.toml"`: the keys of this file beside site.toml replace those of site.toml. Problems then begin with a key's
// path instead of file and line.
// Returns the name of this file; empty: there is none.
base::Result<std::string> add_stack(io::TomlDocument& document, const fs::path& file,
                                    const std::string& chosen) {
    const io::Json below = document.json();
    std::string name = chosen.empty() ? below.string_or("stack", "") : chosen;
    if (name.empty()) return name;
    WHEELYARD_ASSIGN(const auto stack, io::TomlDocument::read(file.parent_path() / name));
    document = io::TomlDocument::of_json(replaced(below, stack.json()), file);
    return name;
}

base::Result<Site> read_document(io::TomlDocument& document, const fs::path& file) {
    io::TomlTable root = document.root();
    if (!root.has("state") && (root.has("index_url") || root.has("wheelhouse") || root.has("known_bad")))
        return base::fail("site.other_program", "This is the file of avail_wheels, not a builder's site file",
                          file.string(),
                          "name a site file with --site, or in WHEELYARD_BUILDER_SITE; WHEELYARD_SITE is for "
                          "avail_wheels only");
    Site site;
    site.file = fs::absolute(file).lexically_normal();
    root.integer("config_version", 1, 1);
    site.name = root.string("name");
    if (!site.name.empty() && !is_site_name(site.name)) {
        root.report("name", "expected a site name such as `bede-gh200` (lower case, digits, - _ .), found `" +
                                site.name + "`");
    }
    if (root.has("agent"))
        site.tick_minutes =
            root.table("agent").integer_or("tick_minutes", default_tick_minutes, 1, max_tick_minutes);
    site.registry = read_registry(root);
    site.state_directory = root.table("state").path("directory");
    io::TomlTable work = root.table("work");
    site.work_directory = work.path("directory");
    site.cache_gib = work.integer_or("cache_gib", default_cache_gib, 1, max_cache_gib);
    site.trees_gib = work.integer_or("trees_gib", default_trees_gib, 0, max_cache_gib);
    site.compiler_cache_gib = work.integer_or("compiler_cache_gib", 0, 0, max_cache_gib);
    site.temporary = work.string_or("temporary", "");
    read_machine(root, site);  // before the scheduler: node types say what a job may ask for
    if (site.registry && !site.registry->variants_to.empty() &&
        std::none_of(site.accelerators.begin(), site.accelerators.end(),
                     [](const Accelerator& one) { return one.variant.has_value(); }))
        root.table("registry")
            .report("variants_to",
                    "no [[accelerator]] has a table [accelerator.variant], "
                    "which says what its variants declare");
    read_scheduler(root, site);
    read_hardware_tests(root, site);
    read_governor(root, site);
    read_build(root, site);
    if (root.has("notify")) site.notify_command = root.table("notify").string("command");
    read_users(root, site);
    const fs::path folder = fs::absolute(file).parent_path();
    for (const auto& recipes : root.strings_or("recipes", {})) {
        site.recipes.push_back((folder / recipes).lexically_normal());
    }
    root.string_or("stack", "");  // add_stack
    site.build_unknown = root.boolean_or("build_unknown", false);
    for (const auto& pairs : root.strings_or("version_pairs", {}))
        site.version_pair_files.push_back((folder / pairs).lexically_normal());
    for (const auto& [name, version] : root.string_map("versions")) {
        if (!wheel::Version::parse(version))
            root.report("versions", "expected a version of `" + name + "`, found `" + version + "`");
        site.provided_versions[wheel::normalize_name(name)] = version;
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

std::filesystem::path GovernorSettings::path() const {
    if (!program.empty()) return program;
    std::error_code error;
    return std::filesystem::read_symlink("/proc/self/exe", error).parent_path() / "wheelyard-governor";
}

std::vector<std::string> read_options(io::TomlTable& table) {
    auto options = table.strings_or("options", {});
    for (const auto& option : options) {
        if (!option.starts_with('-') || option.find_first_of("\r\n") != std::string::npos)
            table.report(
                "options",
                "expected one option such as `--qos=standard` or `-l place=excl`, found `" + option + "`");
    }
    return options;
}

void send_to(QueueSettings& jobs, const NodeType& node) {
    if (jobs.queue.empty()) jobs.queue = node.queue;
    jobs.not_asked = node.not_asked;
    jobs.node_options = node.options;
}

void send_from_builds_to(QueueSettings& jobs, const NodeType& node) {
    if (!node.queue.empty()) jobs.queue.clear();
    send_to(jobs, node);
}

const NodeType* Site::build_node_type() const {
    const auto found =
        std::find_if(nodes.begin(), nodes.end(), [&](const NodeType& one) { return one.name == build_node; });
    return build_node.empty() || found == nodes.end() ? nullptr : &*found;
}

const Accelerator* Site::accelerator(std::string_view wanted) const {
    const auto found = std::find_if(accelerators.begin(), accelerators.end(),
                                    [&](const Accelerator& one) { return one.name == wanted; });
    return found == accelerators.end() ? nullptr : &*found;
}

std::string RegistrySettings::promote_url(const std::string& filename) const {
    return url + "/api/v1/indexes/" + index + "/files/" + base::encode_percent(filename) + "/promote";
}

std::string RegistrySettings::with_torch_url(const std::string& filename, const std::string& torch) const {
    return url + "/api/v1/indexes/" + index + "/files/" + base::encode_percent(filename) +
           "/with-torch?torch=" + base::encode_percent(torch);
}

std::string RegistrySettings::source_url(const wire::UploadedSource& source) const {
    return url + "/" + source.index + "/files/" + source.sha256.substr(0, 2) + "/" + source.sha256 + "/" +
           base::encode_percent(source.filename);
}

const PythonChoice* Site::python(std::string_view version) const {
    const auto found = std::find_if(pythons.begin(), pythons.end(),
                                    [&](const PythonChoice& one) { return one.version == version; });
    return found == pythons.end() ? nullptr : &*found;
}

QueueSettings Site::charged(QueueSettings of_jobs, const std::string& package) const {
    const auto own = accounts.find(package);
    if (own != accounts.end() && of_jobs.account == queue.account) of_jobs.account = own->second;
    return of_jobs;
}

void merge_environment(Environment& into, const Environment& more) {
    for (const auto& [name, value] : more) {
        const auto there = std::find_if(into.begin(), into.end(),
                                        [&, &key = name](const auto& row) { return row.first == key; });
        if (there == into.end()) {
            into.emplace_back(name, value);
        } else {
            there->second = value;
        }
    }
}

bool is_environment_name(std::string_view name) {
    if (name.empty() || base::is_ascii_digit(name.front())) return false;
    return std::all_of(name.begin(), name.end(), [](char c) { return base::is_ascii_alnum(c) || c == '_'; });
}

base::Result<Site> read_site(const fs::path& file, const std::string& stack) {
    WHEELYARD_ASSIGN(auto document, io::TomlDocument::read(fs::absolute(file)));  // jobs run in other folders
    WHEELYARD_ASSIGN(const std::string added, add_stack(document, fs::absolute(file), stack));
    auto site = read_document(document, file);
    if (!site && !added.empty() && site.error().advice.empty())
        site.error().advice =
            "look in " + file.string() + ", and in " + added + ", whose keys replace its keys";
    if (!site) return site;
    if (const auto owner = base::other_owner_of(site->state_directory))
        return base::fail("site.other_user",
                          "The state folder belongs to another user, whose links root must not follow",
                          site->state_directory.string(), "run this as " + base::user_name(owner->user));
    site->doctor_rules = std::make_shared<const RuleBook>(rules_beside(file));
    for (const auto& pairs : site->version_pair_files) {
        WHEELYARD_ASSIGN(const auto read, read_version_pairs(pairs));
        site->version_pairs.insert(site->version_pairs.end(), read.begin(), read.end());
    }
    return site;
}

base::Result<Site> parse_site(std::string_view text, const fs::path& file) {
    WHEELYARD_ASSIGN(auto document, io::TomlDocument::parse(text, file));
    return read_document(document, file);
}

}  // namespace wheelyard::builder
