// What a person asks of the agent: retry, retest, cancel.
#include <set>

#include "builder/agent/agent.hpp"
#include "lib/base/text.hpp"

namespace wheelyard::builder {
namespace fs = std::filesystem;

base::Result<std::string> Agent::retry(const std::string& name) {
    WHEELYARD_ASSIGN(const auto held, lock());
    WHEELYARD_ASSIGN(auto journal, parts_.journal.read());
    std::string task = name;
    for (const auto& attempt : journal.attempts) {
        if (attempt.id == name) task = attempt.task;
    }
    std::string done;
    Attempt* last = nullptr;
    for (auto& attempt : journal.attempts) {
        if (attempt.task != task || attempt.superseded) continue;
        if (!is_over(attempt.state)) {
            return base::fail("retry.active", "This task has an active attempt", attempt.id);
        }
        // By number, as in the plan: the order of ids depends on clocks.
        if (last == nullptr || attempt.number >= last->number) last = &attempt;
    }
    if (last == nullptr) {
        return base::fail("retry.nothing", "No attempt of this task has ended", name,
                          "`status` lists tasks and attempts");
    }
    std::error_code ignored;
    const bool has_wheel = last->failure && last->failure->phase == "upload" &&
                           fs::exists(parts_.folder_of(*last).wheel(), ignored);
    for (auto& attempt : journal.attempts) {
        if (attempt.task != task || attempt.superseded) continue;
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
    return task + (last->purpose == Purpose::build
                       ? " is built again by the next tick, unless the index has it"
                       : " is run again by the next tick");
}

base::Result<std::string> Agent::retest(const std::string& name) {
    WHEELYARD_ASSIGN(const auto held, lock());
    WHEELYARD_ASSIGN(auto journal, parts_.journal.read());
    std::set<std::string> tasks;
    for (auto& attempt : journal.attempts) {
        const bool meant = name.empty() || attempt.id == name || attempt.task == name ||
                           attempt.package == name ||
                           attempt.task == name + "-" + std::string(purpose_text(attempt.purpose));
        if (!is_test(attempt.purpose) || attempt.superseded || !is_over(attempt.state) || !meant) continue;
        attempt.superseded = true;
        attempt.changed = parts_.clock.now();
        WHEELYARD_TRY(parts_.journal.write(attempt));
        tasks.insert(attempt.task);
    }
    if (tasks.empty()) {
        return base::fail("retest.nothing", "No ended test has this name", name,
                          "`status` lists tasks and attempts");
    }
    return "run again by the next ticks: " + base::join({tasks.begin(), tasks.end()}, ", ");
}

base::Result<std::string> Agent::cancel(const std::string& name) {
    WHEELYARD_ASSIGN(const auto held, lock());
    WHEELYARD_ASSIGN(auto journal, parts_.journal.read());
    for (auto& attempt : journal.attempts) {
        if ((attempt.id != name && attempt.task != name) || is_over(attempt.state)) continue;
        WHEELYARD_TRY(stepper_.give_up(attempt));
        return "attempt " + attempt.id + " of " + attempt.task + " is cancelled; `retry` starts it again";
    }
    return base::fail("cancel.nothing", "No active attempt has this name", name,
                      "`status` lists tasks and attempts");
}

}  // namespace wheelyard::builder
