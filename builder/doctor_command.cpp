// `doctor`: examines a log or standard input in one pass; needs no site.
#include <unistd.h>

#include <cerrno>

#include "builder/command_output.hpp"
#include "builder/commands.hpp"
#include "builder/doctor/doctor.hpp"
#include "lib/base/text/text.hpp"

namespace wheelyard::builder {
namespace {

base::Result<Examination> examine_standard_input() {
    Doctor doctor;
    std::string piece(base::mib, '\0');
    while (true) {
        const ssize_t count = ::read(STDIN_FILENO, piece.data(), piece.size());
        if (count < 0 && errno == EINTR) continue;
        if (count < 0) return base::fail_errno("reading", "standard input", errno);
        if (count == 0) return doctor.finish();
        doctor.feed(std::string_view(piece).substr(0, static_cast<std::size_t>(count)));
    }
}

int explain(const Arguments& arguments) {
    if (arguments.explain_code == "all") {
        if (arguments.json) print(render_rules_json());
        if (arguments.markdown) print(render_doctor_rules_markdown());
        if (arguments.json || arguments.markdown) return exit_well;
        for (const auto& rule : doctor_rules())
            tell(render_rule(rule) + "\n");
        return exit_well;
    }
    const DoctorRule* rule = find_doctor_rule(arguments.explain_code);
    if (rule != nullptr) {
        tell(render_rule(*rule));
        return exit_well;
    }
    std::vector<std::string> codes;
    for (const auto& one : doctor_rules())
        codes.emplace_back(one.code);
    const auto near = base::nearest(arguments.explain_code, codes);
    return complain({"doctor.unknown_code", "No rule has this code", arguments.explain_code,
                     near ? "did you mean `" + *near + "`?" : "`--explain all` lists all codes"},
                    exit_usage);
}

}  // namespace

int run_doctor(const Arguments& arguments) {
    if (!arguments.explain_code.empty()) return explain(arguments);
    if (arguments.name.empty())
        return complain({"doctor.no_log", "No log given", "", "name a file, or - for standard input"},
                        exit_usage);
    const bool piped = arguments.name == "-";
    const auto seen = piped ? examine_standard_input() : examine_log(arguments.name);
    if (!seen) return complain(seen.error(), exit_usage);
    const std::string log = piped ? "(standard input)" : arguments.name;
    arguments.json ? print(render_examination_json(*seen, log)) : tell(render_examination(*seen, log));
    return seen->findings.empty() && !seen->first_error ? exit_well : exit_failed;
}

}  // namespace wheelyard::builder
