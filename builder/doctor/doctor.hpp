// Reads a build log in one pass and reports why the build failed: the rules that match (doctor_rules.hpp) and
// the first error, whether or not a rule matches it. Memory use is bounded for any log.
//
//     @@wheelyard phase=build at=2026-…   a new phase: drops all findings so far
//     [2/9] Building CXX object a.o       kept for a while, as context of an error
//     a.cpp:3:10: fatal error: mpi.h: No such file or directory
//     @@wheelyard exit=1 phase=build …
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "builder/doctor/doctor_rules.hpp"
#include "builder/doctor/error_line.hpp"
#include "builder/doctor/line_context.hpp"
#include "builder/doctor/rule_book.hpp"
#include "lib/base/limits.hpp"
#include "lib/base/result.hpp"

namespace wheelyard::builder {

inline constexpr std::uint64_t log_scan_bytes = 2 * base::gib;     // examined at a log's end; takes seconds
inline constexpr std::size_t context_lines = 4;                    // shown before and after the first error
inline constexpr std::size_t max_log_line_bytes = 64 * base::kib;  // the rest of a longer line is ignored

struct Word;  // log_words.hpp

struct Finding {
    const DoctorRule* rule = nullptr;
    std::uint64_t line = 0;   // the first line that matches, from 1
    std::string text;         // that line, shortened by shorten_line
    std::uint64_t count = 0;  // number of lines that match
    std::uint64_t last = 0;   // the last of them
    bool survivable = true;   // the build may have gone on after each of them
    bool passing = true;      // each is survivable or of a pattern with `~`: the program may have gone on
    std::size_t probe =
        0;  // the last probe of a configuration in which it matches; 0: also outside of probes
};

struct FirstError {
    std::uint64_t line = 0;  // in the log, from 1
    std::string text;
    SourceLine source;
    std::vector<std::string> before;  // up to context_lines lines of the log
    std::vector<std::string> after;
};

struct Examination {
    std::uint64_t lines = 0;
    std::uint64_t bytes = 0;
    std::string phase;               // the last phase; empty for a log without our markers
    std::optional<int> exit_code;    // from the exit marker; absent if the log has none
    std::vector<Finding> findings;   // the most likely cause first
    std::vector<Finding> set_aside;  // the build went on after these; in the order of the log
    std::optional<FirstError> first_error;
    [[nodiscard]] const Finding* likeliest() const { return findings.empty() ? nullptr : &findings.front(); }
};

// Usage: feed() the log piece by piece, then finish() once.
class Doctor {
  public:
    explicit Doctor(const RuleBook& book = *RuleBook::ours());  // which findings refer to
    void feed(std::string_view piece);
    [[nodiscard]] Examination finish();

  private:
    // How likely a line is the cause. An error of a higher rank replaces the first error; a later one of the
    // same rank does not. `?` and `~` are marks of a rule's pattern (doctor_rules.hpp).
    enum class ErrorRank {
        hint,         // of a rule of this weight: most builds survive it
        consequence,  // says that a command failed
        survived,     // in a warning, in a probe or by a `?`: an error if nothing worse follows
        step,         // names what failed, before the output that says why
        passing,      // by a `~`: only an error with a reason of its own replaces it
        cause,
    };
    struct MatchedLine;

    void examine_line(std::string_view line);
    void examine_marker(std::string_view line);
    void begin_phase(std::string_view name);
    void find_words(std::string_view text);
    void match(std::string_view line);
    void add_other_words(const std::string& lower);
    [[nodiscard]] bool apply_rule(const Word& found, const MatchedLine& it);
    void note_sign(const MatchedLine& it, bool only_steps);
    void note_rule(std::size_t rule, std::string_view line, std::string_view pattern, bool survivable);
    void note_first_error(std::string_view line, ErrorRank rank);
    [[nodiscard]] std::vector<std::string> kept_lines() const;
    [[nodiscard]] FirstError error_here(std::string_view line) const;
    void note_rust_reason(std::string_view line);
    void note_end_of_output();
    void keep(std::string_view line);
    void note_message(const CMakeMessage::Whole& whole);
    void drop_survived();
    void note_handled();
    void settle_for_last_words();
    void note_faint(std::string_view line);

