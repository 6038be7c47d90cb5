// Predicts the memory and time of a compile from earlier measurements of it or of similar compiles.
//
// A compile with a record in the history is predicted by that record. Others are predicted by the groups they
// belong to, from wide to narrow: the language's defaults, language and compiler, folder of the source, same
// source with other arguments. Each group's mean is weighed against the wider estimate, which counts as four
// samples, so a group with few samples has little influence. The spread is the standard deviation, so
// typical + 2·spread is a high quantile.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "builder/governor/admission/admission.hpp"

namespace wheelyard::governor {

inline constexpr double min_retry_growth = 1.5;  // a compile killed at N bytes is retried with room for 1.5 N

// Identifies a compile across builds.
struct CompileFacts {
    std::string source;         // relative to the root of the build if below it
    std::string arguments;      // hash of the arguments that affect memory or time
    std::string compiler;       // name and version
    std::string language;       // "c", "c++", "cuda", "hip", "fortran", "asm", "link", "distributed"
    std::string architectures;  // GPU architectures
    unsigned threads = 1;       // NVCC_THREADS
};

[[nodiscard]] std::uint64_t key_of(const CompileFacts& facts);

struct Record {
    double peak_bytes = 0;  // 0: no successful run yet
    double seconds = 0;
    double min_bytes = 0;  // it was killed at this size
    std::uint64_t runs = 0;
    std::int64_t last_day = 0;  // of the last run, in days since 1970-01-01
    std::string source, compiler, language, architectures;
};

// Adds a measured peak: the record follows a higher peak at once and a lower one slowly.
void merge_peak(Record& record, double peak_bytes, double seconds);
// Adds a kill at `bytes`: the compile needs more than that.
void merge_at_least(Record& record, double bytes);

class Predictor {
  public:
    // Loads a record of the history.
    void recall(std::uint64_t key, const Record& record);
    void learn(const CompileFacts& facts, double peak_bytes, double seconds);
    // The compile was killed at `bytes`, so it needs more than that.
    void learn_at_least(const CompileFacts& facts, double bytes);
    [[nodiscard]] Need predict(const CompileFacts& facts) const;
    // Says whether a successful run of exactly this compile was measured.
    [[nodiscard]] bool knows(const CompileFacts& facts) const;
    [[nodiscard]] const Record* record_of(const CompileFacts& facts) const;
    [[nodiscard]] std::size_t size() const { return records_.size(); }

  private:
    struct Group {  // Welford's running mean and sum of squares
        double count = 0, mean = 0, squares = 0, mean_seconds = 0;
        void add(double bytes, double seconds);
    };
    void add_to_groups(const Record& record);

    std::map<std::uint64_t, Record> records_;
    std::map<std::string, Group, std::less<>> groups_;
};

}  // namespace wheelyard::governor
