// The journal: one JSON file for each attempt, replaced durably at every transition. If the agent is killed
// at any point, the next tick finds the old state or the new one. There is no database, so the folder may be
// on NFS or Lustre and be shared by login nodes.
//
//     STATE/attempts/w1kq7x9aab3cde.json     the state of an attempt   (attempt.hpp)
//     STATE/outcomes/w1kq7x9aab3cde.json     how it ended              (lib/wire/outcome.hpp)
//     STATE/agent.lock                       held by the running tick
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "builder/attempt/attempt.hpp"
#include "lib/base/result.hpp"
#include "lib/wire/outcome.hpp"

namespace wheelyard::builder {

struct JournalContent {
    std::vector<Attempt> attempts;  // sorted by ID, and therefore by time of creation
    // One for each file that cannot be read, with its name. While there is one, no new attempt starts.
    std::vector<base::Error> problems;
};

class Journal {
  public:
    explicit Journal(std::filesystem::path state_directory) : directory_(std::move(state_directory)) {}

    // Creates the folders. Required before the first write, not for reading.
    [[nodiscard]] base::Status prepare() const;
    // A journal that does not exist yet is empty. Errors: the folder cannot be read. An unreadable file is a
    // problem.
    [[nodiscard]] base::Result<JournalContent> read() const;
    // Removes temporary files of interrupted writes; only for the holder of the lock.
    void sweep() const;
    // Durable on return. Errors: those of base::replace_file.
    [[nodiscard]] base::Status write(const Attempt& attempt) const;
    [[nodiscard]] base::Status write_outcome(const wire::Outcome& outcome) const;
    [[nodiscard]] std::filesystem::path outcome_file(const std::string& attempt) const;
    [[nodiscard]] std::filesystem::path lock_file() const { return directory_ / "agent.lock"; }

  private:
    std::filesystem::path directory_;
};

}  // namespace wheelyard::builder
