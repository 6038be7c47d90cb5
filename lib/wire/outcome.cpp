// Outcomes as JSON.
#include "lib/wire/outcome.hpp"

#include "lib/base/text/words.hpp"
#include "lib/wire/documents.hpp"
#include "lib/wire/fields.hpp"

namespace wheelyard::wire {
namespace {

using io::field;
using io::Json;

constexpr auto results = base::words<bool>({{true, "done"}, {false, "failed"}});

using D = Diagnosis;
constexpr auto diagnosis_record = io::record<D>({
    field<&D::phase>("phase", "phase of the job, or step of the agent"),
    field<&D::error, &base::Error::code>("code", "the error's code"),
    field<&D::error, &base::Error::sentence>("sentence", "the error as text for a person"),
    field<&D::error, &base::Error::value>("value", "the invalid value, or empty"),
    field<&D::error, &base::Error::advice>("advice", "what to do, or empty"),
    field<&D::first_error>("first_error", "the first line of the log that looks like the cause"),
    field<&D::cause>("cause", "the code of the matching doctor rule, or empty"),
    field<&D::line>("line", "the line of the log that the doctor's rule matches"),
});

constexpr auto phase_record = io::record<OutcomePhase>({
    field<&OutcomePhase::name>("name", "name of the phase"),
    field<&OutcomePhase::seconds>("seconds", "how long it took"),
});

using P = Provenance;
constexpr auto provenance_record = io::record<P>({
    field<&P::script_sha256>("script_sha256", "of the job's script"),
    field<&P::host>("host", "the node that ran the job"),
    field<&P::system>("system", "kernel and machine"),
    field<&P::modules>("modules", "loaded modules"),
    field<TextPairs, &P::tools>("tools", "compilers and tools with their `--version` lines"),
    field<TextPairs, &P::environment>("environment", "possible secrets are replaced by `(hidden)`"),
    field<TextPairs, &P::requirements>("requirements",
                                       "the wheels that the login node accepted for a requirements file with "
                                       "hashes, each with its own `sha256:…`"),
});

using O = Outcome;
constexpr auto outcome_record = io::record<O>(
    {
        field<&O::attempt>("attempt", "ID of the attempt", io::Need::required),
        field<&O::cell>("cell", "the name of its cell in the plan; empty: the site has none for the task"),
        field<&O::purpose>("purpose", "as in `wheelyard.attempt/1`; absent: `build`"),
        field<&O::site>("site", "the site's name"),
        field<&O::package>("package", "the project's normalised name"),
        field<&O::version>("version", "including the local label"),
        field<&O::python>("python", "`3.11`, as in the site file"),
        field<&O::number>("number", "counts the attempts at this cell, from 1"),
        field<io::WordOf<results>, &O::done>("result", "how it ended", io::Need::required),
        field<Moment, &O::began>("began", "when the attempt began"),
        field<Moment, &O::ended>("ended", "when it ended"),
        field<io::ListOf<io::Nested<phase_record>>, &O::phases>("phases", "the phases of its job"),
        field<&O::exit_code>("exit_code", "of the script, or null"),
        field<&O::scheduler_status>("scheduler.status", "the status text of its scheduler"),
        field<&O::used, &JobUsage::seconds>("scheduler.seconds", "run time; 0: not known"),
        field<&O::used, &JobUsage::cpu_seconds>("scheduler.cpu_seconds", "processor time; 0: not known"),
        field<&O::used, &JobUsage::memory_kib>("scheduler.memory_kib", "peak memory; 0: not known"),
        field<&O::request, &JobSize::memory_mib>("request.memory_mib", "requested by its job; 0: no request"),
        field<&O::request, &JobSize::max_walltime_minutes>("request.max_walltime_minutes",
                                                           "requested by its job; 0: no limit"),
        field<&O::request, &JobSize::cores>("request.cores",
                                            "parallel compile jobs, if fewer than the site's cores; else 0"),
        field<&O::request, &JobSize::remedy>("request.remedy",
                                             "what it changes after the previous attempt, and why"),
        field<Governed, &O::governed>("governor",
                                      "null, or the governor's summary, as in `wheelyard.attempt/1`"),
        field<io::Nested<diagnosis_record>, &O::diagnosis>("diagnosis", "null, or why it failed"),
        field<io::Nested<source_record>, &O::source>("source", "what was built"),
        field<io::Nested<wheel_record>, &O::wheel>("wheel", "the built wheel"),
        field<&O::verdicts>("verdicts", "findings of the inspection, one line each"),
        field<io::Nested<provenance_record>, &O::provenance>("provenance",
                                                             "the tools and inputs of the build"),
    },
    "wheelyard.outcome/1");

}  // namespace

std::string render_outcome(const Outcome& outcome) {
    return outcome_record.write(outcome).render_pretty();
}

base::Result<Outcome> parse_outcome(std::string_view text) {
    WHEELYARD_ASSIGN(const auto json, io::parse_json(text));
    const std::string found = json.string_or("format", "");
    if (found != outcome_record.format) {
        return base::fail("outcome.format",
                          "The outcome does not have the format " + std::string(outcome_record.format),
                          found);
    }
    WHEELYARD_ASSIGN(const auto result, json.string_at("result"));
    WHEELYARD_TRY(results.parse(result, "outcome.result", "The result of an outcome must be done or failed"));
    Outcome outcome;
    WHEELYARD_TRY(outcome_record.read(json, outcome));
    return outcome;
}

io::Document outcome_document() {
    return {.name = outcome_record.format, .tables = {outcome_record.members}, .is_kept = true};
}

std::string document_outcome() {
    return outcome_record.document(outcome_record.format);
}

}  // namespace wheelyard::wire
