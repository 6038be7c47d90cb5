// One tick: lock, poll, advance, plan, start. Contains only control flow.
#include "builder/agent/agent.hpp"

#include <algorithm>
#include <set>
#include <tuple>

#include "builder/agent/kept_trees.hpp"
#include "builder/agent/limits.hpp"
#include "builder/attempt/backoff.hpp"
#include "builder/attempt/leftovers.hpp"
#include "builder/attempt/limits.hpp"
#include "builder/attempt/slots.hpp"
#include "builder/plan/request.hpp"
#include "builder/script/hardware_test.hpp"
#include "lib/base/file.hpp"
#include "lib/base/limits.hpp"
#include "lib/base/text.hpp"

namespace wheelyard::builder {
namespace {

namespace fs = std::filesystem;

// Describes how an attempt deviates from its site's settings.
std::string remedy_of(const Attempt& attempt, const MemoryRequest& memory, const CoresRequest& cores) {
    std::vector<std::string> parts;
    if (!memory.why.empty()) parts.push_back(std::to_string(memory.memory_mib) + " MiB: " + memory.why);
    if (!cores.why.empty()) parts.push_back(std::to_string(cores.cores) + " jobs at once: " + cores.why);
    if (!attempt.builds_in.empty()) parts.push_back("the build tree of attempt " + attempt.builds_in);
    return base::join(parts, "; ");
}

bool has_cell(const Plan& plan, const std::string& task) {
    return std::any_of(plan.cells.begin(), plan.cells.end(),
                       [&](const Cell& cell) { return cell.task == task; });
}

std::set<std::string> names_of_over(const std::vector<Attempt>& attempts) {
    std::set<std::string> names;
    for (const auto& attempt : attempts) {
        if (is_over(attempt.state)) names.insert(attempt.id);
    }
    return names;
}

}  // namespace

base::Result<base::LockFile> Agent::lock() {
    WHEELYARD_TRY(check_journal_folder());
    WHEELYARD_TRY(parts_.journal.prepare());
    auto held = base::LockFile::acquire(parts_.journal.lock_file(), parts_.clock, lock_stale_after_ms);
    if (held) refreshed_ = parts_.clock.now();
    return held;
}

// If the state folder's file system is not mounted, the journal is missing, and all active attempts would start a
// second time.
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
    WHEELYARD_TRY(base::make_directories(parts_.site.work_directory));
    return base::replace_file(marker, "The work folder of Wheelyard's site " + parts_.site.name + ".\n");
}

JobViews Agent::look_at_jobs(const std::vector<Attempt>& attempts) {
    std::map<std::string, AttemptFolder> folders;
    for (const auto& attempt : attempts) {
        if (attempt.state == State::submitting || attempt.state == State::running) {
            folders.emplace(attempt.id, advance_.folder_of(attempt));
        }
    }
    return folders.empty() ? JobViews{} : parts_.scheduler.poll(folders);
}

const World& Agent::world_with(const JournalContent& journal, bool fresh) {
    world_.attempts = journal.attempts;
    world_.journal_problems = journal.problems;
    // Attempts that ended since, here or on another login node, may have changed the index.
    auto over = names_of_over(journal.attempts);
    const bool is_stale = fresh || over != over_ || has_passed(parts_.clock.now(), asked_, world_fresh_ms);
    if (!is_stale) return world_;
    over_ = std::move(over);
    world_.pythons = parts_.pythons;
    ask_registry();
    ask_sources();
    asked_ = parts_.clock.now();
    return world_;
}

void Agent::ask_registry() {
    world_.published.clear();
    world_.promoted.clear();
    if (parts_.registry == nullptr) return;
    std::optional<base::Error> away;  // after one failure the registry is not asked again in this tick
    for (const auto& want : wanted_packages(site_, parts_.recipes)) {
        if (world_.published.contains(want.package)) continue;
        auto page = away ? base::Result<std::optional<simple::ProjectPage>>(tl::unexpected(*away))
                         : parts_.registry->page(want.package);
        if (!page && page.error().may_pass()) away = page.error();
        if (!parts_.site.registry->promote_to.empty() && page && *page) {
            auto promoted = away ? base::Result<std::optional<simple::ProjectPage>>(tl::unexpected(*away))
                                 : parts_.registry->promoted_page(want.package);
            if (!promoted && promoted.error().may_pass()) away = promoted.error();
            world_.promoted.emplace(want.package, std::move(promoted));
        }
        world_.published.emplace(want.package, std::move(page));
    }
}

