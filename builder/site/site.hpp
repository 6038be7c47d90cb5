// site.toml: one cluster (or partition of one), its Pythons, its scheduler, and the wheels it wants. Each key
// is a row: in site.cpp (the agent and the matrix), site_machine.cpp (the machine) or site_users.cpp (the
// files for users). The rows read the file, and the table of docs/reference/site.md is generated from them.
#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "builder/attempt/attempt.hpp"
#include "builder/attempt/limits.hpp"
#include "builder/doctor/rule_book.hpp"
#include "builder/schedule/scheduler_kind.hpp"
#include "builder/site/limits.hpp"
#include "builder/site/version_pairs.hpp"
#include "lib/base/result.hpp"
#include "lib/base/text/words.hpp"
#include "lib/wheel/specifier.hpp"
#include "lib/wheel/variant.hpp"
#include "lib/wire/task.hpp"

namespace wheelyard::builder {

using Environment = std::vector<std::pair<std::string, std::string>>;  // in the order of the script

// Where each key was set: "scheduler.memory_mib" → "/etc/site.toml:31:1". Advice names the place of the key
// that decides.
using KeyPlaces = std::map<std::string, std::string>;

struct RegistrySettings {
    std::string url;    // "http://127.0.0.1:8080", without a trailing slash
    std::string index;  // "debian12"
    std::filesystem::path token_file;
    std::string promote_to = {};  // the index that a wheel is promoted to once its tests pass; empty: none
    std::filesystem::path promote_token_file = {};  // a second token: nobody may promote their own uploads
    std::string variants_to = {};  // the index that gets each wheel as a wheel variant, too; empty: none
    // Which tasks of the registry's queue the agent claims: "no", "recipes" (packages with a recipe), "any".
    std::string claim_tasks = "no";
    // What ticks report to the registry: "all", "no_logs", "no" (docs/reference/site-status.md).
    std::string report = "all";
    [[nodiscard]] std::string simple_url() const { return url + "/" + index + "/simple/"; }
    [[nodiscard]] std::string promoted_url() const { return url + "/" + promote_to + "/simple/"; }
    // The index that users install from: of tested wheels, if wheels are promoted.
    [[nodiscard]] std::string users_url() const { return promote_to.empty() ? simple_url() : promoted_url(); }
    [[nodiscard]] std::string promote_url(const std::string& filename) const;
    [[nodiscard]] std::string with_torch_url(const std::string& filename, const std::string& torch) const;
    [[nodiscard]] std::string source_url(const wire::UploadedSource& source) const;
    [[nodiscard]] std::string upload_url() const { return url + "/" + index + "/legacy/"; }
    [[nodiscard]] std::string parts_url() const { return url + "/" + index + "/uploads/"; }
};

// The kinds of hardware tests that this site runs, and the queue for each; an absent kind is not run.
struct HardwareTestSettings {
    std::optional<QueueSettings> gpu;
    std::optional<QueueSettings> multi_node;
};

// Where HOME of a build lies: in its tree, or where it is on the machine.
enum class BuildHome { own, user };
inline constexpr auto build_homes =
    base::words<BuildHome>({{BuildHome::own, "own"}, {BuildHome::user, "user"}});

// Says whether builds run under wheelyard-governor, and which program that is.
struct GovernorSettings {
    bool use = true;
    std::filesystem::path program;  // empty: in the same folder as wheelyard-builder
    [[nodiscard]] std::filesystem::path path() const;
};

inline constexpr std::int64_t default_upload_memory_mib = 8192, default_upload_disk_gib = 20,
                              default_upload_shm_mib = 512, default_upload_idle_s = 1800;

// How builds of uploaded sources are separated from the agent: in a namespace of bubblewrap, which sees the
// system, these folders and its own; and what they may use.
struct UploadedSources {
    std::filesystem::path bubblewrap;  // the program
    std::vector<std::filesystem::path> readable = {};
    std::int64_t processes = 0;                           // and threads; 0: by the cores of a job
    std::int64_t memory_mib = default_upload_memory_mib;  // where the job has no limit of its own
    std::int64_t disk_gib = default_upload_disk_gib;      // all that an attempt writes
    std::int64_t shm_mib = default_upload_shm_mib;        // of /dev/shm
    std::int64_t idle_s = default_upload_idle_s;          // without output and CPU
};

// Where an interpreter comes from: installed, in a Conda environment, or provided by a module.
struct PythonChoice {
    std::string version;                           // "3.11"
    std::string executable;                        // absolute, or searched on PATH
    std::string source = "venv";                   // or "conda", "module"
    std::filesystem::path conda = {};              // conda: the folder of the installation
    std::filesystem::path conda_environment = {};  // conda: the environment; default: the installation's
    std::vector<std::string> modules = {};         // loaded after the modules of the site
};

struct ModuleSettings {
    std::string init;               // a file to source that defines `module`
    bool purge = false;             // run `module purge` first
    std::vector<std::string> use;   // folders of modulefiles, for `module use`
    std::vector<std::string> load;  // loaded in this order
    Environment environment = {};   // exported before that: modulefiles read it
};

// Exported as CC, CXX, FC and MPICC; empty: not exported.
struct Compilers {
    std::string c, cxx, fortran, mpi_c;
};

// One target that the site builds for. (cpu is one too.)
struct Accelerator {
    std::string name = "cpu";                // as named in [[want]] and in the plan
    std::string kind = "cpu";                // or a row of lib/accelerator: "cuda", "rocm"
    std::vector<std::string> architectures;  // "sm_90", "gfx90a"
    std::string label;                       // the local version label of its wheels: "cu123.gh200"
    std::vector<std::string> modules;
    Environment environment;
    // What its wheel variants (PEP 825) declare; absent: it has none.
    std::optional<wheel::LabelledVariant> variant = {};
};

struct NodeType {
    std::string name;
    std::string queue;  // Slurm: partition
    int cores = 0;
    std::int64_t memory_mib = 0;
    int gpus = 0;
    std::string accelerator;                // a name of the site's; empty: none
    std::string machine = {};               // "aarch64"; empty: that of the agent's host
    std::string glibc = {};                 // "2.34"; empty: that of the site's Pythons
    bool exclusive = false;                 // a job has its nodes alone, and is charged for all of them
    std::int64_t memory_per_core_mib = 0;   // that a job gets which asks for no memory; 0: not known
    std::vector<JobPart> not_asked = {};    // QueueSettings::not_asked of its jobs
    std::vector<std::string> chunk = {};    // QueueSettings::chunk of its jobs
    std::vector<std::string> options = {};  // of its jobs: what they ask instead
};

// A version that is known not to work here; it is never built.
struct KnownBad {
    std::string package;  // normalised
    wheel::SpecifierSet versions;
    std::vector<std::string> accelerators;  // names of the site's; empty: all
    std::string reason;
    std::string instead;  // a version that works; empty: none known
};

// Combinations that a want leaves out.
struct Exclusion {
    wheel::SpecifierSet versions;
    std::vector<std::string> pythons;       // empty: all
    std::vector<std::string> accelerators;  // empty: all
    std::string reason;
};

// How much of what a want needs is built here, too: nothing; what has platform wheels, or no pure one;
// everything.
enum class ClosureMode { none, compiled, source };
inline constexpr auto closure_modes = base::words<ClosureMode>(
    {{ClosureMode::none, "none"}, {ClosureMode::compiled, "compiled"}, {ClosureMode::source, "source"}});

// A release of a closure as a want of its own.
struct ClosureNeed {
    std::string package;
    std::string version;
    bool to_build = false;  // else to run
};
struct ClosureWant {
    std::string why = {};                  // "needed by pandas 3.1.1, to build"; of the want itself empty
    std::string problem = {};              // why it cannot be had, or empty
    bool is_unresolved = false;            // its closure is not known yet, or (problem) could not be resolved
    std::vector<ClosureNeed> after = {};   // what the index has to have first
    std::optional<ClosurePart> part = {};  // nullopt: built as without a closure
    bool is_upstreams_wheel = false;       // an upstream's wheel, though the closure builds such ones
};

// One row of the matrix: package × versions × Pythons × accelerators.
struct Want {
    std::string package;                         // normalised
    std::vector<std::string> versions;           // "3.0.2", "latest", ">=2,<3"
    std::vector<std::string> pythons;            // as in [[python]]; absent in the file: all of them
    std::vector<std::string> accelerators = {};  // names of the site's; empty: all that the recipe supports
    std::vector<Exclusion> exclude = {};
    std::vector<std::string> follow_ups = {};           // packages to build against each version of this one
    bool for_task = false;                              // a registry's task asks for it, not the site file
    std::optional<wire::UploadedSource> uploaded = {};  // of a registry's task: built from this file
    // "upstream", or the URL of a Simple index: its wheels are taken from there and not built. Empty: as the
    // recipe says.
    std::string from = {};
    ClosureMode closure = ClosureMode::none;
    std::optional<ClosureWant> of_closure = {};  // of a release of a closure
};

// The environment that users get: where it is installed, and the settings of the files that load it.
struct UserSettings {
    std::filesystem::path directory;         // the environment's folder
    std::string module;                      // "pytorch/2.4.0"
    std::vector<std::string> requirements;   // to install: "torch==2.4.0+cu123.gh200"
    std::vector<std::string> packages = {};  // beside these, from the index that pip uses: "h5py"
    std::string python;                      // the version of one [[python]]
    std::vector<std::string> python_modules =
        {};                        // of another Python of this version; empty: that [[python]]
    std::string accelerator;       // the name of one [[accelerator]]
    Environment environment = {};  // set by the module; values are literal
    // Prepended to LD_LIBRARY_PATH: folders with plugins of NCCL and RCCL, "${NAME}" of a variable that a
    // module sets.
    std::vector<std::string> library_path = {};
    Environment job_environment = {};           // set in jobs; the job expands "${NAME}"
    std::vector<std::string> job_folders = {};  // variables set to a private folder per job: caches
    std::string node_local = {};                // a local disk of each node, in jobs; empty: none
    std::string launcher = {};                  // starts MPI programs; default: the site's
    std::vector<std::string> options = {};      // of jobs, in addition to the scheduler's
    int nodes = 1;
    int ranks_per_node = 1;
    int cores_per_rank = 0;       // 0: not asked for
    std::int64_t memory_mib = 0;  // of a node; 0: not asked for
    std::int64_t minutes = 30;
    int master_port = 0;              // 0: derived from the job's number
    std::string master_address = {};  // a command that prints it on the first node; empty: that node's name
    std::vector<std::string> libtorch_options = {};  // of CMake, for libtorch/build; it expands "${NAME}"
    std::vector<std::string> advice = {};            // lines of README.md and of the module's help
    std::vector<std::string> job_comments = {};      // lines of job.sh: choices that are off by default
};

struct Site {
    std::string name;
    std::string label;                                 // of wheels that are the same for every accelerator
    std::int64_t tick_minutes = default_tick_minutes;  // how often cron starts a tick
    std::optional<RegistrySettings> registry;          // absent: wheels stay in the work folder
    std::filesystem::path state_directory;
    std::filesystem::path work_directory;
    std::int64_t cache_gib = default_cache_gib;  // limit of the source cache
    std::int64_t trees_gib = default_trees_gib;  // limit of the build trees that no attempt uses
    std::int64_t compiler_cache_gib = 0;         // limit of the site's ccache; 0: none
    const SchedulerKind* scheduler = scheduler_kinds().front();
    QueueSettings queue;  // of a batch system only
    std::map<std::string, std::string> accounts =
        {};  // package → the account of its jobs, in place of queue.account
    HardwareTestSettings hardware_tests;
    int max_jobs = 1;
    int cores = 1;                                      // per job
    int max_attempts = default_max_attempts;            // per cell, not counting the next two kinds
    int max_preemptions = default_max_preemptions;      // per cell
    int max_node_failures = default_max_node_failures;  // per cell
    std::int64_t memory_mib = 0;            // of a job's first attempt; 0: the scheduler's default
    std::int64_t max_memory_mib = 0;        // limit for retries of a build that ran out of memory
    std::int64_t minutes = 0;               // of a job's first attempt; 0: max_walltime_minutes
    std::int64_t max_walltime_minutes = 0;  // a job is stopped after this time; 0: no limit
    GovernorSettings governor;
    BuildHome build_home = BuildHome::own;
    std::string notify_command = {};  // for /bin/sh; empty: no notices
    std::optional<UploadedSources> uploaded_sources =
        {};  // absent: tasks with uploaded sources are not claimed
    std::vector<PythonChoice> pythons;
    std::vector<std::filesystem::path> recipes;
    std::string stack = {};  // the file beside the site's whose keys replaced its own, as the key says it
    std::vector<std::filesystem::path> version_pair_files = {};
    bool build_unknown = false;                   // builds what no row of version_pairs covers
    std::vector<VersionPair> version_pairs = {};  // of these files; read_site reads them, parse_site does not
    // Versions of what the machine provides without a module: "libfabric" → "1.15.2".
    std::map<std::string, std::string> provided_versions = {};
    ModuleSettings modules;
    Compilers compilers;
    Environment environment;
    bool offline_jobs = false;                           // the jobs' machines have no network access
    std::int64_t login_minutes = default_login_minutes;  // limit of one step on the login node
    Environment proxies;                                 // http_proxy and similar, without passwords
    std::string temporary;  // TMPDIR of jobs, a node-local folder; the job expands "${NAME}"
    std::string launcher;   // starts MPI programs: "srun --nodes={nodes} --ntasks={ranks}"
    std::vector<Accelerator> accelerators = {Accelerator()};
    std::vector<NodeType> nodes;
    std::string build_node;                         // the node type that builds run on; empty: not specified
    std::vector<std::string> search_path_prefixes;  // that RPATH may contain: the module tree
    std::vector<KnownBad> known_bad;
    std::vector<Want> wants;
    std::optional<UserSettings> users;
    KeyPlaces places = {};  // of the keys that size jobs, and of those of the node types: "node.gh.cores"
    // Of doctor.d beside the file, and ours; read_site names the folder, parse_site does not.
    std::shared_ptr<const RuleBook> doctor_rules = RuleBook::ours();
    std::filesystem::path file = {};  // absolute, for commands that a person can paste; empty: from no file

