// `doctor`: examines a log or standard input in one pass. It needs no site; one that has rules of its own
// adds them.
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>

#include "builder/commands/commands.hpp"
#include "builder/doctor/doctor.hpp"
#include "builder/site/site_file.hpp"
#include "lib/base/process/process.hpp"
#include "lib/base/process/terminal.hpp"
#include "lib/base/process/user.hpp"
#include "lib/base/text/text.hpp"

namespace wheelyard::builder {
namespace {

namespace fs = std::filesystem;

// doctor.d beside the site file that other commands would take; empty: there is no site file.
fs::path rules_of_site(const DoctorOptions& options) {
    if (!options.site_beside.empty()) return rules_beside(options.site_beside);
    const auto chosen = choose_site_file(base::current_environment(), ".");
    return chosen ? rules_beside(chosen->file) : fs::path();
}

base::Result<Examination> examine_standard_input(const RuleBook& book) {
    Doctor doctor(book);
    std::string piece(base::mib, '\0');
    while (true) {
        const ssize_t count = ::read(STDIN_FILENO, piece.data(), piece.size());
        if (count < 0 && errno == EINTR) continue;
        if (count < 0) return base::fail_errno("reading", "standard input", errno);
        if (count == 0) return doctor.finish();
        doctor.feed(std::string_view(piece).substr(0, static_cast<std::size_t>(count)));
    }
}

int explain(const DoctorOptions& options, const RuleBook& book) {
    if (options.explained == "all") {
        if (options.json) print(render_rules_json(book.rules()));
        if (options.markdown) print(render_doctor_rules_markdown(book.rules()));
        if (options.json || options.markdown) return exit_well;
        for (const auto& rule : book.rules())
            tell(render_rule(rule) + "\n");
        return exit_well;
    }
    if (const DoctorRule* rule = book.find(options.explained)) {
        tell(render_rule(*rule));
        return exit_well;
    }
    std::vector<std::string> codes;
    for (const auto& one : book.rules())
        codes.emplace_back(one.code);
    const auto near = base::nearest(options.explained, codes);
    return complain({"doctor.unknown_code", "No rule has this code", options.explained,
                     near ? "did you mean `" + *near + "`?" : "`--explain all` lists all codes"},
                    exit_usage);
}

int check_own_rules(const fs::path& folder) {
    if (const std::string fault = base::fault_of_folder(folder); !fault.empty())
        return complain({"doctor.no_rules",
                         "No rules: " + fault,
                         {},
                         "name their folder, or the site file beside it with --site"},
                        exit_usage);
    const RuleBook book(folder);
    std::vector<std::string> wrong = book.problems();
    for (const auto& one : check_rules(book))
        wrong.push_back(one);
    for (const auto& one : wrong)
        print(one + "\n");
    const auto good = std::count_if(book.rules().begin(), book.rules().end(),
                                    [](const DoctorRule& rule) { return !rule.place.empty(); });
    if (wrong.empty())
        print(std::to_string(good) + (good == 1 ? " rule" : " rules") + " in " + folder.string() +
              ", each found in its excerpt\n");
    return wrong.empty() ? exit_well : exit_failed;
}

}  // namespace

int run_doctor(const DoctorOptions& options) {
    const std::string fault = options.site_beside.empty() ? "" : base::fault_of_file(options.site_beside);
    if (!fault.empty())
        return complain({"doctor.no_site", fault, {}, "correct --site, or leave it out"}, exit_usage);
    const fs::path folder = rules_of_site(options);
    if (options.check_rules) return check_own_rules(options.log.empty() ? folder : fs::path(options.log));
    const RuleBook book(folder);
    for (const auto& problem : book.problems())
        base::print(stderr, "wheelyard-builder: a rule is left out: %s\n", problem.c_str());
    if (!options.explained.empty()) return explain(options, book);
    if (options.log.empty())
        return complain({"doctor.no_log", "No log given", "", "name a file, or - for standard input"},
                        exit_usage);
    const bool piped = options.log == "-";
    const auto seen = piped ? examine_standard_input(book) : examine_log(options.log, book);
    if (!seen) return complain(seen.error(), exit_usage);
    const std::string log = piped ? "(standard input)" : options.log;
    options.json ? print(render_examination_json(*seen, log)) : tell(render_examination(*seen, log));
    return seen->findings.empty() && !seen->first_error ? exit_well : exit_failed;
}

}  // namespace wheelyard::builder