void Agent::ask_sources() {
    std::optional<base::Error> away;
    for (const auto& want : wanted_packages(site_, parts_.recipes)) {
        const bool known = world_.offers.contains(want.package) && world_.offers.at(want.package);
        const Recipe recipe = parts_.recipes.of(want.package);
        if (known || !needs_offers(want, recipe, world_)) continue;
        auto offers = away ? base::Result<SdistOffers>(tl::unexpected(*away)) : parts_.sources.offers(recipe);
        if (!offers && offers.error().may_pass()) away = offers.error();
        world_.offers.insert_or_assign(want.package, std::move(offers));
    }
}

Plan Agent::plan_with(const JournalContent& journal, bool fresh) {
    site_ = tasks_.wanting();
    return make_plan(site_, parts_.recipes, world_with(journal, fresh));
}

// Gives up attempts for tasks that this agent no longer holds, unless the site file wants them, too. Decides by the
// files on disk, so that it also works after a kill since the loss of a task.
base::Result<bool> Agent::give_up_lost(JournalContent& journal) {
    bool moved = false;
    std::optional<Plan> own;
    for (Attempt& attempt : journal.attempts) {
        if (is_over(attempt.state) || !attempt.for_task || tasks_.may_hold(attempt.task)) continue;
        if (!own) own = make_plan(parts_.site, parts_.recipes, world_with(journal, true));
        if (has_cell(*own, attempt.task)) {
            attempt.for_task = false;
            WHEELYARD_TRY(parts_.journal.write(attempt));
            continue;
        }
        WHEELYARD_TRY(advance_.give_up(attempt, {"task.lost", "This agent no longer holds the attempt's task",
                                                 attempt.id, "no action needed: another agent builds it"}));
        moved = true;
    }
    return moved;
}

std::size_t Agent::room_for_tasks(const std::vector<Attempt>& attempts) const {
    const SlotUse use = count_slots(attempts);
    if (use.waiting >= max_waiting_attempts) return 0;
    const auto taken = static_cast<std::size_t>(use.jobs + use.preparing) + tasks_.waiting(attempts);
    const auto slots = static_cast<std::size_t>(parts_.site.max_jobs);
    return slots > taken ? slots - taken : 0;
}

// Attempts that returned their place of preparation come last, but before new attempts; each needs a free place.
base::Result<bool> Agent::advance_all(JournalContent& journal, const JobViews& views) {
    bool moved = false;
    for (const bool without_place : {false, true}) {
        for (auto& attempt : journal.attempts) {
            if (is_over(attempt.state) || waits_without_place(attempt) != without_place) continue;
            if (without_place && count_slots(journal.attempts).preparing >= max_preparing) continue;
            WHEELYARD_TRY(parts_.breathe());
            WHEELYARD_TRY(size_again(attempt, journal.attempts));
            WHEELYARD_ASSIGN(const bool advanced, advance_.run(attempt, views));
            moved = moved || advanced;
        }
    }
    return moved;
}

// Attempts that ended during the wait for a slot may have shown that the job needs more. Then its script is rewritten.
base::Status Agent::size_again(Attempt& attempt, const std::vector<Attempt>& attempts) const {
    const bool may_submit = attempt.state == State::prepared && attempt.waiting.what == WaitFor::job_slot &&
                            parts_.has_job_slot();
    if (!may_submit) return {};
    Attempt sized = attempt;
    ask_for(sized, attempts);
    const auto size = [](const Attempt& one) {
        return std::tie(one.memory_mib, one.max_walltime_minutes, one.cores);
    };
    if (size(sized) == size(attempt)) return {};
    attempt = std::move(sized);
    attempt.state = State::fetched;
    return parts_.journal.write(attempt);
}

