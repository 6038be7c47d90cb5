// Reads and replaces attempt files. Reports every broken file by name and never skips one silently.
#include "builder/attempt/journal.hpp"

#include <algorithm>
#include <cstddef>

#include "builder/attempt/limits.hpp"
#include "builder/attempt/temporary_files.hpp"
#include "lib/base/files/file.hpp"
#include "lib/base/files/untrusted_file.hpp"

namespace wheelyard::builder {

namespace {

constexpr std::size_t max_journal_files = 100'000;

}  // namespace

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
        if (name.starts_with(".")) continue;  // temporary files that replace_file left after a kill
        if (entry.path().extension() != ".json") {
            content.problems.push_back({"journal.unknown_file", "The journal contains an unknown file",
                                        entry.path().string(), "move it elsewhere"});
            continue;
        }
        files.push_back(entry.path());
        if (files.size() > max_journal_files) {
            return base::fail(
                "journal.too_large",
                "The journal contains more than " + std::to_string(max_journal_files) + " attempts",
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
        const auto text = base::read_untrusted_file(file, max_record_bytes);
        auto attempt = text ? parse_attempt(*text) : base::Result<Attempt>(tl::unexpected(text.error()));
        if (attempt && attempt->id != file.stem().string()) {
            attempt = base::fail("journal.broken", "The attempt in a journal file differs from its file name",
                                 attempt->id);
        }
        if (attempt) {
            content.attempts.push_back(std::move(*attempt));
        } else {
            base::Error problem = attempt.error();
            problem.sentence += " (" + file.string() + ")";
            if (problem.advice.empty())
                problem.advice = "restore it from a backup, or move it elsewhere to discard this attempt";
            content.problems.push_back(std::move(problem));
        }
    }
    return content;
}

void Journal::sweep() const {
    sweep_temporary_files(directory_);
    sweep_temporary_files(directory_ / "attempts");
    sweep_temporary_files(directory_ / "outcomes");
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
