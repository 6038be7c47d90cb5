// A rule: what build logs contain when a build fails, what it means, and what to do. Ours are in
// rules/*.toml, one [[rule]] each, from which docs/reference/doctor-rules.md is generated; a site's own in
// doctor.d (rule_book.hpp).
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "builder/doctor/error_line.hpp"
#include "lib/base/text/words.hpp"

namespace wheelyard::builder {

// How close a line is to the cause. Of several matches, the one with the highest weight wins, then the
// earliest line.
enum class Weight {
    hint,     // most builds go on after such a line: another error is the first one
    symptom,  // something failed; such a line has many possible causes
    cause,    // something is wrong with the source, the recipe or the site
    machine,  // memory, disk space, time: other failures may be consequences of it
};
inline constexpr auto weights = base::words<Weight>({{Weight::hint, "hint"},
                                                     {Weight::symptom, "symptom"},
                                                     {Weight::cause, "cause"},
                                                     {Weight::machine, "machine"}});

// What the agent does without a person, within the site's limits and max_attempts.
enum class Automatic {
    no,     // a person must fix something: another attempt would fail the same way
    again,  // retry: the problem may be gone
    wait,  // retry after a wait that grows each time: a server or the network may come back; no attempt of the build
    more_memory,  // resume in the same tree with more memory, or with fewer jobs where no more is allowed
    killed,  // resume in the same tree, with more memory if the scheduler or the kernel says that it ran out
    fewer_jobs,    // resume in the same tree with half the parallel jobs
    more_time,     // resume in the same tree with more time
    resume,        // resume in the same tree; this attempt counts as a preemption
    node_failure,  // the same; it counts as a node failure
    clean_tree,    // retry once in a new tree
};
struct AutomaticRow {
    Automatic value;
    std::string_view text;
    std::string_view sentence;
};
inline constexpr auto automatics = base::words<Automatic, AutomaticRow>({
    {Automatic::no, "no", "does not retry; run `wheelyard-builder retry --code CODE` after fixing the cause"},
    {Automatic::again, "again", "retries automatically"},
    {Automatic::wait, "wait",
     "retries automatically, after a longer wait each time; does not count as an attempt of the build"},
    {Automatic::more_memory, "more_memory",
     "resumes in the same tree with more memory, or with fewer parallel jobs if the limit is reached"},
    {Automatic::killed, "killed",
     "resumes in the same tree, with more memory unless the scheduler or the kernel says that it did not run "
     "out"},
    {Automatic::fewer_jobs, "fewer_jobs", "resumes in the same tree with half the parallel jobs"},
    {Automatic::more_time, "more_time", "resumes in the same tree with more time"},
    {Automatic::resume, "resume", "resumes in the same tree; this attempt counts as a preemption"},
    {Automatic::node_failure, "node_failure",
     "resumes in the same tree; this attempt counts as a node failure"},
    {Automatic::clean_tree, "clean_tree", "retries in a new tree, unless this one was new"},
});

struct DoctorRule {
    std::string code;  // "memory.compiler_killed"
    // Lower case; a line matches if it contains any of them, ignoring case. `*` matches any text. With `?` in
    // front: a build may survive such a line, and any later error is a better explanation. With `~`: the
    // program that says so may go on; it weighs in full until an error follows that names another reason. How
    // a line is written that says that a program, a header or a library is missing does not matter: each also
    // contains `program 'NAME' not found` or the like (missing_thing in doctor.hpp).
    std::vector<std::string> patterns;
    Weight weight = Weight::cause;
    Automatic automatic = Automatic::no;
    std::string cause;
    std::string remedy;
    std::string source;   // of the excerpt: an issue, or how it was provoked
    std::string excerpt;  // lines of a real log, of which it is the cause
    // Who writes such lines (error_line.hpp), where a line shows its writer; empty: anybody.
    std::vector<Speaker> speakers = {};
    std::vector<std::string> lookalikes = {};  // lines that are not of it
    bool in_warnings = false;                  // match in warnings too; a build may survive them
    bool is_consequence = false;  // of another error, or of a warning before it: explains neither away
    bool is_shared = false;  // by many causes: any other outranks it, and its remedy names what to search for
    std::string place = {};  // "/etc/wheelyard/doctor.d/disks.toml:3:1"; empty: one of ours
};

// The rule's cause as an error's sentence: without its final full stop.
[[nodiscard]] std::string cause_of(const DoctorRule& rule);
// What the agent does, for people: "retries automatically", or the command that retries all cells that failed
// so.
[[nodiscard]] std::string automatic_sentence(const DoctorRule& rule);

// Says whether a build may survive a line with this pattern: it begins with `?`.
[[nodiscard]] bool is_survivable(std::string_view pattern);
[[nodiscard]] bool is_passing(std::string_view pattern);                // it begins with `~`
[[nodiscard]] std::string_view without_mark(std::string_view pattern);  // the pattern itself
// Says whether a line (in lower case) contains all pieces of a pattern in order.
[[nodiscard]] bool matches_pattern(std::string_view pattern, std::string_view lower);
// The same, and the first piece does not begin inside a word: "omnibus error" is no "bus error". "error" and
// "exception" may, because names of exceptions end so.
[[nodiscard]] bool matches_words(std::string_view pattern, std::string_view lower);
// Says whether a line matches this pattern of the rule: what machines, symptoms and passing patterns say is
// short, so whole words.
[[nodiscard]] bool matches(const DoctorRule& rule, std::string_view pattern, std::string_view lower);
// The longest piece of a pattern without `*`: a matching line contains it.
[[nodiscard]] std::string_view max_literal(std::string_view pattern);

// The text of docs/reference/doctor-rules.md.
[[nodiscard]] std::string render_doctor_rules_markdown(std::vector<DoctorRule> rules);

}  // namespace wheelyard::builder
