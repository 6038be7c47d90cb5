#include "builder/schedule/scheduler_kind.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <map>

#include "builder/schedule/scheduler.hpp"
#include "builder/site/site.hpp"
#include "lib/base/clock.hpp"
#include "tests/builder/documented_keys.hpp"
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

// The name in the code span of a table's cell, or several: "`local`, `slurm`".
std::string code_spans(const std::vector<std::string_view>& names) {
    std::string text;
    for (const auto name : names)
        text += (text.empty() ? "`" : ", `") + std::string(name) + "`";
    return text;
}

TEST_CASE("the pages on site.toml and on schedulers have every row") {
    const std::string page = testing::read_repository_file("docs/reference/site.md");
    std::vector<std::string_view> names;
    std::string table = "| kind | a job is | its programs | code |\n|---|---|---|---|\n";
    for (const SchedulerKind* kind : scheduler_kinds()) {
        const std::string name(kind->name);
        names.push_back(kind->name);
        table += "| `" + name + "` | " + std::string(kind->a_job_is) + " | " + std::string(kind->programs) +
                 " | [builder/schedule/" + name + "/](../../builder/schedule/" + name + ") |\n";
        if (!kind->batch) continue;
        const std::string row = "| `scheduler." + std::string(kind->batch->queue_key) + "` | text | the ";
        const auto at = page.find(row);
        REQUIRE_MESSAGE(at != std::string::npos, "missing from the page: " << row);
        const std::string rest = page.substr(at, page.find('\n', at) - at).substr(row.size());
        CHECK(rest.find("`" + name + "`") != std::string::npos);
    }
    CHECK(page.find("| `scheduler.kind` | " + code_spans(names) + " |") != std::string::npos);
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
