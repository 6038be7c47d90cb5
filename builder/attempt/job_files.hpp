// The files of one attempt in the work folder, and the files that its job writes there for the agent.
//
//     WORK/attempts/w1kq7x9aab3cde/
//         script.sh     the script of the job
//         log           stdout and stderr of the job
//         claim/owner   the process that runs it: {"host":"n1","boot":"…","pid":4711,"start":88123}
//         exit.json     its end: {"format":"wheelyard.exit/1","exit_code":0,"phase":"smoke",…}
//         build_key     identifies the settings of its build (script.hpp)
//         wheel/        the result
//         variant/      the same as a wheel variant, until its index has it
//         smoke/        the smoke test's environment
//         separate/     of an uploaded source: what its build sees as the attempt's folder
//                       (builder/script/separate_script.hpp)
//         fetch/        of an uploaded source: its wheelhouse
//
// Its build tree is elsewhere, at a path that the next build of the package gets, too
// (builder/agent/build_folder.hpp):
//
//     WORK/trees/torch-1/
//         used_by       the attempt that may use it
//         fence         locked by every process of the job in it
//         tree/         the unpacked source
//         venv/         the build's environment
//
// The exit record takes precedence over the scheduler's status.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "builder/attempt/attempt.hpp"
#include "builder/attempt/limits.hpp"
#include "lib/base/clock.hpp"
#include "lib/base/result.hpp"

