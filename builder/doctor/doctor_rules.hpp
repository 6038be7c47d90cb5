// What build logs say when a build fails, what that means, and what to do: a table.
// docs/reference/doctor-rules.md is made from it; tests/builder/doctor/ holds a real log's lines for every
// row.
#pragma once

#include <array>
#include <string>
#include <string_view>
#include <vector>

namespace wheelyard::builder {

// How near to the cause a line is: of two that match, the heavier one tells more, then the earlier one.
enum class Weight {
    symptom,  // something failed, and lines like this come with many causes
    cause,    // a thing that is wrong with source, recipe or site
    machine,  // memory, space, time: whatever else failed may have failed of this
};

// What the agent does by itself, within the site's limits and max_attempts.
enum class Automatic {
    no,           // a person must mend something: another attempt would end the same way
    again,        // it may have passed by the next attempt
    more_memory,  // goes on in the same tree with more memory, or fewer jobs where there is no more
    fewer_jobs,   // goes on in the same tree with half the jobs at once
    more_time,    // goes on in the same tree with more time
    go_on,        // goes on in the same tree; what ended this attempt counts as a preemption
    clean_tree,   // once, in a new tree
};
[[nodiscard]] std::string_view automatic_text(Automatic automatic);      // "more_memory"
[[nodiscard]] std::string_view automatic_sentence(Automatic automatic);  // for people

struct DoctorRule {
    std::string_view code;  // "memory.compiler_killed"
    // Any of them in one line, in any letter case; `*` stands for anything between. In lower case.
    std::array<std::string_view, 5> patterns;
    Weight weight;
    Automatic automatic;
    std::string_view cause;
    std::string_view remedy;
    bool in_warnings = false;  // a warning counts, too
};

// Of two that match one line the first counts: special ones stand before general ones.
[[nodiscard]] const std::vector<DoctorRule>& doctor_rules();
[[nodiscard]] const DoctorRule* find_doctor_rule(std::string_view code);

// Whether a line (in lower case) holds all pieces of a pattern in their order.
[[nodiscard]] bool matches_pattern(std::string_view pattern, std::string_view lower);
// The longest piece of a pattern: what a line must hold at least.
[[nodiscard]] std::string_view longest_piece(std::string_view pattern);

// docs/reference/doctor-rules.md.
[[nodiscard]] std::string render_doctor_rules_markdown();

}  // namespace wheelyard::builder