base::Result<TickReport> Agent::tick() {
    WHEELYARD_ASSIGN(auto held, lock());
    held_ = &held;
    parts_.breathe = [this]() -> base::Status {
        tasks_.keep_leases();
        if (!has_passed(parts_.clock.now(), refreshed_, lock_refresh_every_ms)) return {};
        const auto renewed = held_->refresh(parts_.clock);
        if (renewed) refreshed_ = parts_.clock.now();
        // If the lock file cannot be read now, the lock remains valid until it is stale. The next call tries again.
        return !renewed && renewed.error().kind == base::ErrorKind::lost ? renewed : base::Status();
    };
    parts_.stop.here("lock.taken");
    parts_.journal.sweep();
    WHEELYARD_ASSIGN(auto journal, parts_.journal.read());
    WHEELYARD_TRY(check_work_folder(journal.attempts));
    WHEELYARD_TRY(parts_.sources.sweep(parts_.breathe));
    tasks_.read();
    const bool may_ask_again =
        std::any_of(journal.attempts.begin(), journal.attempts.end(), [this](const Attempt& attempt) {
            return attempt.state == State::uploading &&
                   is_due(parts_.clock.now(), attempt.waiting.not_before, max_wait_ms);
        });
    if (may_ask_again) advance_.resume_uploads();
    TickReport report;
    const JobViews views = look_at_jobs(journal.attempts);
    WHEELYARD_TRY(tasks_.renew(journal.attempts));
    WHEELYARD_ASSIGN(report.moved, give_up_lost(journal));
    parts_.has_job_slot = [this, &journal] {
        return count_slots(journal.attempts).jobs < parts_.site.max_jobs;
    };
    WHEELYARD_ASSIGN(const bool moved, advance_all(journal, views));
    report.moved = report.moved || moved;

    if (journal.problems.empty())
        WHEELYARD_TRY(tasks_.claim(room_for_tasks(journal.attempts), journal.attempts));
    report.plan = plan_with(journal, false);
    for (const auto& cell : report.plan.cells) {
        if (cell.state != CellState::wanted || !report.plan.start_nothing.empty()) continue;
        if (cell.purpose != Purpose::promotion && !why_none_begins(journal.attempts).empty()) continue;
        WHEELYARD_TRY(parts_.breathe());
        WHEELYARD_TRY(start(cell, journal));
        report.moved = true;
    }
    if (report.moved) {
        report.plan = plan_with(journal, false);
        WHEELYARD_TRY(parts_.sources.trim(static_cast<std::uint64_t>(parts_.site.cache_gib) * base::gib,
                                          parts_.breathe));
    }
    WHEELYARD_TRY(trim_kept_trees(parts_, advance_, report.plan, journal.attempts));
    WHEELYARD_TRY(tasks_.report(report.plan, world_));
    for (const auto& attempt : journal.attempts) {
        if (!is_over(attempt.state)) report.active.push_back(attempt);
    }
    report.uploads_paused = advance_.uploads_paused();
    report.journal_problems = std::move(journal.problems);
    parts_.has_job_slot = {};
    return report;
}

// After an interrupted job the next attempt continues in its build tree, if the source is unchanged.
void Agent::resume(Attempt& attempt, const Attempt& last) const {
    if (attempt.purpose != Purpose::build) return;
    attempt.builds_in.clear();
    attempt.source = {};
    std::error_code error;
    if (last.superseded || last.tree_removed != 0 || !last.failure || !resumes_after(*last.failure) ||
        last.source.sha256.empty() || !fs::is_directory(advance_.folder_of(last).tree(), error)) {
        return;
    }
    attempt.builds_in = last.builds_in.empty() ? last.id : last.builds_in;
    attempt.source = last.source;
}

// Sets the size of the attempt's job. A test's size is in its recipe.
void Agent::ask_for(Attempt& attempt, const std::vector<Attempt>& earlier) const {
    const Recipe recipe = advance_.recipe_of(attempt);
    if (is_test(attempt.purpose)) {
        const HardwareTest& test = hardware_test_of(recipe, attempt.purpose);
        attempt.max_walltime_minutes = bound_minutes(parts_.site, test.minutes);
        attempt.memory_mib =
            bound_memory(parts_.site, test.memory_mib > 0 ? test.memory_mib : parts_.site.memory_mib);
    }
    if (attempt.purpose != Purpose::build) return;
    const Site site = sized_for(parts_.site, recipe);
    const auto memory = choose_memory(site, attempt.package, attempt.task, earlier);
    attempt.max_walltime_minutes = choose_minutes(site, attempt.task, earlier);
    attempt.memory_mib = memory.memory_mib;
    const auto cores = choose_cores(site, attempt.task, memory.memory_mib, earlier);
    attempt.cores = cores.cores;
    attempt.remedy = remedy_of(attempt, memory, cores);
}

base::Status Agent::start(const Cell& cell, JournalContent& journal) {
    Attempt attempt;
    attempt.id = new_attempt_id(parts_.clock.now());
    attempt.task = cell.task;
    attempt.purpose = cell.purpose;
    attempt.for_task =
        tasks_.may_hold(cell.task) && !has_cell(make_plan(parts_.site, parts_.recipes, world_), cell.task);
    attempt.package = cell.package;
    attempt.version = cell.version;
    attempt.python = cell.python;
    attempt.accelerator = cell.accelerator;
    attempt.against = cell.against;
    attempt.created = attempt.changed = parts_.clock.now();
    if (cell.purpose != Purpose::build)
        attempt.source = {"wheel", cell.wheel->url, cell.wheel->filename, cell.wheel->sha256, {}, {}, {}, {}};
    for (const auto& other : journal.attempts) {
        if (other.task != cell.task) continue;
        if (other.number >= attempt.number) resume(attempt, other);
        attempt.number = std::max(attempt.number, other.number + 1);
    }
    for (const auto& other : journal.attempts) {
        if (other.task != cell.task) continue;
        const AttemptFolder folder = advance_.folder_of(other);
        const bool goes_on =
            !attempt.builds_in.empty() && folder.build() == advance_.folder_of(attempt).build();
        // An older attempt's tree is kept only until the next attempt starts.
        for (const auto& path : goes_on ? folder.own_bulk() : folder.bulk())
            WHEELYARD_TRY(free_space(path, parts_.breathe));
    }
    ask_for(attempt, journal.attempts);
    WHEELYARD_TRY(parts_.journal.write(attempt));
    parts_.stop.here("journal.planned");
    if (parts_.note)
        parts_.note(attempt, "attempt " + std::to_string(attempt.number) + " begins (" + cell.reason + ")" +
                                 (attempt.remedy.empty() ? "" : ", with " + attempt.remedy));
    const auto moved = advance_.run(attempt, {});
    journal.attempts.push_back(attempt);
    if (!moved) return tl::unexpected(moved.error());
    return {};
}