    const RuleBook& book_;
    const LogWords& words_;
    std::vector<std::uint16_t> found_;
    std::string match_text_;  // the line in lower case, and what it says in other words
    std::string linked_;      // what the linker names before "in function `f':", in lower case
    LineContext context_;
    CMakeMessage message_;
    std::uint64_t last_finding_ = 0;  // the last line that a rule matches

    Examination seen_;
    std::vector<std::size_t> finding_of_;  // rule → index of its finding, from 1; 0: no finding
    SourceLine traceback_;                 // the last `File "…", line N` of a Python traceback
    std::uint64_t last_error_ = 0;         // the last line with an error that no build survives
    std::uint64_t last_reason_ = 0;        // the last that says why, not only that something failed
    bool awaits_reason_ = false;         // a line said what its program may get over, and no reason followed
    std::uint64_t traceback_begin_ = 0;  // the line of the last Python traceback's title
    std::string handled_name_;           // the missing module whose exception the program handled
    bool is_chained_ = false;            // Python: the next exception follows from the one before
    std::uint64_t last_own_error_ = 0;   // the last that is no consequence of a warning either
    std::optional<FirstError> last_words_;  // the last line with a faint sign, not parsed yet
    // A Rust program that panics, and cargo of a build script, print the reason in a line of its own.
    enum class RustReason { none, after_stderr, next } rust_ = RustReason::none;
    std::array<std::string, context_lines> last_;
    std::uint64_t kept_ = 0;
    ErrorRank first_rank_ = ErrorRank::hint;  // of seen_.first_error
    std::size_t first_probe_ = 0;             // of the configuration, in which it stands; 0: in none
    std::string rest_;                        // the beginning of a line whose end has not been fed yet
    bool cut_ = false;                        // the line is too long; its end is skipped
};

// The rule's remedy, and what to install for what the line misses, as commands to paste.
[[nodiscard]] std::string remedy_of(const Finding& finding);

// Examines at most the last log_scan_bytes of the file. Error: the file cannot be read.
[[nodiscard]] base::Result<Examination> examine_log(const std::filesystem::path& log,
                                                    const RuleBook& book = *RuleBook::ours());

// Renders what the doctor found in a log: as text, and as "wheelyard.doctor/1" JSON. Pure.
// `log`: the file name as given on the command line.
[[nodiscard]] std::string render_examination(const Examination& seen, const std::string& log);
[[nodiscard]] std::string render_examination_json(const Examination& seen, const std::string& log);
// One rule with its patterns.
[[nodiscard]] std::string render_rule(const DoctorRule& rule);
[[nodiscard]] std::string render_rules_json(
    const std::vector<DoctorRule>& rules);  // "wheelyard.doctor_rules/1"

// The end of a program's output, for an error message; the log has the rest. The last three non-empty lines,
// each shortened by shorten_line: "19999 / 20000 / it is broken".
[[nodiscard]] std::string last_words(std::string_view said);

enum class WantedKind { nothing, header, library, program, package };

struct Wanted {
    WantedKind kind = WantedKind::nothing;
    std::string name;  // in lower case: "h5public.h", "hdf5", "nc-config"
    std::string path;  // of a header, as the source names it: "hdf5/serial/h5public.h"
};
// What the line misses.
[[nodiscard]] Wanted wanted_by(std::string_view line);

// The same in the words of the rules, however the tool writes it: "program 'cmake' not found", "header
// 'thc/thc.h' not found", "own header 'rabit/io.h' not found" (of the source's tree), "library 'cuda' not
// found". Empty: the line (in lower case) misses none of these.
[[nodiscard]] std::string missing_thing(std::string_view lower);

// Commands to paste; empty: the table does not know it.
[[nodiscard]] std::string install_commands(const Wanted& wanted);
// Commands that find the package of one that the table does not know; empty for nothing.
[[nodiscard]] std::string search_commands(const Wanted& wanted);

// Whose the symbol is that the loader or the linker misses, and what to do; empty: the table does not know
// it.
[[nodiscard]] std::string symbol_advice(std::string_view line);

}  // namespace wheelyard::builder
