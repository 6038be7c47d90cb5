// A report of the site `bede` with builds of torch, for the tests of what keeps them.
#pragma once

#include <string>
#include <vector>

#include "lib/status/site_report.hpp"

namespace wheelyard::test_support {

// `began` and `ended` are those of the finished builds; the running ones began at `now`.
inline status::SiteReport build_report(base::UnixMicros now, const std::vector<std::string>& running,
                                       const std::vector<std::string>& finished, base::UnixMicros began,
                                       base::UnixMicros ended) {
    status::SiteReport report;
    report.site = "bede";
    report.index = "main";
    report.time = now;
    for (const std::string& id : running) {
        status::BuildReport attempt;
        attempt.id = id;
        attempt.package = "torch";
        attempt.version = "2.4.0";
        attempt.python = "3.12";
        attempt.state = "running";
        attempt.began = now;
        report.attempts.push_back(attempt);
    }
    for (const std::string& id : finished)
        report.finished.push_back({.id = id,
                                   .package = "torch",
                                   .version = "2.4.0",
                                   .python = "3.12",
                                   .began = began,
                                   .ended = ended});
    return report;
}

}  // namespace wheelyard::test_support