base::Result<Plan> Agent::look() {
    WHEELYARD_ASSIGN(const auto journal, parts_.journal.read());
    tasks_.read();
    return plan_with(journal, true);
}

base::Result<std::string> Agent::retry(const std::string& name) {
    WHEELYARD_ASSIGN(const auto held, lock());
    WHEELYARD_ASSIGN(auto journal, parts_.journal.read());
    std::string task = name;
    for (const auto& attempt : journal.attempts) {
        if (attempt.id == name) task = attempt.task;
    }
    std::string done;
    Attempt* last = nullptr;
    for (auto& attempt : journal.attempts) {
        if (attempt.task != task || attempt.superseded) continue;
        if (!is_over(attempt.state)) {
            return base::fail("retry.active", "This task has an active attempt", attempt.id);
        }
        // By number, as in the plan: the order of ids depends on clocks.
        if (last == nullptr || attempt.number >= last->number) last = &attempt;
    }
    if (last == nullptr) {
        return base::fail("retry.nothing", "No attempt of this task has ended", name,
                          "`status` lists tasks and attempts");
    }
    std::error_code ignored;
    const bool has_wheel = last->failure && last->failure->phase == "upload" &&
                           fs::exists(advance_.folder_of(*last).wheel(), ignored);
    for (auto& attempt : journal.attempts) {
        if (attempt.task != task || attempt.superseded) continue;
        if (has_wheel && &attempt == last) {
            attempt.state = State::uploading;
            attempt.failure.reset();
            attempt.waiting = {};
            attempt.wheel.sends = 0;
            attempt.wheel.sent = 0;
            done = "attempt " + attempt.id + " uploads its wheel again";
        } else {
            attempt.superseded = true;
        }
        attempt.changed = parts_.clock.now();
        WHEELYARD_TRY(parts_.journal.write(attempt));
    }
    if (!done.empty()) return done;
    return task + (last->purpose == Purpose::build
                       ? " is built again by the next tick, unless the index has it"
                       : " is run again by the next tick");
}

base::Result<std::string> Agent::retest(const std::string& name) {
    WHEELYARD_ASSIGN(const auto held, lock());
    WHEELYARD_ASSIGN(auto journal, parts_.journal.read());
    std::set<std::string> tasks;
    for (auto& attempt : journal.attempts) {
        const bool meant = name.empty() || attempt.id == name || attempt.task == name ||
                           attempt.package == name ||
                           attempt.task == name + "-" + std::string(purpose_text(attempt.purpose));
        if (!is_test(attempt.purpose) || attempt.superseded || !is_over(attempt.state) || !meant) continue;
        attempt.superseded = true;
        attempt.changed = parts_.clock.now();
        WHEELYARD_TRY(parts_.journal.write(attempt));
        tasks.insert(attempt.task);
    }
    if (tasks.empty()) {
        return base::fail("retest.nothing", "No ended test has this name", name,
                          "`status` lists tasks and attempts");
    }
    return "run again by the next ticks: " + base::join({tasks.begin(), tasks.end()}, ", ");
}

base::Result<std::string> Agent::cancel(const std::string& name) {
    WHEELYARD_ASSIGN(const auto held, lock());
    WHEELYARD_ASSIGN(auto journal, parts_.journal.read());
    for (auto& attempt : journal.attempts) {
        if ((attempt.id != name && attempt.task != name) || is_over(attempt.state)) continue;
        WHEELYARD_TRY(advance_.give_up(attempt));
        return "attempt " + attempt.id + " of " + attempt.task + " is cancelled; `retry` starts it again";
    }
    return base::fail("cancel.nothing", "No active attempt has this name", name,
                      "`status` lists tasks and attempts");
}

}  // namespace wheelyard::builder
