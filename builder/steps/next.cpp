#include "builder/steps/next.hpp"

namespace wheelyard::builder {

Fail fail_job(std::string phase, const JobEnd& end) {
    return fail_job(std::move(phase), end.cause, error_of(end));
}

Fail fail_job(std::string phase, EndCause cause, base::Error error) {
    Failure failure{std::move(phase), std::move(error), "", end_row(cause).try_again};
    failure.end = cause;
    return {std::move(failure)};
}

// The time in the reason is that of the first tick that saw it.
WaitForEvent wait_for_job_state(const Attempt& attempt, const Ports& ports, const std::string& why) {
    const std::string& reason = attempt.waiting.reason;
    if (reason.ends_with(": " + why)) return {attempt.waiting.what, reason};
    return {WaitFor::scheduler,
            "the state of its job is unknown since " + base::render_rfc3339(ports.clock.now()) + ": " + why};
}

WaitForEvent wait_in_queue(const JobView& job) {
    return {WaitFor::queue, "in the queue: " + job.detail};
}

}  // namespace wheelyard::builder
