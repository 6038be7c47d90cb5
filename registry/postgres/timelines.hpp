// The newest timeline that this process has seen of each database. A promoted standby begins a new one, so a server on an
// older one was replaced: what it says is past, and what it is told will be lost.
#pragma once

#include <map>
#include <mutex>
#include <string>

namespace wheelyard::postgres {

class Timelines {
  public:
    // `timeline`: eight hexadecimal digits, as names of WAL files begin. Empty: it may be used; else the newer one.
    [[nodiscard]] std::string newer_than(const std::string& system, const std::string& timeline);
    [[nodiscard]] static Timelines& of_process();

  private:
    std::mutex mutex_;
    std::map<std::string, std::string> newest_;  // by system identifier
};

}  // namespace wheelyard::postgres
