// Predicts from records, and from groups of similar compiles where there is no record.
#include "builder/governor/admission/predict.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "builder/governor/memory/limits.hpp"
#include "lib/base/digest/digest.hpp"

namespace wheelyard::governor {
namespace {

constexpr double known_spread = 0.012;  // part of the peak by which repeated runs of a compile differ
constexpr double min_spread_bytes = 4.0 * mib;
constexpr double guessed_spread = 0.15;  // after a kill: the growth factor is a guess
constexpr double prior_weight = 4;       // samples that the wider estimate counts as
constexpr double decay_weight = 0.25;    // how fast a record follows a lower peak

struct Default {
    std::string_view language;
    double typical_mib, spread_mib, seconds;
};
// The estimate before anything was measured.
constexpr std::array defaults = {
    Default{"c", 120, 80, 1},      Default{"c++", 550, 250, 8},        Default{"cuda", 1500, 700, 40},
    Default{"hip", 1200, 600, 30}, Default{"link", 400, 300, 3},       Default{"fortran", 250, 150, 4},
    Default{"asm", 40, 20, 0.2},   Default{"distributed", 100, 60, 5}, Default{"", 400, 250, 5},
};

const Default& default_of(std::string_view language) {
    const auto found = std::find_if(defaults.begin(), defaults.end(), [&](const Default& row) {
        return row.language == language || row.language.empty();
    });
    return *found;
}

// Where tools that configure a build compile and link their probes: sources of a few lines, of which there
// may be hundreds before the first real compile.
constexpr std::array probe_places = {
    "meson-private/",        // Meson
    "CMakeFiles/CMakeTmp/",  // CMake's try_compile before 3.25
    "CMakeFiles/CMakeScratch/",
    "/CompilerId",    // CMake's identification of a compiler
    "cmTC_",          // what try_compile links
    "conftest",       // Autoconf
    "_configtest",    // distutils and numpy.distutils
    ".sconf_temp/",   // SCons
    ".conf_check_",   // Waf
    "config.tests/",  // qmake
};

bool is_configure_probe(std::string_view source) {
    return std::any_of(probe_places.begin(), probe_places.end(), [&](std::string_view place) {
        const auto at = source.find(place);
        return at != std::string_view::npos && (at == 0 || source[at - 1] == '/' || place.front() == '/');
    });
}

// Names of the groups that a compile belongs to, from wide to narrow. Probes are a kind of their own: they
// say nothing about the size of what is built afterwards.
std::array<std::string, 3> groups_of(std::string_view source, std::string_view compiler,
                                     std::string_view language) {
    const auto slash = source.rfind('/');
    const std::string name = std::string(language) + (is_configure_probe(source) ? "\tprobe\t" : "\t");
    return {name + std::string(compiler),
            name + "/" + std::string(slash == std::string_view::npos ? "" : source.substr(0, slash)),
            name + "=" + std::string(source)};
}

}  // namespace

std::uint64_t key_of(const CompileFacts& facts) {
    std::uint64_t hash = base::hash_text(facts.source);
    const auto threads = std::to_string(facts.threads);
    for (const std::string_view part : {std::string_view(facts.arguments), std::string_view(facts.compiler),
                                        std::string_view(facts.architectures), std::string_view(threads)}) {
        hash = base::hash_text(part, base::hash_text(std::string_view("\0", 1), hash));
    }
    return hash;
}

void merge_peak(Record& record, double peak_bytes, double seconds) {
    const bool first = record.peak_bytes <= 0;
    record.peak_bytes =
        first ? peak_bytes
              : std::max(peak_bytes, record.peak_bytes + decay_weight * (peak_bytes - record.peak_bytes));
    record.seconds = first ? seconds : record.seconds + 0.5 * (seconds - record.seconds);
    record.min_bytes = 0;  // the measured peak replaces the bound from a kill
    ++record.runs;
}

void merge_at_least(Record& record, double bytes) {
    // Killed below its known peak, the compile did not cause the shortage.
    if (bytes >= record.peak_bytes) record.min_bytes = std::max(record.min_bytes, bytes);
}

void Predictor::Group::add(double bytes, double duration_s) {
    ++count;
    const double off = bytes - mean;
    mean += off / count;
    squares += off * (bytes - mean);
    mean_seconds += (duration_s - mean_seconds) / count;
}

void Predictor::add_to_groups(const Record& record) {
    for (const auto& name : groups_of(record.source, record.compiler, record.language))
        groups_[name].add(record.peak_bytes, record.seconds);
}

void Predictor::recall(std::uint64_t key, const Record& record) {
    records_[key] = record;
    if (record.peak_bytes > 0) add_to_groups(record);
}

void Predictor::learn(const CompileFacts& facts, double peak_bytes, double seconds) {
    auto& record = records_[key_of(facts)];
    record.source = facts.source;
    record.compiler = facts.compiler;
    record.language = facts.language;
    record.architectures = facts.architectures;
    merge_peak(record, peak_bytes, seconds);
    Record seen = record;
    seen.peak_bytes = peak_bytes;
    seen.seconds = seconds;
    add_to_groups(seen);
}

void Predictor::learn_at_least(const CompileFacts& facts, double bytes) {
    auto& record = records_[key_of(facts)];
    record.source = facts.source;
    record.compiler = facts.compiler;
    record.language = facts.language;
    record.architectures = facts.architectures;
    merge_at_least(record, bytes);
}

bool Predictor::knows(const CompileFacts& facts) const {
    const auto* record = record_of(facts);
    return record != nullptr && record->peak_bytes > 0;
}

const Record* Predictor::record_of(const CompileFacts& facts) const {
    const auto found = records_.find(key_of(facts));
    return found == records_.end() ? nullptr : &found->second;
}

Need Predictor::predict(const CompileFacts& facts) const {
    Need need;
    need.cpus = std::max(1u, facts.threads);
    const auto* record = record_of(facts);
    if (record != nullptr && record->peak_bytes > 0) {
        need.typical_bytes = record->peak_bytes;
        need.spread_bytes = std::max(min_spread_bytes, known_spread * record->peak_bytes);
        need.seconds = record->seconds;
    } else {
        const auto& first = default_of(facts.language);
        need.typical_bytes = first.typical_mib * mib;
        need.spread_bytes = first.spread_mib * mib;
        need.seconds = first.seconds;
        double samples = 0;
        for (const auto& name : groups_of(facts.source, facts.compiler, facts.language)) {
            const auto found = groups_.find(name);
            if (found == groups_.end()) continue;
            const auto& group = found->second;
            const double total = group.count + prior_weight;
            const double mean = (group.count * group.mean + prior_weight * need.typical_bytes) / total;
            const double gap = group.mean - need.typical_bytes;
            // Pooled variance: within the group and the wider estimate, and between their means.
            const double variance = (group.squares + prior_weight * need.spread_bytes * need.spread_bytes +
                                     group.count * prior_weight / total * gap * gap) /
                                    total;
            need.typical_bytes = mean;
            need.spread_bytes = std::sqrt(variance);
            samples = std::max(samples, group.count);
            need.seconds = (group.count * group.mean_seconds + prior_weight * need.seconds) / total;
        }
        // An error of the mean is the same for all compiles of the group, so it does not average out. Adding
        // it makes the first compiles of an unknown kind start carefully.
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
