// The read-only subcommands: status, explain, logs; and plan --script.
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <string>
#include <utility>

#include "builder/agent/claimed_task.hpp"
#include "builder/attempt/attempt_names.hpp"
#include "builder/commands/commands.hpp"
#include "builder/plan/plan_history.hpp"
#include "builder/plan/request.hpp"
#include "builder/script/hardware_test.hpp"
#include "builder/site/limits.hpp"
#include "builder/site/script_setup.hpp"
#include "builder/workplace/status_sender.hpp"
#include "builder/workplace/workplace.hpp"
#include "lib/base/files/file.hpp"
#include "lib/base/limits.hpp"
#include "lib/base/process/terminal.hpp"
#include "lib/base/text/text.hpp"

namespace wheelyard::builder {
namespace {

constexpr std::int64_t follow_poll_ms = 500;  // interval between reads of a followed log

// Finds an attempt by its id, or the latest attempt of a cell.
const Attempt* find_attempt(const JournalContent& journal, const std::string& name) {
    const Attempt* found = nullptr;
    for (const auto& attempt : journal.attempts) {
        const bool of_cell =
            attempt.asked.cell == name && (found == nullptr || attempt.number >= found->number);
        if (attempt.id == name || of_cell) found = &attempt;
        if (attempt.id == name) break;
    }
    return found;
}

// Prints the log from offset `at` to its end and advances `at`. Error: the log cannot be read ("os.ENOENT":
// it does not exist yet).
base::Status print_log(const std::filesystem::path& log, std::uint64_t& at, base::TerminalWriter& writer) {
    const auto reader = base::FileReader::open(log);
    if (!reader) return tl::unexpected(reader.error());
    std::string piece(base::mib, '\0');
    while (at < reader->size()) {
        piece.resize(static_cast<std::size_t>(std::min<std::uint64_t>(base::mib, reader->size() - at)));
        WHEELYARD_TRY(reader->read_at(at, piece.data(), piece.size()));
        writer.write(piece);
        at += piece.size();
    }
    std::fflush(stdout);
    return {};
}

// Prints the attempt's logs until it is over.
int follow_log(Workplace& place, const std::string& id, base::TerminalWriter& writer) {
    std::filesystem::path log;
    std::uint64_t at = 0;
    while (true) {
        const auto journal = place.journal().read();
        if (!journal) return complain(journal.error(), exit_failed);
        const Attempt* attempt = find_attempt(*journal, id);
        const bool over = attempt == nullptr || is_over(attempt->state);
        if (attempt != nullptr) {
            const auto now = place.log_of(*attempt);
            if (!log.empty() && now != log)
                static_cast<void>(print_log(log, at, writer));  // the rest of the previous log
            if (std::exchange(log, now) != now) at = 0;
            const auto printed = print_log(log, at, writer);
            if (!printed && (over || printed.error().os_error != ENOENT))
                return complain(printed.error(), exit_failed);
        }
        if (over) return exit_well;
        place.clock().sleep_ms(follow_poll_ms);
    }
}

// `directory` in [state] of a site file that has errors elsewhere; empty: not found.
std::filesystem::path state_folder_of(const std::filesystem::path& site_file) {
    const auto text = base::read_file(site_file, max_site_file_bytes);
    if (!text) return {};
    bool is_state = false;
    for (const auto line : base::split_lines(*text)) {
        const auto trimmed = base::trim(line);
        if (trimmed.starts_with('[')) is_state = trimmed.starts_with("[state]");
        const auto equals = trimmed.find('=');
        if (!is_state || equals == std::string_view::npos ||
            base::trim(trimmed.substr(0, equals)) != "directory")
            continue;
        const auto begin = trimmed.find_first_of("\"'", equals);
        if (begin == std::string_view::npos) return {};
        const auto end = trimmed.find(trimmed[begin], begin + 1);
        if (end == std::string_view::npos) return {};
        std::filesystem::path folder(trimmed.substr(begin + 1, end - begin - 1));
        return folder.is_absolute() ? folder : site_file.parent_path() / folder;
    }
    return {};
}

// What builds and what failed is in the journal, whatever is wrong with the site file.
int status_without_site(const StatusOptions& options, const base::Error& problem) {
    const int status = complain(problem, exit_usage);
    const auto folder = state_folder_of(options.site);
    std::error_code error;
    if (folder.empty() || !std::filesystem::is_directory(folder, error)) return status;
    const auto journal = Journal(folder).read();
    if (!journal) return complain(journal.error(), exit_failed);
    std::vector<AttemptView> views;
    for (const auto& attempt : journal->attempts)
        views.push_back({attempt, {}});
    print(options.json
              ? render_status_json(views)
              : render_status(views, base::SystemClock().now(), {}, base::terminal_columns(STDOUT_FILENO)));
    return status;
}

}  // namespace

int run_status(const StatusOptions& options) {
    const auto place = Workplace::open(options.site);
    if (!place) return status_without_site(options, place.error());
    const auto journal = (*place)->journal().read();
    if (!journal) return complain(journal.error(), exit_failed);
    auto views = (*place)->views(journal->attempts);
    (*place)->ask_jobs(views);
    for (auto& view : views)
        view.needs_person = decision_for_person(view.attempt, journal->attempts, (*place)->site());
    const auto held = HeldQueues::read((*place)->site().state_directory);
    print(options.json ? render_status_json(views, held.list())
                       : render_status(views, (*place)->clock().now(), held.list(),
                                       base::terminal_columns(STDOUT_FILENO)));
    if (!options.json) tell(render_as_of((*place)->clock().now(), (*place)->last_tick()));
    if (const auto error = last_report_error((*place)->site().state_directory))
        base::print_message(stderr, "The registry has no status of this site since " +
                                        base::render_rfc3339(error->since) + ": " + error->text + "\n");
    for (const auto& problem : journal->problems)
        complain(problem, exit_failed);
    return journal->problems.empty() ? exit_well : exit_failed;
}

namespace {

// The queues that refuse the cell's jobs now.
std::vector<HeldQueue> held_for(const Workplace& place, const CellStory& story,
                                const std::vector<HeldQueue>& all) {
    const bool is_had = !story.cell || story.cell->state == CellState::have;
    if (is_had) return {};
    const Recipe recipe = recipe_for(place.site(), place.recipes(), story.cell->package, story.cell->version,
                                     story.cell->accelerator);
    const std::string queue =
        queue_of_job(place.site(), recipe, story.cell->purpose, story.cell->accelerator);
    std::vector<HeldQueue> held;
    std::copy_if(all.begin(), all.end(), std::back_inserter(held),
                 [&](const HeldQueue& one) { return one.queue == queue; });
    return held;
}

// The cell of the plan, or the cell or attempt of the journal, that a person means.
base::Result<std::string> name_meant(const std::string& name, const Plan& plan,
                                     const JournalContent& journal) {
    if (plan.find(name) != nullptr) return name;
    std::vector<std::string> planned;
    for (const auto& cell : plan.cells) {
        if (cell.purpose == Purpose::build) planned.push_back(cell.name);
    }
    return complete_name(
        name, journal.attempts, [](const Attempt&) { return true; }, planned);
}

// What a command about one cell reads.
struct Meant {
    std::unique_ptr<Workplace> place;
    JournalContent journal;
    Plan plan;
    std::string name;  // name_meant()
};

// Error: the exit status of what was complained of.
tl::expected<Meant, int> look_for(const std::filesystem::path& site, const std::string& name) {
    auto place = Workplace::open(site);
    if (!place) return tl::unexpected(complain(place.error(), exit_usage));
    auto journal = (*place)->journal().read();
    if (!journal) return tl::unexpected(complain(journal.error(), exit_failed));
    auto plan = (*place)->agent().look();
    if (!plan) return tl::unexpected(complain(plan.error(), exit_failed));
    auto meant = name_meant(name, *plan, *journal);
    if (!meant) return tl::unexpected(complain(meant.error(), exit_failed));
    return Meant{*std::move(place), *std::move(journal), *std::move(plan), *std::move(meant)};
}

// Explains a name that has no attempt: its cell may be planned.
base::Error no_log(Workplace& place, const JournalContent& journal, const std::string& name) {
    base::Error unknown{"logs.unknown", "No cell or attempt has this name", name,
                        "`plan` lists the cells, `status` the attempts"};
    const auto plan = place.agent().look();
    if (!plan) return unknown;
    const auto meant = name_meant(name, *plan, journal);
    if (!meant) return meant.error();
    const Cell* const cell = plan->find(*meant);
    if (cell == nullptr) return unknown;
    const std::string state(cell_state_text(cell->state));
    return {"logs.not_built", "There is no log: nothing was built here for this cell yet",
            cell->name + ": " + state + (cell->reason.empty() ? "" : ", " + cell->reason),
            cell->state == CellState::wanted
                ? "the agent's next tick starts it, or now: " + pasted_command("run", "", place.site())
                : pasted_command("explain", cell->name, place.site())};
}

}  // namespace

int run_plan_script(const PlanOptions& options) {
    const auto meant = look_for(options.site, options.script);
    if (!meant) return meant.error();
    const Cell* const cell = meant->plan.find(meant->name);
    if (cell == nullptr)
        return complain(
            {"plan.unknown", "The plan has no cell of this name", options.script, "`plan` lists the cells"},
            exit_failed);
    const auto job = meant->place->agent().look_at_job(*cell);
    if (!job) return complain(job.error(), exit_failed);
    print(job->script);
    base::print_message(stderr, job->summary);
    return exit_well;
}

int run_explain(const CellOptions& options) {
    const auto meant = look_for(options.site, options.cell);
    if (!meant) return meant.error();
    const auto& [place, journal, plan, name] = *meant;
    const Attempt* named = find_attempt(journal, name);
    CellStory story{named == nullptr ? name : named->asked.cell, {}, {}};
    for (const auto& cell : plan.cells) {
        if (cell.name == story.name) story.cell = cell;
    }
    if (story.cell && story.cell->purpose == Purpose::build) {
        const Recipe recipe = recipe_for(place->site(), place->recipes(), story.cell->package,
                                         story.cell->version, story.cell->accelerator);
        story.sizes = describe_sizes(place->site(), recipe);
        story.tests_not_run = tests_not_run(recipe, place->site(), story.cell->accelerator);
    }
    for (const auto& attempt : journal.attempts) {
        if (attempt.asked.cell == story.name) story.attempts.push_back(attempt);
    }
    auto views = place->views(story.attempts);
    place->ask_jobs(views);
    for (const auto& view : views) {
        if (!view.job.empty()) story.jobs.emplace(view.attempt.id, view.job);
    }
    story.held_queues = held_for(*place, story, plan.held_queues);
    story.rules = place->site().doctor_rules;
    story.retry = pasted_command("retry", story.name, place->site());
    const auto claims = place->claims();
    if (const wire::Task* task = claimed_task_of(claims, story.name)) story.claimed_task = *task;
    if (!story.cell && story.attempts.empty()) {
        return complain({"explain.unknown", "No cell or attempt has this name", options.cell,
                         "`plan` lists the cells, `status` the attempts"},
                        exit_failed);
    }
    std::sort(story.attempts.begin(), story.attempts.end(),
              [](const Attempt& a, const Attempt& b) { return a.number < b.number; });
    options.json ? print(render_story_json(story)) : tell(render_story(story));
    return exit_well;
}

int run_logs(const LogsOptions& options) {
    const auto place = Workplace::open(options.site);
    if (!place) return complain(place.error(), exit_usage);
    const auto journal = (*place)->journal().read();
    if (!journal) return complain(journal.error(), exit_failed);
    const auto name = complete_name(options.attempt, journal->attempts);
    if (!name) return complain(name.error(), exit_failed);
    const Attempt* attempt = find_attempt(*journal, *name);
    if (attempt == nullptr) return complain(no_log(**place, *journal, options.attempt), exit_failed);
    if (attempt->job.governed)
        base::print_message(stderr, "governed: " + wire::describe(*attempt->job.governed) + "\n");
    const auto log = (*place)->log_of(*attempt);
    base::print(stderr, log.string() + ":\n");
    base::TerminalWriter writer(stdout, options.raw);
    std::uint64_t at = 0;
    if (options.follow) {
        const int status = follow_log(**place, attempt->id, writer);
        writer.finish();
        return status;
    }
    const auto printed = print_log(log, at, writer);
    writer.finish();
    return printed ? exit_well : complain(printed.error(), exit_failed);
}

}  // namespace wheelyard::builder
