// Asks a batch system whether it would take a job, without submitting one, and finds the part of the request
// that it refuses.
//
//     the job ─► refused ─► the same job with one part reduced, for each part ─► taken: that part is the reason
//
// What a batch system says of a refusal is often no more than "requested node configuration is not
// available".
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "builder/schedule/batch_survey.hpp"
#include "builder/schedule/scheduler.hpp"

namespace wheelyard::builder {

struct BatchSystem;

// A job as the agent would submit it, or as a user would, with the files for users.
struct TrialJob {
    QueueSettings queue;
    int nodes = 1;
    int ranks_per_node = 1;
    int cores = 1;                // of a rank; of a user's job: of a node
    std::int64_t memory_mib = 0;  // of a node
    std::int64_t minutes = 0;
    bool of_user = false;
    int cores_per_rank = 0;  // that a user's job asks for
};

// A part that is refused; `option` is the line of `options`, if it is one. `by_name`: of any size.
struct RefusedPart {
    JobPart part;
    std::string option = {};
    bool by_name = false;
    friend bool operator==(const RefusedPart&, const RefusedPart&) = default;
};

enum class TrialEnd { accepted, refused, unknown };
struct TrialAnswer {
    TrialEnd end = TrialEnd::unknown;
    std::string message;                  // the batch system's words, or what is known without a dry run
    std::vector<RefusedPart> parts = {};  // of a refusal; empty: not known
    // What the words suggest, where no trial finds a part. Its `option` is the beginning of one: "--qos".
    std::optional<RefusedPart> likely = {};
};

// The directive lines, as of a submission.
[[nodiscard]] std::string render_trial_header(const BatchSystem& batch, const TrialJob& job);

// Each query is bounded by machine_query_timeout_ms; a refusal takes at most one for each part and each
// option.
[[nodiscard]] TrialAnswer try_job(const BatchSystem& batch, const TrialJob& job, const AskMachine& ask);

}  // namespace wheelyard::builder
