// The rows of site.toml, the rules that concern several of its keys, and its reader.
#include "builder/site/site.hpp"

#include <algorithm>
#include <cstdint>
#include <functional>

#include "builder/attempt/limits.hpp"
#include "builder/site/limits.hpp"
#include "builder/site/site_parts.hpp"
#include "lib/base/process/process.hpp"
#include "lib/base/process/user.hpp"
#include "lib/base/text/encoding.hpp"

namespace wheelyard::builder {
namespace {

using io::key;
using io::must;
using io::parsed;
using io::table;
using io::word;

constexpr std::string_view directive_form = "a name without spaces, quotes and `%`";

constexpr std::int64_t max_tick_minutes = 60;  // the field of minutes of a cron line
constexpr std::int64_t max_cache_gib = 1024 * 1024;

namespace fs = std::filesystem;

bool is_site_name(std::string_view text) {
    return !text.empty() && text.size() <= 64 && base::is_ascii_alnum(text.front()) &&
           std::all_of(text.begin(), text.end(), [](char c) {
               return base::is_ascii_digit(c) || (c >= 'a' && c <= 'z') || c == '-' || c == '_' || c == '.';
           });
}

std::string version_choice_fault(const std::string& text) {
    if (text == "latest" || is_version(text) || wheel::SpecifierSet::parse(text)) return "";
    const auto near = base::nearest(text, {"latest"});
    return "expected a version, `latest` or a specifier such as `>=2,<3`, found `" + text + "`" +
           (near ? "; did you mean `" + *near + "`?" : "");
}

std::string origin_fault(const std::string& text) {
    if (text != "upstream" && !base::parse_url(text))
        return "expected `upstream` or the URL of a Simple index, found `" + text + "`";
    return has_password(text) ? password_fault : "";
}

// Says whether `text` can be part of a directive line ("#SBATCH", "#PBS") without quoting.
bool fits_into_a_directive(std::string_view text) {
    return text.find_first_of(" \t\r\n%\"'\\") == std::string_view::npos;
}

bool is_web(const std::string& text) {
    const auto url = base::parse_url(text);
    return url && (url->scheme == "http" || url->scheme == "https");
}

std::string registry_fault(const std::string& url) {
    if (!is_web(url)) return "expected an http or https URL, found `" + url + "`";
    return has_password(url) ? "the URL contains a password; put the token into `token_file`" : "";
}

std::string without_slashes(std::string url) {
    while (url.ends_with('/'))
        url.pop_back();
    return url;
}

bool promotes(const RegistrySettings& registry) {
    return !registry.promote_to.empty();
}

io::TomlRows<RegistrySettings> registry_rows() {
    using R = RegistrySettings;
    const auto index_name = must(is_site_name, "an index name such as `debian12`");
    return {
        key("url", &R::url,
            {.type = "URL", .is_required = true, .check = registry_fault, .normal = without_slashes}),
        key("index", &R::index, {.is_required = true, .check = index_name}),
        key("token_file", &R::token_file, {.is_required = true}),
        key("promote_to", &R::promote_to, {.check = index_name}),
        key("promote_token_file", &R::promote_token_file,
            {.fallback = "required with `promote_to`", .is_required = true})
            .when(promotes),
        key("variants_to", &R::variants_to, {.check = index_name}),
        key("claim_tasks", &R::claim_tasks, {.choices = {"no", "recipes", "any"}}),
        key("report", &R::report, {.choices = {"all", "no_logs", "no"}}),
    };
}

void check_registry(io::TomlTable table, const Site& site) {
    const RegistrySettings& registry = *site.registry;
    if (!registry.promote_to.empty() && registry.promote_to == registry.index)
        table.report("promote_to", "the same as `index`, to which wheels are already published");
    if (registry.variants_to.empty()) return;
    if (registry.variants_to == registry.index || registry.variants_to == registry.promote_to)
        table.report("variants_to",
                     "an index of wheels with a local version, which installers prefer to every variant: "
                     "variants need an index of their own");
    if (std::none_of(site.accelerators.begin(), site.accelerators.end(),
                     [](const Accelerator& one) { return one.variant.has_value(); }))
        table.report(
            "variants_to",
            "no [[accelerator]] has a table [accelerator.variant], which says what its variants declare");
}

// Of one kind of jobs. Each batch system names its queues by a key of its own.
io::TomlRows<QueueSettings> queue_rows() {
    using Q = QueueSettings;
    const auto name = must(fits_into_a_directive, directive_form);
    io::TomlRows<Q> rows{
        key("account", &Q::account, {.check = name}),
        key("options", &Q::options, {.check = must(is_option, option_form)}),
    };
    for (const SchedulerKind* kind : scheduler_kinds()) {
        if (kind->batch)
            rows.add({key(std::string(kind->batch->queue_key), &Q::queue,
                          {.fallback = "that of the nodes", .check = name})});
    }
    return rows;
}

// What only batch systems have, or only another one.
void check_queue_keys(io::TomlTable& table, const Site& site) {
    const auto& batch = site.scheduler->batch;
    for (const std::string& name : table.keys()) {
        const auto kinds = scheduler_kinds();
        const bool is_queue = std::any_of(kinds.begin(), kinds.end(), [&](const SchedulerKind* kind) {
            return kind->batch && kind->batch->queue_key == name;
        });
        const bool is_of_batch = is_queue || name == "account" || name == "accounts" || name == "options" ||
                                 name == "gpus" || name == "cluster";
        if (batch && name == "cluster" && batch->cluster_variable.empty())
            table.report(name, "jobs of `kind = \"" + std::string(site.scheduler->name) +
                                   "\"` name no other cluster; leave it off");
        else if (batch ? is_queue && batch->queue_key != name : is_of_batch)
            table.report(name, "unknown key `" + name + "` of `kind = \"" +
                                   std::string(site.scheduler->name) + "\"`" +
                                   (batch ? "; did you mean `" + std::string(batch->queue_key) + "`?" : ""));
    }
}

std::optional<const SchedulerKind*> kind_named(const std::string& name) {
    const SchedulerKind* kind = find_scheduler_kind(name);
    return kind == nullptr ? std::nullopt : std::optional(kind);
}

// `of`: the member of an item that is its name.
template <typename Items, typename Name>
std::vector<std::string> names_of(const Items& items, Name of) {
    std::vector<std::string> names;
    for (const auto& item : items)
        names.emplace_back(std::invoke(of, item));
    return names;
}

// Checks that jobs fit the node type that they are sent to.
void check_build_node(io::TomlTable& table, Site& site) {
    if (site.build_node.empty()) return;
    const NodeType* node = site.build_node_type();
    if (node == nullptr) {
        const auto near = base::nearest(site.build_node, names_of(site.nodes, &NodeType::name));
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

void check_scheduler(io::TomlTable table, Site& site) {
    check_queue_keys(table, site);
    note_places(table, "scheduler.", site.places);
    if (site.scheduler->batch && !fits_into_a_directive(site.work_directory.native()))
        table.report("kind",
                     "batch systems accept no spaces, quotes or `%` in the path of the work folder: `" +
                         site.work_directory.string() + "`");
    if (!table.has("max_memory_mib")) site.max_memory_mib = site.memory_mib;
    if (site.max_memory_mib < site.memory_mib)
        table.report("max_memory_mib", "less than memory_mib = " + std::to_string(site.memory_mib));
    if (!table.has("max_walltime_minutes"))
        site.max_walltime_minutes = site.scheduler->batch ? site.minutes : default_max_walltime_minutes;
    check_build_node(table, site);
}

// A cluster that an option names gets the jobs, but no question about them.
void check_options(io::TomlTable table, const std::vector<std::string>& options, const Site& site) {
    if (!site.scheduler->batch) return;
    for (const std::string_view refused : site.scheduler->batch->cluster_options) {
        for (const std::string& option : options) {
            if (!option.starts_with(refused)) continue;
            const std::string_view rest = std::string_view(option).substr(refused.size());
            const bool is_longer_word =
                refused.starts_with("--") && !rest.empty() && rest[0] != '=' && rest[0] != ' ';
            if (!is_longer_word)
                table.report("options", "`" + option +
                                            "` sends jobs to a cluster that is not asked about them; "
                                            "name it with `cluster` in `[scheduler]`");
        }
    }
}

void check_all_options(io::TomlTable& root, const Site& site) {
    check_options(root.table_or_empty("scheduler"), site.queue.options, site);
    io::TomlTable tests = root.table_or_empty("hardware_tests");
    if (const auto& gpu = site.hardware_tests.gpu) check_options(tests.table("gpu"), gpu->options, site);
    if (const auto& several = site.hardware_tests.multi_node)
        check_options(tests.table("multi_node"), several->options, site);
    if (site.users) check_options(root.table("users"), site.users->options, site);
    const bool has_chunks = site.scheduler->batch && site.scheduler->batch->has_chunks;
    std::size_t at = 0;
    for (io::TomlTable& node : root.tables("node")) {
        const NodeType& type = site.nodes[at++];
        check_options(node, type.options, site);
        if (!type.chunk.empty() && !has_chunks)
            node.report("chunk", "jobs of `kind = \"" + std::string(site.scheduler->name) +
                                     "\"` have no chunks; name what they ask for in `options`");
    }
}

void check_hardware_tests(io::TomlTable kinds, Site& site) {
    for (const std::string kind : {"gpu", "multi_node"}) {
        if (!kinds.has(kind)) continue;
        io::TomlTable table = kinds.table_or_empty(kind);
        check_queue_keys(table, site);
        note_places(table, "hardware_tests." + kind + ".", site.places);
        if (!site.registry) kinds.report(kind, "hardware tests install wheels from an index; add [registry]");
    }
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

void check_want(io::TomlTable& table, Want& want, Site& site) {
    const auto pythons = names_of(site.pythons, &PythonChoice::version);
    if (!table.has("versions")) want.versions = {"latest"};
    if (!table.has("pythons")) want.pythons = pythons;
    check_names(table, "pythons", want.pythons, pythons, "Python");
    const auto accelerators = names_of(site.accelerators, &Accelerator::name);
    check_names(table, "accelerators", want.accelerators, accelerators, "accelerator");
    for (io::TomlTable exclusion : table.tables("exclude")) {
        check_names(exclusion, "pythons", exclusion.strings_or("pythons", {}), pythons, "Python");
        check_names(exclusion, "accelerators", exclusion.strings_or("accelerators", {}), accelerators,
                    "accelerator");
    }
    if (want.closure != ClosureMode::none && !site.registry)
        table.report("closure", "builds install from the index that they fill; add [registry]");
    // One recipe serves all wants of a package.
    if (std::any_of(site.wants.begin(), site.wants.end(),
                    [&](const Want& one) { return one.package == want.package && one.from != want.from; }))
        table.report("from", "another [[want]] of `" + want.package +
                                 "` says otherwise: name the versions in an [[override]] of its recipe");
}

io::TomlRows<Want> want_rows() {
    using W = Want;
    using E = Exclusion;
    return {
        key("package", &W::package, project_facts(true)),
        key("versions", &W::versions, {.fallback = "`[\"latest\"]`", .check = version_choice_fault}),
        key("pythons", &W::pythons, {.fallback = "all of them"}),
        key("accelerators", &W::accelerators, {.fallback = "all that the recipe supports"}),
        key("follow_ups", &W::follow_ups, project_facts(false)),
        key("from", &W::from,
            {.type = "`upstream` or URL", .fallback = "none: as the recipe says", .check = origin_fault}),
        word<closure_modes>("closure", &W::closure),
        table("exclude", &W::exclude,
              {
                  versions_key(&E::versions),
                  key("pythons", &E::pythons, {.fallback = "all"}),
                  key("accelerators", &E::accelerators, {.fallback = "all"}),
                  key("reason", &E::reason, {.is_required = true}),
              }),
    };
}

void check_known_bad(io::TomlTable& table, KnownBad& bad, Site& site) {
    check_names(table, "accelerators", bad.accelerators, names_of(site.accelerators, &Accelerator::name),
                "accelerator");
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

// Tables by key, anything else as a whole.
io::Json replaced(io::Json below, const io::Json& above) {
    if (below.as_object() == nullptr || above.as_object() == nullptr) return above;
    for (const auto& [key, value] : *above.as_object()) {
        const io::Json* there = below.find(key);
        below.set(key, there == nullptr ? value : replaced(*there, value));
    }
    return below;
}

// `stack = "today.toml"`: the keys of this file beside site.toml replace those of site.toml. Problems then
// begin with a key's path instead of file and line. Returns the name of this file; empty: there is none.
base::Result<std::string> add_stack(io::TomlDocument& document, const fs::path& file,
                                    const std::string& chosen) {
    const io::Json below = document.json();
    std::string name = chosen.empty() ? below.string_or("stack", "") : chosen;
    if (name.empty()) return name;
    WHEELYARD_ASSIGN(const auto stack, io::TomlDocument::read(file.parent_path() / name));
    document = io::TomlDocument::of_json(replaced(below, stack.json()), file);
    return name;
}

void check_site(io::TomlTable& root, Site& site) {
    if (site.accelerators.empty()) site.accelerators = {Accelerator()};
    if (site.pythons.empty()) root.report("python", "expected at least one [[python]] table");
    if (site.registry) check_registry(root.table("registry"), site);
    check_scheduler(root.table_or_empty("scheduler"), site);
    check_hardware_tests(root.table_or_empty("hardware_tests"), site);
    if (site.users) check_users(root.table("users"), site);
    check_replacements(root, site);
    check_all_options(root, site);
}

io::TomlRows<Site> job_rows() {
    using S = Site;
    using H = HardwareTestSettings;
    io::TomlRows<QueueSettings> of_builds = queue_rows();
    of_builds.add(
        {key("cluster", &QueueSettings::cluster,
             {.fallback = "that of this machine", .check = must(fits_into_a_directive, directive_form)}),
         key("gpus", &QueueSettings::gpus, {.range = {0, 64}})});
    return {
        table("scheduler", &S::queue, of_builds),
        parsed<kind_named>(
            "scheduler.kind", &S::scheduler, "",
            {.fallback = "`local`", .choices = names_of(scheduler_kinds(), &SchedulerKind::name)}),
        key("scheduler.accounts", &S::accounts,
            {.check = must(fits_into_a_directive, directive_form), .normal_name = wheel::normalize_name}),
        key("scheduler.node", &S::build_node),
        key("scheduler.max_jobs", &S::max_jobs, {.range = {1, 1000}}),
        key("scheduler.cores", &S::cores, {.range = {1, 4096}}),
        key("scheduler.memory_mib", &S::memory_mib, {.range = {0, max_memory_mib}}),
        key("scheduler.max_memory_mib", &S::max_memory_mib,
            {.fallback = "`memory_mib`", .range = {0, max_memory_mib}}),
        key("scheduler.minutes", &S::minutes,
            {.fallback = "`max_walltime_minutes`", .range = {0, max_walltime_minutes_limit}}),
        key("scheduler.max_walltime_minutes", &S::max_walltime_minutes,
            {.fallback = "`local`: 1440, else `minutes`", .range = {0, max_walltime_minutes_limit}}),
        key("scheduler.max_attempts", &S::max_attempts, {.range = {1, 10}}),
        key("scheduler.max_preemptions", &S::max_preemptions, {.range = {1, 1000}}),
        key("scheduler.max_node_failures", &S::max_node_failures, {.range = {1, 100}}),
        table("hardware_tests", &S::hardware_tests,
              {
                  table("gpu", &H::gpu, queue_rows()),
                  table("multi_node", &H::multi_node, queue_rows()),
              }),
        table("governor", &S::governor,
              {
                  key("use", &GovernorSettings::use),
                  key("program", &GovernorSettings::program, {.fallback = "next to `wheelyard-builder`"}),
              }),
        word<build_homes>("build.home", &S::build_home),
        key("notify.command", &S::notify_command,
            {.fallback = "required in `[notify]`", .is_required = true, .is_of_table = true}),
    };
}

const io::TomlRows<Site>& site_rows() {
    using S = Site;
    using K = KnownBad;
    static const io::TomlRows<S> all = [] {
        io::TomlRows<S> rows{
            io::config_version<S>(),
            key("name", &S::name,
                {.is_required = true,
                 .check =
                     must(is_site_name, "a site name such as `bede-gh200` (lower case, digits, - _ .)")}),
            key("recipes", &S::recipes, {.type = "list of folders"}),
            key("version_pairs", &S::version_pair_files, {.type = "list of files"}),
            key("stack", &S::stack, {.type = "file"}),
            key("build_unknown", &S::build_unknown),
            table("registry", &S::registry, registry_rows()),
            key("agent.tick_minutes", &S::tick_minutes, {.range = {1, max_tick_minutes}}),
            key("state.directory", &S::state_directory, {.is_required = true}),
            key("work.directory", &S::work_directory, {.is_required = true}),
            key("work.cache_gib", &S::cache_gib, {.range = {1, max_cache_gib}}),
            key("work.trees_gib", &S::trees_gib, {.range = {0, max_cache_gib}}),
            key("work.compiler_cache_gib", &S::compiler_cache_gib, {.range = {0, max_cache_gib}}),
            key("work.temporary", &S::temporary, {.fallback = "the job's"}),
        };
        rows.add(machine_rows());
        rows.add(job_rows());
        rows.add({
            table("users", &S::users, user_rows()),
            table("want", &S::wants, want_rows(), {}, check_want),
            table(
                "known_bad", &S::known_bad,
                {
                    key("package", &K::package, project_facts(true)),
                    versions_key(&K::versions),
                    key("accelerators", &K::accelerators, {.fallback = "all"}),
                    key("reason", &K::reason, {.is_required = true}),
                    key("instead", &K::instead, {.type = "version", .check = must(is_version, "a version")}),
                },
                {}, check_known_bad),
        });
        return rows;
    }();
    return all;
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
    site_rows().read(root, site);
    check_site(root, site);
    WHEELYARD_TRY(document.finish());
    return site;
}

}  // namespace

std::string document_site_keys() {
    return site_rows().document();
}

std::filesystem::path GovernorSettings::path() const {
    if (!program.empty()) return program;
    std::error_code error;
    return std::filesystem::read_symlink("/proc/self/exe", error).parent_path() / "wheelyard-governor";
}

void note_places(const io::TomlTable& table, const std::string& section, KeyPlaces& places) {
    for (const std::string& key : table.keys())
        places[section + key] = table.place(key);
}

EnvironmentMap agent_environment(const Site& site) {
    EnvironmentMap environment = base::current_environment();
    if (!site.queue.cluster.empty())
        environment.insert_or_assign(std::string(site.scheduler->batch->cluster_variable),
                                     site.queue.cluster);
    return environment;
}

void send_to(QueueSettings& jobs, const NodeType& node) {
    if (jobs.queue.empty()) jobs.queue = node.queue;
    jobs.not_asked = node.not_asked;
    jobs.node_options = node.options;
    jobs.chunk = node.chunk;
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
