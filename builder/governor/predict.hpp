// How much memory and time a compile will take, from what was seen of it or of its neighbours.
//
// A compile that history knows is predicted by its record. An unknown one is predicted by the company it
// keeps, each circle shrunk towards the wider one as long as it holds few samples (each circle begins with
// the wider one's opinion at the weight of four samples): the language's usual figures ← same language and
// compiler ← same folder of the source tree ← same source under other arguments. The spread of a circle is
// its standard deviation, so typical + 2·spread is a high quantile.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "builder/governor/admission.hpp"

namespace wheelyard::governor {

// What identifies a compile between builds.
struct Facts {
    std::string source;         // relative to the root of the build when below it
    std::string arguments;      // those that matter, as a hash
    std::string compiler;       // name and version
    std::string language;       // "c", "c++", "cuda", "hip", "fortran", "asm", "link", "distributed"
    std::string architectures;  // of GPUs
    unsigned threads = 1;       // NVCC_THREADS
};

[[nodiscard]] std::uint64_t key_of(const Facts& facts);
// FNV-1a, 64 bits: keys are looked up, never trusted.
[[nodiscard]] std::uint64_t hash_text(std::string_view text, std::uint64_t seed = 0xcbf29ce484222325u);

struct Record {
    double peak_bytes = 0;  // 0: never seen to end well
    double seconds = 0;
    double min_bytes = 0;  // it was killed at this size
    std::uint64_t runs = 0;
    std::int64_t last_day = 0;  // days since 1970-01-01
    std::string source, compiler, language, architectures;
};

// A new sight of a peak: rises at once, sinks slowly.
void merge_peak(Record& record, double peak_bytes, double seconds);
void merge_at_least(Record& record, double bytes);

class Predictor {
  public:
    // A record of history; the company learns from it too.
    void recall(std::uint64_t key, const Record& record);
    void learn(const Facts& facts, double peak_bytes, double seconds);
    // It was killed, or seen, at `bytes`: it needs more than that.
    void learn_at_least(const Facts& facts, double bytes);
    [[nodiscard]] Need predict(const Facts& facts) const;
    [[nodiscard]] bool knows(const Facts& facts) const;
    [[nodiscard]] const Record* record_of(const Facts& facts) const;
    [[nodiscard]] std::size_t size() const { return records_.size(); }

  private:
    struct Company {  // Welford's running mean and sum of squares
        double count = 0, mean = 0, squares = 0, mean_seconds = 0;
        void add(double bytes, double seconds);
    };
    void add_company(const Record& record);

    std::map<std::uint64_t, Record> records_;
    std::map<std::string, Company, std::less<>> company_;
};

}  // namespace wheelyard::governor
