// The steps up to the end of the job: source, tree, script, start, watching.
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>

#include "builder/agent/advance.hpp"
#include "builder/agent/limits.hpp"
#include "builder/attempt/leftovers.hpp"
#include "builder/attempt/limits.hpp"
#include "builder/attempt/slots.hpp"
#include "builder/plan/request.hpp"
#include "builder/script/build_key.hpp"
#include "builder/script/hardware_test.hpp"
#include "builder/script/hashed_requirements.hpp"
#include "builder/script/job_inputs.hpp"
#include "builder/script/script.hpp"
#include "builder/script/wheelhouse.hpp"
#include "builder/sources/login_step.hpp"
#include "lib/base/digest.hpp"
#include "lib/base/file.hpp"

namespace wheelyard::builder {

base::Result<Advance::Step> Advance::fetch(Attempt& attempt, const JobView&) {
    const Recipe recipe = recipe_of(attempt);
    const SourceRecord before = attempt.source;  // a copy: must survive an index that does not answer
    WHEELYARD_ASSIGN(attempt.source, parts_.sources.fetch(recipe, attempt.version, parts_.breathe));
    // A different source is not built in the old tree. For the same source, the results of unpacking remain
    // valid.
    if (before.sha256 != attempt.source.sha256) WHEELYARD_TRY(leave_old_tree(attempt));
    if (!attempt.builds_in.empty()) attempt.source = before;
    parts_.stop.here("source.fetched");
    note(attempt, "source " + attempt.source.origin +
                      (attempt.source.sha256.empty() ? "" : " sha256 " + attempt.source.sha256));
    WHEELYARD_TRY(enter(attempt, State::fetched));
    return Step::moved;
}

base::Status Advance::leave_old_tree(Attempt& attempt) const {
    if (attempt.builds_in.empty()) return {};
    WHEELYARD_TRY(remove_bulk(folder_of(attempt)));
    attempt.builds_in.clear();
    return {};
}

base::Status Advance::fill_wheelhouse(const Attempt& attempt, std::string script) const {
    return advance_login_step({folder_of(attempt).root, std::string(wheelhouse_step), std::move(script),
                               job_environment(parts_.environment),
                               "fetching what " + attempt.task + " installs", parts_.site.login_minutes * 60},
                              parts_.clock);
}

base::Result<Advance::Step> Advance::prepare(Attempt& attempt, const JobView&) {
    const Recipe recipe = recipe_of(attempt);
    WHEELYARD_ASSIGN(const std::filesystem::path python, python_of(attempt));
    WHEELYARD_TRY(base::make_directories(folder_of(attempt).root));
    sweep_asides(folder_of(attempt).root);
    // If flags, compilers or the interpreter have changed, the old tree would mix two builds into one wheel.
    WHEELYARD_ASSIGN(const auto patches, find_patches(recipe, attempt.version));
    WHEELYARD_ASSIGN(const auto patched, put_patches(patches, folder_of(attempt).root));
    std::string key = build_key(parts_.site, recipe, python);
    if (!patched.empty()) key = base::sha256_hex(key + patched);
    if (!attempt.builds_in.empty() && !is_built_by(folder_of(attempt), key)) {
        note(attempt, "starts from the beginning: the build tree was made with other settings");
        WHEELYARD_TRY(leave_old_tree(attempt));
    }
    const AttemptFolder folder = folder_of(attempt);
    // The tree is already complete if a step on the login node is still running.
    const bool unpacked = !attempt.source.folder.empty() && is_built_by(folder, key);
    if (attempt.builds_in.empty() && !unpacked) {
        WHEELYARD_TRY(parts_.sources.unpack(recipe, attempt.source, folder.tree(), parts_.breathe));
        WHEELYARD_TRY(base::replace_file(folder.build_key(), key + "\n"));
    }
    WHEELYARD_TRY(parts_.sources.put_beside(recipe, folder.build(), parts_.breathe));
    parts_.stop.here("source.unpacked");
    const Site site = sized_for(parts_.site, recipe, attempt);
    ScriptInput input{site,   recipe, attempt,
                      python, folder, recipe.governor ? parts_.governor : std::filesystem::path()};
    if (recipe.source != SourceKind::upstream) {
        WHEELYARD_ASSIGN(input.hashed_files,
                         find_hashed_files(recipe, folder.tree() / attempt.source.folder));
    }
    WHEELYARD_TRY(base::replace_file(folder.pip_conf(), parts_.pip_conf, 0600));
    if (site.offline_jobs) {
        WHEELYARD_TRY(fill_wheelhouse(attempt, render_wheelhouse_script(input)));
    }
    WHEELYARD_TRY(base::replace_file(folder.script(), render_script(input), 0755));
    parts_.stop.here("script.written");
    WHEELYARD_TRY(enter(attempt, State::prepared));
    return Step::moved;
}

bool Advance::has_work_folder() const {
    std::error_code error;
    return std::filesystem::exists(parts_.site.work_directory / work_marker, error);
}

base::Result<Advance::Step> Advance::submit(Attempt& attempt, const JobView&) {
    if (!holds_job_slot(attempt) && parts_.has_job_slot && !parts_.has_job_slot()) {
        WHEELYARD_TRY(wait_for(attempt, WaitFor::job_slot,
                               "for one of " + std::to_string(parts_.site.max_jobs) + " job slots"));
        return Step::not_yet;
    }
    WHEELYARD_TRY(start_job(attempt));
    return Step::not_yet;  // the next tick looks for the claim
}

// The intent is durable before the job exists: even after a crash, the next tick knows that there may be a job.
base::Status Advance::start_job(Attempt& attempt) {
    const Waiting before = attempt.waiting;
    ++attempt.submits;
    attempt.submitted = parts_.clock.now();
    WHEELYARD_TRY(enter(attempt, State::submitting));
    const Recipe recipe = recipe_of(attempt);
    JobRequest job{attempt.id,
                   folder_of(attempt),
                   job_environment(parts_.environment),
                   sized_for(parts_.site, recipe).cores,
                   attempt.memory_mib,
                   attempt.max_walltime_minutes};
    TestJob test;
    if (is_test(attempt.purpose)) {
        test = size_test_job(hardware_test_of(recipe, attempt.purpose), attempt.purpose, parts_.site,
                             attempt.accelerator);
        job.cores = test.cores;
        job.nodes = test.nodes;
        job.ranks_per_node = test.ranks_per_node;
        job.queue = &test.queue;
    }
    const auto submitted = parts_.scheduler.submit(job);
    if (!submitted && submitted.error().kind == base::ErrorKind::unavailable) {
        --attempt.submits;
        // If no earlier submission was made either, there is no job to look for.
        if (attempt.submits == 0) WHEELYARD_TRY(enter(attempt, State::prepared));
        attempt.waiting = before;  // keeps the backoff, and reports the reason only once
    }
    if (!submitted && submitted.error().recovery == base::Recovery::never)
        return tl::unexpected(with_sizes(submitted.error(), parts_.site, recipe));
    WHEELYARD_TRY(submitted);
    parts_.stop.here("submit.started");
    note(attempt, "started");
    return {};
}

base::Result<Advance::Step> Advance::watch_start(Attempt& attempt, const JobView& view) {
    WHEELYARD_ASSIGN(const auto record, read_exit_record(folder_of(attempt), attempt.id));
    if (record || view.state == JobState::running || view.state == JobState::vanished) {
        WHEELYARD_TRY(enter(attempt, State::running));
        return Step::moved;
    }
    if (view.state == JobState::unknown) {
        WHEELYARD_TRY(cannot_tell(attempt, view.detail));
        return Step::not_yet;
    }
    if (view.state == JobState::queued && view.end) return cannot_run(attempt, view);
    if (view.state == JobState::queued) {
        WHEELYARD_TRY(wait_in_queue(attempt, view.detail));
        return Step::not_yet;
    }
    // The grace grows with each start, so that a fault of a minute does not use up all starts.
    std::int64_t grace_ms = parts_.scheduler.is_batch_system() ? queue_submit_grace_ms : submit_grace_ms;
    for (int start = 1; start < attempt.submits; ++start)
        grace_ms *= submit_grace_growth;
    grace_ms = std::min(grace_ms, max_submit_grace_ms);
    const bool overdue = parts_.clock.now() - attempt.submitted > grace_ms * 1000;
    if (!overdue) return Step::not_yet;
    if (attempt.submits < max_submits) {
        WHEELYARD_TRY(start_job(attempt));
        return Step::not_yet;
    }
    // Taking the claim prevents any late start of this attempt. If a job has already claimed, the next tick finds
    // it. If the folder is missing, no job can run either.
    if (::mkdir(folder_of(attempt).claim().c_str(), 0755) != 0) {
        const int why = errno;
        if (why == EEXIST) return Step::not_yet;
        if (why != ENOENT || !has_work_folder())
            return base::fail_errno("claiming", folder_of(attempt).claim().native(), why);
    }
    const EndRow& end = end_row(EndCause::never_started);
    WHEELYARD_TRY(
        fail(attempt, "start",
             {std::string(end.code),
              "The job was started " + std::to_string(attempt.submits) + " times, but never began to run",
              attempt.id, std::string(end.advice)},
             end.try_again, end.cause));
    return Step::moved;
}

base::Result<Advance::Step> Advance::watch(Attempt& attempt, const JobView& view) {
    // Read after polling the job: if it ended in between, its record exists.
    WHEELYARD_ASSIGN(const auto record, read_exit_record(folder_of(attempt), attempt.id));
    if (record) {
        parts_.stop.here("exit.seen");
        return job_ended(attempt, *record, view);
    }
    // A host has seen the claim, possibly another one with a more recent view of the folder.
    const bool settled = parts_.clock.now() - attempt.changed > claim_grace_ms * 1000;
    if (view.state == JobState::unclaimed && settled && has_work_folder()) {
        WHEELYARD_TRY(fail_job(attempt, "job", {EndCause::lost, {}, folder_of(attempt).root.string(), {}}));
        return Step::moved;
    }
    if (view.state == JobState::unknown || view.state == JobState::unclaimed) {
        WHEELYARD_TRY(
            cannot_tell(attempt, view.state == JobState::unknown ? view.detail : "its claim is missing"));
        return Step::not_yet;
    }
    if (view.state == JobState::running) {
        WHEELYARD_TRY(end_when_overdue(attempt));
        if (attempt.waiting.reason.empty()) return Step::not_yet;
        attempt.waiting = {};
        WHEELYARD_TRY(write(attempt));
        return Step::not_yet;
    }
    if (view.state == JobState::queued && view.end) return cannot_run(attempt, view);
    if (view.state == JobState::queued) {  // requeued by the site after a node failure
        WHEELYARD_TRY(wait_in_queue(attempt, view.detail));
        return Step::not_yet;
    }
    return job_gone(attempt, view);
}

// The summary serves the outcome and the next request. If it is missing or malformed (broker killed, disk full), the
// build is judged without it.
void Advance::read_governor_summary(Attempt& attempt) const {
    const auto text =
        base::read_file(folder_of(attempt).governor_summary(), wire::max_governor_summary_bytes);
    if (!text) return;
    if (auto governed = wire::parse_governor_summary(*text)) attempt.governed = std::move(*governed);
}

base::Result<Advance::Step> Advance::job_ended(Attempt& attempt, const ExitRecord& record,
                                               const JobView& view) {
    if (record.exit_code != 0 && awaits_word(record, view)) return Step::not_yet;
    // Kills servers and watchers that the build left running; a batch system does so itself.
    if (!parts_.scheduler.is_batch_system())
        WHEELYARD_TRY(parts_.scheduler.cancel(attempt.id, folder_of(attempt)));
    attempt.end = view.state == JobState::vanished ? view.end : std::nullopt;
    attempt.phases = record.phases;
    attempt.exit_code = record.exit_code;
    attempt.job_ended = record.ended;
    read_governor_summary(attempt);
    if (record.exit_code == 0) {
        if (is_test(attempt.purpose)) {
            note(attempt, "passed");
            WHEELYARD_TRY(finish(attempt));
        } else {
            WHEELYARD_TRY(enter(attempt, State::built));
        }
        return Step::moved;
    }
    if (record.phase == fence_phase && record.exit_code == fence_exit_code) {
        WHEELYARD_TRY(fail_job(attempt, record.phase, {EndCause::tree_busy, {}, attempt.builds_in, {}}));
        return Step::moved;
    }
    if (const auto end = explain(attempt, record, view)) {
        WHEELYARD_TRY(fail_job(attempt, record.phase, *end));
        return Step::moved;
    }
    if (attempt.governed && attempt.governed->could_not_fit > 0) {
        const auto& messages = attempt.governed->messages;
        WHEELYARD_TRY(fail(attempt, record.phase,
                           {std::string(end_row(EndCause::out_of_memory).code),
                            "A compiler process did not fit into memory, even alone" +
                                (messages.empty() ? std::string() : ": " + messages.back()),
                            wire::describe(*attempt.governed),
                            "it is retried with more memory, up to max_memory_mib of site.toml"},
                           true, EndCause::out_of_memory));
        return Step::moved;
    }
    WHEELYARD_TRY(
        fail(attempt, record.phase,
             {std::string(end_row(EndCause::failed).code),
              "Phase `" + record.phase + "` ended with exit code " + std::to_string(record.exit_code),
              attempt.package + " " + attempt.version, "read its log: wheelyard-builder logs " + attempt.id},
             true, EndCause::failed));
    return Step::moved;
}

}  // namespace wheelyard::builder