namespace wheelyard::builder {

struct AttemptFolder {
    std::filesystem::path root;
    // The folder of its build tree; empty: inside its own.
    std::filesystem::path build_root = {};
    bool separate = false;  // its job runs in a namespace
    // The folder that its job sees as `root`.
    [[nodiscard]] std::filesystem::path inner() const { return separate ? root / "separate" : root; }
    // Where the wheels of a `separate` build are fetched; the code of the source never writes there.
    [[nodiscard]] std::filesystem::path fetch() const { return root / "fetch"; }
    [[nodiscard]] std::filesystem::path inner_script() const { return inner() / "script.sh"; }
    [[nodiscard]] std::filesystem::path build() const { return build_root.empty() ? inner() : build_root; }
    [[nodiscard]] std::filesystem::path script() const { return root / "script.sh"; }
    [[nodiscard]] std::filesystem::path log() const { return root / "log"; }
    // The log of the login step (login_step.hpp):
    [[nodiscard]] std::filesystem::path login_log() const { return root / "wheelhouse.log"; }
    // Files of a batch system (scheduler.hpp):
    [[nodiscard]] std::filesystem::path job_script() const { return root / "job.sh"; }
    [[nodiscard]] std::filesystem::path environment() const { return root / "environment"; }
    [[nodiscard]] std::filesystem::path alarm() const { return root / "alarm_s"; }
    [[nodiscard]] std::filesystem::path scheduler_log() const { return root / "scheduler.log"; }
    [[nodiscard]] std::filesystem::path job_id() const {
        return root / "job_id";
    }  // one line for each submission
    [[nodiscard]] std::filesystem::path cut() const { return root / "cut"; }
    [[nodiscard]] std::filesystem::path claim() const { return root / "claim"; }
    [[nodiscard]] std::filesystem::path owner() const { return root / "claim" / "owner"; }
    [[nodiscard]] std::filesystem::path exit_record() const { return root / "exit.json"; }
    [[nodiscard]] std::filesystem::path built_by() const { return root / "built_by"; }  // provenance.hpp
    [[nodiscard]] std::filesystem::path governor_summary() const { return root / "governor.json"; }
    [[nodiscard]] std::filesystem::path tree() const { return build() / "tree"; }
    [[nodiscard]] std::filesystem::path used_by() const { return build() / "used_by"; }
    [[nodiscard]] std::filesystem::path fence() const { return build() / "fence"; }
    // Identifies the settings of the build (script.hpp). It stays when the tree is removed: a reproduction
    // compares it.
    [[nodiscard]] std::filesystem::path build_key() const { return root / "build_key"; }
    [[nodiscard]] std::filesystem::path venv() const { return build() / "venv"; }
    [[nodiscard]] std::filesystem::path pip_conf() const {
        return (separate ? fetch() : root) / "pip.conf";
    }  // mode 0600
    [[nodiscard]] std::filesystem::path wheel() const { return root / "wheel"; }
    [[nodiscard]] std::filesystem::path variant() const { return root / "variant"; }
    // A reproduction's recorded wheel, both wheels if they differ, and what the comparison found
    // (builder/steps/differences.hpp).
    [[nodiscard]] std::filesystem::path recorded() const { return root / "recorded"; }
    [[nodiscard]] std::filesystem::path compared() const { return root / "compared"; }
    [[nodiscard]] std::filesystem::path differences() const { return root / "differences.txt"; }
    [[nodiscard]] std::filesystem::path differences_json() const { return root / "differences.json"; }
    [[nodiscard]] bool is_claimed() const;
    // Says whether the build tree is this attempt's, and not already another's.
    [[nodiscard]] bool has_build_tree() const;
    // Files that only the job needs; removed after the attempt. own_bulk() excludes the build tree, and so
    // does bulk() once another attempt uses it.
    [[nodiscard]] std::vector<std::filesystem::path> own_bulk() const;
    [[nodiscard]] std::vector<std::filesystem::path> bulk() const;
    [[nodiscard]] std::vector<std::filesystem::path> build_bulk() const;  // of every attempt that uses it
};

// The end of the log, at most `max_bytes`; "" if it cannot be read.
[[nodiscard]] std::string read_log_tail(const std::filesystem::path& log,
                                        std::uint64_t max_bytes = log_tail_bytes);

// Begins the line of a log where a phase begins (builder/script/script_frame.cpp).
inline constexpr std::string_view phase_mark = "@@wheelyard phase=";

inline constexpr std::string_view wheelhouse_step = "wheelhouse";  // on the login node

// The exit record of a job whose build tree is in use by another job.
inline constexpr std::string_view fence_phase = "fence";
inline constexpr int fence_exit_code = 75;  // EX_TEMPFAIL

// A build that exceeded a limit: phase, exit status and last line of `wheelyard-governor bound`
// (builder/governor/bound/).
inline constexpr std::string_view limits_phase = "limits";
inline constexpr int over_limit_exit_code = 122;
inline constexpr std::string_view over_limit_mark = "wheelyard-governor: the build was ended: ";
// "more memory than its limit of 8 GiB"; empty: the log does not say.
[[nodiscard]] std::string read_over_limit(const std::filesystem::path& log);

struct ExitRecord {
    int exit_code = 0;
    std::string phase;  // the last one
    std::vector<PhaseRecord> phases;
    base::UnixMicros ended = 0;
    // How many of its processes the kernel killed because memory ran out; nullopt: it does not say.
    std::optional<std::int64_t> oom_kills;
};
// Why the job was asked to end: "time_limit", "terminated" (no reason is known); empty: it was not.
[[nodiscard]] std::string read_cut(const AttemptFolder& folder);

[[nodiscard]] base::Result<ExitRecord> parse_exit_record(std::string_view text, std::string_view attempt);
// nullopt: the job has not ended, or was killed before it could write the record.
[[nodiscard]] base::Result<std::optional<ExitRecord>> read_exit_record(const AttemptFolder& folder,
                                                                       std::string_view attempt);

struct Owner {
    std::string host;
    std::string boot;  // /proc/sys/kernel/random/boot_id: pids are not valid after a reboot
    std::int64_t pid = 0;
    std::uint64_t start = 0;  // field 22 of /proc/PID/stat
};
[[nodiscard]] base::Result<Owner> parse_owner(std::string_view text);

}  // namespace wheelyard::builder
