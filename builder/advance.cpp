// The steps of one attempt, each redoable; the table in advance.hpp is this file in short.
#include "builder/advance.hpp"

#include <sys/stat.h>

#include <algorithm>
#include <array>

#include "builder/first_error.hpp"
#include "builder/limits.hpp"
#include "builder/script.hpp"
#include "lib/base/digest.hpp"
#include "lib/base/file.hpp"
#include "lib/base/text.hpp"

namespace wheelyard::builder {
namespace {

namespace fs = std::filesystem;

// Errors that may pass by themselves, by the beginning of their code: the attempt waits and tries the same
// step again.
constexpr std::array<std::string_view, 8> passing_errors = {"http.",
                                                            "os.",
                                                            "simple.http",
                                                            "file.",
                                                            "upload.unavailable",
                                                            "upload.not_visible",
                                                            "upload.token_file",
                                                            "pip.no_index"};

bool may_pass(const base::Error& error) {
    return std::any_of(passing_errors.begin(), passing_errors.end(),
                       [&](std::string_view prefix) { return error.code.starts_with(prefix); });
}

// Doubles from wait_first_ms to wait_most_ms, with up to a quarter more so that many agents do not come back
// at once.
std::int64_t delay_ms(int tries, std::int64_t first_ms, std::int64_t most_ms) {
    const std::int64_t delay = std::min(most_ms, first_ms << std::min(tries, 20));
    const auto random = static_cast<unsigned char>(base::random_bytes(1)[0]);
    return delay + delay * random / 1024;
}

std::string log_of(const AttemptFolder& folder) {
    const auto reader = base::FileReader::open(folder.log());
    if (!reader) return "";
    std::string text(static_cast<std::size_t>(std::min(reader->size(), log_scan_bytes)), '\0');
    return reader->read_at(0, text.data(), text.size()) ? text : "";
}

}  // namespace

struct Advance::StepRow {
    State state;
    std::string_view name;  // the phase that a failure names
    StepFunction step;
};

const Advance::StepRow* Advance::find_step(State state) {
    static constexpr std::array<StepRow, 7> steps = {{{State::planned, "fetch", &Advance::fetch},
                                                      {State::fetched, "prepare", &Advance::prepare},
                                                      {State::prepared, "submit", &Advance::submit},
                                                      {State::submitting, "start", &Advance::watch_start},
                                                      {State::running, "job", &Advance::watch},
                                                      {State::built, "inspect", &Advance::inspect_wheel},
                                                      {State::uploading, "upload", &Advance::upload}}};
    const auto* found =
        std::find_if(steps.begin(), steps.end(), [&](const StepRow& row) { return row.state == state; });
    return found == steps.end() ? nullptr : found;
}

base::Result<bool> Advance::run(Attempt& attempt, const JobViews& views) {
    if (attempt.waiting.not_before > parts_.clock.now()) return false;
    const auto seen = views.find(attempt.id);
    const JobView view = seen == views.end() ? JobView{JobState::unknown, "not looked at yet"} : seen->second;
    bool moved = false;
    for (int count = 0; count < most_steps_per_tick; ++count) {
        const StepRow* row = find_step(attempt.state);
        if (row == nullptr) break;
        const auto step = (this->*row->step)(attempt, view);
        if (!step && may_pass(step.error())) {
            WHEELYARD_TRY(wait(attempt, step.error()));
            break;
        }
        if (!step) {
            WHEELYARD_TRY(fail(attempt, std::string(row->name), step.error(), false));
            return true;
        }
        if (*step == Step::not_yet) break;
        moved = true;
    }
    return moved;
}

AttemptFolder Advance::folder_of(const Attempt& attempt) const {
    return {parts_.site.work_directory / "attempts" / attempt.id};
}

base::Result<Advance::Step> Advance::fetch(Attempt& attempt, const JobView&) {
    const Recipe recipe = parts_.recipes.of(attempt.package);
    WHEELYARD_ASSIGN(attempt.source, parts_.sources.fetch(recipe, attempt.version, progress()));
    parts_.stop.here("source.fetched");
    note(attempt, "source " + attempt.source.origin +
                      (attempt.source.sha256.empty() ? "" : " sha256 " + attempt.source.sha256));
    WHEELYARD_TRY(enter(attempt, State::fetched));
    return Step::moved;
}

base::Result<Advance::Step> Advance::prepare(Attempt& attempt, const JobView&) {
    const AttemptFolder folder = folder_of(attempt);
    const Recipe recipe = parts_.recipes.of(attempt.package);
    const auto python = parts_.pythons.find(attempt.python);
    if (python == parts_.pythons.end() || !python->second) {
        return base::fail("python.missing", "Python " + attempt.python + " is no longer usable on this site",
                          attempt.python, "see `plan --explain`");
    }
    WHEELYARD_TRY(base::make_directories(folder.root));
    WHEELYARD_TRY(parts_.sources.unpack(recipe, attempt.source, folder.tree()));
    parts_.stop.here("source.unpacked");
    const std::string script =
        render_script({parts_.site, recipe, attempt, python->second->executable, folder.root});
    WHEELYARD_TRY(base::replace_file(folder.script(), script, 0755));
    parts_.stop.here("script.written");
    WHEELYARD_TRY(enter(attempt, State::prepared));
    return Step::moved;
}

base::Result<Advance::Step> Advance::submit(Attempt& attempt, const JobView&) {
    WHEELYARD_TRY(start_job(attempt));
    return Step::not_yet;  // the next tick looks for its claim
}

// The intent is durable before the job exists: whatever happens now, the next tick knows that there may be a
// job.
base::Status Advance::start_job(Attempt& attempt) {
    ++attempt.submits;
    attempt.submitted = parts_.clock.now();
    WHEELYARD_TRY(enter(attempt, State::submitting));
    WHEELYARD_TRY(
        parts_.scheduler.submit({attempt.id, folder_of(attempt), job_environment(parts_.environment)}));
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
    const bool overdue = parts_.clock.now() - attempt.submitted > submit_grace_ms * 1000;
    if (view.state == JobState::unknown || !overdue) return Step::not_yet;
    if (attempt.submits < most_submits) {
        WHEELYARD_TRY(start_job(attempt));
        return Step::not_yet;
    }
    // Claimed by ourselves, no late start of this attempt can run any more. If a job was faster, it is found
    // next time.
    if (::mkdir(folder_of(attempt).claim().c_str(), 0755) != 0) return Step::not_yet;
    WHEELYARD_TRY(fail(
        attempt, "start",
        {"job.never_started",
         "The job was started " + std::to_string(attempt.submits) + " times and never showed a sign of life",
         attempt.id, "look at its log; is /bin/bash there, and the work folder writable?"},
        true));
    return Step::moved;
}

base::Result<Advance::Step> Advance::watch(Attempt& attempt, const JobView& view) {
    // Read after the view was taken: a job that ended in between has its record by now.
    WHEELYARD_ASSIGN(const auto record, read_exit_record(folder_of(attempt), attempt.id));
    if (record) {
        parts_.stop.here("exit.seen");
        return job_ended(attempt, *record);
    }
    if (view.state != JobState::vanished) return Step::not_yet;
    WHEELYARD_TRY(parts_.scheduler.cancel(attempt.id, folder_of(attempt)));
    WHEELYARD_TRY(
        fail(attempt, "job",
             {"job.vanished",
              "The job ended without a word: it was killed, or its machine went down (" + view.detail + ")",
              attempt.id, "it is tried again by itself"},
             true));
    return Step::moved;
}

base::Result<Advance::Step> Advance::job_ended(Attempt& attempt, const ExitRecord& record) {
    attempt.phases = record.phases;
    attempt.exit_code = record.exit_code;
    attempt.job_ended = record.ended;
    if (record.exit_code == 0) {
        WHEELYARD_TRY(enter(attempt, State::built));
        return Step::moved;
    }
    WHEELYARD_TRY(
        fail(attempt, record.phase,
             {"job.failed",
              "Phase `" + record.phase + "` ended with exit code " + std::to_string(record.exit_code),
              attempt.package + " " + attempt.version, "read its log: wheelyard-builder logs " + attempt.id},
             true));
    return Step::moved;
}

base::Result<fs::path> Advance::find_wheel(const Attempt& attempt) const {
    std::vector<fs::path> wheels;
    std::error_code error;
    for (const auto& entry : fs::directory_iterator(folder_of(attempt).wheel(), error)) {
        if (entry.path().extension() == ".whl") wheels.push_back(entry.path());
    }
    if (wheels.size() == 1) return wheels.front();
    return base::fail("wheel.count",
                      "A build must leave exactly one wheel, this one left " + std::to_string(wheels.size()),
                      folder_of(attempt).wheel().string());
}

base::Result<const inspect::Inspection*> Advance::inspection_of(const Attempt& attempt,
                                                                const fs::path& file) {
    if (inspected_ != attempt.id || !inspection_) {
        WHEELYARD_ASSIGN(const auto reader, base::FileReader::open(file));
        inspect::InspectOptions options;
        options.threads = static_cast<unsigned>(parts_.site.cores);
        WHEELYARD_ASSIGN(inspection_, inspect::inspect_wheel(reader, file.filename().string(), options));
        inspected_ = attempt.id;
    }
    return &*inspection_;
}

base::Result<Advance::Step> Advance::inspect_wheel(Attempt& attempt, const JobView&) {
    WHEELYARD_ASSIGN(const auto file, find_wheel(attempt));
    inspection_.reset();
    WHEELYARD_ASSIGN(const auto* inspection, inspection_of(attempt, file));
    WHEELYARD_ASSIGN(attempt.wheel.sha256, base::sha256_hex_of_file(file));
    WHEELYARD_ASSIGN(attempt.wheel.size, base::file_size(file));
    attempt.wheel.filename = file.filename().string();
    attempt.verdicts.clear();
    for (const auto& verdict : inspection->verdicts)
        attempt.verdicts.push_back(verdict.text());
    parts_.stop.here("wheel.inspected");
    if (!inspection->accepted()) {
        return base::fail(
            "wheel.rejected", "The wheel breaks the registry's rules: " + base::join(attempt.verdicts, "; "),
            attempt.wheel.filename, "mend the recipe; `wheelyard-registry check` explains each rule");
    }
    const auto wanted = wheel::Version::parse(attempt.version);
    const auto& name = inspection->filename;
    if (name.project != attempt.package || !wanted ||
        name.version.compare_public(*wanted) != std::strong_ordering::equal) {
        return base::fail("wheel.other",
                          "The build made another wheel than " + attempt.package + " " + attempt.version,
                          attempt.wheel.filename, "mend the recipe's source, or the version in site.toml");
    }
    note(attempt, "built " + attempt.wheel.filename + " (" + base::render_bytes(attempt.wheel.size) +
                      "), sha256 " + attempt.wheel.sha256);
    WHEELYARD_TRY(enter(attempt, State::uploading));
    return Step::moved;
}

base::Result<bool> Advance::is_published(const Attempt& attempt) {
    WHEELYARD_ASSIGN(const auto page, parts_.registry->page(attempt.package));
    if (!page) return false;
    for (const auto& file : page->files) {
        if (file.filename != attempt.wheel.filename) continue;
        if (file.sha256 == attempt.wheel.sha256) return true;
        return base::fail("upload.name_taken",
                          "The index has another file of this name: sha256 " + file.sha256 + ", ours is " +
                              attempt.wheel.sha256,
                          attempt.wheel.filename,
                          "a published file never changes its bytes; build another version");
    }
    return false;
}

base::Result<Advance::Step> Advance::upload(Attempt& attempt, const JobView&) {
    if (parts_.registry == nullptr) {
        WHEELYARD_TRY(keep(attempt));
    } else {
        WHEELYARD_ASSIGN(bool there, is_published(attempt));
        if (!there) {
            WHEELYARD_TRY(send(attempt));
            parts_.stop.here("upload.sent");
            WHEELYARD_ASSIGN(there, is_published(attempt));
        }
        if (!there) {
            return base::fail("upload.not_visible",
                              "The registry took the wheel, and its page does not show it yet",
                              attempt.wheel.filename);
        }
        note(attempt, "published in " + parts_.site.registry->index);
    }
    parts_.stop.here("upload.seen");
    WHEELYARD_TRY(finish(attempt));
    return Step::moved;
}

// A few tries in this tick; then the attempt waits for the next one and keeps its wheel.
base::Status Advance::send(Attempt& attempt) {
    WHEELYARD_ASSIGN(const auto file, find_wheel(attempt));
    WHEELYARD_ASSIGN(const auto* inspection, inspection_of(attempt, file));
    for (int count = 0;; ++count) {
        const auto sent = parts_.registry->upload({file, attempt.wheel.sha256, *inspection}, progress());
        if (sent || !may_pass(sent.error()) || count + 1 >= upload_tries_per_tick) return sent;
        parts_.clock.sleep_ms(delay_ms(count, upload_first_delay_ms, wait_most_ms));
    }
}

fs::path Advance::kept_wheel(const Attempt& attempt) const {
    return parts_.site.work_directory / "wheels" / attempt.wheel.filename;
}

base::Status Advance::keep(Attempt& attempt) {
    const auto kept = base::sha256_hex_of_file(kept_wheel(attempt));
    if (kept && *kept == attempt.wheel.sha256) return {};  // moved before a kill
    WHEELYARD_ASSIGN(const auto file, find_wheel(attempt));
    WHEELYARD_TRY(base::make_directories(kept_wheel(attempt).parent_path()));
    WHEELYARD_TRY(base::rename_durably(file, kept_wheel(attempt)));
    note(attempt, "kept as " + kept_wheel(attempt).string());
    return {};
}

base::Status Advance::enter(Attempt& attempt, State state) {
    attempt.state = state;
    attempt.changed = parts_.clock.now();
    attempt.waiting = {};
    WHEELYARD_TRY(parts_.journal.write(attempt));
    parts_.stop.here("journal." + std::string(state_text(state)));
    return {};
}

base::Status Advance::wait(Attempt& attempt, const base::Error& reason) {
    attempt.waiting.not_before =
        parts_.clock.now() + delay_ms(attempt.waiting.tries, wait_first_ms, wait_most_ms) * 1000;
    ++attempt.waiting.tries;
    attempt.waiting.reason = reason.text();
    note(attempt, "waits: " + attempt.waiting.reason);
    return parts_.journal.write(attempt);
}

base::Status Advance::fail(Attempt& attempt, std::string phase, base::Error error, bool try_again) {
    const std::string first =
        error.code.starts_with("job.") ? find_first_error(log_of(folder_of(attempt)), phase) : "";
    attempt.failure = Failure{std::move(phase), std::move(error), first, try_again};
    note(attempt,
         "failed: " + attempt.failure->error.text() + (first.empty() ? "" : "\n    first error: " + first));
    WHEELYARD_TRY(parts_.journal.write_outcome(outcome_of(attempt)));
    return enter(attempt, State::failed);
}

base::Status Advance::finish(Attempt& attempt) {
    WHEELYARD_TRY(parts_.journal.write_outcome(outcome_of(attempt)));
    parts_.stop.here("outcome.written");
    std::error_code ignored;  // what stays is only space
    for (const auto& path : folder_of(attempt).bulk())
        fs::remove_all(path, ignored);
    parts_.stop.here("bulk.removed");
    return enter(attempt, State::done);
}

wire::Outcome Advance::outcome_of(const Attempt& attempt) const {
    wire::Outcome outcome;
    outcome.attempt = attempt.id;
    outcome.task = attempt.task;
    outcome.site = parts_.site.name;
    outcome.package = attempt.package;
    outcome.version = attempt.version;
    outcome.python = attempt.python;
    outcome.number = attempt.number;
    outcome.done = !attempt.failure.has_value();
    outcome.began = attempt.created;
    outcome.ended = parts_.clock.now();
    for (std::size_t i = 0; i < attempt.phases.size(); ++i) {
        const auto end = i + 1 < attempt.phases.size() ? attempt.phases[i + 1].began : attempt.job_ended;
        outcome.phases.push_back(
            {attempt.phases[i].name, static_cast<double>(end - attempt.phases[i].began) / 1e6});
    }
    outcome.exit_code = attempt.exit_code;
    if (attempt.failure) {
        outcome.diagnosis = {attempt.failure->phase, attempt.failure->error, attempt.failure->first_error};
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

void Advance::note(const Attempt& attempt, const std::string& text) const {
    if (parts_.note) parts_.note(attempt, text);
}

io::HttpProgress Advance::progress() const {
    return [this](std::uint64_t, std::uint64_t) {
        if (parts_.breathe) parts_.breathe();
        return true;
    };
}

}  // namespace wheelyard::builder
