// One pass: pieces are split into lines, lines are searched for words, words become findings.
#include "builder/doctor/doctor.hpp"

#include <algorithm>
#include <utility>

#include "builder/attempt/limits.hpp"
#include "builder/doctor/word_search.hpp"
#include "lib/base/files/file.hpp"
#include "lib/base/limits.hpp"
#include "lib/base/text/text.hpp"

namespace wheelyard::builder {
namespace {

constexpr std::string_view marker = "@@wheelyard ";

// ("@@wheelyard phase=build at=…", "phase=") → "build".
std::string_view word_of(std::string_view line, std::string_view name) {
    const auto at = line.find(name);
    if (at == std::string_view::npos) return {};
    line.remove_prefix(at + name.size());
    return line.substr(0, line.find(' '));
}

struct Word {
    std::size_t rule;  // index in doctor_rules(); doctor_rules().size(): a sign of an error
    std::string_view pattern;
};

// All patterns and signs, and the search for them. Built once, because building takes longer than reading a
// short log.
struct Words {
    std::vector<Word> words;
    WordSearch search;
};

std::vector<Word> collect_words() {
    std::vector<Word> words;
    const auto& rules = doctor_rules();
    for (std::size_t i = 0; i < rules.size(); ++i) {
        for (const auto pattern : rules[i].patterns) {
            if (!pattern.empty()) words.push_back({i, pattern});
        }
    }
    for (const auto sign : error_signs())
        words.push_back({rules.size(), sign});
    return words;
}

const Words& all_words() {
    static const Words all = [] {
        auto words = collect_words();
        std::vector<std::string_view> needles;
        for (const auto& word : words)
            needles.push_back(max_literal(word.pattern));
        return Words{std::move(words), WordSearch(needles)};
    }();
    return all;
}

}  // namespace

Doctor::Doctor() : finding_of_(doctor_rules().size(), 0) {}

void Doctor::begin_phase(std::string_view name) {
    seen_.phase = name;
    seen_.findings.clear();
    seen_.first_error.reset();
    std::fill(finding_of_.begin(), finding_of_.end(), 0);
    traceback_ = {};
}

// Only the last phase can have failed. Other markers, such as "stop requested", are matched like any line.
void Doctor::examine_marker(std::string_view line) {
    const std::string_view rest = line.substr(marker.size());
    if (rest.starts_with("phase=")) return begin_phase(word_of(rest, "phase="));
    if (rest.starts_with("exit=")) {
        const auto code = base::parse_decimal(word_of(rest, "exit="));
        constexpr std::uint64_t most = 255;
        if (code && *code <= most) seen_.exit_code = static_cast<int>(*code);
    }
    match(line);
}

void Doctor::note_rule(std::size_t rule, std::string_view line) {
    if (finding_of_[rule] == 0) {
        seen_.findings.push_back({&doctor_rules()[rule], seen_.lines, shorten_line(line), 0});
        finding_of_[rule] = seen_.findings.size();
    }
    ++seen_.findings[finding_of_[rule] - 1].count;
}

void Doctor::note_first_error(std::string_view line, ErrorRank rank) {
    if (seen_.first_error && rank <= first_rank_) return;
    first_rank_ = rank;
    FirstError first{seen_.lines, shorten_line(line), source_line_of(line), {}, {}};
    if (first.source.file.empty()) first.source = traceback_;
    const std::uint64_t there = std::min<std::uint64_t>(kept_, context_lines);
    for (std::uint64_t i = kept_ - there; i < kept_; ++i)
        first.before.push_back(last_[i % context_lines]);
    seen_.first_error = std::move(first);
}

void Doctor::match(std::string_view line) {
    found_.clear();
    all_words().search.find(line, found_);
    if (found_.empty()) return;
    std::sort(found_.begin(), found_.end());
    found_.erase(std::unique(found_.begin(), found_.end()), found_.end());
    const std::string lower = base::ascii_lower(line);
    const bool harmless = is_harmless(lower);
    const auto& rules = doctor_rules();
    std::size_t noted = rules.size();  // the rule of the previous word; patterns of a rule are adjacent
    bool is_error = false;
    ErrorRank by_sign = ErrorRank::step;
    std::optional<ErrorRank> by_rule;
    for (const auto index : found_) {
        const Word& word = all_words().words[index];
        if (word.rule == rules.size()) {
            is_error = !harmless;
            if (!is_only_a_step(word.pattern)) by_sign = ErrorRank::cause;
            continue;
        }
        const bool counts = rules[word.rule].in_warnings ? !is_only_a_check(lower) : !harmless;
        if (!counts || word.rule == noted || !matches_pattern(word.pattern, lower)) continue;
        noted = word.rule;
        note_rule(word.rule, line);
        is_error = is_error || !harmless;
        by_rule = rules[word.rule].weight == Weight::hint ? ErrorRank::hint : ErrorRank::cause;
    }
    if (is_error) note_first_error(line, by_rule.value_or(by_sign));
}

void Doctor::keep(std::string_view line) {
    if (seen_.first_error) {
        auto& after = seen_.first_error->after;
        if (seen_.first_error->line < seen_.lines && after.size() < context_lines)
            after.push_back(shorten_line(line));
        if (first_rank_ == ErrorRank::cause) return;
    }
    constexpr std::size_t copied = max_error_line_bytes * 2;  // finish() shortens it further
    last_[kept_++ % context_lines].assign(line.substr(0, copied));
}

void Doctor::examine_line(std::string_view line) {
    ++seen_.lines;
    if (line.starts_with(marker)) return examine_marker(line);
    std::string plain;
    if (line.find_first_of("\x1b\r") != std::string_view::npos) {
        plain = plain_line(line);
        line = plain;
    }
    const std::string_view text = base::trim(line);
    if (text.starts_with("File \"")) traceback_ = source_line_of(text);
    // The step that failed said nothing: whatever follows is a consequence.
    if (first_rank_ == ErrorRank::step && text.starts_with("ninja: build stopped"))
        first_rank_ = ErrorRank::cause;
    match(line);
    keep(line);
}

void Doctor::feed(std::string_view piece) {
    seen_.bytes += piece.size();
    while (!piece.empty()) {
        const auto end = piece.find('\n');
        const std::string_view part = piece.substr(0, end);
        if (end != std::string_view::npos && rest_.empty() && !cut_ && part.size() <= max_log_line_bytes) {
            examine_line(part);  // a complete line, not copied
        } else {
            const std::size_t room = max_log_line_bytes - rest_.size();
            rest_ += part.substr(0, room);
            cut_ = cut_ || part.size() > room;
            if (end == std::string_view::npos) return;
            examine_line(rest_);
            rest_.clear();
            cut_ = false;
        }
        piece.remove_prefix(end + 1);
    }
}

Examination Doctor::finish() {
    if (!rest_.empty()) examine_line(rest_);
    rest_.clear();
    std::stable_sort(seen_.findings.begin(), seen_.findings.end(), [](const Finding& a, const Finding& b) {
        return a.rule->weight != b.rule->weight ? a.rule->weight > b.rule->weight : a.line < b.line;
    });
    if (seen_.first_error) {
        for (auto& line : seen_.first_error->before)
            line = shorten_line(line);
    }
    return std::move(seen_);
}

base::Result<Examination> examine_log(const std::filesystem::path& log) {
    WHEELYARD_ASSIGN(const auto reader, base::FileReader::open(log));
    Doctor doctor;
    std::string piece(base::mib, '\0');
    const std::uint64_t size = reader.size();
    // Of a very large log only the end is read: that is where failures are.
    for (std::uint64_t at = size - std::min(size, log_scan_bytes); at < size;) {
        const auto length = static_cast<std::size_t>(std::min<std::uint64_t>(piece.size(), size - at));
        WHEELYARD_TRY(reader.read_at(at, piece.data(), length));
        doctor.feed(std::string_view(piece).substr(0, length));
        at += length;
    }
    return doctor.finish();
}

}  // namespace wheelyard::builder
