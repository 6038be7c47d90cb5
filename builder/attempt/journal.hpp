// The journal: one JSON file an attempt, replaced durably at every transition, so that whoever is killed
// anywhere, the next tick finds the old state or the new one. No database: the folder may lie on NFS or
// Lustre, shared by login nodes.
//
//     STATE/attempts/w1kq7x9aab3cde.json     what an attempt is doing      (attempt.hpp)
//     STATE/outcomes/w1kq7x9aab3cde.json     how it ended                  (lib/wire/outcome.hpp)
//     STATE/agent.lock                       who is ticking
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "builder/attempt/attempt.hpp"
#include "lib/base/result.hpp"
#include "lib/wire/outcome.hpp"

namespace wheelyard::builder {

struct JournalContent {
    std::vector<Attempt> attempts;  // by id, so by time of creation
    std::vector<base::Error>
        problems;  // files that cannot be read, by name; nothing new is started while there is one
};

class Journal {
  public:
    explicit Journal(std::filesystem::path state_directory) : directory_(std::move(state_directory)) {}

    // Makes the folders; needed before the first write, not for reading.
    [[nodiscard]] base::Status prepare() const;
    // A journal that is not there yet is empty.
    [[nodiscard]] base::Result<JournalContent> read() const;
    // Removes what a kill left of unfinished writes; for the holder of the lock.
    void sweep() const;
    [[nodiscard]] base::Status write(const Attempt& attempt) const;
    [[nodiscard]] base::Status write_outcome(const wire::Outcome& outcome) const;
    [[nodiscard]] std::filesystem::path outcome_file(const std::string& attempt) const;
    [[nodiscard]] std::filesystem::path lock_file() const { return directory_ / "agent.lock"; }

  private:
    std::filesystem::path directory_;
};

}  // namespace wheelyard::builder
