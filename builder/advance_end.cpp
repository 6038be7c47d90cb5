// Why a job ended that did not succeed: its own record, what told it to end, and its scheduler's word.
#include <algorithm>
#include <array>

#include "builder/advance.hpp"
#include "builder/doctor.hpp"
#include "builder/limits.hpp"
#include "lib/base/file.hpp"

namespace wheelyard::builder {
namespace {

// Causes that explain a failure better than its exit code does.
constexpr std::array<EndCause, 5> from_outside = {EndCause::time_limit, EndCause::out_of_memory,
                                                  EndCause::node_failure, EndCause::preempted,
                                                  EndCause::cancelled};

bool is_from_outside(EndCause cause) {
    return std::find(from_outside.begin(), from_outside.end(), cause) != from_outside.end();
}

constexpr std::string_view cut_by_time = "time_limit";

}  // namespace

// A job writes its record before its scheduler knows of its end.
bool Advance::awaits_word(const ExitRecord& record, const JobView& view) const {
    if (!parts_.scheduler.is_batch_system() || view.state == JobState::vanished) return false;
    return parts_.clock.now() - record.ended < word_grace_ms * 1000;
}

std::optional<JobEnd> Advance::explain(const Attempt& attempt, const ExitRecord& record,
                                       const JobView& view) const {
    const bool told = view.state == JobState::vanished && view.end;
    if (read_cut(folder_of(attempt)) == cut_by_time) {
        JobEnd end = told ? *view.end : JobEnd{};
        end.cause = EndCause::time_limit;
        end.word = "in phase `" + record.phase + "`" + (end.word.empty() ? "" : ", " + end.word);
        return end;
    }
    if (told && is_from_outside(view.end->cause)) return view.end;
    return std::nullopt;
}

// What the log says explains what nobody outside does; the doctor's rule says what may be tried by itself.
void Advance::diagnose(const Attempt& attempt, Failure& failure) const {
    const AttemptFolder folder = folder_of(attempt);
    auto seen = examine_log(folder.log());
    if (!seen || (seen->likeliest() == nullptr && !seen->first_error))
        seen = examine_log(folder.scheduler_log());
    if (!seen) return;
    if (seen->first_error) failure.first_error = seen->first_error->text;
    const Finding* finding = seen->likeliest();
    if (finding == nullptr) return;
    const DoctorRule& rule = *finding->rule;
    failure.cause = rule.code;
    failure.line = finding->line;
    if (failure.first_error.empty()) failure.first_error = finding->text;
    if (failure.error.code != end_row(EndCause::failed).code) return;
    const auto ended = [&](EndCause cause) {
        failure.error = error_of({cause, {}, std::string(rule.code) + ": " + finding->text, {}});
        failure.try_again = true;
    };
    if (rule.automatic == Automatic::more_memory) return ended(EndCause::out_of_memory);
    if (rule.automatic == Automatic::more_time) return ended(EndCause::time_limit);
    if (rule.weight == Weight::symptom) return;
    if (rule.automatic == Automatic::no) failure.try_again = false;
    if (rule.automatic == Automatic::clean_tree) failure.try_again = !attempt.builds_in.empty();
    failure.error.value = failure.error.sentence;
    failure.error.sentence = std::string(rule.cause.substr(0, rule.cause.find_last_not_of('.') + 1));
    failure.error.advice =
        std::string(rule.remedy) + (failure.try_again ? "" : " Then: wheelyard-builder retry");
}

// A batch system keeps its jobs' time itself. Told first, so that the job can say how far it came; then
// killed, which the next look finds out.
base::Status Advance::end_when_overdue(Attempt& attempt) {
    const base::UnixMicros now = parts_.clock.now();
    const base::UnixMicros most = attempt.most_minutes * 60'000'000;
    if (parts_.scheduler.is_batch_system() || most == 0 || now - attempt.changed < most) return {};
    const AttemptFolder folder = folder_of(attempt);
    if (attempt.told_to_end == 0) {
        WHEELYARD_TRY(base::replace_file(folder.cut(), std::string(cut_by_time) + "\n"));
        WHEELYARD_TRY(parts_.scheduler.ask_to_end(attempt.id, folder));
        note(attempt, "told to end: its " + std::to_string(attempt.most_minutes) + " minutes are over");
        attempt.told_to_end = now;
        return write(attempt);
    }
    if (now - attempt.told_to_end < end_grace_ms * 1000) return {};
    return parts_.scheduler.cancel(attempt.id, folder);
}

// No record, and certainly no job.
base::Result<Advance::Step> Advance::job_gone(Attempt& attempt, const JobView& view) {
    JobEnd end = view.end.value_or(JobEnd{});
    const bool ended_well = end.cause == EndCause::unexplained && end.exit_code == 0;
    if (ended_well && parts_.clock.now() - attempt.changed < claim_grace_ms * 1000) {
        WHEELYARD_TRY(cannot_tell(attempt, "it ended, and its exit record is not seen yet"));
        return Step::not_yet;
    }
    if (read_cut(folder_of(attempt)) == cut_by_time && !is_from_outside(end.cause))
        end.cause = EndCause::time_limit;
    if (end.word.empty()) end.word = view.detail;
    WHEELYARD_TRY(parts_.scheduler.cancel(attempt.id, folder_of(attempt)));
    read_governor_summary(attempt);
    attempt.end = end;
    WHEELYARD_TRY(fail(attempt, "job", error_of(end), end_row(end.cause).try_again));
    return Step::moved;
}

base::Result<Advance::Step> Advance::cannot_run(Attempt& attempt, const JobView& view) {
    WHEELYARD_TRY(parts_.scheduler.cancel(attempt.id, folder_of(attempt)));
    attempt.end = view.end;
    WHEELYARD_TRY(fail(attempt, "queue", error_of(*view.end), end_row(view.end->cause).try_again));
    return Step::moved;
}

}  // namespace wheelyard::builder
