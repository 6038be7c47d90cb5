// Why a job ended, as its scheduler reports it, and the consequences for the attempt: one table.
//
// The exit record takes precedence over the scheduler's status. A build that recorded success has succeeded,
// even if the scheduler reports a failure.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "lib/base/result.hpp"
#include "lib/wire/outcome.hpp"

namespace wheelyard::builder {

using wire::JobUsage;

enum class EndCause {
    unexplained,      // no reason is known
    failed,           // its own exit status
    killed,           // by a signal, for an unknown reason
    time_limit,       // it reached its time limit
    out_of_memory,    // the kernel or the scheduler killed the job or a child process for memory
    node_failure,     // its node failed
    preempted,        // a job with higher priority took its place
    requeued,         // the scheduler stopped it and queued it again; only the first run of an attempt builds
    cancelled,        // a person or a program cancelled it
    not_launched,     // the scheduler could not start the script
    cannot_ever_run,  // it requests resources that this cluster does not have
    tree_busy,        // another running job holds the build tree
    never_started,    // it was submitted several times and never started
    dropped,          // the scheduler accepted it and removed it before it started
    lost,             // its folder or its claim is missing
    over_limit,       // the build of an uploaded source exceeded a limit
    network,          // it could not reach a server from which it downloads
};

struct JobEnd {
    EndCause cause = EndCause::unexplained;
    std::optional<int> exit_code = {};  // 128 + signal when killed by one
    std::string scheduler_status = {};  // its own text: "TIMEOUT TimeLimit"
    JobUsage used = {};
};

// What a scheduler granted, where it says so; 0: not known. A hook or a plugin may have changed the request.
struct JobGrant {
    std::int64_t max_walltime_minutes = 0;
    std::int64_t memory_mib = 0;
    friend bool operator==(const JobGrant&, const JobGrant&) = default;
};

// The limit that a failed attempt counts against: of the site file, or max_network_failures. A build never
// causes a preemption and rarely a node failure, so these have limits of their own: not every build makes
// measurable progress between them. A network that is down says nothing about the build.
enum class FailureLimit { attempts, preemptions, node_failures, network };

struct EndRow {
    EndCause cause;
    std::string_view code;  // the Error's code
    std::string_view sentence;
    std::string_view advice;
    bool try_again;  // the agent starts a new attempt
    bool resumes;    // the next attempt may continue in its build tree
    FailureLimit limit = FailureLimit::attempts;
};
[[nodiscard]] std::span<const EndRow> end_rows();
[[nodiscard]] const EndRow& end_row(EndCause cause);
[[nodiscard]] base::Error error_of(const JobEnd& end);
// The cause with this code; used when reading the journal.
[[nodiscard]] std::optional<EndCause> cause_of_code(std::string_view code);

}  // namespace wheelyard::builder
