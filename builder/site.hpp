// site.toml: one cluster (or partition of one), its Pythons, its scheduler, and the wheels it should have.
// Every key is described in docs/formats/site.md; a test compares that page with this reader.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "lib/base/result.hpp"

namespace wheelyard::builder {

using Environment = std::vector<std::pair<std::string, std::string>>;  // in the order of rendering

struct RegistrySettings {
    std::string url;    // "http://127.0.0.1:8080", without a slash at the end
    std::string index;  // "debian12"
    std::filesystem::path token_file;
    [[nodiscard]] std::string simple_url() const { return url + "/" + index + "/simple/"; }
    [[nodiscard]] std::string upload_url() const { return url + "/" + index + "/legacy/"; }
};

// What every job tells a batch system beside its name and its size.
struct QueueSettings {
    std::string queue;  // Slurm calls it a partition
    std::string account;
    std::vector<std::string> options;  // each one a line of its own: "--qos=standard", "-l place=excl"
};

// Whether builds run under wheelyard-governor, and which one.
struct GovernorSettings {
    bool use = true;
    std::filesystem::path program;  // empty: the one beside wheelyard-builder
};

struct PythonChoice {
    std::string version;     // "3.11"
    std::string executable;  // absolute, or looked up on PATH
};

// One row of the matrix: package × versions × Pythons.
struct Want {
    std::string package;                // normalised
    std::vector<std::string> versions;  // "3.0.2", "latest", ">=2,<3"
    std::vector<std::string> pythons;   // of the site's; empty in the file means all of them
};

struct Site {
    std::string name;
    std::optional<RegistrySettings> registry;  // absent: wheels stay in the work folder
    std::filesystem::path state_directory;
    std::filesystem::path work_directory;
    std::string scheduler_kind = "local";
    QueueSettings queue;  // of slurm and pbs
    int most_jobs = 1;
    int cores = 1;  // of one job
    int most_attempts = 3;
    std::int64_t memory_mib = 0;       // of one job, at first; 0: whatever the scheduler or the machine gives
    std::int64_t most_memory_mib = 0;  // to which a build that ran out of memory may raise it
    std::int64_t minutes = 0;          // of one job, at first; 0: most_minutes
    std::int64_t most_minutes = 0;     // of one job, then it is ended; 0: no limit
    GovernorSettings governor;
    std::vector<PythonChoice> pythons;
    std::vector<std::filesystem::path> recipes;
    Environment environment;
    std::vector<Want> wants;
};

// Errors: those of io::TomlDocument; every problem of the file is named at once.
[[nodiscard]] base::Result<Site> read_site(const std::filesystem::path& file);
[[nodiscard]] base::Result<Site> parse_site(std::string_view text, const std::filesystem::path& file);

// Whether `name` may be an environment variable in a rendered script.
[[nodiscard]] bool is_environment_name(std::string_view name);

}  // namespace wheelyard::builder
