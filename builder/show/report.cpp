// Tables for people and JSON for programs.
#include "builder/show/report.hpp"

#include <algorithm>
#include <array>
#include <map>

#include "lib/base/text/text.hpp"
#include "lib/base/text/text_table.hpp"
#include "lib/base/text/url.hpp"
#include "lib/io/json.hpp"

namespace wheelyard::builder {
namespace {

using io::Json;

constexpr int bar_width = 20;  // characters

std::string value_without_secrets(const std::string& value) {
    std::string shown;
    for (const auto word : base::split(value, ' ')) {
        const auto url = base::parse_url(word);
        // "user:password@proxy:3128" is not a URL but contains a secret; the error's value masks the part
        // before `@`.
        shown += (shown.empty() ? "" : " ") + (url ? url->text_without_secrets() : url.error().value);
    }
    return shown;
}

std::string counts(const Plan& plan) {
    static constexpr std::array states = {CellState::have,     CellState::active,   CellState::wanted,
                                          CellState::held,     CellState::given_up, CellState::impossible,
                                          CellState::excluded, CellState::unknown};
    std::vector<std::string> parts;
    for (const auto state : states) {
        if (plan.count(state) > 0)
            parts.push_back(std::to_string(plan.count(state)) + " " + std::string(cell_state_text(state)));
    }
    return parts.empty() ? "no wheels are wanted" : base::join(parts, ", ");
}

// "torch 2.6.0" → how many limits its cells have at most.
std::map<std::string, std::size_t> limited(const Plan& plan) {
    std::map<std::string, std::size_t> found;
    for (const auto& cell : plan.cells) {
        if (cell.limits.empty()) continue;
        auto& limits = found[cell.package + " " + cell.version];
        limits = std::max(limits, cell.limits.size());
    }
    return found;
}

}  // namespace

std::string render_plan(const Plan& plan, bool explain, std::size_t columns) {
    std::vector<base::TableRow> rows = {{"PACKAGE", "VERSION", "PYTHON", "STATE", "WHY"}};
    for (const auto& cell : plan.cells) {
        const std::string what =
            cell.purpose == Purpose::build ? "" : " " + std::string(purpose_text(cell.purpose));
        rows.push_back({cell.package + what, cell.version, cell.python,
                        std::string(cell_state_text(cell.state)), cell.reason});
        if (explain)
            rows.back().back() +=
                (cell.reason.empty() ? "" : "; ") + std::string("recipe: ") + cell.recipe +
                (cell.bounds.empty() ? "" : "; bounds: " + base::join(cell.bounds, ", ")) +
                (cell.limits.empty() ? "" : "; known limits: " + base::join(cell.limits, "; ")) +
                (cell.also_for.empty() ? "" : "; also for " + base::join(cell.also_for, ", ")) +
                (cell.torch_abi ? "; " + verdict_text(*cell.torch_abi) : "");
    }
    std::string text = plan.cells.empty() ? "" : base::render_table(rows, columns);
    std::string notes = counts(plan) + "\n";
    for (const auto& [release, limits] : limited(plan))
        if (!explain)
            notes += release + " has " + std::to_string(limits) +
                     (limits == 1 ? " known limit" : " known limits") + "; `plan --explain` names " +
                     (limits == 1 ? "it\n" : "them\n");
    if (!plan.start_nothing.empty()) notes += "No new jobs are started: " + plan.start_nothing + "\n";
    return text + base::wrap_lines(notes + render_held_queues(plan.held_queues), columns);
}

std::string render_idle_tick(const Plan& plan) {
    std::string text = "Nothing to do now: " + counts(plan) + ".\n";
    if (!plan.start_nothing.empty()) text += "No new jobs are started: " + plan.start_nothing + "\n";
    text += render_held_queues(plan.held_queues);
    const auto stuck = std::find_if(plan.cells.begin(), plan.cells.end(), [](const Cell& cell) {
        return cell.state != CellState::have && cell.state != CellState::excluded && !cell.reason.empty();
    });
    if (stuck != plan.cells.end())
        text += stuck->name + " is " + std::string(cell_state_text(stuck->state)) + ": " + stuck->reason +
                "\n`wheelyard-builder plan` lists every wheel with its reason.\n";
    return text;
}

std::string render_plan_json(const Plan& plan) {
    Json cells = Json::array();
    for (const auto& cell : plan.cells) {
        Json one = Json::object({{"cell", cell.name},
                                 {"purpose", purpose_text(cell.purpose)},
                                 {"package", cell.package},
                                 {"version", cell.version},
                                 {"python", cell.python},
                                 {"accelerator", cell.accelerator.empty() ? Json() : Json(cell.accelerator)},
                                 {"against", cell.against.empty() ? Json() : Json(cell.against)},
                                 {"state", cell_state_text(cell.state)},
                                 {"reason", cell.reason},
                                 {"attempt", cell.attempt.empty() ? Json() : Json(cell.attempt)},
                                 {"recipe", cell.recipe},
                                 {"bounds", Json::array_of(cell.bounds)}});
        if (cell.needs_person) one.set("needs_person", Json(true));
        if (!cell.limits.empty()) one.set("limits", Json::array_of(cell.limits));
        if (!cell.also_for.empty()) one.set("also_for", Json::array_of(cell.also_for));
        if (cell.torch_abi) {
            one.set("torch_abi", verdict_text(*cell.torch_abi));
            one.set("torch_abi_state", torch_abi_text(cell.torch_abi->state));
        }
        cells.push(std::move(one));
    }
    const Json stopped = plan.start_nothing.empty() ? Json() : Json(plan.start_nothing);
    return Json::object({{"format", "wheelyard.plan/1"},
                         {"cells", cells},
                         {"start_nothing", stopped},
                         {"held_queues", held_queues_json(plan.held_queues)}})
        .render_pretty();
}

std::string render_pip_config(const simple::PipConfig& config) {
    static constexpr std::array shown = {"index-url", "extra-index-url", "find-links",   "no-index",
                                         "cert",      "proxy",           "trusted-host", "timeout"};
    std::vector<base::TableRow> rows;
    for (const char* option : shown) {
        if (!config.value(option).empty()) {
            rows.push_back({option, value_without_secrets(base::replace_all(config.value(option), "\n", " ")),
                            "from " + config.origin(option)});
        }
    }
    if (config.value("index-url").empty() && !config.no_index())
        rows.push_back({"index-url", "pip's default", ""});
    return base::render_table(rows);
}

std::string render_activity(const AttemptView& view) {
    const Attempt& attempt = view.attempt;
    std::string text(state_text(attempt.state));
    if (attempt.state == State::running && !view.progress.phase.empty()) text = view.progress.phase;
    // The job is there; the next tick notes it.
    if (attempt.state == State::submitting && !view.job.empty()) text = "submitted";
    const std::string bar = attempt.state == State::running ? render_bar(view.progress, bar_width) : "";
    if (!bar.empty()) text += " " + bar;
    text += waiting_suffix(attempt.waiting);
    if (!view.job.empty() && attempt.waiting.reason.find(view.job) == std::string::npos)
        text += ", " + view.job;
    if (attempt.failure) {
        text += " in " + attempt.failure->phase + ": " + attempt.failure->error.sentence;
        if (!attempt.failure->first_error.empty()) text += " [" + attempt.failure->first_error + "]";
        if (attempt.tree.removed != 0) text += " (build tree removed: a retry starts from scratch)";
    }
    if (attempt.job.governed && (attempt.failure || attempt.job.governed->retries() > 0))
        text += "; governed: " + wire::describe(*attempt.job.governed);
    if (attempt.reproduced.identical)
        text += *attempt.reproduced.identical
                    ? ", identical to the wheel of attempt " + attempt.reproduced.attempt
                    : ", differs from the wheel of attempt " + attempt.reproduced.attempt + ": " +
                          base::join(attempt.reproduced.causes, ", ");
    if (attempt.superseded) text += " (superseded by retry)";
    if (!view.claimed_task.empty()) text += " (task " + view.claimed_task + " of the registry)";
    return text;
}

std::string render_as_of(base::UnixMicros now, std::optional<base::UnixMicros> last_tick) {
    constexpr std::size_t to_the_second = 19;
    std::string text = "As of " + base::render_rfc3339(now).substr(0, to_the_second) + "Z; ";
    if (!last_tick) return text + "no tick has run yet.\n";
    // The clock of a file server may be ahead.
    return text + "the last tick began " +
           base::render_duration_ms(std::max<std::int64_t>(0, now - *last_tick) / 1000) + " ago.\n";
}

std::string render_held_queues(const std::vector<HeldQueue>& queues) {
    std::string text;
    for (const HeldQueue& held : queues)
        text += describe(held) + "\n";
    return text;
}

std::string render_status(const std::vector<AttemptView>& attempts, base::UnixMicros now,
                          const std::vector<HeldQueue>& queues, std::size_t columns) {
    if (attempts.empty()) return "No attempts yet.\n";
    std::vector<base::TableRow> rows = {{"ATTEMPT", "CELL", "NO", "SINCE", "WHAT"}};
    for (const auto& view : attempts) {
        const auto& attempt = view.attempt;
        rows.push_back({attempt.id, attempt.asked.cell, std::to_string(attempt.number),
                        base::render_duration_ms((now - attempt.changed) / 1000), render_activity(view)});
    }
    std::string notes;
    for (const auto& view : attempts) {
        if (!view.needs_person.empty())
            notes += "\n" + view.attempt.asked.cell + " waits for a person: " + view.needs_person + "\n";
    }
    return base::render_table(rows, columns) + base::wrap_lines(notes, columns) +
           base::wrap_lines(render_held_queues(queues), columns);
}

std::string render_status_json(const std::vector<AttemptView>& attempts,
                               const std::vector<HeldQueue>& queues) {
    Json list = Json::array();
    for (const auto& view : attempts) {
        Json one = *io::parse_json(render_attempt(view.attempt));
        one.set("progress", Json::object({{"phase", view.progress.phase},
                                          {"done", view.progress.done},
                                          {"total", view.progress.total}}));
        if (!view.job.empty()) one.set("job_now", Json(view.job));
        one.set("claimed_task", view.claimed_task.empty() ? Json() : Json(view.claimed_task));
        if (!view.needs_person.empty()) one.set("needs_person", Json(view.needs_person));
        list.push(std::move(one));
    }
    return Json::object({{"format", "wheelyard.status/1"},
                         {"attempts", list},
                         {"held_queues", held_queues_json(queues)}})
        .render_pretty();
}

}  // namespace wheelyard::builder
