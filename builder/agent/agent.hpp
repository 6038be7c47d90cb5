// The agent: only control flow. A tick is short. It is safe to run from cron on several login nodes at once
// and safe to kill at any point: the next tick continues from the journal.
//
//     tick = lock ─► read journal ─► poll the jobs ─► renew claims ─► advance every attempt ─► claim tasks
//     ─► query registry and indexes ─► plan ─► start ─► trim the work folder ─► report tasks ─► unlock
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "builder/agent/agent_parts.hpp"
#include "builder/agent/attempt_stepper.hpp"
#include "builder/agent/task_leases.hpp"
#include "builder/plan/plan.hpp"
#include "lib/base/files/lock_file.hpp"
#include "lib/base/result.hpp"

namespace wheelyard::builder {

// The age after which a lock of another host is stale if it is not refreshed.
inline constexpr std::int64_t lock_stale_after_ms = 15 * 60'000;
inline constexpr std::int64_t lock_refresh_every_ms = 30'000;  // during long transfers and copies

struct TickReport {
    Plan plan;
    std::vector<Attempt> active;
    std::vector<base::Error> journal_problems;
    std::optional<base::Error> uploads_paused;  // a person must fix the token; wheels are kept until then
    bool moved = false;                         // an attempt began, changed its state or ended
    bool may_claim = false;                     // the registry may have a task for a free slot
};

class Agent {
  public:
    explicit Agent(AgentParts parts)
        : parts_(std::move(parts)), stepper_(parts_, parts_.journal), tasks_(parts_) {
        parts_.registry_for = [this](const Attempt& attempt) { return tasks_.registry_for(attempt); };
    }
    Agent(const Agent&) = delete;
    Agent& operator=(const Agent&) = delete;

    // Errors, after which nothing has been done: "lock.held" (another tick is running; the sentence names
    // it), "work.away" (the work folder does not contain the active attempts), "journal.away" (the journal
    // does not belong to the work folder).
    [[nodiscard]] base::Result<TickReport> tick();

    // The plan as it is now; changes nothing and takes no lock.
    [[nodiscard]] base::Result<Plan> look();

    // The job of a cell of this plan: its last attempt's own script, if the cell is built or in progress, else
    // what its next one would run, as far as it is known before its source is there; `summary` says what is
    // not. Starts and writes nothing. Error "plan.no_job".
    [[nodiscard]] base::Result<JobText> look_at_job(const Cell& cell);

    // Why tasks with uploaded sources are not claimed; nullopt: they are.
    [[nodiscard]] const std::optional<base::Error>& no_uploaded_sources() const {
        return tasks_.no_uploaded_sources();
    }

    // Allows another try of a cell: a refused wheel is uploaded again, anything else is built again. `name`:
    // of the cell or of one of its attempts. Error "retry.nothing".
    [[nodiscard]] base::Result<std::string> retry(const std::string& name);
    // The same, but builds a refused wheel again: its recipe has changed. Of a cell whose wheel the index has, it
    // begins an attempt with the next build tag (next_build()). Errors "rebuild.not_ours", "retry.active".
    [[nodiscard]] base::Result<std::string> rebuild(const std::string& name);

    // retry() or rebuild() (`with_their_wheels` false) of every cell given up; `code`: only those whose last
    // failure has it, as its error or as the doctor's cause; empty: all.
    [[nodiscard]] base::Result<std::string> retry_given_up(const std::string& code, bool with_their_wheels);

    // Runs ended tests again, passed or failed, for example after a maintenance. `name`: of a test, a cell or
    // a package; empty: all. A promoted wheel stays promoted. Error "retest.nothing".
    [[nodiscard]] base::Result<std::string> retest(const std::string& name);

    // Begins a reproduction of the last wheel that this agent built of a cell (`name`: of the cell or of one
    // of its attempts), or returns the active one. Errors: "reproduce.nothing", "journal.unreadable".
    [[nodiscard]] base::Result<std::string> reproduce(const std::string& name);

