// What a person asks of the agent: retry, retest, cancel.
#include <set>

#include "builder/agent/agent.hpp"
#include "builder/attempt/attempt_names.hpp"
#include "lib/base/text.hpp"

namespace wheelyard::builder {
namespace fs = std::filesystem;

base::Result<std::string> Agent::retry(const std::string& name) {
    return try_again(name, true);
}

base::Result<std::string> Agent::rebuild(const std::string& name) {
    return try_again(name, false);
}

base::Result<std::string> Agent::try_again(const std::string& name, bool with_its_wheel) {
    WHEELYARD_ASSIGN(const auto held, lock());
    WHEELYARD_ASSIGN(auto journal, parts_.journal.read());
    WHEELYARD_ASSIGN(std::string cell, complete_name(name, journal.attempts, [](const Attempt& attempt) {
                         return !attempt.superseded && is_over(attempt.state);
                     }));
    for (const auto& attempt : journal.attempts) {
        if (attempt.id == cell) cell = std::string(attempt.asked.cell);
    }
    std::string done;
    Attempt* last = nullptr;
    for (auto& attempt : journal.attempts) {
        if (attempt.asked.cell != cell || attempt.superseded) continue;
        if (!is_over(attempt.state)) {
            return base::fail("retry.active", "This cell has an active attempt", attempt.id);
        }
        // By number, as in the plan: the order of ids depends on clocks.
        if (last == nullptr || attempt.number >= last->number) last = &attempt;
    }
    if (last == nullptr) {
        return base::fail("retry.nothing", "No attempt of this cell has ended", name,
                          "`status` lists cells and attempts");
    }
    std::error_code ignored;
    const bool has_wheel =
        with_its_wheel && keeps_wheel(*last) && fs::exists(parts_.folder_of(*last).wheel(), ignored);
    for (auto& attempt : journal.attempts) {
        if (attempt.asked.cell != cell || attempt.superseded) continue;
        if (has_wheel && &attempt == last) {
            attempt.state = State::uploading;
            attempt.failure.reset();
            attempt.waiting = {};
            attempt.wheel.sends = 0;
            attempt.wheel.sent = 0;
            done = "attempt " + attempt.id + " uploads its wheel again";
        } else {
            attempt.superseded = true;
        }
        attempt.changed = parts_.clock.now();
        WHEELYARD_TRY(parts_.journal.write(attempt));
    }
    if (!done.empty()) return done;
    return cell + (last->asked.purpose == Purpose::build
                       ? " is built again by the next tick, unless the index has it"
                       : " is run again by the next tick");
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

base::Result<std::string> Agent::cancel(const std::string& asked) {
    WHEELYARD_ASSIGN(const auto held, lock());
    WHEELYARD_ASSIGN(auto journal, parts_.journal.read());
    WHEELYARD_ASSIGN(const std::string name, complete_name(asked, journal.attempts, [](const Attempt& one) {
                         return !is_over(one.state);
                     }));
    for (auto& attempt : journal.attempts) {
        if ((attempt.id != name && attempt.asked.cell != name) || is_over(attempt.state)) continue;
        WHEELYARD_TRY(stepper_.give_up(attempt));
        return "attempt " + attempt.id + " of " + attempt.asked.cell +
               " is cancelled; `retry` starts it again";
    }
    return base::fail("cancel.nothing", "No active attempt has this name", name,
                      "`status` lists cells and attempts");
}

}  // namespace wheelyard::builder
