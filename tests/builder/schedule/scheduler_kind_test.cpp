#include "builder/schedule/scheduler_kind.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <map>

#include "builder/schedule/scheduler.hpp"
#include "builder/site/site.hpp"
#include "lib/base/clock.hpp"
#include "tests/support/golden.hpp"

namespace wheelyard::builder {
namespace {

TEST_CASE("a scheduler is found by its exact name, and the first of the table is the default") {
    for (const SchedulerKind* kind : scheduler_kinds())
        CHECK(find_scheduler_kind(kind->name) == kind);
    CHECK(find_scheduler_kind("no_such_scheduler") == nullptr);
    CHECK(find_scheduler_kind("Slurm") == nullptr);
    CHECK(Site().scheduler->name == "local");
}

TEST_CASE("a row makes a scheduler of its own kind: only that of a batch system reports itself as one") {
    const base::SystemClock clock;
    for (const SchedulerKind* kind : scheduler_kinds()) {
        CAPTURE(kind->name);
        CHECK(kind->make({}, {}, clock)->is_batch_system() == kind->batch.has_value());
    }
}

TEST_CASE("the page on schedulers has every row") {
    std::string table = "| kind | a job is | its programs | code |\n|---|---|---|---|\n";
    for (const SchedulerKind* kind : scheduler_kinds()) {
        const std::string name(kind->name);
        table += "| `" + name + "` | " + std::string(kind->a_job_is) + " | " + std::string(kind->programs) +
                 " | [builder/schedule/" + name + "/](../../builder/schedule/" + name + ") |\n";
    }
    CHECK(test_support::part_difference("reference/schedulers.md", "kinds of schedulers", table) == "");
}

std::string_view report_of(const BatchSystem& batch, EndCause cause) {
    const auto found = std::find_if(batch.end_reports.begin(), batch.end_reports.end(),
                                    [&](const EndReport& one) { return one.cause == cause; });
    return found == batch.end_reports.end() ? "" : found->text;
}

TEST_CASE("the page on schedulers has the table of the ends of jobs") {
    const std::map<FailureLimit, std::string> limits = {{FailureLimit::attempts, "`max_attempts`"},
                                                        {FailureLimit::preemptions, "`max_preemptions`"},
                                                        {FailureLimit::node_failures, "`max_node_failures`"},
                                                        {FailureLimit::network, "none of these"}};
    std::string table = "| end | what happened |";
    std::string rule = "|---|---|";
    for (const SchedulerKind* kind : scheduler_kinds()) {
        if (!kind->batch) continue;
        table += " `" + std::string(kind->name) + "` reports |";
        rule += "---|";
    }
    table += " next attempt | counts against |\n" + rule + "---|---|\n";
    for (const EndRow& end : end_rows()) {
        table += "| `" + std::string(end.code) + "` | " + std::string(end.sentence) + " |";
        for (const SchedulerKind* kind : scheduler_kinds()) {
            if (kind->batch) table += " " + std::string(report_of(*kind->batch, end.cause)) + " |";
        }
        const char* next = !end.try_again ? "waits for `retry`" : end.resumes ? "continues" : "starts again";
        table += " " + std::string(next) + " | " + (end.try_again ? limits.at(end.limit) : "") + " |\n";
    }
    CHECK(test_support::part_difference("reference/schedulers.md", "ends of jobs", table) == "");
}

}  // namespace
}  // namespace wheelyard::builder
