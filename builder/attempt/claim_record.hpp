// The tasks that a site has, one JSON file each in its journal: "wheelyard.claim_record/2"
// (docs/reference/journal.md). The file is written after the registry's answer: after a kill in between, the
// registry answers with the same task again.
//
//     STATE/claims/<task>.json
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "lib/base/result.hpp"
#include "lib/wire/task.hpp"

namespace wheelyard::builder {

struct ClaimRecord {
    wire::Task task;
    std::string index = {};  // where its wheel is uploaded
    std::string cell = {};   // the name of its cell in the plan and in attempts
    // The names under which this journal asked for it, the newest last: one for each login node.
    std::vector<std::string> agents = {};
    std::string file = {};  // its name without ".json": the task, or in records of version 1 a claim
};

[[nodiscard]] std::string render_claim_record(const ClaimRecord& record);
// A record of version 1 without a task has the ID "": its claim was never answered. Errors: "claim.broken".
[[nodiscard]] base::Result<ClaimRecord> parse_claim_record(std::string_view text);

class ClaimFolder {
  public:
    explicit ClaimFolder(std::filesystem::path folder) : folder_(std::move(folder)) {}
    // Sorted by task. Skips a file that cannot be read (its site is late at some time) and sets `unread`.
    [[nodiscard]] std::vector<ClaimRecord> read(bool& unread) const;
    [[nodiscard]] base::Status write(ClaimRecord& record) const;
    [[nodiscard]] base::Status remove(const ClaimRecord& record) const;
    // Why the last request got no answer, in the file `waits`; empty: it got one, and there is no file.
    [[nodiscard]] std::string waits() const;
    [[nodiscard]] base::Status note_wait(const std::string& why) const;
    // Removes temporary files of interrupted writes, and claims of version 1 that were never answered; only
    // for the holder of the lock.
    void sweep() const;

  private:
    std::filesystem::path folder_;
};

}  // namespace wheelyard::builder
