// Why a job failed: from its exit record, the reason for ending it, and the scheduler's status.
#include <algorithm>
#include <array>
#include <cstdlib>

#include "builder/agent/advance.hpp"
#include "builder/agent/limits.hpp"
#include "builder/attempt/backoff.hpp"
#include "builder/attempt/limits.hpp"
#include "builder/doctor/doctor.hpp"
#include "lib/base/file.hpp"

namespace wheelyard::builder {
namespace {

// Causes that explain a failure better than the exit code.
constexpr std::array<EndCause, 5> from_outside = {EndCause::time_limit, EndCause::out_of_memory,
                                                  EndCause::node_failure, EndCause::preempted,
                                                  EndCause::cancelled};

// Ends that no line of the log caused, except one about the machine.
constexpr std::array<EndCause, 5> not_in_the_log = {
    EndCause::time_limit, EndCause::node_failure, EndCause::preempted, EndCause::killed, EndCause::cancelled};

bool is_from_outside(EndCause cause) {
    return std::find(from_outside.begin(), from_outside.end(), cause) != from_outside.end();
}

// What job.sh writes to `cut`.
constexpr std::string_view cut_by_time = "time_limit";
constexpr std::string_view cut_by_signal = "terminated";

}  // namespace

// A job writes its record before its scheduler reports its end.
bool Advance::awaits_word(const ExitRecord& record, const JobView& view) const {
    if (!parts_.scheduler.is_batch_system() || view.state == JobState::vanished) return false;
    // The node's clock may be ahead of this one.
    return std::abs(parts_.clock.now() - record.ended) < word_grace_ms * 1000;
}

std::optional<JobEnd> Advance::explain(const Attempt& attempt, const ExitRecord& record,
                                       const JobView& view) const {
    const bool is_reported = view.state == JobState::vanished && view.end;
    const std::string cut = read_cut(folder_of(attempt));
    const auto cut_by = [&](EndCause cause) {
        JobEnd end = is_reported ? *view.end : JobEnd{};
        end.cause = cause;
        end.word = "in phase `" + record.phase + "`" + (end.word.empty() ? "" : ", " + end.word);
        return end;
    };
    if (cut == cut_by_time) return cut_by(EndCause::time_limit);
    if (is_reported && is_from_outside(view.end->cause)) return view.end;
    // The scheduler has forgotten why it ended the job, or never knew: a node that shuts down.
    if (cut == cut_by_signal) return cut_by(EndCause::killed);
    return std::nullopt;
}

namespace {

// The rule's cause without its final full stop.
std::string cause_of(const DoctorRule& rule) {
    return std::string(rule.cause.substr(0, rule.cause.find_last_not_of('.') + 1));
}

// Adds the log's finding to the failure; nullptr: no rule matches.
const Finding* note_finding(const Examination& seen, Failure& failure) {
    if (seen.first_error) failure.first_error = seen.first_error->text;
    const Finding* finding = seen.likeliest();
    if (finding == nullptr) return nullptr;
    failure.cause = finding->rule->code;
    failure.line = finding->line;
    if (failure.first_error.empty()) failure.first_error = finding->text;
    return finding;
}

}  // namespace

// Explains a failure from its log if no external cause is known. The doctor's rule decides what is retried
// automatically.
void Advance::diagnose(const Attempt& attempt, Failure& failure) const {
    const AttemptFolder folder = folder_of(attempt);
    auto seen = examine_log(folder.log());
    if (!seen || (seen->likeliest() == nullptr && !seen->first_error))
        seen = examine_log(folder.scheduler_log());
    if (!seen) return;
    const bool is_explained = failure.end && std::find(not_in_the_log.begin(), not_in_the_log.end(),
                                                       *failure.end) != not_in_the_log.end();
    if (is_explained && (seen->likeliest() == nullptr || seen->likeliest()->rule->weight != Weight::machine))
        return;
    const Finding* finding = note_finding(*seen, failure);
    if (finding == nullptr) return;
    if (is_explained) failure.first_error = finding->text;
    const DoctorRule& rule = *finding->rule;
    if (failure.end != EndCause::failed) return;
    const auto ended = [&](EndCause cause) {
        failure.end = cause;
        failure.error = error_of({cause, {}, std::string(rule.code) + ": " + finding->text, {}});
        failure.try_again = true;
    };
    if (rule.automatic == Automatic::more_memory) return ended(EndCause::out_of_memory);
    if (rule.automatic == Automatic::more_time) return ended(EndCause::time_limit);
    if (rule.automatic == Automatic::go_on) return ended(EndCause::preempted);
    if (rule.weight == Weight::symptom) return;
    if (rule.automatic == Automatic::no) failure.try_again = false;
    if (rule.automatic == Automatic::clean_tree) failure.try_again = !attempt.builds_in.empty();
    failure.error.value = failure.error.sentence;
    failure.error.sentence = cause_of(rule);
    failure.error.advice =
        std::string(rule.remedy) + (failure.try_again ? "" : " Then: wheelyard-builder retry");
}

// The doctor's rules also apply to steps on the login node, except those that raise memory or time.
void Advance::diagnose_login_step(Failure& failure) {
    const auto seen = examine_log(failure.error.value);
    if (!seen) return;
    const Finding* finding = note_finding(*seen, failure);
    if (finding == nullptr) return;
    const DoctorRule& rule = *finding->rule;
    if (rule.weight == Weight::symptom || rule.automatic != Automatic::no) return;
    failure.try_again = false;
    failure.error.sentence += ": " + cause_of(rule);
    failure.error.advice = std::string(rule.remedy) + " Then: wheelyard-builder retry";
}

// Enforces the time limit where no batch system does. First asks the job to end, so that it can record its progress;
// later kills it, which the next poll detects.
base::Status Advance::end_when_overdue(Attempt& attempt) {
    const base::UnixMicros now = parts_.clock.now();
    const base::UnixMicros most = attempt.max_walltime_minutes * 60'000'000;
    if (parts_.scheduler.is_batch_system() || most == 0 || now - attempt.changed < most) return {};
    const AttemptFolder folder = folder_of(attempt);
    if (attempt.told_to_end == 0) {
        WHEELYARD_TRY(base::replace_file(folder.cut(), std::string(cut_by_time) + "\n"));
        WHEELYARD_TRY(parts_.scheduler.ask_to_end(attempt.id, folder));
        note(attempt, "asked to end: its limit of " + std::to_string(attempt.max_walltime_minutes) +
                          " minutes is over");
        attempt.told_to_end = now;
        return write(attempt);
    }
    if (now - attempt.told_to_end < end_grace_ms * 1000) return {};
    return parts_.scheduler.cancel(attempt.id, folder);
}

// There is neither an exit record nor a job.
base::Result<Advance::Step> Advance::job_gone(Attempt& attempt, const JobView& view) {
    JobEnd end = view.end.value_or(JobEnd{});
    const bool ended_well = end.cause == EndCause::unexplained && end.exit_code == 0;
    // Measured from when the end was first seen: a network file system may show the record later.
    if (ended_well && attempt.job_ended == 0) {
        attempt.job_ended = parts_.clock.now();
        WHEELYARD_TRY(write(attempt));
    }
    // The clock of the login node that first saw the end may be slightly ahead of this one.
    if (ended_well && std::abs(parts_.clock.now() - attempt.job_ended) < claim_grace_ms * 1000) {
        WHEELYARD_TRY(cannot_tell(attempt, "the job ended, and its exit record is not visible yet"));
        return Step::not_yet;
    }
    if (read_cut(folder_of(attempt)) == cut_by_time && !is_from_outside(end.cause))
        end.cause = EndCause::time_limit;
    if (end.word.empty()) end.word = view.detail;
    WHEELYARD_TRY(parts_.scheduler.cancel(attempt.id, folder_of(attempt)));
    read_governor_summary(attempt);
    attempt.end = end;
    WHEELYARD_TRY(fail_job(attempt, "job", end));
    return Step::moved;
}

base::Result<Advance::Step> Advance::cannot_run(Attempt& attempt, const JobView& view) {
    WHEELYARD_TRY(parts_.scheduler.cancel(attempt.id, folder_of(attempt)));
    attempt.end = view.end;
    WHEELYARD_TRY(fail_job(attempt, "queue", *view.end));
    return Step::moved;
}

}  // namespace wheelyard::builder
