// One attempt at a cell of the plan, as the journal stores it: "wheelyard.attempt/1"
// (docs/reference/journal.md).
//
//     planned ─► fetched ─► prepared ─► submitting ─► running ─► built ─► uploading ─► done
//        └──────────┴───────────┴───────────┴────────────┴─────────┴──────────┴─────► failed
//
// A test uses planned ─► prepared ─► submitting ─► running ─► done, a promotion planned ─► done. A reproduction is done
// after built: its wheel is compared and never uploaded.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "builder/attempt/job_end.hpp"
#include "lib/base/clock.hpp"
#include "lib/base/result.hpp"
#include "lib/base/text/words.hpp"
#include "lib/io/json.hpp"
#include "lib/wire/governed_build.hpp"
#include "lib/wire/outcome.hpp"
#include "lib/wire/task.hpp"

namespace wheelyard::builder {

// The purpose of an attempt. Tests and promotions follow a build after the index offers its wheel. Tests run
// in separate jobs, on hardware that the build does not need. The promotion adds the wheel to the index for
// everybody. A reproduction, which a person requests, repeats a build and compares the two wheels.
enum class Purpose { build, gpu_test, multi_node_test, promotion, reproduction };
// "gpu-test": also the suffix of the cell's name.
inline constexpr auto purpose_words = base::words<Purpose>({{Purpose::build, "build"},
                                                            {Purpose::gpu_test, "gpu-test"},
                                                            {Purpose::multi_node_test, "multi-node-test"},
                                                            {Purpose::promotion, "promotion"},
                                                            {Purpose::reproduction, "reproduction"}});
[[nodiscard]] inline std::string_view purpose_text(Purpose purpose) {
    return purpose_words.text(purpose);
}
[[nodiscard]] constexpr bool is_test(Purpose purpose) {
    return purpose == Purpose::gpu_test || purpose == Purpose::multi_node_test;
}

// Says whether its job builds a wheel.
[[nodiscard]] constexpr bool makes_wheel(Purpose purpose) {
    return purpose == Purpose::build || purpose == Purpose::reproduction;
}

enum class State { planned, fetched, prepared, submitting, running, built, uploading, done, failed };
// The step of each is in builder/steps/steps.cpp.
inline constexpr auto state_words = base::words<State>({{State::planned, "planned"},
                                                        {State::fetched, "fetched"},
                                                        {State::prepared, "prepared"},
                                                        {State::submitting, "submitting"},
                                                        {State::running, "running"},
                                                        {State::built, "built"},
                                                        {State::uploading, "uploading"},
                                                        {State::done, "done"},
                                                        {State::failed, "failed"}});
[[nodiscard]] inline std::string_view state_text(State state) {
    return state_words.text(state);
}
// No job was submitted yet.
[[nodiscard]] constexpr bool is_before_job(State state) {
    return state <= State::prepared;
}
// A job may be queued or running.
[[nodiscard]] constexpr bool may_have_job(State state) {
    return state == State::submitting || state == State::running;
}
[[nodiscard]] constexpr bool is_over(State state) {
    return state >= State::done;
}

// Of a cell of a closure: what the farm's index alone makes it from (builder/closure/).
struct ClosurePart {
    bool is_taken = false;                    // the wheel of an upstream, by its hash: nothing is built here
    std::string sha256;                       // of the sdist, or of that wheel; empty: not known
    wire::NamedTexts lock = {};               // its build environment: file name → "sha256:…"
    std::vector<std::string> strangers = {};  // of these, an upstream's, though the closure builds such ones
};

// What the plan asked for: its cell.
struct Asked {
    std::string cell;  // its name
    Purpose purpose = Purpose::build;
    std::string package;
    std::string version;
    std::string python;
    std::string accelerator;  // name in the site file; empty: one wheel for all accelerators
    std::string against;  // "torch==2.4.0+cu123": the package in the same index to build against, or empty
    // The number of the wheel's build tag (PEP 427), of a person's `retry --rebuild`; 0: it has none.
    std::uint64_t build = 0;
    bool for_task = false;               // for a task of the registry: the upload needs the task
    std::vector<std::string> with = {};  // of a promotion: the other wheels of its set, in the same request
    // The source of a task: nothing of this file runs with the agent's rights
    // (builder/script/separate_script.hpp).
    std::optional<wire::UploadedSource> uploaded = {};
    std::optional<ClosurePart> closure = {};  // nullopt: its job installs as pip is configured
};

// The origin of the source; empty until it is known.
struct SourceRecord : wire::SourceFile {
    std::string folder = {};    // the project, relative to the attempt's tree
    std::string back_end = {};  // [build-system] of pyproject.toml
    std::vector<std::string> back_end_path = {};
    std::vector<std::string> build_requires = {};
};

struct WheelRecord : wire::WheelFile {
    int sends = 0;              // uploads started, complete or not
    base::UnixMicros sent = 0;  // when the registry accepted it; 0: not yet
    std::string index = {};     // the index whose page listed it: the site's, or that of the registry's task
    std::vector<std::string> verdicts = {};
    std::string notice = {};  // what people should know of it; empty: nothing
};

// The variant of the wheel (PEP 825) in the index of `variants_to`; empty: none was asked for, or not yet.
struct VariantRecord : WheelRecord {
    std::string not_made = {};  // why there is none
};

// The build that a reproduction repeats, and what the comparison found. Empty for other purposes.
struct ReproducedRecord {
    std::string attempt;  // that made the recorded wheel
    std::string tree;     // the name of its build tree (builder/agent/build_folder.hpp)
    std::string filename;
    std::string sha256;
    std::optional<bool> identical;    // nullopt: not compared yet
    std::vector<std::string> causes;  // of the differences: codes of builder/steps/differences_report.cpp
};

// What an attempt waits for.
enum class WaitFor {
    nothing,
    retry,       // a temporary error: the next try
    person,      // an error that a person must fix: the next try, without a time limit
    login_step,  // a running step on the login node
    job_slot,    // a free job slot of the site
    submission,  // its queue to take jobs again (held_queues.hpp)
    queue,       // the start of its queued job
    scheduler,   // the status of its job
};
inline constexpr auto wait_words = base::words<WaitFor>({{WaitFor::nothing, ""},
                                                         {WaitFor::retry, "retry"},
                                                         {WaitFor::person, "person"},
                                                         {WaitFor::login_step, "login_step"},
                                                         {WaitFor::job_slot, "job_slot"},
                                                         {WaitFor::submission, "submission"},
                                                         {WaitFor::queue, "queue"},
                                                         {WaitFor::scheduler, "scheduler"}});

struct Waiting {
    WaitFor what = WaitFor::nothing;
    int tries = 0;
    base::UnixMicros since = 0;  // the first of the consecutive temporary errors; 0: none
    base::UnixMicros not_before = 0;
    std::string reason;
};
// The text after the name of a state: ", waiting: no answer", ", waits for one of 2 job slots", or nothing.
[[nodiscard]] std::string waiting_suffix(const Waiting& waiting);

struct PhaseRecord {
    std::string name;
    base::UnixMicros began = 0;
};

// The attempt's job: what it requests, its submissions and its end.
struct JobRecord : wire::JobSize {
    std::string tree;  // WORK/trees/TREE is its build tree (builder/agent/build_folder.hpp); empty: no build
    std::string builds_in;  // the attempt that began this tree, if it continues one
    int submits = 0;
    base::UnixMicros submitted = 0;
    std::vector<PhaseRecord> phases;
    std::optional<int> exit_code;
    base::UnixMicros ended = 0;
    base::UnixMicros asked_to_end = 0;  // when the agent did so after its time limit; 0: never
    std::optional<JobEnd> end;          // as reported by its scheduler
    JobGrant granted;                   // what differs from the request; 0: nothing
    std::optional<wire::GovernedBuild> governed;
};

// Its build tree and venv.
struct TreeRecord {
    std::optional<std::uint64_t> bytes;  // measured when no attempt uses them any more
    base::UnixMicros removed = 0;  // when they were removed to free space (kept_trees.hpp); 0: not removed
};

struct Failure {
    std::string phase;  // phase of the job, or step of the agent
    base::Error error;
    std::string first_error = {};  // the first line of the log that looks like the cause
    bool try_again = true;         // false: another attempt would fail the same way
    std::string cause = {};        // the doctor's code (doctor_rules.hpp); empty: no rule matches
    std::uint64_t line = 0;        // the line of the log that the doctor's rule matches
    // The end of its job, whose code the error has; none: the attempt failed outside a job.
    std::optional<EndCause> end = {};
};

struct Attempt {
    std::string id;
    Asked asked;
    int number = 1;  // counts the attempts at this cell, from 1
    State state = State::planned;
    base::UnixMicros created = 0;
    base::UnixMicros changed = 0;  // when it entered its state
    SourceRecord source;
    JobRecord job;
    WheelRecord wheel;
    VariantRecord variant;
    TreeRecord tree;
    ReproducedRecord reproduced;
    Waiting waiting;
    std::optional<Failure> failure;
    bool superseded = false;  // by `retry`: no longer counted for the cell
};

// The step's name in the failure of an upload.
inline constexpr std::string_view upload_phase = "upload";
// The upload of its wheel failed: `retry` may upload it again.
[[nodiscard]] inline bool keeps_wheel(const Attempt& attempt) {
    return attempt.failure && attempt.failure->phase == upload_phase;
}

// "markupsafe-3.0.2-cp311"
[[nodiscard]] std::string cell_name(std::string_view package, std::string_view version,
                                    std::string_view python_tag);

[[nodiscard]] std::string render_attempt(const Attempt& attempt);
// Errors: "journal.format" (another format or version), "journal.broken".
[[nodiscard]] base::Result<Attempt> parse_attempt(std::string_view text);

// At most max_attempt_id_bytes characters; begins with a letter, as PBS requires for job names; sorts by
// time. "w" + seconds since 1970 in base 32 + random characters.
[[nodiscard]] std::string new_attempt_id(base::UnixMicros now);

// The table of the fields of "wheelyard.attempt/1" in docs/reference/journal.md.

// A Markdown table with one row for each field.
[[nodiscard]] std::string render_attempt_fields();

}  // namespace wheelyard::builder
