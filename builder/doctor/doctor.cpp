// One pass: pieces are split into lines, lines are searched for words, words become findings.
#include "builder/doctor/doctor.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "builder/attempt/limits.hpp"
#include "builder/doctor/error_line.hpp"
#include "builder/doctor/log_words.hpp"
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

// Says whether the line may be of one of the rule's speakers: where it does not show its writer, it may.
bool is_of_its_speakers(const DoctorRule& rule, std::string_view lower) {
    if (rule.speakers.empty()) return true;
    const auto speaker = speaker_of(lower);
    return !speaker || std::find(rule.speakers.begin(), rule.speakers.end(), *speaker) != rule.speakers.end();
}

bool names_a_panic(std::string_view line) {
    return line.find("panicked at ") != std::string_view::npos && base::trim(line).ends_with(':');
}

constexpr std::string_view rust_script_failed = "failed to run custom build command";  // cargo
constexpr std::string_view in_function = ": in function ";  // ld, on the line before those of the symbols
constexpr std::string_view word_of_pip = "× ";  // × Building wheel for six (pyproject.toml) did not run …
constexpr std::string_view end_of_output = "[end of output]";  // pip, after what a program printed
constexpr std::uint64_t last_lines = 12;  // a log without our marker failed if one of these says so

}  // namespace

Doctor::Doctor(const RuleBook& book)
    : book_(book), words_(book.words()), finding_of_(book.rules().size(), 0) {}

