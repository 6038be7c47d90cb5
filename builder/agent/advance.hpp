// Moves one attempt along, one state after the other, as far as it goes now. Each step does its work first
// and writes the journal after; killed in between, the work is found done or is done again, with the same
// result.
//
//     state        step           what it does                                                       next
//     planned      fetch          source into the cache, hash checked                                fetched
//     fetched      prepare        tree unpacked, script written                                      prepared
//     prepared     submit         waits for a job slot; journal first (the intent), then the scheduler submitting
//     submitting   watch_start    looks for the script's claim; starts again if there is none        running
//     running      watch          looks for the exit record; no record and no process: failed        built
//     built        inspect        the registry's own rules                                           uploading
//     uploading    upload         what the index already has is not sent again; seen on the page     done
//
// What follows a published wheel (attempt.hpp, Purpose) has fewer steps: a test is prepared, submitted and
// watched in the same way, a promotion asks the registry and is done.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>

#include "builder/attempt/attempt.hpp"
#include "builder/attempt/job_files.hpp"
#include "builder/attempt/journal.hpp"
#include "builder/attempt/stop_points.hpp"
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

// Everything the agent works with; main wires it. References outlive the agent.
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
    std::function<void(const Attempt&, const std::string&)> note = {};  // something happened, for a person
    // Refreshes the lock and the leases of claimed tasks; called before every write, too. "lock.lost":
    // another tick is at work, and this one must write and start nothing more.
    base::Breathe breathe = {};
    [[nodiscard]] base::Status still_ours() const { return base::take_breath(breathe); }
    StopAt stop = {};
    TaskService* tasks = nullptr;  // nullptr: the site claims no tasks of the registry
    // Whether one of the site's job slots is free. The agent sets it.
    std::function<bool()> has_job_slot = {};
    // Who takes the wheel of a claimed task; nullptr: `registry`. The agent sets it.
    std::function<Registry*(const Attempt&)> registry_for = {};
};

using JobViews = std::map<std::string, JobView>;

class Advance {
  public:
    explicit Advance(AgentParts& parts) : parts_(parts) {}

    // Returns whether anything moved. An Error: the journal cannot be written, so nothing more may be done.
    [[nodiscard]] base::Result<bool> run(Attempt& attempt, const JobViews& views);

    // At a person's wish: its job is stopped, no late start of it can run, and it is over.
    [[nodiscard]] base::Status give_up(Attempt& attempt);
    // The same for another reason.
    [[nodiscard]] base::Status give_up(Attempt& attempt, base::Error why,
                                       std::optional<EndCause> end = std::nullopt);

    // Why no wheel is sent any more: something about the registry's token, which a person must mend. Holds
    // until a wheel's wait is over.
    [[nodiscard]] const std::optional<base::Error>& uploads_paused() const { return uploads_paused_; }
    void resume_uploads() { uploads_paused_.reset(); }

    [[nodiscard]] Recipe recipe_of(const Attempt& attempt) const;
    [[nodiscard]] AttemptFolder folder_of(const Attempt& attempt) const;
    [[nodiscard]] std::filesystem::path kept_wheel(const Attempt& attempt) const;  // without a registry

  private:
    // What a step says: the attempt has a new state, or it must wait for something that is on its way.
    enum class Step { moved, not_yet };
    using StepFunction = base::Result<Step> (Advance::*)(Attempt&, const JobView&);
    struct StepRow;
    static const StepRow* find_step(const Attempt& attempt);
    [[nodiscard]] static bool is_waited_for(const Attempt& attempt, const base::Error& error);
    [[nodiscard]] bool has_waited_too_long(const Attempt& attempt, const base::Error& error) const;
    base::Status fail_after_wait(Attempt& attempt, std::string phase, const base::Error& error);

    // Gives up the cut attempt's tree: this one builds in its own.
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

    // The interpreter that it is for. "python.missing"
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
    [[nodiscard]] bool awaits_word(const ExitRecord& record, const JobView& view) const;
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
    base::Status stands_in_queue(Attempt& attempt, const std::string& detail);
    base::Status enter(Attempt& attempt, State state);
    enum class Notes { yes, no };  // for a person, when the reason is new
    base::Status wait(Attempt& attempt, const base::Error& reason, Notes notes = Notes::yes);
    // `end`: how its job ended; none: it failed outside a job.
    base::Status fail(Attempt& attempt, std::string phase, base::Error error, bool try_again,
                      std::optional<EndCause> end = std::nullopt);
    base::Status fail_job(Attempt& attempt, std::string phase, const JobEnd& end);
    void diagnose(const Attempt& attempt, Failure& failure) const;
    // A step on the login node, for a site whose jobs reach no index.
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
    std::string inspected_;  // the attempt that inspection_ is of
    std::optional<inspect::Inspection> inspection_;
};

}  // namespace wheelyard::builder
