// Starts attempts at wanted cells, and sets what their jobs request.
#include <fcntl.h>
#include <sys/file.h>

#include <algorithm>
#include <cerrno>
#include <tuple>

#include "builder/agent/agent.hpp"
#include "builder/agent/build_folder.hpp"
#include "builder/attempt/slots.hpp"
#include "builder/attempt/temporary_files.hpp"
#include "builder/plan/request.hpp"
#include "builder/script/hardware_test.hpp"
#include "builder/steps/steps.hpp"
#include "lib/base/files/fd.hpp"
#include "lib/base/files/file.hpp"
#include "lib/base/limits.hpp"
#include "lib/base/text/text.hpp"

namespace wheelyard::builder {
namespace {

namespace fs = std::filesystem;

// Describes how an attempt deviates from its site's settings.
std::string remedy_of(const Attempt& attempt, const MemoryRequest& memory, const CoresRequest& cores) {
    std::vector<std::string> parts;
    if (!memory.why.empty()) parts.push_back(std::to_string(memory.memory_mib) + " MiB: " + memory.why);
    if (!cores.why.empty()) parts.push_back(std::to_string(cores.cores) + " jobs at once: " + cores.why);
    if (!attempt.job.builds_in.empty()) parts.push_back("the build tree of attempt " + attempt.job.builds_in);
    return base::join(parts, "; ");
}

// Fills in the source of an attempt that has not fetched it, as far as it is known, and says in `unknown` what
// is not. `last`: of the same cell, or nullptr. Returns the folder of the source; empty: it is not there.
fs::path source_before_fetch(Attempt& attempt, const Attempt* last, const Recipe& recipe,
                             const AttemptFolder& folder, std::string& unknown) {
    if (recipe.source == SourceKind::upstream) return {};
    SourceRecord& source = attempt.source;
    if (source.folder.empty() && last != nullptr) source = last->source;
    if (source.folder.empty() && recipe.source == SourceKind::path) {
        source.folder = recipe.package;
        if (auto system = read_build_system(recipe.path)) {
            source.back_end = std::move(system->back_end);
            source.back_end_path = std::move(system->back_end_path);
            source.build_requires = std::move(system->build_requires);
            return recipe.path;
        }
    }
    std::error_code error;
    fs::path project = folder.tree() / source.folder;
    if (!source.folder.empty() && fs::is_directory(project, error)) return project;
    if (source.folder.empty()) {
        const bool is_archive = recipe.source == SourceKind::sdist;
        source.folder = recipe.package;
        if (is_archive)
            source.folder += "-" + attempt.asked.version.substr(0, attempt.asked.version.find('+'));
        unknown += "Its source is not here: its folder may have another name than `" + source.folder +
                   "`, and the script lacks what its pyproject.toml requires.\n";
    }
    if (!recipe.requirements_files.empty())
        unknown += "Of its requirements files, those with hashes are not known.\n";
    return {};
}

}  // namespace

base::Status Agent::start_wanted(JournalContent& journal, TickReport& report) {
    report.plan = plan_with(journal, Ask::if_stale);
    for (const auto& cell : report.plan.cells) {
        if (cell.state != CellState::wanted || !report.plan.start_nothing.empty()) continue;
        if (cell.purpose != Purpose::promotion && (!why_none_begins(journal.attempts).empty() ||
                                                   !may_prepare_for(queue_of_cell(cell), journal.attempts)))
            continue;
        WHEELYARD_TRY(parts_.still_ours());
        WHEELYARD_TRY(start(cell, journal));
        report.moved = true;
    }
    if (report.moved) report.plan = plan_with(journal, Ask::if_stale);
    WHEELYARD_TRY(forget_unused_queues(journal.attempts, report.plan));
    report.plan.held_queues = parts_.held_queues.list();
    return {};
}

// Forgets, for example, a queue that the site file no longer names: nothing would probe it any more.
base::Status Agent::forget_unused_queues(const std::vector<Attempt>& attempts, const Plan& plan) {
    const auto held = parts_.held_queues.list();
    for (const HeldQueue& one : held) {
        const bool is_used =
            std::any_of(attempts.begin(), attempts.end(),
                        [&](const Attempt& attempt) {
                            return !is_over(attempt.state) && parts_.queue_of(attempt) == one.queue;
                        }) ||
            std::any_of(plan.cells.begin(), plan.cells.end(), [&](const Cell& cell) {
                return cell.state == CellState::wanted && queue_of_cell(cell) == one.queue;
            });
        if (!is_used) WHEELYARD_TRY(parts_.held_queues.accept(one.queue));
    }
    return {};
}

std::string Agent::queue_of_cell(const Cell& cell) const {
    return queue_of_job(parts_.site,
                        recipe_for(parts_.site, parts_.recipes, cell.package, cell.version, cell.accelerator),
                        cell.purpose, cell.accelerator);
}

// An older attempt's tree is kept only until the next attempt starts.
base::Status Agent::remove_older_trees(const Attempt& attempt, const std::vector<Attempt>& attempts) const {
    for (const auto& other : attempts) {
        if (other.asked.cell != attempt.asked.cell) continue;
        const AttemptFolder folder = parts_.folder_of(other);
        const bool goes_on = !attempt.job.builds_in.empty() && other.job.tree == attempt.job.tree;
        for (const auto& path : goes_on ? folder.own_bulk() : folder.bulk())
            WHEELYARD_TRY(free_space(path, parts_.keep_alive));
    }
    return {};
}

// A job that its scheduler lost may still run in a tree that no attempt needs any more.
std::string Agent::tree_for(const Attempt& attempt, const std::vector<Attempt>& attempts) const {
    return choose_tree(attempt, attempts, [this](const std::string& tree) {
        const AttemptFolder folder{{}, parts_.site.work_directory / "trees" / tree};
        const base::Fd fence(::open(folder.fence().c_str(), O_RDWR | O_CLOEXEC));
        return fence && ::flock(fence.get(), LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK;
    });
}

Attempt Agent::next_attempt(const Cell& cell, const std::vector<Attempt>& attempts) const {
    Attempt attempt;
    attempt.id = new_attempt_id(parts_.clock.now());
    attempt.asked = {.cell = cell.name,
                     .purpose = cell.purpose,
                     .package = cell.package,
                     .version = cell.version,
                     .python = cell.python,
                     .accelerator = cell.accelerator,
                     .against = cell.against,
                     .build = cell.build,
                     .for_task = cell.for_task,
                     .with = cell.with,
                     .uploaded = cell.uploaded,
                     .closure = cell.of_closure ? cell.of_closure->part : std::nullopt};
    attempt.created = attempt.changed = parts_.clock.now();
    if (!makes_wheel(cell.purpose))
        attempt.source = {wire::SourceFile{.kind = "wheel",
                                           .origin = cell.wheel->url,
                                           .filename = cell.wheel->filename,
                                           .sha256 = cell.wheel->sha256}};
    for (const auto& other : attempts) {
        if (other.asked.cell != cell.name) continue;
        if (other.number >= attempt.number) resume(attempt, other);
        if (other.number >= attempt.number) attempt.reproduced = other.reproduced;
        attempt.number = std::max(attempt.number, other.number + 1);
    }
    attempt.reproduced.identical.reset();  // what another attempt found
    attempt.reproduced.causes.clear();
    return attempt;
}

void Agent::size_and_place(Attempt& attempt, const std::vector<Attempt>& attempts) const {
    // What an uploaded source leaves in a tree must not run in another build.
    if (makes_wheel(attempt.asked.purpose) && !attempt.asked.uploaded)
        attempt.job.tree = tree_for(attempt, attempts);
    size_request(attempt, attempts);
}

base::Status Agent::start(const Cell& cell, JournalContent& journal) {
    Attempt attempt = next_attempt(cell, journal.attempts);
    WHEELYARD_TRY(remove_older_trees(attempt, journal.attempts));
    size_and_place(attempt, journal.attempts);
    WHEELYARD_TRY(parts_.journal.write(attempt));
    parts_.failpoints.hit("journal.planned");
    parts_.report(attempt, "attempt " + std::to_string(attempt.number) + " begins (" + cell.reason + ")" +
                               (attempt.job.remedy.empty() ? "" : ", with " + attempt.job.remedy));
    const auto moved = stepper_.run(attempt);
    journal.attempts.push_back(attempt);
    if (!moved) return tl::unexpected(moved.error());
    return {};
}

base::Result<JobText> Agent::look_at_job(const Cell& cell) {
    const bool is_never = cell.state == CellState::impossible || cell.state == CellState::excluded;
    if (is_never || cell.purpose == Purpose::promotion)
        return base::fail("plan.no_job", "No job runs for this cell",
                          cell.name + ": " + std::string(cell_state_text(cell.state)) + ", " + cell.reason);
    const auto& attempts = world_.attempts;
    const Attempt* last = nullptr;
    for (const auto& one : attempts)
        if (one.asked.cell == cell.name && (last == nullptr || one.number >= last->number)) last = &one;
    const bool is_of_last =
        last != nullptr && (cell.state == CellState::have || cell.state == CellState::active);
    Attempt attempt = is_of_last ? *last : next_attempt(cell, attempts);
    if (!is_of_last) size_and_place(attempt, attempts);
    const AttemptFolder folder = parts_.folder_of(attempt);
    if (auto ran = base::read_file(folder.inner_script(), 16 * base::mib); is_of_last && ran)
        return JobText{std::move(*ran), cell.name + ", attempt " + attempt.id + ", in " +
                                            folder.root.string() + "\nThis is its own script.\n"};
    std::string unknown;
    fs::path project;
    if (makes_wheel(cell.purpose))
        project = source_before_fetch(attempt, last, parts_.recipe_of(attempt), folder, unknown);
    WHEELYARD_ASSIGN(JobText job, text_of_job(attempt, parts_, project));
    job.summary += is_of_last ? "Its own script is gone or not written yet: this is by today's files.\n"
                              : "The next attempt has another id, and folder, than this one.\n";
    job.summary += unknown;
    return job;
}

// After an interrupted job the next attempt continues in its build tree, if the source is unchanged.
void Agent::resume(Attempt& attempt, const Attempt& last) const {
    if (!makes_wheel(attempt.asked.purpose)) return;
    attempt.job.builds_in.clear();
    attempt.source = {};
    if (attempt.asked.purpose == Purpose::reproduction)
        attempt.source = last.source;  // only that one is right
    if (attempt.asked.uploaded || last.asked.uploaded) return;
    std::error_code error;
    if (last.superseded || last.tree.removed != 0 || !last.failure ||
        !resumes_after(*last.failure, parts_.site) || last.source.sha256.empty() ||
        !parts_.folder_of(last).has_build_tree() || !fs::is_directory(parts_.folder_of(last).tree(), error)) {
        return;
    }
    attempt.job.tree = last.job.tree;
    attempt.job.builds_in = last.job.builds_in.empty() ? last.id : last.job.builds_in;
    attempt.source = last.source;
}

// Sets the size of the attempt's job. A test's size is in its recipe.
void Agent::size_request(Attempt& attempt, const std::vector<Attempt>& earlier) const {
    const Recipe recipe = parts_.recipe_of(attempt);
    if (is_test(attempt.asked.purpose)) {
        const HardwareTest& test = hardware_test_of(recipe, attempt.asked.purpose);
        attempt.job.max_walltime_minutes = bound_minutes(parts_.site, test.minutes);
        attempt.job.memory_mib =
            bound_memory(parts_.site, test.memory_mib > 0 ? test.memory_mib : parts_.site.memory_mib);
    }
    if (!makes_wheel(attempt.asked.purpose)) return;
    const Site site = sized_for(parts_.site, recipe);
    const auto memory = choose_memory(site, attempt.asked.package, attempt.asked.cell, earlier);
    attempt.job.max_walltime_minutes = choose_minutes(site, attempt.asked.cell, earlier);
    attempt.job.memory_mib = memory.memory_mib;
    const auto cores = choose_cores(site, attempt.asked.cell, memory.memory_mib, earlier);
    attempt.job.cores = cores.cores;
    attempt.job.remedy = remedy_of(attempt, memory, cores);
}

// Attempts that ended during the wait for a slot may have shown that the job needs more. Then its script is
// rewritten.
base::Status Agent::size_again(Attempt& attempt, const std::vector<Attempt>& attempts) const {
    const bool waits =
        attempt.waiting.what == WaitFor::job_slot || attempt.waiting.what == WaitFor::submission;
    const bool may_submit = attempt.state == State::prepared && waits && parts_.has_job_slot();
    if (!may_submit) return {};
    Attempt sized = attempt;
    size_request(sized, attempts);
    const auto size = [](const Attempt& one) {
        return std::tie(one.job.memory_mib, one.job.max_walltime_minutes, one.job.cores);
    };
    if (size(sized) == size(attempt)) return {};
    attempt = std::move(sized);
    attempt.state = state_before_script(attempt.asked.purpose);
    return parts_.journal.write(attempt);
}

}  // namespace wheelyard::builder
