// `doctor`: examines a log or standard input in one pass. It needs no site; one that has rules of its own adds them.
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>

#include "builder/command_output.hpp"
#include "builder/commands.hpp"
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
fs::path rules_of_site(const Arguments& arguments) {
    if (!arguments.site.empty()) return rules_beside(arguments.site);
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

int explain(const Arguments& arguments, const RuleBook& book) {
    if (arguments.explain_code == "all") {
        if (arguments.json) print(render_rules_json(book.rules()));
        if (arguments.markdown) print(render_doctor_rules_markdown(book.rules()));
        if (arguments.json || arguments.markdown) return exit_well;
        for (const auto& rule : book.rules())
            tell(render_rule(rule) + "\n");
        return exit_well;
    }
    if (const DoctorRule* rule = book.find(arguments.explain_code)) {
        tell(render_rule(*rule));
        return exit_well;
    }
    std::vector<std::string> codes;
    for (const auto& one : book.rules())
        codes.emplace_back(one.code);
    const auto near = base::nearest(arguments.explain_code, codes);
    return complain({"doctor.unknown_code", "No rule has this code", arguments.explain_code,
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

int run_doctor(const Arguments& arguments) {
    const std::string fault = arguments.site.empty() ? "" : base::fault_of_file(arguments.site);
    if (!fault.empty())
        return complain({"doctor.no_site", fault, {}, "correct --site, or leave it out"}, exit_usage);
    const fs::path folder = rules_of_site(arguments);
    if (arguments.check_rules)
        return check_own_rules(arguments.name.empty() ? folder : fs::path(arguments.name));
    const RuleBook book(folder);
    for (const auto& problem : book.problems())
        base::print(stderr, "wheelyard-builder: a rule is left out: %s\n", problem.c_str());
    if (!arguments.explain_code.empty()) return explain(arguments, book);
    if (arguments.name.empty())
        return complain({"doctor.no_log", "No log given", "", "name a file, or - for standard input"},
                        exit_usage);
    const bool piped = arguments.name == "-";
    const auto seen = piped ? examine_standard_input(book) : examine_log(arguments.name, book);
    if (!seen) return complain(seen.error(), exit_usage);
    const std::string log = piped ? "(standard input)" : arguments.name;
    arguments.json ? print(render_examination_json(*seen, log)) : tell(render_examination(*seen, log));
    return seen->findings.empty() && !seen->first_error ? exit_well : exit_failed;
}

}  // namespace wheelyard::builder
