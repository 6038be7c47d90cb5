// Registry tasks as registry and agents exchange them (docs/reference/task.md). A task is a build that a user
// requests from the registry. An agent claims it, renews its lease at each tick, and sends its log and its
// outcome.
//
//     request        {"format":"wheelyard.task/1","index":"bede","package":"torch","version":"2.4.0",
//                     "python":"3.11"}
//                    with an uploaded source distribution: "source":{"index":"ours"}; the registry adds its file name and
//                    its SHA-256
//     claim          {"format":"wheelyard.claim/1","claim":"<32 hex digits>","index":"bede",
//                     "agent":"login1","pythons":["3.11"],"accelerators":["cpu"],"packages":["torch"]}
//     claimed        {"format":"wheelyard.claimed/1","task":{…},"index":"bede-staging","lease_s":3600,
//                     "grant":"wy_…"}
//     lease request  {"format":"wheelyard.lease/1","claim":"…"}
//     lease          {"format":"wheelyard.lease/1","lease_s":3600,…}
//     end            {"format":"wheelyard.task_end/1","claim":"…",
//                     "outcome":{"format":"wheelyard.outcome/1",…}}
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "lib/base/clock.hpp"
#include "lib/base/result.hpp"
#include "lib/io/json.hpp"
#include "lib/wheel/tags.hpp"
#include "lib/wire/outcome.hpp"

namespace wheelyard::wire {

inline constexpr std::size_t claim_id_length = 32;       // lower-case hex: 128 random bits
inline constexpr std::size_t max_claim_names = 4'096;    // per list of a claim: recipes of a large tree
inline constexpr std::size_t max_task_word_bytes = 200;  // of a version, an agent's name, a project's name
inline constexpr std::size_t max_uploads_reason_bytes = 300;
inline constexpr std::size_t max_task_document = 1u << 20;  // bytes of each of these documents
// Of one request; their answers fit the reply of any client.
inline constexpr std::size_t max_tasks_added = 100;

enum class TaskState { awaits_approval, queued, claimed, done, failed, cancelled };
[[nodiscard]] std::string_view task_state_text(TaskState state);
[[nodiscard]] std::optional<TaskState> parse_task_state(std::string_view text);
[[nodiscard]] inline bool is_over(TaskState state) {
    return state >= TaskState::done;
}

// A source distribution that was uploaded to an index of the registry. In a request, file name and digest may be empty.
struct UploadedSource {
    std::string index;
    std::string filename;
    std::string sha256;
    bool operator==(const UploadedSource&) const = default;
};

// What a user requests. A task names a package but carries no command: the recipe is the agent's own.
struct TaskRequest {
    std::string index;
    std::string package;      // normalised
    std::string version;      // one exact version, normalised
    std::string python;       // "3.11"
    std::string accelerator;  // one of the site's; empty: the recipe's build without an accelerator
    std::optional<UploadedSource> source = {};  // none: the source that the agent's recipe names
    bool operator==(const TaskRequest&) const = default;
};

struct Task {
    std::string id;  // "t5f0c9a31d2be"
    TaskRequest request;
    TaskState state = TaskState::queued;
    std::string reason;  // explains the state to people; may be empty
    std::string asked_by;
    std::string approved_by;  // of a task with an uploaded source; empty: nobody yet
    base::UnixMicros asked = 0;
    base::UnixMicros changed = 0;
    std::int64_t attempts = 0;         // number of claims
    std::string agent;                 // the current or last claimant
    base::UnixMicros lease_until = 0;  // of the current claimant; 0: not claimed
    std::int64_t log_bytes = 0;        // of the latest attempt
    io::Json outcome;                  // wheelyard.outcome/1 or null; always null in lists
};

// Whether a site builds uploaded sources, which it does only where it separates such builds from the agent.
struct UploadsOffer {
    bool builds = false;
    std::string reason;  // why not, for people
};

struct ClaimOffer {
    std::string claim;  // chosen by the agent; repeating it returns the same task and lease
    std::string index;
    std::string agent;
    std::vector<std::string> pythons;
    std::vector<std::string> accelerators;
    std::optional<std::vector<std::string>> packages;  // normalised; absent: any
    std::string task;                                  // this task only; empty: any matching task
    UploadsOffer uploads = {};
};

struct Claimed {
    std::optional<Task> task;  // nullopt: no task matches
    std::string index;         // the index that the wheel is uploaded to
    std::int64_t lease_s = 0;
    std::string grant;  // a token that allows one upload of this package and version while the lease is valid
};

struct Lease {
    std::int64_t lease_s = 0;  // from now
    std::int64_t log_bytes = 0;
};

struct TaskEnd {
    std::string claim;
    Outcome outcome;
};

// The words in these documents.
[[nodiscard]] bool is_claim_id(std::string_view text);
[[nodiscard]] bool is_python_version(std::string_view text);  // "3.11"
[[nodiscard]] bool is_task_word(std::string_view text);       // of letters, digits, `.`, `_`, `-`, `+`, `!`

// Normalises package and version. Error "task.wish": an invalid word, or an uploaded source of something else.
[[nodiscard]] base::Result<TaskRequest> check_task_request(TaskRequest request);
// Whether a wheel of version `made` satisfies a task for `wanted`. Without a local label in `wanted`, any
// label does.
[[nodiscard]] bool meets_version(std::string_view made, std::string_view wanted);
// Whether some Python of this version ("3.11", as for check_task_request()) can install a wheel with these tags, on a
// platform that the tags name.
[[nodiscard]] bool meets_python(const std::vector<wheel::Tag>& tags, std::string_view python);

[[nodiscard]] std::string render_task_request(const TaskRequest& request);
[[nodiscard]] base::Result<TaskRequest> parse_task_request(std::string_view body);
[[nodiscard]] io::Json task_json(const Task& task);
[[nodiscard]] io::Json task_row_json(const Task& task);  // for lists: without its outcome
[[nodiscard]] std::string render_tasks(const std::vector<Task>& tasks);
[[nodiscard]] base::Result<Task> parse_task(std::string_view body);
[[nodiscard]] base::Result<std::vector<Task>> parse_tasks(std::string_view body);
[[nodiscard]] std::string render_claim(const ClaimOffer& offer);
[[nodiscard]] base::Result<ClaimOffer> parse_claim(std::string_view body);
[[nodiscard]] std::string render_claimed(const Claimed& claimed);
[[nodiscard]] base::Result<Claimed> parse_claimed(std::string_view body);
[[nodiscard]] std::string render_lease_request(std::string_view claim);
[[nodiscard]] base::Result<std::string> parse_lease_request(std::string_view body);
[[nodiscard]] std::string render_lease(const Lease& lease);
[[nodiscard]] base::Result<Lease> parse_lease(std::string_view body);
[[nodiscard]] std::string render_task_end(const TaskEnd& end);
[[nodiscard]] base::Result<TaskEnd> parse_task_end(std::string_view body);

// The tables of docs/reference/task.md.
[[nodiscard]] std::string document_task();
[[nodiscard]] std::string document_claim();

}  // namespace wheelyard::wire
