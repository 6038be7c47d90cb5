// How requests to an upstream failed last, as a file, so that a command beside the server can say it.
//
//     DIR/upstream/<index>.<upstream>/last-failures.json
//     {"format":"wheelyard.upstream-failures/1","failures":[{"time":…,"since":…,"count":3,"next_try":…,"project":"six","code":"http.private",
//      "sentence":"the host has a private address","value":"10.0.0.1","told":"the configuration of this registry refuses its address"}]}
//
// One for each project, the newest last.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "lib/base/clock.hpp"
#include "lib/base/result.hpp"

namespace wheelyard::registry {

struct UpstreamFailure {
    base::UnixMicros time = 0;
    base::UnixMicros since = 0;     // the first one of this project without a day in between; note() counts
    std::int64_t count = 1;         // since then
    base::UnixMicros next_try = 0;  // not before
    std::string project = {};
    std::string code = {};
    std::string sentence = {};
    std::string value = {};
    std::string told = {};  // public_sentence()
    bool is_upstream_wide = false;
};

// What everybody may be told of an error: nothing of addresses in the site's network.
[[nodiscard]] std::string public_sentence(const base::Error& error);

// Thread-safe. Writing takes a disk's time: one thread at a time writes the file of an upstream, and for
// those that note a failure meanwhile, too.
class LastFailures {
  public:
    using Write = std::function<base::Status(const std::filesystem::path& file, const std::string& bytes)>;
    // `write`: for tests.
    explicit LastFailures(std::filesystem::path folder, Write write = {});
    // What cannot be written is logged.
    void note(const std::string& cache_index, UpstreamFailure failure);

  private:
    struct Known {
        std::vector<UpstreamFailure> failures = {};
        bool is_written_now = false;
        bool is_newer = false;  // than what is written now
    };
    const std::filesystem::path folder_;
    const Write write_;
    std::mutex mutex_;
    std::map<std::string, Known> known_;  // by cache index
};

// What note() has kept, the newest last; empty where nothing has failed.
[[nodiscard]] std::vector<UpstreamFailure> read_last_failures(const std::filesystem::path& folder,
                                                              const std::string& cache_index);
// The newest failure for this project or of the whole upstream; nullopt: none is known. `folder`:
// DIR/upstream.
[[nodiscard]] std::optional<UpstreamFailure> find_last_failure(const std::filesystem::path& folder,
                                                               const std::string& cache_index,
                                                               const std::string& project);

}  // namespace wheelyard::registry
