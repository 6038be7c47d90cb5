#include "builder/agent/claimed_task.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "builder/attempt/limits.hpp"
#include "builder/plan/plan_history.hpp"
#include "lib/base/files/untrusted_file.hpp"

namespace wheelyard::builder {
namespace {

// The first cell that is not `have`; if all are, the task's own cell.
Cell deciding_cell(const ClaimRecord& record, const Plan& plan) {
    const Cell* own = nullptr;
    for (const std::string& name : names_of(record.cell)) {
        const Cell* cell = plan.find(name);
        if (cell == nullptr) continue;
        if (own == nullptr) own = cell;
        if (cell->state != CellState::have) return *cell;
    }
    if (own != nullptr) return *own;
    Cell none;
    none.name = record.cell;
    none.package = record.task.request.package;
    none.version = record.task.request.version;
    none.python = record.task.request.python;
    none.state = CellState::impossible;
    none.reason = "the site's plan has no cell for it" +
                  (plan.start_nothing.empty() ? std::string() : ": " + plan.start_nothing);
    return none;
}

bool is_hopeless(const Cell& cell) {
    static constexpr std::array hopeless = {CellState::given_up, CellState::impossible, CellState::excluded};
    // Versions that no row covers: who asked cannot decide about the site file, and would wait for ever.
    if (cell.state == CellState::unknown && cell.purpose == Purpose::build) return cell.awaits_others;
    return std::find(hopeless.begin(), hopeless.end(), cell.state) != hopeless.end();
}

std::optional<wire::Outcome> outcome_of_attempt(const Attempt& attempt, bool is_done,
                                                const Journal& journal) {
    if ((attempt.state == State::done) != is_done) return std::nullopt;
    const auto text = base::read_untrusted_file(journal.outcome_file(attempt.id), max_record_bytes);
    auto outcome = text ? wire::parse_outcome(*text) : tl::unexpected(text.error());
    if (!outcome || outcome->done != is_done) return std::nullopt;
    return *std::move(outcome);
}

// The outcome without an attempt: the index already has the wheel, or it cannot be built here.
std::optional<wire::Outcome> outcome_of_plan(wire::Outcome outcome, const Cell& cell, const World& world) {
    if (!outcome.done) {
        outcome.diagnosis = wire::Diagnosis{
            "plan",
            {"task.not_built", cell.reason, cell.name, "see `wheelyard-builder plan --explain` there"},
            ""};
        return outcome;
    }
    const auto page = world.published.find(cell.package);
    if (page == world.published.end() || !page->second || !*page->second) return std::nullopt;
    if (const auto* file = simple::find_file(**page->second, cell.reason)) {  // the reason is the file's name
        outcome.wheel.filename = file->filename;
        outcome.wheel.sha256 = file->sha256;
    }
    return outcome;
}

}  // namespace

std::vector<std::string> names_of(const std::string& cell) {
    std::vector<std::string> names{cell};
    for (const Purpose purpose : {Purpose::gpu_test, Purpose::multi_node_test, Purpose::promotion})
        names.push_back(cell + "-" + std::string(purpose_text(purpose)));
    return names;
}

const wire::Task* claimed_task_of(const std::vector<ClaimRecord>& records, const std::string& name) {
    for (const ClaimRecord& record : records) {
        const std::vector<std::string> names = names_of(record.cell);
        if (std::find(names.begin(), names.end(), name) != names.end()) return &record.task;
    }
    return nullptr;
}

std::optional<wire::Outcome> task_outcome(const ClaimRecord& record, const Plan& plan, const World& world,
                                          const Site& site, const Journal& journal, base::UnixMicros now) {
    const Cell cell = deciding_cell(record, plan);
    const Attempt* last = history_of(cell.name, world.attempts).last;
    const bool is_done = cell.state == CellState::have;
    const bool is_active = last != nullptr && !is_over(last->state);
    if (is_active || (!is_done && !is_hopeless(cell))) return std::nullopt;
    if (last != nullptr) {
        if (auto written = outcome_of_attempt(*last, is_done, journal)) return written;
    }
    wire::Outcome outcome;
    outcome.attempt = last != nullptr ? last->id : record.task.id;
    outcome.cell = cell.name;
    outcome.site = site.name;
    outcome.package = record.task.request.package;
    outcome.version = cell.version;
    outcome.python = cell.python;
    outcome.done = is_done;
    outcome.ended = outcome.began = now;
    return outcome_of_plan(std::move(outcome), cell, world);
}

}  // namespace wheelyard::builder
