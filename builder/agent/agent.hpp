// The agent: control flow and no knowledge. A tick is short, safe to run from cron on several login nodes at
// once, and safe to kill anywhere: the next tick goes on from the journal.
//
//     tick = lock ─► read journal ─► look at the jobs ─► renew leases ─► advance every attempt ─► claim tasks
//     ─► ask the world ─► plan ─► start ─► report tasks ─► unlock
#pragma once

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "builder/agent/advance.hpp"
#include "builder/agent/task_work.hpp"
#include "builder/plan/plan.hpp"
#include "lib/base/lock_file.hpp"
#include "lib/base/result.hpp"

namespace wheelyard::builder {

struct TickReport {
    Plan plan;
    std::vector<Attempt> active;
    std::vector<base::Error> journal_problems;
    std::optional<base::Error> uploads_paused;  // a person must see to the token; wheels are kept meanwhile
    bool moved = false;                         // an attempt began, changed its state or ended
};

class Agent {
  public:
    explicit Agent(AgentParts parts) : parts_(std::move(parts)), advance_(parts_), tasks_(parts_) {
        parts_.registry_for = [this](const Attempt& attempt) { return tasks_.registry_for(attempt); };
    }
    Agent(const Agent&) = delete;
    Agent& operator=(const Agent&) = delete;

    // "lock.held": another tick is at work; its sentence names it. "work.away": the work folder is not the
    // one that holds the attempts under way; "journal.away": the journal is not the one of the work folder;
    // nothing is done.
    [[nodiscard]] base::Result<TickReport> tick();

    // The plan as it is now; changes nothing and takes no lock.
    [[nodiscard]] base::Result<Plan> look();

    // Lets a task be tried again: a wheel that was refused is offered again, anything else is built anew.
    // `name`: of the task or of one of its attempts. Error "retry.nothing".
    [[nodiscard]] base::Result<std::string> retry(const std::string& name);

    // Lets tests run again whose attempts are over, whatever came of them: after a maintenance. `name`: of a
    // test, a task or a package; empty: all. A wheel that was promoted stays so. Error "retest.nothing".
    [[nodiscard]] base::Result<std::string> retest(const std::string& name);

    // Stops the attempt of this name, or the one under way of the task; it is not tried again before retry.
    // Error "cancel.nothing".
    [[nodiscard]] base::Result<std::string> cancel(const std::string& name);

  private:
    [[nodiscard]] base::Result<base::LockFile> lock();
    [[nodiscard]] base::Status check_journal_folder() const;
    [[nodiscard]] base::Status check_work_folder(const std::vector<Attempt>& attempts) const;
    [[nodiscard]] JobViews look_at_jobs(const std::vector<Attempt>& attempts);
    [[nodiscard]] const World& world_with(const JournalContent& journal, bool fresh);
    [[nodiscard]] base::Result<bool> give_up_lost(JournalContent& journal);
    [[nodiscard]] Plan plan_with(const JournalContent& journal, bool fresh);
    [[nodiscard]] base::Result<bool> advance_all(JournalContent& journal, const JobViews& views);
    [[nodiscard]] base::Status size_again(Attempt& attempt, const std::vector<Attempt>& attempts) const;
    [[nodiscard]] std::size_t room_for_tasks(const std::vector<Attempt>& attempts) const;
    void ask_registry();
    void ask_sources();
    [[nodiscard]] base::Status start(const Cell& cell, JournalContent& journal);
    void resume(Attempt& attempt, const Attempt& last) const;
    void ask_for(Attempt& attempt, const std::vector<Attempt>& earlier) const;

    AgentParts parts_;
    Advance advance_;
    TaskWork tasks_;
    Site site_;  // with a want for each claimed task
    World world_;
    base::UnixMicros asked_ = 0;
    std::set<std::string> over_;      // the attempts that had ended when it was asked
    base::LockFile* held_ = nullptr;  // during a tick
    base::UnixMicros refreshed_ = 0;
};

}  // namespace wheelyard::builder
