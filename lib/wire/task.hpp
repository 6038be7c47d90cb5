// Orders of wheels as registry and agents exchange them (docs/reference/task.md). A task is an order: a build
// that a user wants of a site. A site takes it, asks at each tick for what it has, and sends how it ended. The
// log is that of its build (docs/reference/builds.md).
//
//     request        {"format":"wheelyard.task/1","index":"bede","package":"torch","version":"2.4.0",
//                     "python":"3.11"}
//                    with an uploaded source distribution: "source":{"index":"ours"}; the registry adds its
//                    file name and its SHA-256
//     take           {"format":"wheelyard.claim/2","index":"bede","agent":"bede.login1","pythons":["3.11"],
//                     "accelerators":["cpu"],"packages":["torch"],"tasks":["t5f0c9a31d2be"],"room":2}
//     taken          {"format":"wheelyard.claimed/2","index":"bede-staging","lease_s":3600,"tasks":[{…}]}
//     end            {"format":"wheelyard.outcome/1",…}
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

namespace wheelyard::wire {

inline constexpr std::size_t max_claim_names = 4'096;    // per list of an offer: recipes of a large tree
inline constexpr std::size_t max_site_tasks = 1'000;     // of one agent at once
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

// A source distribution that was uploaded to an index of the registry. In a request, file name and digest may
// be empty.
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
    std::int64_t attempts = 0;         // how often it was claimed
    std::string agent;                 // of the site that has it, or had it last
    base::UnixMicros lease_until = 0;  // 0: it is not taken
    io::Json outcome;                  // wheelyard.outcome/1 or null; always null in lists
};

// Says whether a site builds uploaded sources, which it does only where it separates such builds from the
// agent.
struct UploadsOffer {
    bool builds = false;
    std::string reason;  // why not, for people
};

// What a site asks for at each tick: it is the sign of life for what it has.
struct ClaimOffer {
    std::string index;
    std::string agent;  // SITE.HOST
    std::vector<std::string> pythons;
    std::vector<std::string> accelerators;
    std::optional<std::vector<std::string>> packages;  // normalised; absent: any
    std::vector<std::string> tasks;                    // those that it works at
    std::int64_t room = 0;                             // for how many more
    UploadsOffer uploads = {};
    std::vector<std::string> agents = {};  // other names under which it asked for its tasks
};

struct Claimed {
    std::string index;         // the index that the wheels are uploaded to
    std::int64_t lease_s = 0;  // the site has them for so long from now
    std::vector<Task> tasks;   // all that the site has, without outcomes
};

// "bede.gh200" of the agent "bede.gh200.login1": the name of the host has no dot.
[[nodiscard]] std::string_view site_of_agent(std::string_view agent);

// The words in these documents.
[[nodiscard]] bool is_python_version(std::string_view text);  // "3.11"
[[nodiscard]] bool is_task_word(std::string_view text);       // of letters, digits, `.`, `_`, `-`, `+`, `!`

// Normalises package and version. Error "task.wish": an invalid word, or an uploaded source of something
// else.
[[nodiscard]] base::Result<TaskRequest> check_task_request(TaskRequest request);
// Says whether a wheel of version `made` satisfies a task for `wanted`. Without a local label in `wanted`,
// any label does.
[[nodiscard]] bool meets_version(std::string_view made, std::string_view wanted);
// Says whether some Python of this version ("3.11", as for check_task_request()) can install a wheel with
// these tags, on a platform that the tags name.
[[nodiscard]] bool meets_python(const std::vector<wheel::Tag>& tags, std::string_view python);

[[nodiscard]] std::string render_task_request(const TaskRequest& request);
// `index`: of a request that names none.
[[nodiscard]] base::Result<TaskRequest> parse_task_request(std::string_view body, std::string index = {});
[[nodiscard]] io::Json task_json(const Task& task);
[[nodiscard]] io::Json task_row_json(const Task& task);  // for lists: without its outcome
[[nodiscard]] std::string render_tasks(const std::vector<Task>& tasks);
[[nodiscard]] base::Result<Task> parse_task(std::string_view body);
[[nodiscard]] base::Result<std::vector<Task>> parse_tasks(std::string_view body);
[[nodiscard]] std::string render_claim(const ClaimOffer& offer);
[[nodiscard]] base::Result<ClaimOffer> parse_claim(std::string_view body);
[[nodiscard]] std::string render_claimed(const Claimed& taken);
[[nodiscard]] base::Result<Claimed> parse_claimed(std::string_view body);

// The tables of docs/reference/task.md.
[[nodiscard]] std::string document_task();
[[nodiscard]] std::string document_claim();

}  // namespace wheelyard::wire
