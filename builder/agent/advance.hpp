// Advances one attempt from state to state, as far as possible now. Each step does its work first and then writes
// the journal. Steps are idempotent: after a kill in between, the next tick finds the work done or repeats it with
// the same result.
//
//     state        step           what it does                                                       next
//     planned      fetch          source into the cache, hash checked                                fetched
//     fetched      prepare        tree unpacked, script written                                      prepared
//     prepared     submit         waits for a job slot; journal first (the intent), then the scheduler submitting
//     submitting   watch_start    looks for the script's claim; restarts if there is none        running
//     running      watch          looks for the exit record; neither record nor process: failed        built
//     built        inspect        the registry's own rules                                           uploading
//     uploading    upload         skips a wheel that the index has; waits until the page shows it    done
//
// Attempts that follow a published wheel (attempt.hpp, Purpose) have fewer steps: a test is prepared, submitted and
// watched in the same way; a promotion is one request to the registry.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>

#include "builder/attempt/attempt.hpp"
#include "builder/attempt/failpoints.hpp"
#include "builder/attempt/job_files.hpp"
#include "builder/attempt/journal.hpp"
#include "builder/plan/plan.hpp"
#include "builder/remote/registry.hpp"
#include "builder/remote/task_service.hpp"
#include "builder/schedule/scheduler.hpp"
#include "builder/site/recipe.hpp"
#include "builder/site/site.hpp"
#include "builder/sources/sources.hpp"
#include "lib/base/clock.hpp"
#include "lib/inspect/inspect.hpp"

namespace wheelyard::builder {

// The agent's dependencies; main constructs them. Referenced objects must outlive the agent.
struct AgentParts {
    const Site& site;
    const Recipes& recipes;
    const Pythons& pythons;
    const Journal& journal;
    Scheduler& scheduler;
    Sources& sources;
    Registry* registry;  // nullptr: wheels stay in the work folder
    base::Clock& clock;
    EnvironmentMap environment;      // the agent's own
    std::filesystem::path governor;  // the program; empty: builds run without it
    std::string pip_conf;            // for the jobs' pip; may hold passwords
    std::function<void(const Attempt&, const std::string&)> note = {};  // reports an event to a person
    // Refreshes the lock and the leases of claimed tasks; also called before every write. Error "lock.lost":
    // another tick has taken over, and this one must not write or start anything more.
    base::KeepAlive keep_alive = {};
    [[nodiscard]] base::Status still_ours() const { return base::renew_or_abort(keep_alive); }
    Failpoints failpoints = {};
    TaskService* tasks = nullptr;  // nullptr: the site does not claim the registry's tasks
    // Whether one of the site's job slots is free. The agent sets it.
    std::function<bool()> has_job_slot = {};
    // The registry that receives the wheel of a claimed task; nullptr: `registry`. The agent sets it.
    std::function<Registry*(const Attempt&)> registry_for = {};
};

using JobViews = std::map<std::string, JobView>;

class Advance {
  public:
    explicit Advance(AgentParts& parts) : parts_(parts) {}

    // Returns whether the attempt moved. An error means that the journal cannot be written: the tick must end.
    [[nodiscard]] base::Result<bool> run(Attempt& attempt, const JobViews& views);

    // Cancels the attempt at a person's request: stops its job, prevents late starts, and ends it.
    [[nodiscard]] base::Status give_up(Attempt& attempt);
    // The same, for another reason.
    [[nodiscard]] base::Status give_up(Attempt& attempt, base::Error why,
                                       std::optional<EndCause> end = std::nullopt);

    // Why uploads are paused: an error about the registry's token, which a person must fix. Uploads resume when
    // the wait of a wheel is over.
    [[nodiscard]] const std::optional<base::Error>& uploads_paused() const { return uploads_paused_; }
    void resume_uploads() { uploads_paused_.reset(); }

    [[nodiscard]] Recipe recipe_of(const Attempt& attempt) const;
    [[nodiscard]] AttemptFolder folder_of(const Attempt& attempt) const;
    [[nodiscard]] std::filesystem::path kept_wheel(const Attempt& attempt) const;  // without a registry

  private:
    // A step's result: the attempt has a new state, or it must wait.
    enum class Step { moved, not_yet };
    using StepFunction = base::Result<Step> (Advance::*)(Attempt&, const JobView&);
    struct StepRow;
    static const StepRow* find_step(const Attempt& attempt);
    [[nodiscard]] static bool is_waited_for(const Attempt& attempt, const base::Error& error);
    [[nodiscard]] bool has_waited_too_long(const Attempt& attempt, const base::Error& error) const;
    base::Status fail_after_wait(Attempt& attempt, std::string phase, const base::Error& error);