void Doctor::begin_phase(std::string_view name) {
    seen_.phase = name;
    seen_.findings.clear();
    seen_.set_aside.clear();
    message_.clear();
    linked_.clear();
    seen_.first_error.reset();
    std::fill(finding_of_.begin(), finding_of_.end(), 0);
    traceback_ = {};
    context_.clear();
    last_error_ = last_own_error_ = last_reason_ = 0;
    awaits_reason_ = is_chained_ = false;
    first_probe_ = 0;
    handled_name_.clear();
    last_words_.reset();
    rust_ = RustReason::none;
    kept_ = 0;
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

void Doctor::note_rule(std::size_t rule, std::string_view line, std::string_view pattern, bool survivable) {
    if (finding_of_[rule] == 0) {
        seen_.findings.push_back({&book_.rules()[rule], seen_.lines, shorten_line(line)});
        finding_of_[rule] = seen_.findings.size();
    }
    Finding& finding = seen_.findings[finding_of_[rule] - 1];
    const std::size_t probe = context_.is_in_probe() ? context_.probes() : 0;
    finding.probe = finding.count == 0 || finding.probe != 0 ? probe : 0;
    last_finding_ = seen_.lines;
    if (finding.survivable && !survivable) {
        finding.survivable = false;
        finding.line = seen_.lines;
        finding.text = shorten_line(line);
    }
    finding.passing = finding.passing && (survivable || is_passing(pattern));
    ++finding.count;
    finding.last = seen_.lines;
}

std::vector<std::string> Doctor::kept_lines() const {
    std::vector<std::string> lines;
    for (std::uint64_t i = kept_ - std::min<std::uint64_t>(kept_, context_lines); i < kept_; ++i)
        lines.push_back(last_[i % context_lines]);
    return lines;
}

FirstError Doctor::error_here(std::string_view line) const {
    FirstError first{seen_.lines, shorten_line(line), source_line_of(line), kept_lines(), {}};
    if (first.source.file.empty()) first.source = traceback_;
    return first;
}

void Doctor::note_first_error(std::string_view line, ErrorRank rank) {
    const std::size_t probe = context_.is_in_probe() ? context_.probes() : 0;
    // The configuration went on after that probe.
    const bool is_behind =
        first_probe_ != 0 && first_probe_ < context_.probes() && rank >= ErrorRank::consequence;
    if (seen_.first_error && rank <= first_rank_ && !is_behind) return;
    first_rank_ = rank;
    first_probe_ = probe;
    seen_.first_error = error_here(line);
}

void Doctor::note_faint(std::string_view line) {
    if (seen_.first_error) return;
    const std::string_view begin = base::trim(line).substr(0, max_parsed_line_bytes);
    last_words_ = FirstError{seen_.lines, std::string(begin), traceback_, kept_lines(), {}};
}

// cargo prints what a build script wrote: the first line after `--- stderr` is the reason, unless it only
// names the place of a panic: "thread 'main' panicked at build.rs:10:5:".
void Doctor::note_rust_reason(std::string_view text) {
    if (rust_ == RustReason::none || text.empty()) return;
    if (rust_ == RustReason::after_stderr) {
        if (text == "--- stderr") rust_ = RustReason::next;
        return;
    }
    if (names_a_panic(text) || is_harmless(base::ascii_lower(text))) return;
    note_first_error(text, ErrorRank::cause);
    last_error_ = last_own_error_ = seen_.lines;
    rust_ = RustReason::none;
}

// What pip says of a program is only that it failed; where the program had no error, its last line may say
// why.
void Doctor::note_end_of_output() {
    if (kept_ == 0 || !seen_.first_error || !seen_.first_error->text.starts_with(word_of_pip)) return;
    const std::string last = last_[(kept_ - 1) % context_lines];
    const std::string lower = base::ascii_lower(last);
    if (base::trim(last).empty() || is_harmless(lower) || is_consequence(lower)) return;
    const std::uint64_t now = std::exchange(seen_.lines, seen_.lines - 1);
    note_first_error(last, ErrorRank::survived);
    if (seen_.first_error->line == seen_.lines) seen_.first_error->before.pop_back();  // the line itself
    seen_.lines = now;
}

// Each word once, however often it occurs.
void Doctor::find_words(std::string_view text) {
    found_.clear();
    words_.search.find(text, found_);
    std::sort(found_.begin(), found_.end());
    found_.erase(std::unique(found_.begin(), found_.end()), found_.end());
}

// A line with words of rules, or with signs of an error.
struct Doctor::MatchedLine {
    std::string_view line;
    const std::string& lower;
    bool is_harmless;
    bool is_survived;   // in a probe or a warning
    bool is_handled;    // names the missing module whose exception the program handled
    bool names_reason;  // why, not only that something failed
    ErrorRank rank;     // where no rule says otherwise
};

// What the line says in words that rules look for.
void Doctor::add_other_words(const std::string& lower) {
    if (const auto thing = missing_thing(lower); !thing.empty()) match_text_ += "\n" + thing;
    if (const auto output = missing_output(lower); !output.empty())
        match_text_ += "\nfile '" + output + "' not made";
    if (!linked_.empty() && lower.find("(.") != std::string::npos &&
        lower.find("undefined reference") != std::string::npos)
        match_text_ += "\n" + linked_ + ": undefined reference";
    if (const auto word = bare_word(lower); !word.empty()) match_text_ += "\n" + std::string(word);
    if (match_text_.size() != lower.size()) find_words(match_text_);
}

void Doctor::match(std::string_view line) {
    find_words(line);
    if (found_.empty()) return;
    match_text_ = base::ascii_lower(line);
    const std::string lower = match_text_;
    const auto has = [&](WordKind kind) {
        return std::any_of(found_.begin(), found_.end(),
                           [&](auto index) { return words_.words[index].kind == kind; });
    };
    if (has(WordKind::success)) last_words_.reset();
    if (has(WordKind::context)) context_.open(line, lower);
    const bool harmless = is_harmless(lower) || context_.is_quoted() || is_source_quote(line);
    if (has(WordKind::faint) && !harmless) note_faint(line);
    if ((!has(WordKind::rule) && !has(WordKind::sign)) || is_source_quote(line)) return;
    if (lower.find(rust_script_failed) != std::string::npos) rust_ = RustReason::after_stderr;
    if (names_a_panic(line)) {
        rust_ = RustReason::next;
        return note_first_error(line, ErrorRank::step);
    }

    add_other_words(lower);
    const bool in_warning = context_.is_quoted() || (harmless && is_remark(lower));
    const bool is_handled = !handled_name_.empty() && lower.find(handled_name_) != std::string::npos;
    const MatchedLine it{line,
                         lower,
                         harmless,
                         context_.is_in_probe() || in_warning,
                         is_handled,
                         !is_chained_ && names_a_reason(lower),
                         is_consequence(lower) || is_handled ? ErrorRank::consequence : ErrorRank::cause};
    bool is_error = false;
    bool only_steps = true;
    for (const auto index : found_) {
        const Word& found = words_.words[index];
        if (found.kind == WordKind::rule && apply_rule(found, it)) return;  // more general rules follow
        if (found.kind != WordKind::sign || harmless || !matches_words(found.pattern, lower)) continue;
        if (found.pattern == "killed" && bare_word(lower).empty()) continue;
        is_error = true;
        only_steps = only_steps && is_only_a_step(found.pattern);
    }
    if (is_error) note_sign(it, only_steps);
}

// False: the line is not of this rule.
bool Doctor::apply_rule(const Word& found, const MatchedLine& it) {
    const DoctorRule& rule = book_.rules()[found.rule];
    const bool counts = rule.in_warnings ? !is_only_a_check(it.lower) : !it.is_harmless;
    if (!counts || !matches(rule, found.pattern, match_text_)) return false;
    if (rule.weight == Weight::machine && quotes_source(it.lower, max_literal(found.pattern))) return false;
    if (rule.weight != Weight::machine && context_.is_in_dump()) return false;
    if (!is_of_its_speakers(rule, it.lower)) return false;
    if (it.is_handled && rule.weight == Weight::symptom) return false;  // what follows from it is no reason
    const bool survivable = it.is_survived || is_survivable(found.pattern) || rule.weight == Weight::hint;
    note_rule(found.rule, it.line, found.pattern, survivable);
    if (!survivable && (!rule.is_consequence || rule.weight > Weight::symptom)) last_error_ = seen_.lines;
    if (!survivable && !rule.is_consequence) last_own_error_ = seen_.lines;
    if (it.is_harmless) {
        if (rule.weight == Weight::cause) note_first_error(it.line, ErrorRank::survived);
        return true;
    }
    ErrorRank rank = it.rank;
    if (!survivable && is_passing(found.pattern)) {
        awaits_reason_ = true;
        rank = ErrorRank::passing;
    } else if (!survivable && it.names_reason && rule.weight >= Weight::symptom && !rule.is_consequence) {
        last_reason_ = seen_.lines;
        awaits_reason_ = false;
    } else if (survivable) {
        rank = rule.weight == Weight::hint ? ErrorRank::hint : ErrorRank::survived;
    } else if (awaits_reason_ || rule.is_consequence) {
        rank = ErrorRank::consequence;
    }
    note_first_error(it.line, rank);
    return true;
}

// A line that is of no rule.
void Doctor::note_sign(const MatchedLine& it, bool only_steps) {
    const ErrorRank of_sign = only_steps ? ErrorRank::step : it.rank;
    const ErrorRank rank = context_.is_in_probe() ? ErrorRank::survived : of_sign;
    if (rank == ErrorRank::cause && it.names_reason) {
        last_reason_ = seen_.lines;
        awaits_reason_ = false;
    } else if (rank == ErrorRank::cause && awaits_reason_) {
        return note_first_error(it.line, ErrorRank::consequence);
    }
    is_chained_ = false;
    note_first_error(it.line, rank);
    if (rank == ErrorRank::cause) last_error_ = last_own_error_ = seen_.lines;
}

// Where no line of a message matches alone, because a pattern is wrapped, the message as one line may.
void Doctor::note_message(const CMakeMessage::Whole& whole) {
    if (seen_.first_error && seen_.first_error->line == whole.line)
        seen_.first_error->text = shorten_line(whole.text);
    if (last_finding_ >= whole.line) return;
    const std::uint64_t now = std::exchange(seen_.lines, whole.line);
    match(whole.text);
    seen_.lines = now;
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
    if (text.starts_with("Traceback (most")) traceback_begin_ = seen_.lines;
    if (text.starts_with("During handling of the above")) note_handled();
    if (text.starts_with("The above exception was the direct cause")) is_chained_ = true;
    // The step that failed said nothing: whatever follows is a consequence.
    if (first_rank_ == ErrorRank::step && text.starts_with("ninja: build stopped"))
        first_rank_ = ErrorRank::cause;
    if (const auto at = text.find(in_function); at != std::string_view::npos)
        linked_ = base::ascii_lower(text.substr(0, std::min(at, max_parsed_line_bytes)));
    context_.pass(line);
    if (const auto whole = message_.pass(line, seen_.lines)) note_message(*whole);
    note_rust_reason(text);
    if (text == end_of_output) note_end_of_output();
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

// A program that looks for a module and goes on without it: what it says next is the reason, unless that
// names the module too.
void Doctor::note_handled() {
    const DoctorRule* const module_missing = book_.find("python.module_missing");
    const DoctorRule* const import_name = book_.find("python.import_name");
    for (auto& one : seen_.findings) {
        if ((one.rule != module_missing && one.rule != import_name) || one.line < traceback_begin_) continue;
        one.survivable = true;
        const auto names = base::split(one.text, '\'');
        handled_name_ = names.size() > 1 ? base::ascii_lower(names[1]) : std::string();
        if (seen_.first_error && seen_.first_error->line >= traceback_begin_)
            first_rank_ = ErrorRank::survived;
    }
}

// What a build survived does not explain an error that follows.
void Doctor::drop_survived() {
    const auto is_left_behind = [&](const Finding& one) {
        if (one.passing && one.last < last_reason_) return true;
        if (one.survivable && one.probe != 0 && one.probe < context_.probes()) return true;
        return one.survivable && one.last < (one.rule->in_warnings ? last_own_error_ : last_error_);
    };
    const auto behind = std::stable_partition(seen_.findings.begin(), seen_.findings.end(),
                                              [&](const Finding& one) { return !is_left_behind(one); });
    seen_.set_aside.assign(behind, seen_.findings.end());
    seen_.findings.erase(behind, seen_.findings.end());
}

// A failed log always has an error: if no line has a sign of one, the last that sounds like one, or simply
// the last.
void Doctor::settle_for_last_words() {
    if (seen_.first_error || !seen_.findings.empty() || seen_.exit_code == 0) return;
    if (last_words_) {
        if (auto source = source_line_of(last_words_->text); !source.file.empty())
            last_words_->source = std::move(source);
        last_words_->text = shorten_line(last_words_->text);
    }
    if (!seen_.exit_code && (!last_words_ || last_words_->line + last_lines < seen_.lines)) return;
    const auto kept = kept_lines();
    for (auto last = kept.rbegin(); last != kept.rend() && !last_words_; ++last) {
        const std::string lower = base::ascii_lower(*last);
        if (!base::trim(lower).empty() && !is_ignored_preload(lower) && !is_only_a_url(lower))
            last_words_ = FirstError{seen_.lines, shorten_line(*last), source_line_of(*last), {}, {}};
    }
    seen_.first_error = std::move(last_words_);
}

Examination Doctor::finish() {
    if (!rest_.empty()) examine_line(rest_);
    rest_.clear();
    if (const auto whole = message_.finish()) note_message(*whole);
    drop_survived();
    // A survived cause is more than one that many causes share, and that more than a symptom; a consequence is
    // less than the warning that it follows from.
    const auto closeness = [](const Finding& one) {
        const int weight = static_cast<int>(one.rule->weight) * 2;
        const int symptom = static_cast<int>(Weight::symptom) * 2;
        if (one.rule->is_consequence) return std::min(weight, symptom) - 1;
        if (weight <= symptom) return one.survivable ? weight - 2 : weight;  // explains no later error
        if (one.rule->is_shared) return symptom + (one.survivable ? 1 : 2);
        return one.survivable ? symptom + 3 : weight + 2;
    };
    std::stable_sort(seen_.findings.begin(), seen_.findings.end(), [&](const Finding& a, const Finding& b) {
        return closeness(a) != closeness(b) ? closeness(a) > closeness(b) : a.line < b.line;
    });
    settle_for_last_words();
    if (seen_.first_error) {
        for (auto& line : seen_.first_error->before)
            line = shorten_line(line);
    }
    return std::move(seen_);
}

base::Result<Examination> examine_log(const std::filesystem::path& log, const RuleBook& book) {
    WHEELYARD_ASSIGN(const auto reader, base::FileReader::open(log));
    Doctor doctor(book);
    std::string piece(base::mib, '\0');
    const std::uint64_t size = reader.size();
    // Only the end of a very large log is read: that is where failures are.
    for (std::uint64_t at = size - std::min(size, log_scan_bytes); at < size;) {
        const auto length = static_cast<std::size_t>(std::min<std::uint64_t>(piece.size(), size - at));
        WHEELYARD_TRY(reader.read_at(at, piece.data(), length));
        doctor.feed(std::string_view(piece).substr(0, length));
        at += length;
    }
    return doctor.finish();
}

std::string last_words(std::string_view said) {
    constexpr std::size_t max_lines = 3;
    // The tail of a log may begin in the middle of a UTF-8 character.
    while (!said.empty() && (static_cast<unsigned char>(said.front()) & 0xC0U) == 0x80U)
        said.remove_prefix(1);
    const auto lines = base::split_lines(said);
    std::vector<std::string> last;
    for (auto line = lines.rbegin(); line != lines.rend() && last.size() < max_lines; ++line) {
        auto shown = shorten_line(plain_line(*line));
        if (!shown.empty()) last.push_back(std::move(shown));
    }
    std::reverse(last.begin(), last.end());
    return base::join(last, " / ");
}

}  // namespace wheelyard::builder
