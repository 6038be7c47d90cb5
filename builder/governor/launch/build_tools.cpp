// Parses command lines as getopt(3) does: `-kj8` is -k and -j8; `-C j` contains no -j.
#include "builder/governor/launch/shims.hpp"

#include <algorithm>
#include <array>
#include <initializer_list>

#include "lib/base/text/text.hpp"

namespace wheelyard::governor {
namespace {

struct Syntax {
    std::string_view required;  // letters whose value is the rest of the word or the next word
    std::string_view optional;  // letters whose value is the rest of the word, if any
    char last;                  // the words after it belong to another program
};
constexpr Syntax ninja_syntax{"dfjkltwC", "", 't'};   // ninja 1.13; `-t TOOL` ends its options
constexpr Syntax make_syntax{"CfIoWE", "jlO", '\0'};  // GNU make 4.4

constexpr std::array jobserver_options = {std::string_view("--jobserver-auth="),
                                          std::string_view("--jobserver-fds=")};  // up to GNU make 4.1

struct Seen {
    std::string letters;
    std::vector<std::string_view> names;  // long options without the dashes and the value
    std::size_t goals = 0;                // words that are neither options nor variables
    std::optional<unsigned> jobs;         // of the last -j; 0: without a number

    bool has(std::string_view any) const { return letters.find_first_of(any) != std::string::npos; }
    bool names_one_of(std::initializer_list<std::string_view> any) const {
        return std::find_first_of(names.begin(), names.end(), any.begin(), any.end()) != names.end();
    }
};

unsigned number_of(std::string_view text) {
    constexpr std::uint64_t largest = 1'000'000;
    return static_cast<unsigned>(std::min(base::parse_decimal(text).value_or(0), largest));
}

Seen read_options(const std::vector<std::string>& arguments, const Syntax& syntax) {
    Seen seen;
    bool options_end = false;
    for (std::size_t i = 0; i < arguments.size(); ++i) {
        const std::string_view word = arguments[i];
        if (word == "--") {
            options_end = true;
            continue;
        }
        if (options_end || !word.starts_with('-')) {
            if (word.find('=') == std::string_view::npos) ++seen.goals;
            continue;
        }
        if (word.starts_with("--")) {
            const auto parts = base::split(word.substr(2), '=');
            seen.names.push_back(parts[0]);
            if (parts[0] == "jobs") seen.jobs = number_of(parts.size() > 1 ? parts[1] : "");
            continue;
        }
        for (std::size_t at = 1; at < word.size(); ++at) {
            const char letter = word[at];
            seen.letters += letter;
            if (letter == syntax.last) return seen;
            if (letter == 'j') {
                seen.jobs = number_of(word.substr(at + 1));
                // Both tools take the next word, too.
                if (at + 1 == word.size() && i + 1 < arguments.size())
                    seen.jobs = number_of(arguments[i + 1]);
            }
            if (syntax.optional.find(letter) != std::string_view::npos) break;
            if (syntax.required.find(letter) == std::string_view::npos) continue;
            if (at + 1 == word.size()) ++i;
            break;
        }
    }
    return seen;
}

bool is_jobserver(std::string_view word) {
    return std::any_of(jobserver_options.begin(), jobserver_options.end(),
                       [&](std::string_view option) { return word.starts_with(option); });
}

// The words of MAKEFLAGS before "--", which variables follow. The first word is empty or a group of letters
// without a dash, such as "ks".
std::vector<std::string> options_of(std::string_view makeflags) {
    std::vector<std::string> words;
    for (const auto part : base::split(makeflags, ' ')) {
        if (part == "--") break;
        const bool bundle =
            words.empty() && !part.empty() && part[0] != '-' && part.find('=') == std::string_view::npos;
        words.push_back(bundle ? "-" + std::string(part) : std::string(part));
    }
    return words;
}

// Queries, and options that run no recipe.
bool makes_nothing(const Seen& seen) {
    return seen.has("vhnqpt") || seen.names_one_of({"version", "help", "just-print", "dry-run", "recon",
                                                    "question", "print-data-base", "touch"});
}

bool names_jobs(const Seen& seen) {
    return seen.has("j") || seen.names_one_of({"jobs", "jobserver-auth", "jobserver-fds"});
}

}  // namespace

bool is_ninja(std::string_view name) {
    return name == "ninja" || name == "ninja-build";
}

bool is_make(std::string_view name) {
    return name == "make" || name == "gmake";
}

Jobs jobs_for_ninja(const std::vector<std::string>& arguments) {
    const auto seen = read_options(arguments, ninja_syntax);
    const bool leave = seen.has("jth") || seen.names_one_of({"version", "help"});
    return leave ? Jobs::as_given : Jobs::window;
}

Jobs jobs_for_make(const std::vector<std::string>& arguments, const MakeEnvironment& make_environment) {
    const auto seen = read_options(arguments, make_syntax);
    if (makes_nothing(seen) || names_jobs(seen)) return Jobs::as_given;
    // `make clean all` runs the goals one after the other; with -j they would run at once.
    const bool in_turn = seen.goals > 1;
    if (!jobserver_of(make_environment.flags).empty()) {
        if (!make_environment.below_ours || make_environment.jobserver_open) return Jobs::as_given;
        return in_turn ? Jobs::one : Jobs::few;
    }
    if (in_turn) return Jobs::as_given;
    return names_jobs(read_options(options_of(make_environment.flags), make_syntax)) ? Jobs::as_given
                                                                                     : Jobs::window;
}

std::optional<unsigned> given_jobs(bool of_ninja, const std::vector<std::string>& arguments) {
    const auto seen = read_options(arguments, of_ninja ? ninja_syntax : make_syntax);
    const bool asks =
        of_ninja ? seen.has("th") || seen.names_one_of({"version", "help"}) : makes_nothing(seen);
    return asks ? std::nullopt : seen.jobs;
}

std::string jobserver_of(std::string_view makeflags) {
    std::string found;  // the last one takes precedence
    for (const auto& word : options_of(makeflags)) {
        if (is_jobserver(word)) found = word.substr(word.find('=') + 1);
    }
    return found;
}

std::string without_jobserver(std::string_view makeflags) {
    std::vector<std::string> kept;
    bool variables = false;
    for (const auto part : base::split(makeflags, ' ')) {
        variables = variables || part == "--";
        if (variables || !(is_jobserver(part) || part.starts_with("-j") || part.starts_with("--jobs")))
            kept.emplace_back(part);
    }
    return base::join(kept, " ");
}

}  // namespace wheelyard::governor
