// The questions are a table; each is a command that staff could type.
#include "builder/site_check/site_report.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>

#include "builder/remote/secrets.hpp"
#include "builder/schedule/scheduler_kind.hpp"
#include "builder/site/script_setup.hpp"
#include "lib/accelerator/accelerator_kind.hpp"
#include "lib/base/digest/digest.hpp"
#include "lib/base/files/untrusted_file.hpp"
#include "lib/base/process/process.hpp"
#include "lib/base/text/encoding.hpp"
#include "lib/base/text/text.hpp"
#include "lib/base/text/utf8.hpp"
#include "lib/io/json.hpp"

namespace wheelyard::builder {
namespace {

constexpr std::int64_t site_command_timeout_ms = 60'000;    // one command of `site check --report`
constexpr std::size_t max_report_answer_bytes = 16 * 1024;  // of one command of `site check --report`

// {c}, {launcher} and {folders} are replaced by those of the site.
constexpr MachineQuestion of_every_site[] = {
    {"system", "uname -srm; getconf GNU_LIBC_VERSION; sed -n 's/^PRETTY_NAME=//p' /etc/os-release"},
    {"login node", "nproc; free -m | sed -n 2p; ulimit -n -u -v"},
    {"loaded modules", "echo \"${LOADEDMODULES-}\""},
    {"compiler", "{c} --version | head -n 1"},
    {"MPI launcher", "{launcher} --version | head -n 1"},
    {"git", "git --version"},
    {"file systems", "df -PT {folders}"},
    {"proxy variables (names)", "env | sed -n 's/^\\([A-Za-z_]*_[Pp][Rr][Oo][Xx][Yy]\\)=.*/\\1/p'"},
};
std::vector<MachineQuestion> questions_of(const Site& site) {
    std::vector<MachineQuestion> questions(std::begin(of_every_site), std::end(of_every_site));
    if (site.scheduler->batch)
        questions.insert(questions.end(), site.scheduler->batch->questions.begin(),
                         site.scheduler->batch->questions.end());
    for (const auto* kind : accelerator::accelerator_kinds()) {
        if (std::any_of(site.accelerators.begin(), site.accelerators.end(),
                        [&](const Accelerator& one) { return one.kind == kind->name; }))
            questions.push_back({"GPU driver", kind->show_driver});
    }
    return questions;
}

// The nearest folder that exists: the agent creates its own.
std::filesystem::path existing(std::filesystem::path folder) {
    std::error_code error;
    while (!std::filesystem::exists(folder, error) && folder != folder.parent_path())
        folder = folder.parent_path();
    return folder;
}

std::string command_of(const MachineQuestion& question, const Site& site) {
    std::string folders;
    for (const auto& folder : {site.state_directory, site.work_directory})
        folders += " " + base::quote_shell(existing(folder).string());
    std::string text = base::replace_all(question.command, "{folders}", base::trim(folders));
    text = base::replace_all(text, "{c}", site.compilers.c.empty() ? "cc" : site.compilers.c);
    const auto program = site.launcher.substr(0, site.launcher.find(' '));
    return base::replace_all(text, "{launcher}", program);
}

}  // namespace

std::vector<ReportedAnswer> ask_machine(const Site& site, const EnvironmentMap& environment) {
    const PythonChoice* python = site.pythons.empty() ? nullptr : &site.pythons.front();
    const Accelerator* accelerator = site.accelerators.empty() ? nullptr : &site.accelerators.front();
    const std::string setup = render_setup(site, python, accelerator, "");
    std::vector<ReportedAnswer> answers;
    for (const auto& question : questions_of(site)) {
        const std::string asked = command_of(question, site);
        if (asked.starts_with(' ')) continue;  // no launcher
        base::Command command;
        command.argv = {"/bin/bash", "-c",
                        (setup.empty() ? "" : "{ " + setup + "} > /dev/null 2>&1\n") +
                            "set -o pipefail\nexec 2>&1 < /dev/null\n" + asked};
        command.environment = environment;
        command.timeout_ms = site_command_timeout_ms;
        const auto finished = base::run_command(command);
        ReportedAnswer answer{std::string(question.what), asked, finished && finished->exit_code == 0, ""};
        answer.answer = !finished             ? finished.error().sentence
                        : finished->timed_out ? "no answer within a minute"
                                              : finished->out;
        answer.answer = std::string(base::cut_utf8(base::trim(answer.answer), max_report_answer_bytes));
        answers.push_back(answer);
    }
    return answers;
}

base::Result<SiteReport> make_site_report(const Site& site, const std::filesystem::path& file,
                                          const EnvironmentMap& environment, std::vector<SiteLine> lines,
                                          const base::Clock& clock) {
    WHEELYARD_ASSIGN(const auto secrets, secrets_of(site));
    SiteReport report;
    report.site = site.name;
    WHEELYARD_ASSIGN(report.site_file_sha256, base::sha256_hex_of_file(file));
    report.at = clock.now();
    report.lines = std::move(lines);
    report.machine = ask_machine(site, environment);
    for (auto& line : report.lines) {
        line.found = hide_secrets(line.found, secrets);
        line.advice = hide_secrets(line.advice, secrets);
    }
    for (auto& answer : report.machine) {
        answer.command = hide_secrets(answer.command, secrets);
        answer.answer = hide_secrets(answer.answer, secrets);
    }
    return report;
}

std::string render_site_report(const SiteReport& report) {
    std::string text = "# Report of `wheelyard-builder site check` on " + report.site + "\n\n" +
                       base::render_rfc3339(report.at) +
                       ", wheelyard-builder " WHEELYARD_VERSION ", site file " + report.site_file_sha256 +
                       "\n\n## Checks\n\n" + render_site_lines(report.lines) + "\n## Machine\n";
    for (const auto& one : report.machine) {
        text += "\n" + std::string(one.good ? "" : "(failed) ") + one.what + ": " + one.command + "\n";
        for (const auto line : base::split_lines(one.answer))
            text.append("    ").append(line).append("\n");
    }
    return text;
}

std::string render_site_report_json(const SiteReport& report) {
    io::Json lines = io::Json::array();
    for (const auto& line : report.lines)
        lines.push(json_of(line));
    io::Json machine = io::Json::array();
    for (const auto& one : report.machine) {
        machine.push(io::Json::object(
            {{"what", one.what}, {"command", one.command}, {"good", one.good}, {"answer", one.answer}}));
    }
    return io::Json::object({{"format", "wheelyard.site-report/1"},
                             {"site", report.site},
                             {"site_file_sha256", report.site_file_sha256},
                             {"at", base::render_rfc3339(report.at)},
                             {"version", WHEELYARD_VERSION},
                             {"good", all_good(report.lines)},
                             {"lines", lines},
                             {"machine", machine}})
        .render_pretty();
}

}  // namespace wheelyard::builder
