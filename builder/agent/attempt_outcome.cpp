#include "builder/agent/attempt_outcome.hpp"

#include "builder/steps/provenance.hpp"

namespace wheelyard::builder {
namespace {

// Each phase ends with the beginning of the next.
std::vector<wire::OutcomePhase> durations_of(const JobRecord& job) {
    std::vector<wire::OutcomePhase> phases;
    for (std::size_t i = 0; i < job.phases.size(); ++i) {
        const auto end = i + 1 < job.phases.size() ? job.phases[i + 1].began : job.ended;
        phases.push_back({job.phases[i].name, static_cast<double>(end - job.phases[i].began) / 1e6});
    }
    return phases;
}

}  // namespace

wire::Outcome outcome_of(const Attempt& attempt, const Ports& ports) {
    wire::Outcome outcome;
    outcome.attempt = attempt.id;
    outcome.cell = attempt.asked.cell;
    outcome.purpose = purpose_text(attempt.asked.purpose);
    outcome.site = ports.site.name;
    outcome.package = attempt.asked.package;
    outcome.version = attempt.asked.version;
    outcome.python = attempt.asked.python;
    outcome.number = attempt.number;
    outcome.done = !attempt.failure.has_value();
    outcome.began = attempt.created;
    outcome.ended = ports.clock.now();
    outcome.phases = durations_of(attempt.job);
    outcome.request = static_cast<const wire::JobSize&>(attempt.job);
    outcome.provenance = provenance_of_build(attempt, ports);
    outcome.governed = attempt.job.governed;
    outcome.exit_code = attempt.job.exit_code;
    if (attempt.job.end) {
        outcome.scheduler_status = attempt.job.end->scheduler_status;
        outcome.used = attempt.job.end->used;
    }
    if (const auto& failure = attempt.failure)
        outcome.diagnosis = {failure->phase, failure->error, failure->first_error, failure->cause,
                             failure->line};
    outcome.source = static_cast<const wire::SourceFile&>(attempt.source);
    outcome.wheel = static_cast<const wire::WheelFile&>(attempt.wheel);
    outcome.verdicts = attempt.wheel.verdicts;
    return outcome;
}

}  // namespace wheelyard::builder
