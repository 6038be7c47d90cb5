// The table of the causes of job ends.
#include "builder/attempt/job_end.hpp"

#include <algorithm>
#include <array>

#include "builder/attempt/limits.hpp"
#include "lib/base/check.hpp"

namespace wheelyard::builder {
namespace {

constexpr std::array<EndRow, 17> rows = {{
    {EndCause::unexplained, "job.vanished",
     "The job ended without an exit record: it was killed, its node failed, or its record was not written",
     "no action needed: the agent tries again", true, true},
    {EndCause::failed, "job.failed", "The job failed before its script wrote an exit record",
     "check that the compute nodes have /bin/bash and can write to the work folder; its log: "
     "wheelyard-builder logs",
     true, false},
    {EndCause::killed, "job.killed", "The job was killed", "no action needed: the agent tries again", true,
     true},
    {EndCause::time_limit, "job.time_limit", "The job reached its time limit",
     "no action needed: the next attempt continues it with more time, up to max_walltime_minutes of "
     "site.toml",
     true, true},
    {EndCause::out_of_memory, "job.out_of_memory", "The job ran out of memory",
     "no action needed: the next attempt continues it with more memory, up to max_memory_mib of site.toml",
     true, true},
    {EndCause::node_failure, "job.node_failure", "The job's node failed",
     "no action needed: the agent tries again", true, true, FailureLimit::node_failures},
    {EndCause::preempted, "job.preempted", "The job was preempted by one with higher priority",
     "no action needed: the agent tries again", true, true, FailureLimit::preemptions},
    {EndCause::requeued, "job.requeued", "The scheduler stopped the job and queued it again",
     "no action needed: the agent tries again", true, true, FailureLimit::preemptions},
    {EndCause::cancelled, "job.cancelled", "The job was cancelled",
     "to build it again, run wheelyard-builder retry", false, true},
    {EndCause::not_launched, "job.not_launched", "The scheduler could not start the job",
     "check that the compute nodes can write to the work folder", true, true},
    {EndCause::cannot_ever_run, "job.cannot_run", "The cluster can never satisfy the job's request",
     "fix cores, memory_mib, max_walltime_minutes, queue or options in site.toml, then run wheelyard-builder "
     "retry",
     false, true},
    {EndCause::tree_busy, "job.tree_busy", "Another running job holds the build tree",
     "no action needed: the next attempt uses a build tree of its own", true, false,
     FailureLimit::node_failures},
    {EndCause::never_started, "job.never_started", "The submitted job never started",
     "check that the compute nodes have /bin/bash and can write to the work folder; its log: "
     "wheelyard-builder logs",
     true, false},
    {EndCause::dropped, "job.dropped", "The scheduler accepted the job and removed it before it started",
     "compare its request with the limits of the queue and, of a routing queue, of its destinations; a "
     "dependency among "
     "the options must name a job that exists",
     true, false},
    {EndCause::lost, "job.lost", "The job's folder or its claim is missing from the work folder",
     "no action needed: the agent tries again", true, false},
    {EndCause::over_limit, "job.over_limit", "The build of the uploaded source exceeded a limit",
     "if the source does nothing wrong, raise that limit: memory_mib of [scheduler], or processes, "
     "memory_mib or "
     "disk_gib of [uploaded_sources] in site.toml; then run wheelyard-builder retry",
     false, false},
    {EndCause::network, "job.network", "The job could not reach a server from which it downloads",
     "no action needed: the agent tries again", true, true, FailureLimit::network},
}};

}  // namespace

std::span<const EndRow> end_rows() {
    return rows;
}

const EndRow& end_row(EndCause cause) {
    const auto* row =
        std::find_if(rows.begin(), rows.end(), [&](const EndRow& one) { return one.cause == cause; });
    WHEELYARD_CHECK(row != rows.end());
    return *row;
}

base::Error error_of(const JobEnd& end) {
    const EndRow& row = end_row(end.cause);
    return {std::string(row.code), std::string(row.sentence), end.scheduler_status, std::string(row.advice)};
}

std::optional<EndCause> cause_of_code(std::string_view code) {
    const auto* row =
        std::find_if(rows.begin(), rows.end(), [&](const EndRow& one) { return one.code == code; });
    return row == rows.end() ? std::nullopt : std::optional(row->cause);
}

}  // namespace wheelyard::builder
