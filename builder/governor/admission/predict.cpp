// Records, and circles of company for what has none.
#include "builder/governor/admission/predict.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "builder/governor/admission/limits.hpp"

namespace wheelyard::governor {
namespace {

constexpr double known_spread =
    0.012;  // of the peak: one compile's repeats differ by 1–2 % (docs/explanation/governor.md)
constexpr double min_spread_bytes = 4.0 * mib;
constexpr double guessed_spread = 0.15;  // after "at least": the growth factor is a guess
constexpr double wider_weight = 4;       // samples that the wider circle's opinion is worth
constexpr double sink_weight = 0.25;     // how fast a record forgets a high peak

struct Usual {
    std::string_view language;
    double typical_mib, spread_mib, seconds;
};
// First words, where nothing is known: PyTorch's C++ and CUDA as measured by many, small C, thick links, the
// preprocessor of what is compiled elsewhere.
constexpr std::array usual = {
    Usual{"c", 120, 80, 1},      Usual{"c++", 550, 250, 8},        Usual{"cuda", 1500, 700, 40},
    Usual{"hip", 1200, 600, 30}, Usual{"link", 400, 300, 3},       Usual{"fortran", 250, 150, 4},
    Usual{"asm", 40, 20, 0.2},   Usual{"distributed", 100, 60, 5}, Usual{"", 400, 250, 5},
};

const Usual& usual_of(std::string_view language) {
    const auto found = std::find_if(usual.begin(), usual.end(), [&](const Usual& row) {
        return row.language == language || row.language.empty();
    });
    return *found;
}

struct Circles {
    std::string language, folder, source;
};

Circles circles_of(std::string_view source, std::string_view compiler, std::string_view language) {
    const auto slash = source.rfind('/');
    const std::string name = std::string(language) + '\t';
    return {name + std::string(compiler),
            name + "/" + std::string(slash == std::string_view::npos ? "" : source.substr(0, slash)),
            name + "=" + std::string(source)};
}

}  // namespace

std::uint64_t hash_text(std::string_view text, std::uint64_t seed) {
    std::uint64_t hash = seed;
    for (const char c : text)
        hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3u;
    return hash;
}

std::uint64_t key_of(const Facts& facts) {
    std::uint64_t hash = hash_text(facts.source);
    const auto threads = std::to_string(facts.threads);
    for (const std::string_view part : {std::string_view(facts.arguments), std::string_view(facts.compiler),
                                        std::string_view(facts.architectures), std::string_view(threads)}) {
        hash = hash_text(part, hash_text(std::string_view("\0", 1), hash));
    }
    return hash;
}

void merge_peak(Record& record, double peak_bytes, double seconds) {
    const bool first = record.peak_bytes <= 0;
    record.peak_bytes =
        first ? peak_bytes
              : std::max(peak_bytes, record.peak_bytes + sink_weight * (peak_bytes - record.peak_bytes));
    record.seconds = first ? seconds : record.seconds + 0.5 * (seconds - record.seconds);
    record.min_bytes = 0;  // it ended well with this peak: what a kill taught is superseded
    ++record.runs;
}

void merge_at_least(Record& record, double bytes) {
    // Killed below what it is known to need, it was a bystander.
    if (bytes >= record.peak_bytes) record.min_bytes = std::max(record.min_bytes, bytes);
}

void Predictor::Company::add(double bytes, double duration_s) {
    ++count;
    const double off = bytes - mean;
    mean += off / count;
    squares += off * (bytes - mean);
    mean_seconds += (duration_s - mean_seconds) / count;
}

void Predictor::add_company(const Record& record) {
    const auto circles = circles_of(record.source, record.compiler, record.language);
    for (const auto& name : {circles.language, circles.folder, circles.source}) {
        company_[name].add(record.peak_bytes, record.seconds);
    }
}

void Predictor::recall(std::uint64_t key, const Record& record) {
    records_[key] = record;
    if (record.peak_bytes > 0) add_company(record);
}

void Predictor::learn(const Facts& facts, double peak_bytes, double seconds) {
    auto& record = records_[key_of(facts)];
    record.source = facts.source;
    record.compiler = facts.compiler;
    record.language = facts.language;
    record.architectures = facts.architectures;
    merge_peak(record, peak_bytes, seconds);
    Record seen = record;
    seen.peak_bytes = peak_bytes;
    seen.seconds = seconds;
    add_company(seen);
}

void Predictor::learn_at_least(const Facts& facts, double bytes) {
    auto& record = records_[key_of(facts)];
    record.source = facts.source;
    record.compiler = facts.compiler;
    record.language = facts.language;
    record.architectures = facts.architectures;
    merge_at_least(record, bytes);
}

bool Predictor::knows(const Facts& facts) const {
    const auto* record = record_of(facts);
    return record != nullptr && record->peak_bytes > 0;
}

const Record* Predictor::record_of(const Facts& facts) const {
    const auto found = records_.find(key_of(facts));
    return found == records_.end() ? nullptr : &found->second;
}

Need Predictor::predict(const Facts& facts) const {
    Need need;
    need.cpus = std::max(1u, facts.threads);
    const auto* record = record_of(facts);
    if (record != nullptr && record->peak_bytes > 0) {
        need.typical_bytes = record->peak_bytes;
        need.spread_bytes = std::max(min_spread_bytes, known_spread * record->peak_bytes);
        need.seconds = record->seconds;
    } else {
        const auto& first = usual_of(facts.language);
        need.typical_bytes = first.typical_mib * mib;
        need.spread_bytes = first.spread_mib * mib;
        need.seconds = first.seconds;
        double samples = 0;
        const auto circles = circles_of(facts.source, facts.compiler, facts.language);
        for (const auto& name : {circles.language, circles.folder, circles.source}) {
            const auto found = company_.find(name);
            if (found == company_.end()) continue;
            const auto& near = found->second;
            const double total = near.count + wider_weight;
            const double mean = (near.count * near.mean + wider_weight * need.typical_bytes) / total;
            const double gap = near.mean - need.typical_bytes;
            // Pooled variance: within both, and between their means.
            const double variance = (near.squares + wider_weight * need.spread_bytes * need.spread_bytes +
                                     near.count * wider_weight / total * gap * gap) /
                                    total;
            need.typical_bytes = mean;
            need.spread_bytes = std::sqrt(variance);
            samples = std::max(samples, near.count);
            need.seconds = (near.count * near.mean_seconds + wider_weight * need.seconds) / total;
        }
        // The mean itself may be wrong, and then it is wrong for all alike, so this part adds up instead of
        // evening out: the first compiles of an unknown kind start carefully.
        need.typical_bytes += need.spread_bytes / std::sqrt(1 + samples);
    }
    if (record != nullptr && record->min_bytes > 0 &&
        record->min_bytes * min_retry_growth > need.high_bytes()) {
        need.typical_bytes = record->min_bytes * min_retry_growth;
        need.spread_bytes = guessed_spread * need.typical_bytes;
    }
    return need;
}

}  // namespace wheelyard::governor
