// site.toml: one cluster (or partition of one), its Pythons, its scheduler, and the wheels it should have.
// Every key is described in docs/reference/site.md; a test compares that page with these readers (site.cpp:
// the agent and the matrix; site_machine.cpp: the machine; site_users.cpp: what users get).
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "builder/attempt/limits.hpp"
#include "builder/site/limits.hpp"
#include "lib/base/result.hpp"
#include "lib/wheel/specifier.hpp"

namespace wheelyard::builder {

using Environment = std::vector<std::pair<std::string, std::string>>;  // in the order of rendering

struct RegistrySettings {
    std::string url;    // "http://127.0.0.1:8080", without a slash at the end
    std::string index;  // "debian12"
    std::filesystem::path token_file;
    std::string promote_to = {};  // the index for everybody, once a wheel's tests have passed; empty: none
    std::filesystem::path promote_token_file = {};  // a registry lets nobody promote what they uploaded
    std::string claim_tasks = "no";  // or "recipes": of packages that the site has a recipe for; or "any"
    [[nodiscard]] std::string simple_url() const { return url + "/" + index + "/simple/"; }
    [[nodiscard]] std::string promoted_url() const { return url + "/" + promote_to + "/simple/"; }
    [[nodiscard]] std::string promote_url(const std::string& filename) const;
    [[nodiscard]] std::string upload_url() const { return url + "/" + index + "/legacy/"; }
    [[nodiscard]] std::string parts_url() const { return url + "/" + index + "/uploads/"; }
};

// What every job tells a batch system beside its name and its size.
struct QueueSettings {
    std::string queue;  // Slurm calls it a partition
    std::string account;
    int gpus = 0;                      // of the node that a job runs on
    std::vector<std::string> options;  // each one a line of its own: "--qos=standard", "-l place=excl"
};

// The tests of recipes that this site runs on its machines, and where it sends them; a kind that is absent is
// not run.
struct HardwareTestSettings {
    std::optional<QueueSettings> gpu;
    std::optional<QueueSettings> multi_node;
};

// Whether builds run under wheelyard-governor, and which one.
struct GovernorSettings {
    bool use = true;
    std::filesystem::path program;  // empty: the one beside wheelyard-builder
};

// Where an interpreter comes from: it is simply there, a Conda environment is activated, or a module brings
// it.
struct PythonChoice {
    std::string version;                           // "3.11"
    std::string executable;                        // absolute, or looked up on PATH
    std::string source = "venv";                   // or "conda", "module"
    std::filesystem::path conda = {};              // of conda: the installation's folder
    std::filesystem::path conda_environment = {};  // the environment's folder; the installation itself is one
    std::vector<std::string> modules = {};         // loaded after the site's
};

struct ModuleSettings {
    std::string init;               // a file that defines `module`
    bool purge = false;             // what the login shell loaded
    std::vector<std::string> use;   // folders with modulefiles
    std::vector<std::string> load;  // in this order
};

// Exported as CC, CXX, FC and MPICC; empty: not exported.
struct Compilers {
    std::string c, cxx, fortran, mpi_c;
};

// One way to build for the site's machines.
struct Accelerator {
    std::string name = "cpu";                // in wants and in the plan
    std::string kind = "cpu";                // or "cuda", "rocm"
    std::vector<std::string> architectures;  // "sm_90", "gfx90a"
    std::string label;                       // the local version label of its wheels: "cu123.gh200"
    std::vector<std::string> modules;
    Environment environment;
};

// A kind of machine of the cluster.
struct NodeType {
    std::string name;
    std::string queue;  // or partition
    int cores = 0;
    std::int64_t memory_mib = 0;
    int gpus = 0;
    std::string accelerator;  // of the site's; empty: none
};

// A version that does not work here, whoever asks for it.
struct KnownBad {
    std::string package;  // normalised
    wheel::SpecifierSet versions;
    std::vector<std::string> accelerators;  // of the site's; empty: all
    std::string reason;
    std::string instead;  // a version that works, or empty
};

// Cells that a want leaves out.
struct Exclusion {
    wheel::SpecifierSet versions;
    std::vector<std::string> pythons;       // empty: all
    std::vector<std::string> accelerators;  // empty: all
    std::string reason;
};

// One row of the matrix: package × versions × Pythons × accelerators.
struct Want {
    std::string package;                         // normalised
    std::vector<std::string> versions;           // "3.0.2", "latest", ">=2,<3"
    std::vector<std::string> pythons;            // of the site's; empty in the file means all of them
    std::vector<std::string> accelerators = {};  // of the site's; empty: all that the recipe knows
    std::vector<Exclusion> exclude = {};
    std::vector<std::string> follow_ups = {};  // packages built against each version of this one
};

// What users get: an environment with the wheels, and the files that lead into it.
struct UserSettings {
    std::filesystem::path directory;             // where that environment stands
    std::string module;                          // "pytorch/2.4.0"
    std::vector<std::string> requirements;       // what is installed into it: "torch==2.4.0+cu123.gh200"
    std::string python;                          // of the site's
    std::string accelerator;                     // of the site's
    Environment environment = {};                // for everybody who uses it, as it stands
    std::vector<std::string> library_path = {};  // before LD_LIBRARY_PATH: plugins of NCCL and RCCL
    Environment job_environment = {};            // in jobs; "${NAME}" is the job's
    std::vector<std::string> job_folders = {};   // variables that name a folder of the job's own: caches
    std::string node_local = {};                 // a disk of each node's own, in jobs; empty: none
    std::string launcher = {};                   // of MPI programs; the site's by default
    std::vector<std::string> options = {};       // of jobs, beside the scheduler's
    int nodes = 1;
    int ranks_per_node = 1;
    std::int64_t minutes = 30;
    int master_port = 0;  // 0: worked out of the job's number
};

struct Site {
    std::string name;
    std::string label;                         // of wheels that are the same for every accelerator
    std::optional<RegistrySettings> registry;  // absent: wheels stay in the work folder
    std::filesystem::path state_directory;
    std::filesystem::path work_directory;
    std::int64_t cache_gib = 0;                  // that the sources in it may hold
    std::int64_t trees_gib = default_trees_gib;  // that the build trees may hold that no attempt goes on in
    std::string scheduler_kind = "local";
    QueueSettings queue;  // of slurm and pbs
    HardwareTestSettings hardware_tests;
    int max_jobs = 1;
    int cores = 1;                                      // of one job
    int max_attempts = default_max_attempts;            // of one task, but for the next two
    int max_preemptions = default_max_preemptions;      // of its jobs
    int max_node_failures = default_max_node_failures;  // under its jobs
    std::int64_t memory_mib = 0;      // of one job, at first; 0: whatever the scheduler or the machine gives
    std::int64_t max_memory_mib = 0;  // to which a build that ran out of memory may raise it
    std::int64_t minutes = 0;         // of one job, at first; 0: max_walltime_minutes
    std::int64_t max_walltime_minutes = 0;  // of one job, then it is ended; 0: no limit
    GovernorSettings governor;
    std::vector<PythonChoice> pythons;
    std::vector<std::filesystem::path> recipes;
    ModuleSettings modules;
    Compilers compilers;
    Environment environment;
    bool offline_jobs = false;                           // the machines that jobs run on reach no index
    std::int64_t login_minutes = default_login_minutes;  // of one step on the login node
    Environment proxies;                                 // http_proxy and its like, without passwords
    std::string temporary;  // node-local scratch for TMPDIR; "${NAME}" is the job's
    std::string launcher;   // starts MPI programs: "srun --nodes={nodes} --ntasks={ranks}"
    std::vector<Accelerator> accelerators = {Accelerator()};
    std::vector<NodeType> nodes;
    std::string build_node;                         // the node type that builds run on; empty: not said
    std::vector<std::string> search_path_prefixes;  // that RPATH may name: the module tree
    std::vector<KnownBad> known_bad;
    std::vector<Want> wants;
    std::optional<UserSettings> users;

    [[nodiscard]] const Accelerator* accelerator(std::string_view name) const;
    [[nodiscard]] const PythonChoice* python(std::string_view version) const;
};

// Errors: those of io::TomlDocument; every problem of the file is named at once.
[[nodiscard]] base::Result<Site> read_site(const std::filesystem::path& file);
[[nodiscard]] base::Result<Site> parse_site(std::string_view text, const std::filesystem::path& file);

// The node type that users' jobs run on: the first with their accelerator.
[[nodiscard]] const NodeType* node_of_users(const Site& site, const UserSettings& users);

// `more` over `into`: a name that is there keeps its place.
void merge_environment(Environment& into, const Environment& more);

// Whether `name` may be an environment variable in a rendered script.
[[nodiscard]] bool is_environment_name(std::string_view name);

}  // namespace wheelyard::builder