    [[nodiscard]] const NodeType* build_node_type() const;  // null: not specified
    [[nodiscard]] const Accelerator* accelerator(std::string_view name) const;
    [[nodiscard]] const PythonChoice* python(std::string_view version) const;
    // The settings of a package's jobs: charged to its own account, if it has one and `of_jobs` names the
    // site's.
    [[nodiscard]] QueueSettings charged(QueueSettings of_jobs, const std::string& package) const;
};

// Errors: those of io::TomlDocument; one error names every problem of the file. `stack` replaces the key of
// this name.
[[nodiscard]] base::Result<Site> read_site(const std::filesystem::path& file, const std::string& stack = {});
[[nodiscard]] base::Result<Site> parse_site(std::string_view text, const std::filesystem::path& file);

// Lines of the table in docs/reference/site.md: each key with its type and its default.
[[nodiscard]] std::string document_site_keys();

// The name in "${NAME}" of UserSettings::library_path; empty: it is a folder.
[[nodiscard]] std::string path_variable(std::string_view entry);

// The environment of this process, with the batch system's variable that names the site's `cluster`.
[[nodiscard]] EnvironmentMap agent_environment(const Site& site);

// Sends jobs to nodes of this type: to its queue, where they name none, and by what it permits.
void send_to(QueueSettings& jobs, const NodeType& node);
// The same for jobs that have the settings of builds: those of another node type do not hold.
void send_from_builds_to(QueueSettings& jobs, const NodeType& node);

// The node type that users' jobs run on: the first one with their accelerator.
[[nodiscard]] const NodeType* node_of_users(const Site& site, const UserSettings& users);

// Overrides and appends the variables of `more` in `into`; an overridden variable keeps its position.
void merge_environment(Environment& into, const Environment& more);

// Says whether `name` is valid as an environment variable in a job script.
[[nodiscard]] bool is_environment_name(std::string_view name);

}  // namespace wheelyard::builder
