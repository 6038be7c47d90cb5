#include "builder/agent/attempt_outcome.hpp"

#include "builder/agent/provenance.hpp"
#include "builder/plan/request.hpp"
#include "builder/script/script_frame.hpp"
#include "builder/site/script_setup.hpp"

namespace wheelyard::builder {
namespace {

// The build's environment, without the changes by modules and by the job's shell.
EnvironmentMap build_environment(const Attempt& attempt, const Ports& ports) {
    EnvironmentMap environment = job_environment(ports.environment);
    const Recipe recipe = ports.recipe_of(attempt);
    const Site site = sized_for(ports.site, recipe, attempt);
    for (const auto& group :
         exports_of_job(site, site.accelerator(attempt.accelerator), own_environment(recipe, attempt.purpose),
                        placeholders_of({site, attempt.version, attempt.against, attempt.accelerator}))) {
        for (const auto& [name, value] : group.variables)
            environment.insert_or_assign(name, value);
    }
    return environment;
}

}  // namespace

wire::Outcome outcome_of(const Attempt& attempt, const Ports& ports) {
    wire::Outcome outcome;
    outcome.attempt = attempt.id;
    outcome.task = attempt.task;
    outcome.purpose = purpose_text(attempt.purpose);
    outcome.site = ports.site.name;
    outcome.package = attempt.package;
    outcome.version = attempt.version;
    outcome.python = attempt.python;
    outcome.number = attempt.number;
    outcome.done = !attempt.failure.has_value();
    outcome.began = attempt.created;
    outcome.ended = ports.clock.now();
    for (std::size_t i = 0; i < attempt.phases.size(); ++i) {
        const auto end = i + 1 < attempt.phases.size() ? attempt.phases[i + 1].began : attempt.job_ended;
        outcome.phases.push_back(
            {attempt.phases[i].name, static_cast<double>(end - attempt.phases[i].began) / 1e6});
    }
    outcome.memory_mib = attempt.memory_mib;
    outcome.max_walltime_minutes = attempt.max_walltime_minutes;
    outcome.cores = attempt.cores;
    outcome.remedy = attempt.remedy;
    outcome.provenance = read_provenance(ports.folder_of(attempt), build_environment(attempt, ports));
    outcome.governed = attempt.governed;
    outcome.exit_code = attempt.exit_code;
    if (attempt.end) {
        outcome.scheduler_status = attempt.end->scheduler_status;
        outcome.job_seconds = attempt.end->used.seconds;
        outcome.job_cpu_seconds = attempt.end->used.cpu_seconds;
        outcome.job_memory_kib = attempt.end->used.memory_kib;
    }
    if (attempt.failure) {
        outcome.diagnosis = {attempt.failure->phase, attempt.failure->error, attempt.failure->first_error,
                             attempt.failure->cause, attempt.failure->line};
    }
    outcome.source_kind = attempt.source.kind;
    outcome.source_origin = attempt.source.origin;
    outcome.source_filename = attempt.source.filename;
    outcome.source_sha256 = attempt.source.sha256;
    outcome.wheel_filename = attempt.wheel.filename;
    outcome.wheel_sha256 = attempt.wheel.sha256;
    outcome.wheel_size = attempt.wheel.size;
    outcome.verdicts = attempt.verdicts;
    return outcome;
}

}  // namespace wheelyard::builder
