// The table of ends.
#include "builder/attempt/job_end.hpp"

#include <algorithm>
#include <array>

#include "builder/attempt/limits.hpp"
#include "lib/base/check.hpp"

namespace wheelyard::builder {
namespace {

constexpr std::array<EndRow, 13> rows = {{
    {EndCause::unexplained, "job.vanished",
     "The job ended without a word: it was killed, or its machine went down", "it is tried again by itself",
     true, true},
    {EndCause::failed, "job.failed", "The job failed before its script could say how",
     "read its log; is /bin/bash there, and the work folder writable from the compute nodes?", true, false},
    {EndCause::killed, "job.killed", "The job was killed", "it is tried again by itself", true, true},
    {EndCause::time_limit, "job.time_limit", "The job's time was up",
     "the next attempt goes on where it stopped, with more time up to max_walltime_minutes of site.toml",
     true, true},
    {EndCause::out_of_memory, "job.out_of_memory", "The job ran out of memory",
     "the next attempt goes on where it stopped, with more memory up to max_memory_mib of site.toml", true,
     true},
    {EndCause::node_failure, "job.node_failure", "The job's machine went down", "it is tried again by itself",
     true, true},
    {EndCause::preempted, "job.preempted", "The job had to make room for a more urgent one",
     "it is tried again by itself", true, true},
    {EndCause::cancelled, "job.cancelled", "Somebody cancelled the job",
     "when it may be built again: wheelyard-builder retry", false, true},
    {EndCause::not_launched, "job.not_launched", "The scheduler could not start the job",
     "is the work folder there, and writable, on the compute nodes?", true, true},
    {EndCause::cannot_ever_run, "job.cannot_run", "The job can never run as it asks",
     "mend cores, memory_mib, max_walltime_minutes, queue or options in site.toml, then: wheelyard-builder "
     "retry",
     false, true},
    {EndCause::tree_busy, "job.tree_busy",
     "The build tree in which it was to go on is held by another job that still runs",
     "the next attempt builds in a tree of its own", true, false},
    {EndCause::never_started, "job.never_started", "The job never showed a sign of life",
     "look at its log; is /bin/bash there, and the work folder writable?", true, false},
    {EndCause::lost, "job.lost", "The job's folder or its claim is gone from the work folder",
     "it is tried again by itself", true, false},
}};

}  // namespace

const EndRow& end_row(EndCause cause) {
    const auto* row =
        std::find_if(rows.begin(), rows.end(), [&](const EndRow& one) { return one.cause == cause; });
    WHEELYARD_CHECK(row != rows.end());
    return *row;
}

base::Error error_of(const JobEnd& end) {
    const EndRow& row = end_row(end.cause);
    return {std::string(row.code), std::string(row.sentence), end.word, std::string(row.advice)};
}

std::optional<EndCause> cause_of_code(std::string_view code) {
    const auto* row =
        std::find_if(rows.begin(), rows.end(), [&](const EndRow& one) { return one.code == code; });
    return row == rows.end() ? std::nullopt : std::optional(row->cause);
}

}  // namespace wheelyard::builder
