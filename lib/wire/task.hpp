// Tasks, as registry and agents tell each other of them (docs/reference/task.md). A task is a want that
// somebody asked the registry for; an agent claims it, renews its lease at each tick, sends its log and its
// outcome.
//
//     wish {"format":"wheelyard.task/1","index":"bede","package":"torch","version":"2.4.0","python":"3.11"}
//     claim    {"format":"wheelyard.claim/1","claim":"<32 hex digits>","index":"bede","agent":"login1",
//               "pythons":["3.11"],"accelerators":["cpu"],"packages":["torch"]}
//     claimed
//     {"format":"wheelyard.claimed/1","task":{…},"index":"bede-staging","lease_s":3600,"grant":"wy_…"} lease
//     {"format":"wheelyard.lease/1","claim":"…"}  →  {"format":"wheelyard.lease/1","lease_s":3600,…} end
//     {"format":"wheelyard.task_end/1","claim":"…","outcome":{"format":"wheelyard.outcome/1",…}}
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
inline constexpr std::size_t max_claim_names = 4'096;    // of each list of a claim: recipes of a large tree
inline constexpr std::size_t max_task_word_bytes = 200;  // a version, an agent's name, a project's name
inline constexpr std::size_t max_task_document = 1u << 20;  // bytes, of any of these that is read

enum class TaskState { queued, claimed, done, failed, cancelled };
[[nodiscard]] std::string_view task_state_text(TaskState state);
[[nodiscard]] std::optional<TaskState> parse_task_state(std::string_view text);
[[nodiscard]] inline bool is_over(TaskState state) {
    return state >= TaskState::done;
}

// What is asked for. The recipe is the agent's own: a task names it by the package and carries no command.
struct TaskWish {
    std::string index;
    std::string package;      // normalised
    std::string version;      // one exact version, normalised
    std::string python;       // "3.11"
    std::string accelerator;  // of the site's; empty: whatever the recipe builds without one
    bool operator==(const TaskWish&) const = default;
};

struct Task {
    std::string id;  // "t5f0c9a31d2be"
    TaskWish wish;
    TaskState state = TaskState::queued;
    std::string reason;  // of the state, for a person; may be empty
    std::string asked_by;
    base::UnixMicros asked = 0;
    base::UnixMicros changed = 0;
    std::int64_t attempts = 0;         // how often it was claimed
    std::string agent;                 // who has it, or had it last
    base::UnixMicros lease_until = 0;  // of who has it now; 0: nobody
    std::int64_t log_bytes = 0;        // of the latest attempt
    io::Json outcome;                  // wheelyard.outcome/1, or null; in a list always null
};

struct ClaimOffer {
    std::string claim;  // chosen by the agent: the same claim again is the same lease
    std::string index;
    std::string agent;
    std::vector<std::string> pythons;
    std::vector<std::string> accelerators;
    std::optional<std::vector<std::string>> packages;  // normalised; absent: any
    std::string task;                                  // this one only; empty: any that fits
};

struct Claimed {
    std::optional<Task> task;  // none: nothing fits
    std::string index;         // where its wheel goes
    std::int64_t lease_s = 0;
    std::string grant;  // a token: uploads this package and version there, once, while the lease lasts
};

struct Lease {
    std::int64_t lease_s = 0;  // from now
    std::int64_t log_bytes = 0;
};

struct TaskEnd {
    std::string claim;
    Outcome outcome;
};

// The words that these documents are made of.
[[nodiscard]] bool is_claim_id(std::string_view text);
[[nodiscard]] bool is_python_version(std::string_view text);  // "3.11"
[[nodiscard]] bool is_task_word(std::string_view text);       // of letters, digits, `.`, `_`, `-`, `+`, `!`

// Normalises the package and the version. "task.wish": a word that cannot be one.
[[nodiscard]] base::Result<TaskWish> check_wish(TaskWish wish);
// Whether a wheel of `made` is what a task for `wanted` asks for: one without a local label is met by any.
[[nodiscard]] bool meets_version(std::string_view made, std::string_view wanted);
// Whether some Python of this version ("3.11", as check_wish() takes it) installs a wheel of these tags on a
// platform that it is for.
[[nodiscard]] bool meets_python(const std::vector<wheel::Tag>& tags, std::string_view python);

[[nodiscard]] std::string render_wish(const TaskWish& wish);
[[nodiscard]] base::Result<TaskWish> parse_wish(std::string_view body);
[[nodiscard]] io::Json task_json(const Task& task);
[[nodiscard]] io::Json task_row_json(const Task& task);  // one of a list: without its outcome
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

}  // namespace wheelyard::wire
