// The claims of tasks that an agent has, one JSON file each beside its journal: "wheelyard.claim_record/1"
// (docs/reference/journal.md). Written before the registry is asked, so that an answer that gets lost, or an
// agent that is killed, finds its task again by the same claim.
//
//     STATE/claims/<32 hex digits>.json
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "lib/base/result.hpp"
#include "lib/wire/task.hpp"

namespace wheelyard::builder {

struct ClaimRecord {
    std::string claim;
    bool asking = true;              // the registry has not answered yet
    std::optional<wire::Task> task;  // while asking: the one whose lease was lost, asked for again
    std::string waits;               // why the registry gave no answer: told once
    std::string index;               // where its wheel goes
    std::string cell;                // of the plan, as attempts name it
    std::string log_attempt;         // whose log is being sent,
    std::int64_t log_base = 0;       // and where it begins in the task's log
};

[[nodiscard]] std::string render_claim_record(const ClaimRecord& record);
// "claim.broken".
[[nodiscard]] base::Result<ClaimRecord> parse_claim_record(std::string_view text);

class ClaimFolder {
  public:
    explicit ClaimFolder(std::filesystem::path folder) : folder_(std::move(folder)) {}
    // By claim. One that cannot be read is passed over (its lease ends by itself), and `unread` says so.
    [[nodiscard]] std::vector<ClaimRecord> read(bool& unread) const;
    [[nodiscard]] base::Status write(const ClaimRecord& record) const;
    [[nodiscard]] base::Status remove(const std::string& claim) const;
    // For the holder of the lock: what a kill left of unfinished writes.
    void sweep() const;

  private:
    std::filesystem::path folder_;
};

}  // namespace wheelyard::builder
