// Attempt files read and replaced; a broken one is named and never skipped silently.
#include "builder/journal.hpp"

#include <algorithm>

#include "builder/leftovers.hpp"
#include "builder/limits.hpp"
#include "lib/base/file.hpp"

namespace wheelyard::builder {

namespace fs = std::filesystem;

base::Status Journal::prepare() const {
    WHEELYARD_TRY(base::make_directories(directory_ / "attempts"));
    return base::make_directories(directory_ / "outcomes");
}

base::Result<JournalContent> Journal::read() const {
    JournalContent content;
    std::vector<fs::path> files;
    std::error_code error;
    for (const auto& entry : fs::directory_iterator(directory_ / "attempts", error)) {
        const std::string name = entry.path().filename().string();
        if (name.starts_with(".")) continue;  // replace_file's own leftovers after a kill
        if (entry.path().extension() != ".json") {
            content.problems.push_back({"journal.unknown_file",
                                        "The journal holds a file that is not its own", entry.path().string(),
                                        "move it elsewhere"});
            continue;
        }
        files.push_back(entry.path());
        if (files.size() > max_journal_files) {
            return base::fail(
                "journal.too_large",
                "The journal holds more than " + std::to_string(max_journal_files) + " attempts",
                directory_.string(), "archive old files of its attempts/ folder");
        }
    }
    if (error == std::errc::no_such_file_or_directory) return content;
    if (error) {
        return base::fail("journal.unreadable", "The journal cannot be read (" + error.message() + ")",
                          directory_.string());
    }
    std::sort(files.begin(), files.end());
    for (const auto& file : files) {
        const auto text = base::read_file(file, max_record_bytes);
        auto attempt = text ? parse_attempt(*text) : base::Result<Attempt>(tl::unexpected(text.error()));
        if (attempt && attempt->id != file.stem().string()) {
            attempt = base::fail("journal.broken", "A journal file names another attempt than its file name",
                                 attempt->id);
        }
        if (attempt) {
            content.attempts.push_back(std::move(*attempt));
        } else {
            base::Error problem = attempt.error();
            problem.sentence += " (" + file.string() + ")";
            if (problem.advice.empty())
                problem.advice = "restore it from a backup, or move it away to forget this attempt";
            content.problems.push_back(std::move(problem));
        }
    }
    return content;
}

void Journal::sweep() const {
    sweep_asides(directory_ / "attempts");
    sweep_asides(directory_ / "outcomes");
}

base::Status Journal::write(const Attempt& attempt) const {
    return base::replace_file(directory_ / "attempts" / (attempt.id + ".json"), render_attempt(attempt));
}

fs::path Journal::outcome_file(const std::string& attempt) const {
    return directory_ / "outcomes" / (attempt + ".json");
}

base::Status Journal::write_outcome(const wire::Outcome& outcome) const {
    return base::replace_file(outcome_file(outcome.attempt), wire::render_outcome(outcome));
}

}  // namespace wheelyard::builder
