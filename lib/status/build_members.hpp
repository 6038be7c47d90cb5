// This table has the members of a build, each once: a list of a site's report names some of them
// (site_report.cpp), and what is kept of a build others (build_report.cpp).
#pragma once

#include "lib/status/codecs.hpp"
#include "lib/status/site_report.hpp"

namespace wheelyard::status::build {

using B = BuildReport;
using Lines = Some<Text<max_log_line_bytes>, max_log_lines>;

inline constexpr auto site = member<Word, &B::site>("site", "the site that builds", Need::required);
inline constexpr auto index =
    member<Word, &B::index>("index", "the index that its wheels are uploaded to", Need::required);
inline constexpr auto id = member<Word, &B::id>("id", "ID of the attempt", Need::required);
// The same in a list of those that have ended, where reports have always called it so.
inline constexpr auto attempt = member<Word, &B::id>("attempt", "ID of the attempt", Need::required);
inline constexpr auto package = member<Word, &B::package>("package", "normalised name", Need::required);
inline constexpr auto version = member<Word, &B::version>("version", "as in its cell", Need::required);
inline constexpr auto python = member<Word, &B::python>("python", "`3.12`", Need::required);
inline constexpr auto accelerator =
    member<Word, &B::accelerator>("accelerator", "name in the site file; absent: none");
inline constexpr auto purpose =
    member<Word, &B::purpose>("purpose", "of a build that ended well, as in its cell; absent: a wheel");
inline constexpr auto state = member<Word, &B::state>(
    "state",
    "the state of the attempt (journal.md); `done`, `failed`, or `ended`: the site no longer reports it",
    Need::required);
inline constexpr auto phase =
    member<Word, &B::phase>("phase", "the phase of its job; of a failed build where it failed");
inline constexpr auto waiting = member<Text<max_text_bytes>, &B::waiting>("waiting", "what it waits for");
inline constexpr auto began = member<io::Time, &B::began>("began", "when the attempt began");
inline constexpr auto ended = member<io::Time, &B::ended>("ended", "when it ended; absent: it has not");
inline constexpr auto done =
    member<Count, &B::done>("done", "steps done in this phase, as ninja or CMake counts them");
inline constexpr auto total =
    member<Count, &B::total>("total", "steps of this phase; absent: no counter; 100: `done` is a percentage");
inline constexpr auto memory_limit_mib =
    member<Count, &B::memory_limit_mib>("memory_limit_mib", "memory that its job requests");
inline constexpr auto memory_mib = member<Some<ItemCount, max_memory_points>, &B::memory_mib>(
    "memory_mib",
    "memory of its compiles so far, oldest first: the maximum in each of at most 60 equal parts");
inline constexpr auto phases = member<Some<Text<max_word_bytes>, max_phases>, &B::phases>(
    "phases", "the phases of its job, at most the last 16; absent: none is known");
inline constexpr auto phase_seconds = member<Some<ItemCount, max_phases>, &B::phase_seconds>(
    "phase_seconds", "how long each of `phases` took, or has taken so far");
inline constexpr auto rule =
    member<Word, &B::rule>("rule", "the doctor's rule that matches its log (doctor-rules.md)");
inline constexpr auto cause = member<Text<max_text_bytes>, &B::cause>(
    "cause", "the error, and the line of the log that looks like its cause");
inline constexpr auto remedy =
    member<Text<max_remedy_bytes>, &B::remedy>("remedy", "what to do, for the shell of the site's agent");
inline constexpr auto log_tail = member<Lines, &B::log_tail>(
    "log_tail", "the last lines of its log, at most 50 of 500 bytes; of failures 20, of the newest 10");
inline constexpr auto source = member<Text<max_text_bytes>, &B::source>(
    "source", "where its source came from, an address or the name of a file; absent: not known yet");
inline constexpr auto source_sha256 =
    member<Word, &B::source_sha256>("source_sha256", "the digest of that file; absent: there is none");

}  // namespace wheelyard::status::build
