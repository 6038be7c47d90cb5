// One try of a task, as the journal keeps it: "wheelyard.attempt/1" (docs/reference/journal.md).
//
//     planned ─► fetched ─► prepared ─► submitting ─► running ─► built ─► uploading ─► done
//        └──────────┴───────────┴───────────┴────────────┴─────────┴──────────┴─────► failed
//
// A test goes planned ─► prepared ─► submitting ─► running ─► done, a promotion planned ─► done.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "builder/attempt/job_end.hpp"
#include "lib/base/clock.hpp"
#include "lib/base/result.hpp"
#include "lib/io/json.hpp"
#include "lib/wire/governed_build.hpp"

namespace wheelyard::builder {

// What an attempt is for. The others follow a build whose wheel the index offers: tests in jobs of their own,
// on machines that the build does not need, and then the promotion into the index for everybody.
enum class Purpose { build, gpu_test, multi_node_test, promotion };
[[nodiscard]] std::string_view purpose_text(Purpose purpose);  // "gpu-test", as at the end of a task's name
[[nodiscard]] std::optional<Purpose> parse_purpose(std::string_view text);
[[nodiscard]] inline bool is_test(Purpose purpose) {
    return purpose == Purpose::gpu_test || purpose == Purpose::multi_node_test;
}

enum class State { planned, fetched, prepared, submitting, running, built, uploading, done, failed };
[[nodiscard]] std::string_view state_text(State state);
[[nodiscard]] std::optional<State> parse_state(std::string_view text);
[[nodiscard]] inline bool is_over(State state) {
    return state == State::done || state == State::failed;
}

// Where the source came from, once that is known.
struct SourceRecord {
    std::string kind;    // "sdist", "tarball", "path"; "wheel": what the index offers is tested or promoted
    std::string origin;  // URL without secrets, or folder
    std::string filename;
    std::string sha256;    // empty for a path
    std::string folder;    // the project, relative to the attempt's tree
    std::string back_end;  // [build-system] of pyproject.toml
    std::vector<std::string> back_end_path;
    std::vector<std::string> build_requires;
};

struct WheelRecord {
    std::string filename;
    std::string sha256;
    std::uint64_t size = 0;
    int sends = 0;              // how often its bytes went to the registry, or began to
    base::UnixMicros sent = 0;  // when the registry took it; 0: not yet
    std::string index = {};     // whose page showed it: the site's, or that of the task it was built for
};

// What an attempt waits for.
enum class WaitFor {
    nothing,
    retry,       // something failed that may pass: it is tried again
    person,      // something failed until a person acts: it is tried again, without a limit
    login_step,  // a step at work on the login node
    job_slot,    // another attempt's job
    queue,       // its job's turn
    scheduler,   // an answer that says how its job is
};
[[nodiscard]] std::string_view wait_text(WaitFor what);

struct Waiting {
    WaitFor what = WaitFor::nothing;
    int tries = 0;
    base::UnixMicros since = 0;  // when the first of the errors in a row came, which may pass; 0: none
    base::UnixMicros not_before = 0;
    std::string reason;
};
// What a state's name is followed by: ", waiting: no answer", ", waits for one of 2 job slots", or nothing.
[[nodiscard]] std::string waiting_suffix(const Waiting& waiting);

struct PhaseRecord {
    std::string name;
    base::UnixMicros began = 0;
};

struct Failure {
    std::string phase;  // of the job, or the agent's step
    base::Error error;
    std::string first_error;  // the first line of the log that looks like the cause
    bool try_again = true;    // false: another attempt would end the same way
    std::string cause = {};   // the doctor's code (doctor_rules.hpp); empty: no rule knows this failure
    std::uint64_t line = 0;   // of the log, where the doctor saw it
    std::optional<EndCause> end =
        {};  // of its job; none: it failed outside a job. Its row has the error's code
};

struct Attempt {
    std::string id;
    std::string task;
    Purpose purpose = Purpose::build;
    std::string package;
    std::string version;
    std::string python;
    std::string accelerator;  // of the site's; empty: the wheel is the same for all of them
    std::string against;      // "torch==2.4.0+cu123": what of the same index it is built against, or empty
    int number = 1;           // of this task, from 1
    State state = State::planned;
    base::UnixMicros created = 0;
    base::UnixMicros changed = 0;
    SourceRecord source;
    std::string builds_in;                  // the attempt in whose build tree it goes on; empty: its own
    std::int64_t max_walltime_minutes = 0;  // what its job asks for; 0: no limit
    std::int64_t memory_mib = 0;            // what its job asks for (request.hpp); 0: nothing
    int cores = 0;                          // fewer than the site gives a job; 0: as many
    std::string remedy;                     // what it does otherwise than the one before, and why
    int submits = 0;
    base::UnixMicros submitted = 0;
    std::vector<PhaseRecord> phases;
    std::optional<int> exit_code;
    base::UnixMicros job_ended = 0;
    base::UnixMicros told_to_end = 0;  // when its job was asked to end, its time being over; 0: it was not
    std::optional<JobEnd> end;         // as its scheduler told it
    std::optional<wire::GovernedBuild> governed;
    WheelRecord wheel;
    std::vector<std::string> verdicts;
    Waiting waiting;
    std::optional<Failure> failure;
    std::optional<std::uint64_t>
        tree_bytes;                     // that its tree and venv hold, measured once nobody goes on in them
    base::UnixMicros tree_removed = 0;  // when they were given up for space (kept_trees.hpp); 0: not so
    bool for_task = false;              // of the registry: without its lease nobody takes the wheel
    bool superseded = false;            // by `retry`: no longer counted against the task
};

// "markupsafe-3.0.2-cp311"
[[nodiscard]] std::string task_name(std::string_view package, std::string_view version,
                                    std::string_view python_tag);

[[nodiscard]] std::string render_attempt(const Attempt& attempt);
// Errors: "journal.format" (another format or version), "journal.broken".
[[nodiscard]] base::Result<Attempt> parse_attempt(std::string_view text);

// At most max_attempt_id_bytes characters, begins with a letter (PBS wants that of a job name), sorts by time:
// "w" + seconds since 1970 in base 32 + random characters.
[[nodiscard]] std::string new_attempt_id(base::UnixMicros now);

}  // namespace wheelyard::builder
