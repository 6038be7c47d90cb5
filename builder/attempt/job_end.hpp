// How a job ended, when its scheduler can say it, and what that means for the attempt: one table.
//
// The scheduler's word explains an end; it never overrules the exit record. A build that recorded success has
// succeeded, whatever the queue says of its job.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "lib/base/result.hpp"

namespace wheelyard::builder {

enum class EndCause {
    unexplained,      // it ended, and nobody says why
    failed,           // its own exit status
    killed,           // by a signal that nobody explains
    time_limit,       // its time was up
    out_of_memory,    // the kernel or the scheduler killed it, or a child of it, for memory
    node_failure,     // its machine went down
    preempted,        // something more urgent needed its place
    cancelled,        // somebody stopped it
    not_launched,     // the scheduler could not start the script
    cannot_ever_run,  // it waits for what this cluster does not have
    tree_busy,        // another job, which still runs, holds the build tree
    never_started,    // it was submitted several times and gave no sign of life
    lost,             // its folder or its claim is gone
};

// What the job used, as far as its scheduler tells; 0: not told.
struct JobUsage {
    std::int64_t seconds = 0;
    std::int64_t cpu_seconds = 0;
    std::int64_t memory_kib = 0;
    bool operator==(const JobUsage&) const = default;
};

struct JobEnd {
    EndCause cause = EndCause::unexplained;
    std::optional<int> exit_code = {};  // 128 + signal when killed by one
    std::string word = {};              // the scheduler's own: "TIMEOUT TimeLimit"
    JobUsage used = {};
};

struct EndRow {
    EndCause cause;
    std::string_view code;  // of the Error
    std::string_view sentence;
    std::string_view advice;
    bool try_again;  // a new attempt by itself
    bool resumes;    // its build tree is whole enough for the next attempt to go on in it
};
[[nodiscard]] const EndRow& end_row(EndCause cause);
[[nodiscard]] base::Error error_of(const JobEnd& end);
// For readers of the journal: the cause whose row has this code.
[[nodiscard]] std::optional<EndCause> cause_of_code(std::string_view code);

}  // namespace wheelyard::builder
