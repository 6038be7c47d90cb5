// The history of a cell as text and JSON.
#include "builder/commands/commands.hpp"

#include <algorithm>

#include "builder/show/report.hpp"
#include "lib/base/limits.hpp"
#include "lib/base/text/text.hpp"
#include "lib/io/json.hpp"

namespace wheelyard::builder {
namespace {

using io::Json;

constexpr std::int64_t micros_per_ms = 1000;
constexpr std::string_view retry_command = "wheelyard-builder retry";

void add(std::string& text, const std::string& name, const std::string& value) {
    constexpr std::size_t width = 12;
    if (value.empty()) return;
    text += "  " + name + std::string(width - std::min(width - 1, name.size()), ' ') + value + "\n";
}

std::string request_of(const Attempt& attempt) {
    std::vector<std::string> parts;
    if (attempt.job.memory_mib > 0) parts.push_back(std::to_string(attempt.job.memory_mib) + " MiB");
    if (attempt.job.max_walltime_minutes > 0)
        parts.push_back(std::to_string(attempt.job.max_walltime_minutes) + " minutes");
    return base::join(parts, ", ");
}

std::string granted_to(const Attempt& attempt) {
    std::vector<std::string> parts;
    const JobGrant& granted = attempt.job.granted;
    if (granted.memory_mib > 0) parts.push_back(std::to_string(granted.memory_mib) + " MiB");
    if (granted.max_walltime_minutes > 0)
        parts.push_back(std::to_string(granted.max_walltime_minutes) + " minutes");
    return base::join(parts, ", ");
}

std::string phases_of(const Attempt& attempt) {
    std::vector<std::string> parts;
    for (std::size_t i = 0; i < attempt.job.phases.size(); ++i) {
        const auto end =
            i + 1 < attempt.job.phases.size() ? attempt.job.phases[i + 1].began : attempt.job.ended;
        if (attempt.job.phases[i].name == "done") continue;
        parts.push_back(attempt.job.phases[i].name + " " +
                        base::render_duration_ms((end - attempt.job.phases[i].began) / micros_per_ms));
    }
    return base::join(parts, ", ");
}

std::string used_by(const Attempt& attempt) {
    if (!attempt.job.end) return "";
    const JobUsage& used = attempt.job.end->used;
    std::vector<std::string> parts;
    constexpr std::int64_t ms_per_s = 1000;
    if (used.seconds > 0) parts.push_back(base::render_duration_ms(used.seconds * ms_per_s));
    if (used.cpu_seconds > 0)
        parts.push_back(base::render_duration_ms(used.cpu_seconds * ms_per_s) + " of processor time");
    if (used.memory_kib > 0)
        parts.push_back(base::render_bytes(static_cast<std::uint64_t>(used.memory_kib) * base::kib) +
                        " of memory");
    if (!attempt.job.end->scheduler_status.empty())
        parts.push_back("scheduler: " + attempt.job.end->scheduler_status);
    return base::join(parts, ", ");
}

// What follows a failure that no rule of the doctor explains; its advice may name the command already.
std::string next_without_rule(const CellStory& story, const Failure& failure) {
    if (failure.error.text().find(retry_command) != std::string::npos) return "";
    const bool retries = failure.try_again && story.cell && story.cell->state != CellState::given_up;
    return retries ? "retries automatically; `" + story.retry + "` retries at once"
                   : "does not retry; run `" + story.retry + "` after fixing the cause";
}

void add_failure(std::string& text, const Attempt& attempt, const CellStory& story) {
    if (!attempt.failure) return;
    const Failure& failure = *attempt.failure;
    add(text, "failed in", failure.phase + ": " + failure.error.text());
    add(text, "first error", failure.first_error);
    if (attempt.tree.removed != 0) {
        add(text, "build tree",
            "removed " + base::render_rfc3339(attempt.tree.removed) +
                " to stay within work.trees_gib; a retry starts from scratch");
    }
    const DoctorRule* rule = story.rules->find(failure.cause);
    if (rule == nullptr) {
        if (&attempt == &story.attempts.back() && !attempt.superseded)
            add(text, "agent", next_without_rule(story, failure));
        return;
    }
    add(text, "cause", failure.cause + ", line " + std::to_string(failure.line) + " of the log");
    add(text, "what to do", rule->remedy);
    add(text, "agent",
        base::replace_all(automatic_sentence(*rule), std::string(retry_command) + " --code " + failure.cause,
                          story.retry));
}

}  // namespace

std::string render_story(const CellStory& story) {
    std::string text = story.name + ": ";
    text += story.cell ? std::string(cell_state_text(story.cell->state)) : "not in any [[want]] of the site";
    text += "\n";
    if (story.cell) {
        add(text, "why", story.cell->reason);
        add(text, "recipe", story.cell->recipe);
        add(text, "bounds", base::join(story.cell->bounds, ", "));
        for (const auto& limit : story.cell->limits)
            add(text, "limit", limit);
        add(text, "also for", base::join(story.cell->also_for, ", "));
        add(text, "job", story.sizes);
        for (const auto& test : story.tests_not_run)
            add(text, "not run", test);
    }
    for (const auto& held : story.held_queues)
        add(text, "refused", describe(held));
    if (story.claimed_task)
        add(text, "built for",
            "task " + story.claimed_task->id + " of the registry, asked for by " +
                story.claimed_task->asked_by);
    for (const auto& attempt : story.attempts) {
        text += "\nAttempt " + std::to_string(attempt.number) + ", " + attempt.id + ": " +
                std::string(state_text(attempt.state)) + (attempt.superseded ? ", superseded by retry" : "") +
                "\n";
        add(text, "began", base::render_rfc3339(attempt.created));
        add(text, "requested", request_of(attempt));
        add(text, "granted", granted_to(attempt));
        add(text, "changed", attempt.job.remedy);
        add(text, "phases", phases_of(attempt));
        add(text, "used", used_by(attempt));
        add(text, "governed", attempt.job.governed ? wire::describe(*attempt.job.governed) : "");
        add(text, "waits", attempt.waiting.reason);
        if (const auto job = story.jobs.find(attempt.id); job != story.jobs.end())
            add(text, "job now", job->second);
        add(text, "wheel", attempt.wheel.filename);
        add(text, "variant",
            attempt.variant.not_made.empty() ? attempt.variant.filename
                                             : "none: " + attempt.variant.not_made);
        add_failure(text, attempt, story);
    }
    if (story.attempts.empty()) text += "\nNo attempts yet.\n";
    return text;
}

std::string render_story_json(const CellStory& story) {
    Json attempts = Json::array();
    for (const auto& attempt : story.attempts)
        attempts.push(*io::parse_json(render_attempt(attempt)));
    Json json = Json::object({{"format", "wheelyard.explained_cell/1"}, {"cell", story.name}});
    json.set("state", story.cell ? Json(cell_state_text(story.cell->state)) : Json());
    json.set("reason", story.cell ? Json(story.cell->reason) : Json());
    json.set("recipe", story.cell ? Json(story.cell->recipe) : Json());
    json.set("job", story.sizes.empty() ? Json() : Json(story.sizes));
    if (story.cell && !story.cell->limits.empty()) json.set("limits", Json::array_of(story.cell->limits));
    Json not_run = Json::array();
    for (const auto& test : story.tests_not_run)
        not_run.push(test);
    json.set("tests_not_run", std::move(not_run));
    if (!story.held_queues.empty()) json.set("held_queues", held_queues_json(story.held_queues));
    json.set("claimed_task", story.claimed_task ? Json(story.claimed_task->id) : Json());
    json.set("attempts", std::move(attempts));
    return json.render_pretty();
}

}  // namespace wheelyard::builder
