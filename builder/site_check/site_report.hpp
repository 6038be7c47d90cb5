// `wheelyard-builder site check --report`: what staff send back after the first hour on a machine. It adds to
// the lines of the check what the machine says about itself: versions, partitions, file systems. It holds no
// secrets.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "builder/attempt/environment.hpp"
#include "builder/site/site.hpp"
#include "builder/site_check/site_check.hpp"
#include "lib/base/clock.hpp"

namespace wheelyard::builder {

// One command and what it printed.
struct ReportedAnswer {
    std::string what;     // "limits of the partition gh"
    std::string command;  // bash; staff can run it themselves
    bool good = false;    // exit status 0
    std::string answer;   // stdout and stderr, cut to max_report_answer_bytes
};

struct SiteReport {
    std::string site;
    std::string site_file_sha256;
    base::UnixMicros at = 0;
    std::vector<SiteLine> lines;
    std::vector<ReportedAnswer> machine;
};

// Runs every command with the site's modules loaded. Each has a time limit; none changes anything.
[[nodiscard]] std::vector<ReportedAnswer> ask_machine(const Site& site, const EnvironmentMap& environment);

// The report on `site`, read from `file`, with the lines of its check. Secrets are hidden in all texts.
// Errors: those of reading the site file and the token files.
[[nodiscard]] base::Result<SiteReport> make_site_report(const Site& site, const std::filesystem::path& file,
                                                        const EnvironmentMap& environment,
                                                        std::vector<SiteLine> lines,
                                                        const base::Clock& clock);

[[nodiscard]] std::string render_site_report(const SiteReport& report);
[[nodiscard]] std::string render_site_report_json(const SiteReport& report);

}  // namespace wheelyard::builder
