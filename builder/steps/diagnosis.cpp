// Why a job or a step on the login node failed, as the doctor's rules read it from the log.
#include "builder/steps/steps.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "builder/attempt/limits.hpp"
#include "builder/doctor/doctor.hpp"

namespace wheelyard::builder {
namespace {

// Adds the log's finding to the failure; nullptr: there is none.
const Finding* note_finding(const Examination& seen, const Finding* finding, Failure& failure) {
    if (seen.first_error) failure.first_error = seen.first_error->text;
    if (finding == nullptr) return nullptr;
    failure.cause = finding->rule->code;
    failure.line = finding->line;
    if (failure.first_error.empty()) failure.first_error = finding->text;
    return finding;
}

// The end of a job that the rule explains better than its exit code.
std::optional<EndCause> end_of(Automatic automatic) {
    if (automatic == Automatic::more_memory || automatic == Automatic::killed) return EndCause::out_of_memory;
    if (automatic == Automatic::more_time) return EndCause::time_limit;
    if (automatic == Automatic::resume) return EndCause::preempted;
    if (automatic == Automatic::node_failure) return EndCause::node_failure;
    if (automatic == Automatic::wait) return EndCause::network;
    return std::nullopt;
}

// The job ended as the rule says, not as its exit code or its scheduler does.
void end_by(EndCause end, const Finding& finding, Failure& failure) {
    failure.end = end;
    failure.error = error_of({end, {}, finding.rule->code + ": " + finding.text, {}});
    failure.try_again = true;
}

// Ends that no line of the log caused, except one about the machine.
constexpr std::array<EndCause, 7> not_in_the_log = {
    EndCause::time_limit, EndCause::node_failure, EndCause::preempted, EndCause::requeued,
    EndCause::killed,     EndCause::cancelled,    EndCause::over_limit};

bool is_about_machine(const Examination& seen) {
    return seen.likeliest() != nullptr && seen.likeliest()->rule->weight == Weight::machine;
}

// The job's log; where no rule knows its cause, what the scheduler wrote beside it about memory, time or the
// node.
base::Result<Examination> examine_logs(const AttemptFolder& folder, const RuleBook& rules) {
    auto seen = examine_log(folder.log(), rules);
    if (seen && seen->likeliest() != nullptr && seen->likeliest()->rule->weight > Weight::symptom)
        return seen;
    auto outer = examine_log(folder.scheduler_log(), rules);
    if (!outer) return seen;
    return is_about_machine(*outer) || !seen || !seen->first_error ? std::move(outer) : std::move(seen);
}

// Who kills does not say why in the log: the scheduler knows, and the kernel counts. What kills a whole job
// also kills its compilers.
bool memory_did_not_run_out(const Attempt& attempt, const AttemptFolder& folder, const Failure& failure) {
    if (failure.end == EndCause::killed) return true;
    if (attempt.job.end && attempt.job.end->cause == EndCause::out_of_memory) return false;
    const auto record = read_exit_record(folder, attempt.id);
    return record && *record && (*record)->oom_kills == 0;
}

// What a full disk breaks looks like anything, and the log may lie on it.
std::optional<Examination> examine_space(const std::filesystem::path& folder, std::uint64_t free_bytes,
                                         const RuleBook& rules) {
    if (free_bytes >= min_free_bytes) return std::nullopt;
    Doctor doctor(rules);
    doctor.feed(folder.string() + ": no space left on it, " + std::to_string(free_bytes) +
                " bytes are free\n");
    return doctor.finish();
}

// A scheduler that knows no reason of an end, or has forgotten it, may have written it beside the job's log.
// The job's own log is no evidence here: what kills a job also kills its compilers.
bool names_end(const AttemptFolder& folder, const RuleBook& rules, Failure& failure) {
    if (failure.end != EndCause::killed && failure.end != EndCause::unexplained) return false;
    const auto seen = examine_log(folder.scheduler_log(), rules);
    if (!seen || !is_about_machine(*seen)) return false;
    const auto end = end_of(seen->likeliest()->rule->automatic);
    if (!end) return false;
    const Finding* finding = note_finding(*seen, seen->likeliest(), failure);
    failure.first_error = finding->text;
    end_by(*end, *finding, failure);
    return true;
}

// The request of a task ends with its attempt.
const char* then_again(const Attempt& attempt) {
    return attempt.asked.for_task ? " Then ask for it again." : " Then: wheelyard-builder retry";
}

void diagnose_job(const Attempt& attempt, const AttemptFolder& folder, const RuleBook& rules,
                  std::uint64_t free_bytes, Failure& failure) {
    if (names_end(folder, rules, failure)) return;
    auto seen = examine_logs(folder, rules);
    auto full = examine_space(folder.root, free_bytes, rules);
    if (full) seen = std::move(*full);
    if (!seen) return;
    const bool is_explained =
        std::find(not_in_the_log.begin(), not_in_the_log.end(), failure.end) != not_in_the_log.end();
    if (is_explained && !is_about_machine(*seen)) return;
    const Finding* finding = seen->likeliest();
    if (finding != nullptr && finding->rule->automatic == Automatic::killed &&
        memory_did_not_run_out(attempt, folder, failure)) {
        failure.first_error = finding->text;
        if (failure.end != EndCause::failed) return;
        failure.end = EndCause::killed;
        failure.error = error_of({EndCause::killed, {}, "not because memory ran out: " + finding->text, {}});
        return;
    }
    note_finding(*seen, finding, failure);
    if (finding == nullptr) return;
    if (is_explained) failure.first_error = finding->text;
    if (failure.end != EndCause::failed && !(full && failure.end == EndCause::unexplained)) return;
    const DoctorRule& rule = *finding->rule;
    if (const auto end = end_of(rule.automatic)) {
        end_by(*end, *finding, failure);
        // Only the rule says what to do if the network never comes back: a job may be on a node without one.
        if (*end != EndCause::network) return;
    }
    if (rule.weight <= Weight::symptom) return;
    if (rule.automatic == Automatic::no) failure.try_again = false;
    if (rule.automatic == Automatic::clean_tree) failure.try_again = !attempt.job.builds_in.empty();
    failure.error.value = failure.error.sentence;
    failure.error.sentence = cause_of(rule);
    failure.error.advice = remedy_of(*finding) + (failure.try_again ? "" : then_again(attempt));
}

// The rules that raise memory or time do not apply.
void diagnose_login_step(const Attempt& attempt, const RuleBook& rules, Failure& failure) {
    const auto seen = examine_log(failure.error.value, rules);
    if (!seen) return;
    const Finding* finding = note_finding(*seen, seen->likeliest(), failure);
    if (finding == nullptr) return;
    const DoctorRule& rule = *finding->rule;
    if (rule.weight <= Weight::symptom || rule.automatic != Automatic::no) return;
    failure.try_again = false;
    failure.error.sentence += ": " + cause_of(rule);
    failure.error.advice = remedy_of(*finding) + then_again(attempt);
}

}  // namespace

void diagnose(const Attempt& attempt, const AttemptFolder& folder, const RuleBook& rules,
              std::uint64_t free_bytes, Failure& failure) {
    if (failure.end) diagnose_job(attempt, folder, rules, free_bytes, failure);
    if (failure.error.kind == base::ErrorKind::program) diagnose_login_step(attempt, rules, failure);
}

}  // namespace wheelyard::builder