    // Abandons the interrupted attempt's tree: this attempt builds in its own.
    base::Status leave_old_tree(Attempt& attempt) const;
    base::Result<Step> fetch(Attempt& attempt, const JobView&);
    base::Result<Step> prepare(Attempt& attempt, const JobView&);
    base::Result<Step> submit(Attempt& attempt, const JobView&);
    base::Result<Step> watch_start(Attempt& attempt, const JobView& view);
    base::Result<Step> watch(Attempt& attempt, const JobView& view);
    base::Result<Step> inspect_wheel(Attempt& attempt, const JobView&);
    base::Result<Step> upload(Attempt& attempt, const JobView&);
    base::Result<Step> prepare_test(Attempt& attempt, const JobView&);
    base::Result<Step> promote(Attempt& attempt, const JobView&);

    // The attempt's interpreter. Error: "python.missing".
    [[nodiscard]] base::Result<std::filesystem::path> python_of(const Attempt& attempt) const;
    [[nodiscard]] bool has_work_folder() const;
    base::Status start_job(Attempt& attempt);
    [[nodiscard]] bool forbid_late_start(const Attempt& attempt);
    void read_governor_summary(Attempt& attempt) const;
    base::Result<Step> job_ended(Attempt& attempt, const ExitRecord& record, const JobView& view);
    base::Status end_when_overdue(Attempt& attempt);
    base::Result<Step> job_gone(Attempt& attempt, const JobView& view);
    base::Result<Step> cannot_run(Attempt& attempt, const JobView& view);
    [[nodiscard]] std::optional<JobEnd> explain(const Attempt& attempt, const ExitRecord& record,
                                                const JobView& view) const;
    [[nodiscard]] bool awaits_scheduler_status(const ExitRecord& record, const JobView& view) const;
    base::Result<std::filesystem::path> find_wheel(const Attempt& attempt) const;
    base::Result<const inspect::Inspection*> inspection_of(const Attempt& attempt,
                                                           const std::filesystem::path& file);
    [[nodiscard]] base::Status check_abi(const Attempt& attempt, const inspect::Inspection& inspection) const;
    [[nodiscard]] Registry* registry_of(const Attempt& attempt) const;
    [[nodiscard]] bool is_granted(const Attempt& attempt) const;
    base::Result<bool> is_published(const Attempt& attempt);
    base::Status send(Attempt& attempt);
    base::Status keep(Attempt& attempt);

    base::Status still_ours() const;
    base::Status write(const Attempt& attempt) const;
    base::Status cannot_tell(Attempt& attempt, const std::string& why);
    base::Status wait_for(Attempt& attempt, WaitFor what, const std::string& reason);
    base::Status wait_in_queue(Attempt& attempt, const std::string& detail);
    base::Status enter(Attempt& attempt, State state);
    enum class Notes { yes, no };  // whether to report a new reason to a person
    base::Status wait(Attempt& attempt, const base::Error& reason, Notes notes = Notes::yes);
    // `end`: how the job ended; none: the attempt failed outside a job.
    base::Status fail(Attempt& attempt, std::string phase, base::Error error, bool try_again,
                      std::optional<EndCause> end = std::nullopt);
    base::Status fail_job(Attempt& attempt, std::string phase, const JobEnd& end);
    void diagnose(const Attempt& attempt, Failure& failure) const;
    // A step on the login node, for sites whose jobs cannot reach an index.
    [[nodiscard]] base::Status fill_wheelhouse(const Attempt& attempt, std::string script) const;
    static void diagnose_login_step(Failure& failure);
    base::Status finish(Attempt& attempt);
    void forget_secrets(const Attempt& attempt) const;
    [[nodiscard]] EnvironmentMap build_environment(const Attempt& attempt) const;
    [[nodiscard]] wire::Outcome outcome_of(const Attempt& attempt) const;
    void note(const Attempt& attempt, const std::string& text) const;
    [[nodiscard]] io::HttpProgress progress() const;
    [[nodiscard]] base::Status remove_bulk(const AttemptFolder& folder) const;

    AgentParts& parts_;
    std::optional<base::Error> uploads_paused_;
    std::string inspected_;  // the attempt to which inspection_ belongs
    std::optional<inspect::Inspection> inspection_;
};

}  // namespace wheelyard::builder
