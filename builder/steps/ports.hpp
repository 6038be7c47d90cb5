// What a step may use. One object serves all attempts of a tick; referenced objects must outlive it.
#pragma once

#include <unistd.h>

#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <string>

#include "builder/attempt/attempt.hpp"
#include "builder/attempt/environment.hpp"
#include "builder/attempt/failpoints.hpp"
#include "builder/attempt/held_queues.hpp"
#include "builder/attempt/job_files.hpp"
#include "builder/plan/plan.hpp"
#include "builder/remote/registry.hpp"
#include "builder/schedule/scheduler.hpp"
#include "builder/site/recipe.hpp"
#include "builder/site/site.hpp"
#include "builder/sources/sources.hpp"
#include "lib/base/clock.hpp"
#include "lib/base/keep_alive.hpp"
#include "lib/inspect/inspect.hpp"

namespace wheelyard::builder {

struct Ports {
    const Site& site;
    const Recipes& recipes;
    const Pythons& pythons;
    Scheduler& scheduler;
    Sources& sources;
    Registry* registry;  // nullptr: wheels stay in the work folder
    Registry* variants;  // the index that gets wheel variants; nullptr: none does
    base::Clock& clock;
    EnvironmentMap environment;      // the agent's own
    std::filesystem::path governor;  // the program; empty: builds run without it
    std::string pip_conf;            // for the jobs' pip; may hold passwords
    std::function<void(const Attempt&, const std::string&)> note = {};  // reports an event to a person
    // Refreshes the lock and the claims of tasks; also called before every write. Error "lock.lost":
    // another tick has taken over, and this one must not write or start anything more.
    base::KeepAlive keep_alive = {};
    Failpoints failpoints = {};
    uid_t user = ::geteuid();  // who runs the agent
    // pip reads it in the jobs of closures: it has the site's index alone, without secrets.
    std::string farm_conf = {};

    // The agent sets these for each tick.
    std::map<std::string, JobView> jobs = {};  // by attempt, as the scheduler reported them
    std::function<bool()> has_job_slot = {};   // whether one of the site's job slots is free
    HeldQueues held_queues = {};               // which refuse jobs for now
    std::string submits_nothing = {};          // why no job begins for now; empty: jobs may
    std::function<Registry*(const Attempt&)> registry_for = {};  // for a claimed task; nullptr: `registry`

    // Why uploads to the site's own registry are paused: an error about its token, which a person must fix.
    std::optional<base::Error> uploads_paused = {};
    // The inspection of an attempt's wheel that ran last, so that the upload does not repeat it.
    std::string inspected = {};  // its path
    std::optional<inspect::Inspection> inspection = {};

    void report(const Attempt& attempt, const std::string& text) const;
    // The attempt's queue refused its job for a reason that may pass: the only place where a queue becomes
    // held. A new reason is reported.
    [[nodiscard]] base::Status hold_queue(const Attempt& attempt, const base::Error& refusal);
    [[nodiscard]] std::string queue_of(const Attempt& attempt) const;
    [[nodiscard]] base::Status still_ours() const { return base::renew_or_abort(keep_alive); }
    // What the scheduler reported of its job. Once it knows the job again, the job no longer counts as
    // missing.
    [[nodiscard]] JobView see_job(Attempt& attempt) const;
    [[nodiscard]] Recipe recipe_of(const Attempt& attempt) const;
    // The indexes of upstreams that pip searches for it, beside the site's: upstream_indexes().
    [[nodiscard]] std::vector<std::string> indexes_of(const Attempt& attempt, const Recipe& recipe) const;
    [[nodiscard]] AttemptFolder folder_of(const Attempt& attempt) const;
    // The attempt's interpreter. Error: "python.missing".
    [[nodiscard]] base::Result<std::filesystem::path> python_of(const Attempt& attempt) const;
    [[nodiscard]] Registry* registry_of(const Attempt& attempt) const;
    // False: its file system is not mounted.
    [[nodiscard]] bool has_work_folder() const;
};

// The large files of an attempt: its build tree, environments and wheel.

// What cannot be removed stays and is no error: it only uses space. Errors: those of `ports.keep_alive`.

// Removes what only the job needed.
[[nodiscard]] base::Status remove_bulk(const Attempt& attempt, const Ports& ports);
// Removes the tree that the attempt was to continue: it builds from the beginning, at the same place.
[[nodiscard]] base::Status leave_old_tree(Attempt& attempt, const Ports& ports);

}  // namespace wheelyard::builder
