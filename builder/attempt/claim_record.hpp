// The claims of tasks that an agent holds, one JSON file each in its journal: "wheelyard.claim_record/1"
// (docs/reference/journal.md). The agent writes the file before it sends the request. After a lost answer or a kill
// it repeats the same claim and gets the same task.
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
    bool asking = true;  // the registry has not answered yet
    // While asking: the task whose lease was lost and that is requested again.
    std::optional<wire::Task> task;
    std::string waits;          // why the registry gave no answer; logged once
    std::string index;          // where its wheel is uploaded
    std::string cell;           // the name of its cell in the plan and in attempts
    std::string log_attempt;    // the attempt whose log is being sent
    std::int64_t log_base = 0;  // where that log begins in the task's log
};

[[nodiscard]] std::string render_claim_record(const ClaimRecord& record);
// Errors: "claim.broken".
[[nodiscard]] base::Result<ClaimRecord> parse_claim_record(std::string_view text);

class ClaimFolder {
  public:
    explicit ClaimFolder(std::filesystem::path folder) : folder_(std::move(folder)) {}
    // Sorted by claim. Skips a file that cannot be read (its lease ends by itself) and sets `unread`.
    [[nodiscard]] std::vector<ClaimRecord> read(bool& unread) const;
    [[nodiscard]] base::Status write(const ClaimRecord& record) const;
    [[nodiscard]] base::Status remove(const std::string& claim) const;
    // Removes temporary files of interrupted writes; only for the holder of the lock.
    void sweep() const;

  private:
    std::filesystem::path folder_;
};

}  // namespace wheelyard::builder
