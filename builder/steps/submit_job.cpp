// prepared ─► submitting: waits for a job slot. The loop journals the intent before start_job() calls the scheduler:
// even after a crash, the next tick knows that there may be a job.
#include "builder/attempt/slots.hpp"
#include "builder/plan/request.hpp"
#include "builder/script/hardware_test.hpp"
#include "builder/script/script.hpp"
#include "builder/steps/steps.hpp"

namespace wheelyard::builder {
namespace {

WaitForEvent wait_for_queue(const Attempt& attempt, const Ports& ports) {
    return {WaitFor::submission, "for " + queue_words(ports.queue_of(attempt)) + " to take jobs again"};
}

base::Result<Next> start_job(Attempt& attempt, Ports& ports) {
    const Recipe recipe = ports.recipe_of(attempt);
    JobRequest job{attempt.id,
                   ports.folder_of(attempt),
                   job_environment(ports.environment),
                   sized_for(ports.site, recipe).cores,
                   attempt.job.memory_mib,
                   attempt.job.max_walltime_minutes};
    job.label = ports.site.name + "/" + attempt.asked.cell;
    TestJob test;
    test.queue = ports.site.queue;
    if (is_test(attempt.asked.purpose)) {
        test = size_test_job(hardware_test_of(recipe, attempt.asked.purpose), attempt.asked.purpose,
                             ports.site, attempt.asked.accelerator);
        job.cores = test.cores;
        job.nodes = test.nodes;
        job.ranks_per_node = test.ranks_per_node;
    }
    test.queue = ports.site.charged(test.queue, attempt.asked.package);
    const bool has_own_account = test.queue.account != ports.site.queue.account;
    if (is_test(attempt.asked.purpose) || has_own_account) job.queue = &test.queue;
    const auto submitted = ports.scheduler.submit(job);
    if (!submitted && submitted.error().kind == base::ErrorKind::unavailable) {
        --attempt.job.submits;
        // If no earlier submission was made either, there is no job to look for.
        attempt.state = attempt.job.submits == 0 ? State::prepared : State::submitting;
        // The wait for a claim of an earlier job was over before this submission, and does not begin again.
        attempt.job.submitted = 0;
        attempt.changed = ports.clock.now();
        WHEELYARD_TRY(ports.hold_queue(attempt, submitted.error()));
        return wait_for_queue(attempt, ports);
    }
    if (!submitted && submitted.error().recovery == base::Recovery::never)
        return tl::unexpected(with_sizes(submitted.error(), ports.site, recipe));
    WHEELYARD_TRY(submitted);
    ports.failpoints.hit("submit.started");
    WHEELYARD_TRY(ports.held_queues.accept(ports.queue_of(attempt)));
    ports.report(attempt, "started");
    return Stay{};  // the next tick looks for the claim
}

}  // namespace

base::Result<Next> submit_job(Attempt& attempt, Ports& ports) {
    if (!holds_job_slot(attempt) && ports.has_job_slot && !ports.has_job_slot())
        return WaitForEvent{WaitFor::job_slot,
                            "for one of " + std::to_string(ports.site.max_jobs) + " job slots"};
    if (!ports.submits_nothing.empty())
        return WaitForEvent{WaitFor::submission, "until " + ports.submits_nothing};
    if (!ports.held_queues.may_submit(ports.queue_of(attempt), attempt.id, ports.clock.now()))
        return wait_for_queue(attempt, ports);
    ++attempt.job.submits;
    attempt.job.submitted = ports.clock.now();
    return Move{State::submitting, start_job};
}

}  // namespace wheelyard::builder
