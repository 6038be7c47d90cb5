// Actions and their outcomes as JSON, and the table of all actions.
#include "lib/store/lifecycle/action.hpp"

#include <algorithm>
#include <array>

#include "lib/base/check.hpp"
#include "lib/base/text/encoding.hpp"
#include "lib/base/text/text.hpp"
#include "lib/base/text/utf8.hpp"
#include "lib/io/json.hpp"
#include "lib/wire/problem.hpp"

namespace wheelyard::lifecycle {
namespace {

struct ShownChange {
    std::string action;
    Done done;
};
constexpr auto file_name_record = io::record<catalog::FileName>({
    io::field<&catalog::FileName::index>("index", "the index"),
    io::field<&catalog::FileName::filename>("filename", "the file"),
});
constexpr auto changed_record = io::record<ShownChange>(
    {
        io::field<&ShownChange::action>("action", "the last word of its address, or the command"),
        io::field<&ShownChange::done, &Done::changed>("changed", "`false`: it was so already"),
        io::field<&ShownChange::done, &Done::dry_run>("dry_run", "`true`: nothing was changed"),
        io::field<&ShownChange::done, &Done::serial>("serial", "that of its last event; 0: there is none"),
        io::field<io::ListOf<io::Nested<file_name_record>>, &ShownChange::done, &Done::files>(
            "files", "the changed files"),
        io::field<&ShownChange::done, &Done::blobs>("blobs", "of `gc`: how many contents it removed"),
        io::field<&ShownChange::done, &Done::bytes>("bytes", "of `gc`: their bytes"),
    },
    "wheelyard.changed/1");

constexpr std::array rows{
    VerbRow{Verb::yank, "yank", "yank", Subject::file, true},
    VerbRow{Verb::unyank, "unyank", "yank", Subject::file, false},
    VerbRow{Verb::remove, "delete", "delete", Subject::file, true},
    VerbRow{Verb::quarantine, "quarantine", "quarantine", Subject::file, true},
    VerbRow{Verb::release, "release", "quarantine", Subject::file, true},
    VerbRow{Verb::pin, "pin", "pin", Subject::file, false},
    VerbRow{Verb::unpin, "unpin", "pin", Subject::file, false},
    VerbRow{Verb::promote, "promote", "promote", Subject::file, false},
    VerbRow{Verb::set_status, "status", "status", Subject::project, false},
    VerbRow{Verb::retain, "retain", "delete", Subject::index, false},
    VerbRow{Verb::collect, "gc", "gc", Subject::registry, false},
};

base::Status check_reason(const Action& action) {
    const bool wanted = row_of(action.verb).needs_reason ||
                        (action.verb == Verb::set_status && action.status != catalog::ProjectStatus::active);
    if (action.reason.empty()) {
        if (!wanted) return {};
        return wire::fail("lifecycle.reason_missing", "This change needs a reason",
                          std::string(row_of(action.verb).word),
                          "give the reason in a sentence; users see it on the page and in the log");
    }
    if (base::is_printable_line(action.reason) && action.reason.size() <= max_reason_bytes) return {};
    return wire::fail(
        "lifecycle.reason", "A reason is one line of text", std::to_string(action.reason.size()) + " bytes",
        "at most " + std::to_string(max_reason_bytes) + " bytes of UTF-8, no control characters");
}

}  // namespace

std::span<const VerbRow> verbs() {
    return rows;
}

const VerbRow& row_of(Verb verb) {
    const auto* const row =
        std::find_if(rows.begin(), rows.end(), [verb](const VerbRow& known) { return known.verb == verb; });
    WHEELYARD_CHECK(row != rows.end());
    return *row;
}

base::Status check(const Action& action) {
    WHEELYARD_TRY(check_reason(action));
    if (action.verb == Verb::promote && (action.to_index.empty() || action.to_index == action.index))
        return wire::fail("lifecycle.to", "A promotion goes to another index", action.to_index,
                          "name the target index");
    if (action.with.size() >= max_files_of_set)
        return wire::fail("lifecycle.set", "Too many files for one promotion",
                          std::to_string(action.with.size() + 1) + " files",
                          "at most " + std::to_string(max_files_of_set) + " at once");
    if (action.verb == Verb::retain && (action.keep < 1 || action.keep > max_kept_versions))
        return wire::fail("lifecycle.keep", "A retention rule keeps at least one version of a series",
                          std::to_string(action.keep), "1 to " + std::to_string(max_kept_versions));
    if (action.verb == Verb::collect && (action.grace_ms < min_grace_ms || action.grace_ms > max_grace_ms))
        return wire::fail(
            "lifecycle.grace",
            action.grace_ms < min_grace_ms ? "This grace is shorter than an upload may take"
                                           : "This grace is too long",
            std::to_string(action.grace_ms) + " ms",
            base::render_duration_ms(min_grace_ms) + " to " + base::render_duration_ms(max_grace_ms));
    return {};
}

std::vector<std::string> filenames_of(const Action& action) {
    std::vector<std::string> filenames;
    if (!action.filename.empty()) filenames.push_back(action.filename);
    filenames.insert(filenames.end(), action.with.begin(), action.with.end());
    return filenames;
}

std::string render_done(Verb verb, const Done& done) {
    return changed_record.write({std::string(row_of(verb).word), done}).render();
}

io::Document changed_document() {
    return io::document_of<changed_record>();
}

}  // namespace wheelyard::lifecycle