    // Cancels the attempt of this name, or the active attempt of the cell of this name. Only retry() starts
    // it again. Error "cancel.nothing".
    [[nodiscard]] base::Result<std::string> cancel(const std::string& name);

  private:
    enum class Ask { if_stale, always };  // the registry and the source indexes

    // agent.cpp: the phases of a tick, in order; each sets `moved` of the report if an attempt moved.
    [[nodiscard]] base::Result<TickReport> run_phases();
    [[nodiscard]] base::Result<JournalContent> open_journal();
    void read_state();
    void poll(const std::vector<Attempt>& attempts);
    // The one attempt for each held queue whose job this tick submits.
    void choose_probes(const std::vector<Attempt>& attempts);
    [[nodiscard]] base::Status give_up_lost(JournalContent& journal, TickReport& report);
    [[nodiscard]] base::Status advance_all(JournalContent& journal, TickReport& report);
    [[nodiscard]] base::Status claim_tasks(JournalContent& journal);
    [[nodiscard]] base::Status trim_work_folder(JournalContent& journal, const TickReport& report);

    [[nodiscard]] base::Result<base::LockFile> lock();
    [[nodiscard]] base::Status keep_lock(base::LockFile& held);
    [[nodiscard]] base::Status check_journal_folder() const;
    [[nodiscard]] base::Status check_work_folder(const std::vector<Attempt>& attempts) const;
    [[nodiscard]] bool may_prepare_for(const std::string& queue, const std::vector<Attempt>& attempts) const;
    [[nodiscard]] std::size_t room_for_tasks(const std::vector<Attempt>& attempts) const;

    // agent_world.cpp: what the plan needs to know.
    [[nodiscard]] const World& world_with(const JournalContent& journal, Ask ask);
    [[nodiscard]] Plan plan_with(const JournalContent& journal, Ask ask);
    void ask_registry();
    void ask_sources();
    void look_for_programs();
    [[nodiscard]] base::Status note_store() const;

    // agent_start.cpp: starts attempts.
    [[nodiscard]] base::Status start_wanted(JournalContent& journal, TickReport& report);
    [[nodiscard]] base::Status forget_unused_queues(const std::vector<Attempt>& attempts, const Plan& plan);
    [[nodiscard]] std::string queue_of_cell(const Cell& cell) const;
    [[nodiscard]] base::Status start(const Cell& cell, JournalContent& journal);
    [[nodiscard]] base::Status remove_older_trees(const Attempt& attempt,
                                                  const std::vector<Attempt>& attempts) const;
    [[nodiscard]] Attempt next_attempt(const Cell& cell, const std::vector<Attempt>& attempts) const;
    void size_and_place(Attempt& attempt, const std::vector<Attempt>& attempts) const;
    void resume(Attempt& attempt, const Attempt& last) const;
    [[nodiscard]] std::string tree_for(const Attempt& attempt, const std::vector<Attempt>& attempts) const;
    void size_request(Attempt& attempt, const std::vector<Attempt>& earlier) const;
    [[nodiscard]] base::Status size_again(Attempt& attempt, const std::vector<Attempt>& attempts) const;

    // agent_commands.cpp
    [[nodiscard]] base::Result<std::string> try_again(const std::string& name, bool with_its_wheel);
    [[nodiscard]] base::Result<std::string> build_again(Cell cell);
    // Begins an attempt that a person asks for, in place of the cell's others.
    [[nodiscard]] base::Status begin_asked(Attempt& attempt, JournalContent& journal);
    [[nodiscard]] base::Result<std::string> try_cell_again(JournalContent& journal, const std::string& cell,
                                                           bool with_its_wheel);

    AgentParts parts_;
    AttemptStepper stepper_;
    TaskLeases tasks_;
    Site site_;  // includes a want for each claimed task
    World world_;
    std::optional<std::string> store_;  // of the registry, as it answered at world_asked_
    base::UnixMicros world_asked_ = 0;
    std::set<std::string> ended_then_;  // the attempts that had ended at world_asked_
    base::UnixMicros refreshed_ = 0;
};

}  // namespace wheelyard::builder
