// One tick as a list of phases.
#include "builder/agent/agent.hpp"

#include <algorithm>

#include "builder/agent/kept_trees.hpp"
#include "builder/attempt/held_queues.hpp"
#include "builder/attempt/limits.hpp"
#include "builder/attempt/site_check_record.hpp"
#include "builder/attempt/slots.hpp"
#include "builder/site/script_setup.hpp"
#include "builder/site/site_file.hpp"
#include "lib/base/files/file.hpp"
#include "lib/base/limits.hpp"

namespace wheelyard::builder {
namespace {

namespace fs = std::filesystem;

}  // namespace

base::Result<base::LockFile> Agent::lock() {
    WHEELYARD_TRY(check_journal_folder());
    WHEELYARD_TRY(parts_.journal.prepare());
    auto held = base::LockFile::acquire(parts_.journal.lock_file(), parts_.clock, lock_stale_after_ms);
    if (held) refreshed_ = parts_.clock.now();
    return held;
}

// If the state folder's file system is not mounted, the journal is missing, and all active attempts would
// start a second time.
base::Status Agent::check_journal_folder() const {
    std::error_code error;
    const fs::path own = parts_.site.state_directory / "attempts";
    if (fs::exists(own, error) || error) return {};  // reading it reports the error
    const fs::path built = parts_.site.work_directory / "attempts";
    const bool is_used = fs::directory_iterator(built, error) != fs::directory_iterator();
    if (error || !is_used) return {};
    return base::fail(
        "journal.away", "The work folder has attempts, but their journal is missing", own.string(),
        "mount its file system; to start a new journal and forget all active attempts, create this folder");
}

// An unmounted work folder is an empty folder, in which every job would seem lost.
base::Status Agent::check_work_folder(const std::vector<Attempt>& attempts) const {
    const fs::path marker = parts_.site.work_directory / work_marker;
    WHEELYARD_TRY(check_is_private(parts_.site.work_directory));
    std::error_code error;
    if (fs::exists(marker, error)) {
        fs::last_write_time(marker, fs::file_time_type::clock::now(),
                            error);  // keeps a purge by age from removing it
        return {};
    }
    if (error)
        return base::fail_errno("looking for the work folder's marker", marker.native(), error.value());
    const bool used = std::any_of(attempts.begin(), attempts.end(), [](const Attempt& attempt) {
        return !is_over(attempt.state) && attempt.state != State::planned;
    });
    if (used) {
        return base::fail(
            "work.away", "There are active attempts, but the work folder's marker is missing",
            marker.string(),
            "mount its file system; if it was emptied, create this file, and the attempts are tried again");
    }
    WHEELYARD_TRY(make_private_folder(parts_.site.work_directory));
    return base::replace_file(marker, "The work folder of Wheelyard's site " + parts_.site.name + ".\n");
}

base::Status Agent::keep_lock(base::LockFile& held) {
    tasks_.keep_leases();
    if (!has_passed(parts_.clock.now(), refreshed_, lock_refresh_every_ms)) return {};
    const auto renewed = held.refresh(parts_.clock);
    if (renewed) refreshed_ = parts_.clock.now();
    // If the lock file cannot be read now, the lock remains valid until it is stale. The next call tries
    // again.
    return !renewed && renewed.error().kind == base::ErrorKind::lost ? renewed : base::Status();
}

// What must hold before a tick changes anything.
base::Result<JournalContent> Agent::open_journal() {
    parts_.journal.sweep();
    WHEELYARD_ASSIGN(auto journal, parts_.journal.read());
    WHEELYARD_TRY(check_work_folder(journal.attempts));
    WHEELYARD_TRY(parts_.sources.sweep(parts_.keep_alive));
    tasks_.read();
    read_state();
    return journal;
}

// What earlier ticks and `site check` found.
void Agent::read_state() {
    parts_.held_queues = HeldQueues::read(parts_.site.state_directory);
    parts_.submits_nothing = parts_.is_unchecked
                                 ? ""
                                 : why_nothing_begins(read_site_check(parts_.site.state_directory),
                                                      pasted_command("site check", {}, parts_.site));
}

base::Result<TickReport> Agent::tick() {
    WHEELYARD_ASSIGN(auto held, lock());
    parts_.keep_alive = [this, &held] { return keep_lock(held); };
    auto report = run_phases();
    parts_.keep_alive = {};
    parts_.scheduler.keep_alive = {};
    parts_.has_job_slot = {};
    return report;
}

base::Result<TickReport> Agent::run_phases() {
    parts_.failpoints.hit("lock.taken");
    WHEELYARD_ASSIGN(auto journal, open_journal());
    if (parts_.resolve_closures) parts_.resolve_closures();
    parts_.has_job_slot = [this, &journal] {
        return count_slots(journal.attempts).jobs < parts_.site.max_jobs;
    };
    TickReport report;
    poll(journal.attempts);
    choose_probes(journal.attempts);
    WHEELYARD_TRY(tasks_.renew(journal.attempts));
    WHEELYARD_TRY(give_up_lost(journal, report));
    WHEELYARD_TRY(advance_all(journal, report));
    WHEELYARD_TRY(claim_tasks(journal));
    WHEELYARD_TRY(start_wanted(journal, report));
    WHEELYARD_TRY(note_store());
    WHEELYARD_TRY(trim_work_folder(journal, report));
    WHEELYARD_TRY(tasks_.report(report.plan, world_));
    for (const auto& attempt : journal.attempts) {
        if (!is_over(attempt.state)) report.active.push_back(attempt);
    }
    report.may_claim = journal.problems.empty() && tasks_.may_claim() && room_for_tasks(journal.attempts) > 0;
    report.uploads_paused = parts_.uploads_paused;
    report.journal_problems = std::move(journal.problems);
    return report;
}

base::Status Agent::claim_tasks(JournalContent& journal) {
    if (!journal.problems.empty()) return {};
    return tasks_.claim(room_for_tasks(journal.attempts), journal.attempts);
}

base::Status Agent::trim_work_folder(JournalContent& journal, const TickReport& report) {
    if (report.moved) {
        const auto max_bytes = static_cast<std::uint64_t>(parts_.site.cache_gib) * base::gib;
        WHEELYARD_TRY(parts_.sources.trim(max_bytes, parts_.keep_alive));
    }
    return trim_kept_trees(parts_, report.plan, journal.attempts);
}

// What the scheduler reports about every job, and whether uploads may be tried again.
void Agent::poll(const std::vector<Attempt>& attempts) {
    std::map<std::string, AttemptFolder> folders;
    for (const auto& attempt : attempts) {
        if (may_have_job(attempt.state)) folders.emplace(attempt.id, parts_.folder_of(attempt));
        const bool is_due_again = attempt.state == State::uploading &&
                                  is_due(parts_.clock.now(), attempt.waiting.not_before, max_wait_ms);
        if (is_due_again) parts_.uploads_paused.reset();
    }
    // A quick poll needs nothing; a renewal of the claims follows it.
    parts_.scheduler.keep_alive = [this] {
        const bool is_slow = has_passed(parts_.clock.now(), refreshed_, lock_refresh_every_ms);
        return is_slow ? parts_.still_ours() : base::Status();
    };
    parts_.jobs = folders.empty() ? std::map<std::string, JobView>{} : parts_.scheduler.poll(folders);
}

// Gives up attempts for tasks that this agent no longer holds, unless the site file wants them, too. Decides
// by the files on disk, so that it also works after a kill since the loss of a task.
base::Status Agent::give_up_lost(JournalContent& journal, TickReport& report) {
    std::optional<Plan> own;
    for (Attempt& attempt : journal.attempts) {
        if (is_over(attempt.state) || !attempt.asked.for_task || tasks_.may_hold(attempt.asked.cell))
            continue;
        if (!own) own = make_plan(parts_.site, parts_.recipes, world_with(journal, Ask::always));
        if (own->find(attempt.asked.cell) != nullptr && !attempt.asked.uploaded) {
            attempt.asked.for_task = false;
            WHEELYARD_TRY(parts_.journal.write(attempt));
            continue;
        }
        WHEELYARD_TRY(stepper_.give_up(attempt, {"task.lost", "This agent no longer holds the attempt's task",
                                                 attempt.id, "no action needed: another agent builds it"}));
        report.moved = true;
    }
    return {};
}

void Agent::choose_probes(const std::vector<Attempt>& attempts) {
    const auto held = parts_.held_queues.list();
    for (const HeldQueue& queue : held) {
        std::vector<std::string> waiting;
        for (const Attempt& attempt : attempts) {
            if (attempt.waiting.what == WaitFor::submission && parts_.queue_of(attempt) == queue.queue)
                waiting.push_back(attempt.id);
        }
        parts_.held_queues.choose_probe(queue.queue, waiting);
    }
}

// While a queue is held, one attempt that it has not refused yet is prepared for it: the next probe. One that
// waits for a service or a person is none: it may wait for days.
bool Agent::may_prepare_for(const std::string& queue, const std::vector<Attempt>& attempts) const {
    const HeldQueue* held = parts_.held_queues.find(queue);
    if (held == nullptr) return true;
    std::size_t refused = 0;
    for (const Attempt& attempt : attempts) {
        const bool may_be_probe = is_before_job(attempt.state) || attempt.waiting.what == WaitFor::submission;
        if (!may_be_probe || attempt.asked.purpose == Purpose::promotion || parts_.queue_of(attempt) != queue)
            continue;
        const bool was_refused =
            std::find(held->refused.begin(), held->refused.end(), attempt.id) != held->refused.end();
        if (was_refused) {
            ++refused;
        } else if (!is_before_job(attempt.state) || !waits_for_an_answer(attempt)) {
            return false;
        }
    }
    return refused < max_refused_jobs;
}

std::size_t Agent::room_for_tasks(const std::vector<Attempt>& attempts) const {
    if (!parts_.submits_nothing.empty()) return 0;
    if (parts_.held_queues.find(parts_.site.queue.queue) != nullptr) return 0;
    const SlotUse use = count_slots(attempts);
    if (use.waiting >= max_waiting_attempts) return 0;
    const auto taken = static_cast<std::size_t>(use.jobs + use.preparing) + tasks_.waiting(attempts);
    const auto slots = static_cast<std::size_t>(parts_.site.max_jobs);
    return slots > taken ? slots - taken : 0;
}

// Attempts that returned their preparation slot come last, but before new attempts; each needs a free slot.
base::Status Agent::advance_all(JournalContent& journal, TickReport& report) {
    for (const bool without_slot : {false, true}) {
        for (auto& attempt : journal.attempts) {
            if (is_over(attempt.state) || waits_without_slot(attempt) != without_slot) continue;
            if (without_slot && count_slots(journal.attempts).preparing >= max_preparing) continue;
            WHEELYARD_TRY(parts_.still_ours());
            WHEELYARD_TRY(size_again(attempt, journal.attempts));
            WHEELYARD_ASSIGN(const bool advanced, stepper_.run(attempt));
            report.moved = report.moved || advanced;
        }
    }
    return {};
}

base::Result<Plan> Agent::look() {
    WHEELYARD_ASSIGN(const auto journal, parts_.journal.read());
    tasks_.read();
    read_state();
    return plan_with(journal, Ask::always);
}

}  // namespace wheelyard::builder
