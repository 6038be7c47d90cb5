// Notices: what a person should know although nobody looks. The site's command ([notify] of site.toml and
// registry.toml) gets each as one JSON document on standard input ("wheelyard.notice/1",
// docs/reference/notices.md):
//
//     {"format":"wheelyard.notice/1","event":"cell.given_up","program":"wheelyard-builder","from":"bede-gh200",
//      "time":"2026-11-20T12:00:00.000000Z","subject":"torch-2.4.0-cp312","text":"bede-gh200: …","suppressed":0}
//
// A notice starts a process of its own and returns: the command has a time limit, and its output goes to a
// log.
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "lib/base/clock.hpp"
#include "lib/base/process/process.hpp"
#include "lib/base/result.hpp"

namespace wheelyard::notify {

inline constexpr std::int64_t command_limit_s = 60;
inline constexpr int max_notices_an_hour = 20;         // of all events together
inline constexpr std::size_t max_suppressed = 10'000;  // notices that are counted

struct EventRow {
    std::string_view event;
    std::string_view program;     // "builder", "registry", or "both"
    std::string_view when;        // Markdown, for the documents
    std::int64_t again_h;         // the same subject is not told again before
    bool is_always_sent = false;  // however many others were sent within an hour
};
[[nodiscard]] std::span<const EventRow> event_rows();
// The table of docs/reference/notices.md.
[[nodiscard]] std::string render_event_table();

struct Notice {
    std::string_view event;  // of a row
    std::string subject;     // what it is about: a cell, a file, a site
    std::string sentence;    // for people, with what to do
    std::string cause = {};  // a new one of the same subject is told at once
};

struct Settings {
    std::string command;           // for /bin/sh; empty: nobody is told
    std::filesystem::path folder;  // what was told, and the log of the command
    std::string program;           // "wheelyard-builder"
    std::string from;              // the site's name, the registry's address
};

// Starts the command for those that were not told lately, and returns how many. What exceeds the rate is told
// later if it still holds; the next notice has the number of those that were not sent, each counted once.
// Errors: the folder cannot be written, the command cannot be started.
[[nodiscard]] base::Result<int> tell(const Settings& settings, const std::vector<Notice>& notices,
                                     const base::Clock& clock);

// Runs the command on a notice of the event "test" and waits for it.
[[nodiscard]] base::Result<base::Finished> try_command(const Settings& settings, const base::Clock& clock);

}  // namespace wheelyard::notify
