// What a person asks of the agent: retry, retest, reproduce, cancel.
#include <algorithm>
#include <array>
#include <set>
#include <utility>

#include "builder/agent/agent.hpp"
#include "builder/attempt/attempt_names.hpp"
#include "builder/plan/plan_history.hpp"
#include "builder/site/script_setup.hpp"
#include "lib/base/text/text.hpp"

namespace wheelyard::builder {
namespace fs = std::filesystem;

namespace {

std::string command_to_repeat(const Attempt& attempt, const Site& site) {
    return attempt.asked.purpose == Purpose::reproduction
               ? pasted_command("reproduce", attempt.reproduced.attempt, site)
               : pasted_command("retry", attempt.asked.cell, site);
}

}  // namespace

base::Result<std::string> Agent::retry(const std::string& name) {
    return try_again(name, true);
}

base::Result<std::string> Agent::rebuild(const std::string& asked) {
    WHEELYARD_ASSIGN(const Plan plan, look());
    std::vector<std::string> had;
    for (const Cell& cell : plan.cells) {
        if (cell.purpose == Purpose::build && cell.state == CellState::have && cell.wheel)
            had.push_back(cell.name);
    }
    std::string name = asked;
    for (const Attempt& attempt : world_.attempts) {
        if (attempt.id == asked) name = attempt.asked.cell;
    }
    WHEELYARD_ASSIGN(name, complete_name(
                               name, world_.attempts,
                               [](const Attempt& one) { return one.failure && !one.superseded; }, had));
    const bool is_had = std::find(had.begin(), had.end(), name) != had.end();
    const Cell* const cell = plan.find(name);
    if (cell != nullptr && cell->state == CellState::unknown)
        return base::fail("rebuild.unknown", "It is not known whether the index has this wheel", name,
                          cell->reason + "; try again once `plan` knows");
    return is_had ? build_again(*plan.find(name)) : try_again(name, false);
}

base::Result<std::string> Agent::build_again(Cell cell) {
    const Recipe recipe =
        recipe_for(parts_.site, parts_.recipes, cell.package, cell.version, cell.accelerator);
    if (recipe.source == SourceKind::upstream || cell.uploaded || cell.of_closure)
        return base::fail("rebuild.not_ours",
                          cell.of_closure ? "What a closure made is built from its lock alone"
                          : cell.uploaded ? "A build of an uploaded source is not repeated"
                                          : "This wheel is an upstream's, and not built here",
                          cell.name,
                          cell.of_closure ? "make it a [[want]] of its own"
                          : cell.uploaded ? "ask the registry for another task"
                                          : "another `source` in its recipe builds it");
    WHEELYARD_ASSIGN(const auto held, lock());
    WHEELYARD_ASSIGN(auto journal, parts_.journal.read());
    WHEELYARD_ASSIGN(cell.build, next_build(cell, world_));
    Attempt attempt = next_attempt(cell, journal.attempts);
    WHEELYARD_TRY(begin_asked(attempt, journal));
    const std::string build = "build " + std::to_string(cell.build);
    parts_.report(attempt, "begins " + build + " of what the index has as " + cell.wheel->filename);
    return "the next `tick` or `run` builds " + cell.name + " again: " + build + ", which pip prefers to " +
           cell.wheel->filename;
}

base::Status Agent::begin_asked(Attempt& attempt, JournalContent& journal) {
    if (!journal.problems.empty())
        return base::fail("journal.unreadable", "The journal has a file that cannot be read",
                          journal.problems.front().text(),
                          "read it; if nothing can repair it, move it out of the journal's folder");
    for (const Attempt& other : journal.attempts) {
        if (other.asked.cell != attempt.asked.cell) continue;
        attempt.number = std::max(attempt.number, other.number + 1);
        if (!is_over(other.state))
            return base::fail("retry.active", "This cell has an active attempt", other.id,
                              "`logs` shows what it does; `cancel` stops it");
    }
    std::vector<const Attempt*> older;
    for (Attempt& other : journal.attempts) {
        if (other.asked.cell == attempt.asked.cell && !std::exchange(other.superseded, true))
            older.push_back(&other);
    }
    WHEELYARD_TRY(remove_older_trees(attempt, journal.attempts));
    size_and_place(attempt, journal.attempts);
    // The new one is written first: whatever fails, the journal has one that still says what is asked for.
    WHEELYARD_TRY(parts_.journal.write(attempt));
    for (const Attempt* other : older)
        WHEELYARD_TRY(parts_.journal.write(*other));
    return {};
}

base::Result<std::string> Agent::try_again(const std::string& name, bool with_its_wheel) {
    WHEELYARD_ASSIGN(const auto held, lock());
    WHEELYARD_ASSIGN(auto journal, parts_.journal.read());
    WHEELYARD_ASSIGN(std::string cell, complete_name(name, journal.attempts, [](const Attempt& attempt) {
                         return !attempt.superseded && is_over(attempt.state) &&
                                attempt.asked.purpose != Purpose::reproduction;
                     }));
    for (const auto& attempt : journal.attempts) {
        if (attempt.id == cell) cell = std::string(attempt.asked.cell);
    }
    return try_cell_again(journal, cell, with_its_wheel);
}

base::Result<std::string> Agent::retry_given_up(const std::string& code, bool with_their_wheels) {
    WHEELYARD_ASSIGN(const Plan plan, look());
    WHEELYARD_ASSIGN(const auto held, lock());
    WHEELYARD_ASSIGN(auto journal, parts_.journal.read());
    std::set<std::string> cells;
    for (const auto& attempt : journal.attempts)
        cells.insert(attempt.asked.cell);
    std::vector<std::string> done;
    for (const auto& name : cells) {
        const CellHistory history = history_of(name, journal.attempts);
        if (history.last == nullptr || !history.last->failure ||
            history.last->asked.purpose == Purpose::reproduction)
            continue;
        // The plan is unknown where the registry does not answer; the journal still knows that the cell is
        // given up.
        const Cell* planned = plan.find(name);
        if (planned == nullptr ||
            (planned->state != CellState::given_up && planned->state != CellState::unknown))
            continue;
        const Failure& failure = *history.last->failure;
        Cell cell;
        judge_failures(cell, history, parts_.site, "");
        // As a person reads them: the error's, and the doctor's.
        const std::array codes = {failure.error.code, failure.cause};
        const bool has_code = code.empty() || std::find(codes.begin(), codes.end(), code) != codes.end();
        if (cell.state != CellState::given_up || !has_code) continue;
        WHEELYARD_ASSIGN(const auto text, try_cell_again(journal, name, with_their_wheels));
        done.push_back(text);
    }
    if (done.empty()) {
        return base::fail("retry.nothing",
                          code.empty() ? "No cell is given up" : "No cell is given up for this reason", code,
                          "`status` lists the attempts; `explain CELL` shows the code of a failure");
    }
    return base::join(done, "\n");
}

base::Result<std::string> Agent::try_cell_again(JournalContent& journal, const std::string& cell,
                                                bool with_its_wheel) {
    std::string done;
    Attempt* last = nullptr;
    for (auto& attempt : journal.attempts) {
        if (attempt.asked.cell != cell || attempt.superseded) continue;
        if (!is_over(attempt.state)) {
            return base::fail("retry.active", "This cell has an active attempt", attempt.id,
                              "`logs` shows what it does; `cancel` stops it");
        }
        // By number, as in the plan: the order of ids depends on clocks.
        if (last == nullptr || attempt.number >= last->number) last = &attempt;
    }
    if (last == nullptr) {
        return base::fail("retry.nothing", "No attempt of this name has ended", cell,
                          "`status` lists the attempts; `plan` lists every cell and what it waits for");
    }
    if (last->asked.purpose == Purpose::reproduction) {
        return base::fail("retry.reproduction", "Nothing is wanted of a reproduction", cell,
                          "`" + command_to_repeat(*last, parts_.site) + "` repeats it");
    }
    std::error_code ignored;
    const bool has_wheel =
        with_its_wheel && keeps_wheel(*last) && fs::exists(parts_.folder_of(*last).wheel(), ignored);
    const std::string again = "the next `tick` or `run` ";
    const bool is_another =  // the index has one, so that the plan asks for no other by itself
        last->asked.purpose == Purpose::build && last->asked.build > 0 && last->state == State::failed;
    if (is_another && !has_wheel) {
        Attempt attempt;
        attempt.id = new_attempt_id(parts_.clock.now());
        attempt.asked = last->asked;
        attempt.created = attempt.changed = parts_.clock.now();
        WHEELYARD_TRY(begin_asked(attempt, journal));
        return again + "builds " + cell + " again: build " + std::to_string(attempt.asked.build);
    }
    for (auto& attempt : journal.attempts) {
        if (attempt.asked.cell != cell || attempt.superseded) continue;
        if (has_wheel && &attempt == last) {
            attempt.state = State::uploading;
            attempt.failure.reset();
            attempt.waiting = {};
            attempt.wheel.sends = 0;
            attempt.wheel.sent = 0;
            attempt.variant = {};
            done = "the next `tick` or `run` uploads the wheel of attempt " + attempt.id + " again";
        } else {
            attempt.superseded = true;
        }
        attempt.changed = parts_.clock.now();
        WHEELYARD_TRY(parts_.journal.write(attempt));
    }
    if (!done.empty()) return done;
    if (last->asked.purpose != Purpose::build) return again + "repeats " + cell;
    if (last->asked.for_task && last->state != State::done) {
        return again + "builds " + cell +
               " again if a [[want]] or an open request has it. The request that it was for has ended: ask "
               "again with avail_wheels --request '" +
               last->asked.package + "==" + last->asked.version + "'";
    }
    if (last->state != State::done) return again + "builds " + cell + " again";
    return cell + " did not fail; " + again + "builds it again only if its wheel is no longer there";
}

base::Result<std::string> Agent::retest(const std::string& name) {
    WHEELYARD_ASSIGN(const auto held, lock());
    WHEELYARD_ASSIGN(auto journal, parts_.journal.read());
    std::set<std::string> cells;
    for (auto& attempt : journal.attempts) {
        const bool meant =
            name.empty() || attempt.id == name || attempt.asked.cell == name ||
            attempt.asked.package == name ||
            attempt.asked.cell == name + "-" + std::string(purpose_text(attempt.asked.purpose));
        if (!is_test(attempt.asked.purpose) || attempt.superseded || !is_over(attempt.state) || !meant)
            continue;
        attempt.superseded = true;
        attempt.changed = parts_.clock.now();
        WHEELYARD_TRY(parts_.journal.write(attempt));
        cells.insert(attempt.asked.cell);
    }
    if (cells.empty()) {
        return base::fail("retest.nothing", "No ended test has this name", name,
                          "`status` lists cells and attempts");
    }
    return "run again by the next ticks: " + base::join({cells.begin(), cells.end()}, ", ");
}

namespace {

bool has_recorded_wheel(const Attempt& attempt) {
    return attempt.asked.purpose == Purpose::build && attempt.state == State::done &&
           !attempt.wheel.sha256.empty();
}

// The last attempt of this ID or cell that made a wheel; nullptr: none.
const Attempt* find_recorded(const std::vector<Attempt>& attempts, const std::string& name) {
    const Attempt* last = nullptr;
    for (const Attempt& attempt : attempts) {
        const bool is_meant = attempt.id == name || attempt.asked.cell == name;
        if (is_meant && has_recorded_wheel(attempt) && (last == nullptr || attempt.number >= last->number))
            last = &attempt;
    }
    return last;
}

Attempt begin_reproduction(const Attempt& built, base::UnixMicros now) {
    Attempt attempt;
    attempt.id = new_attempt_id(now);
    attempt.asked = built.asked;
    attempt.asked.purpose = Purpose::reproduction;
    attempt.asked.cell += "-" + std::string(purpose_text(Purpose::reproduction));
    attempt.asked.for_task = false;
    attempt.created = attempt.changed = now;
    attempt.source = built.source;
    attempt.reproduced = {built.id,           built.job.tree, built.wheel.filename,
                          built.wheel.sha256, std::nullopt,   {}};
    return attempt;
}

}  // namespace

base::Result<std::string> Agent::reproduce(const std::string& asked) {
    WHEELYARD_ASSIGN(const auto held, lock());
    WHEELYARD_ASSIGN(auto journal, parts_.journal.read());
    WHEELYARD_ASSIGN(const std::string name, complete_name(asked, journal.attempts, has_recorded_wheel));
    const Attempt* built = find_recorded(journal.attempts, name);
    if (built == nullptr) {
        return base::fail("reproduce.nothing", "No attempt of this name has made a wheel here", name,
                          "`status` lists cells and attempts; the inputs of a wheel are where it was built");
    }
    if (built->asked.uploaded)
        return base::fail("reproduce.uploaded", "A build of an uploaded source is not repeated", name,
                          "ask the registry for another task");
    Attempt attempt = begin_reproduction(*built, parts_.clock.now());
    for (const Attempt& other : journal.attempts) {
        if (other.asked.cell == attempt.asked.cell && !is_over(other.state)) return attempt.asked.cell;
    }
    WHEELYARD_TRY(begin_asked(attempt, journal));
    parts_.report(attempt, "repeats attempt " + built->id + ", which made " + built->wheel.filename);
    return attempt.asked.cell;
}

base::Result<std::string> Agent::cancel(const std::string& asked) {
    WHEELYARD_ASSIGN(const auto held, lock());
    WHEELYARD_ASSIGN(auto journal, parts_.journal.read());
    WHEELYARD_ASSIGN(const std::string name, complete_name(asked, journal.attempts, [](const Attempt& one) {
                         return !is_over(one.state);
                     }));
    for (auto& attempt : journal.attempts) {
        if ((attempt.id != name && attempt.asked.cell != name) || is_over(attempt.state)) continue;
        WHEELYARD_TRY(stepper_.give_up(attempt));
        return "attempt " + attempt.id + " of " + attempt.asked.cell + " is cancelled; `" +
               command_to_repeat(attempt, parts_.site) + "` starts it again";
    }
    return base::fail("cancel.nothing", "No active attempt has this name", name,
                      "`status` lists cells and attempts");
}

}  // namespace wheelyard::builder
