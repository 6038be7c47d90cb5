// The result of an attempt, "wheelyard.outcome/1": the agent writes it next to its journal and later sends it
// to the registry.
//
//     {"format":"wheelyard.outcome/1","attempt":"w1kq7x9aab3cde","cell":"markupsafe-3.0.2-cp311",
//      "site":"debian12",
//      "result":"done","source":{"kind":"sdist","sha256":"…"},
//      "wheel":{"filename":"…","sha256":"…","size":23000},
//      "phases":[{"name":"build","seconds":4.2}], …}
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "lib/base/clock.hpp"
#include "lib/base/result.hpp"
#include "lib/wire/governed_build.hpp"

namespace wheelyard::wire {

using NamedTexts = std::vector<std::pair<std::string, std::string>>;

struct OutcomePhase {
    std::string name;
    double seconds = 0;
};

// Why an attempt failed: the error of the step, its phase, and the first line of the log that looks like the
// cause.
struct Diagnosis {
    std::string phase;
    base::Error error;
    std::string first_error;
    std::string cause = {};  // the doctor's code: "memory.compiler_killed"; empty: unknown cause
    std::uint64_t line = 0;  // line number in the log
};

// The tools and inputs of the build, as the job and its agent report them.
struct Provenance {
    std::string script_sha256;
    std::string host;
    std::string system;  // "Linux 5.14.21 x86_64"
    std::vector<std::string> modules;
    NamedTexts tools;              // name → the line of `--version` output with the version
    NamedTexts environment;        // without secrets
    NamedTexts requirements = {};  // wheels admitted by a file with hashes, and their digests
};

// What the job requested.
struct JobSize {
    std::int64_t memory_mib = 0;            // 0: none
    std::int64_t max_walltime_minutes = 0;  // 0: no limit
    int cores = 0;                          // parallel compile jobs; 0: the site's cores
    std::string remedy;                     // what differs from the previous attempt, and why
};

// Resource use as the scheduler reports it; 0: not reported.
struct JobUsage {
    std::int64_t seconds = 0;
    std::int64_t cpu_seconds = 0;
    std::int64_t memory_kib = 0;
    bool operator==(const JobUsage&) const = default;
};

struct SourceFile {
    std::string kind;    // "sdist", "tarball", "git", "path", "upstream"; "wheel" for tests and promotions
    std::string origin;  // URL without secrets, or folder
    std::string filename;
    std::string sha256;  // empty for a path
};

struct WheelFile {
    std::string filename;
    std::string sha256;
    std::uint64_t size = 0;
};

struct Outcome {
    std::string attempt;
    std::string cell;  // the name of its cell in the site's plan
    // "build"; for the source wheel's tests and promotion "gpu-test", "multi-node-test", "promotion".
    std::string purpose = "build";
    std::string site;
    std::string package;
    std::string version;
    std::string python;
    int number = 1;
    bool done = false;  // "result": "done" or "failed"
    base::UnixMicros began = 0;
    base::UnixMicros ended = 0;
    std::vector<OutcomePhase> phases;
    std::optional<int> exit_code;  // of the job, if one ran to its end
    JobSize request;
    Provenance provenance;
    std::optional<GovernedBuild> governed;  // if the governor ran the compiles
    std::string scheduler_status;           // the batch system's final state
    JobUsage used;
    std::optional<Diagnosis> diagnosis;
    SourceFile source;
    WheelFile wheel;
    std::vector<std::string> verdicts;  // one line per verdict
};

[[nodiscard]] std::string render_outcome(const Outcome& outcome);
[[nodiscard]] base::Result<Outcome> parse_outcome(std::string_view text);
// The table of its members in docs/reference/journal.md.
[[nodiscard]] std::string document_outcome();

}  // namespace wheelyard::wire
