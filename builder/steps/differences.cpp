// The comparison goes member by member, then by the archive's own fields. Texts (lines, or printable strings
// in binary bytes) that only one wheel has explain a member: by the name of their build's folder, or as equal
// without times.
#include "builder/steps/differences.hpp"

#include <algorithm>
#include <array>
#include <iterator>
#include <map>
#include <utility>

#include "lib/base/text/text.hpp"
#include "lib/base/text/utf8.hpp"
#include "lib/inspect/verdict/findings.hpp"
#include "lib/inspect/verdict/policy.hpp"
#include "lib/inspect/zip/member_stream.hpp"
#include "lib/inspect/zip/zip.hpp"

namespace wheelyard::builder {
namespace {

constexpr std::size_t archive_piece_bytes = 1 * base::mib;  // of two wheels, read at once
constexpr std::size_t max_differing_texts = 4096;           // of one wheel's member, that are looked at
constexpr std::size_t min_string_bytes = 4;  // of a printable text in binary bytes, as in strings(1)
constexpr std::string_view mark = "?";

using inspect::Frame;
using inspect::Member;
using inspect::MemberStream;

base::Result<Frame> read_wheel(const base::Reader& bytes, std::string_view which) {
    const inspect::Policy policy;
    inspect::Findings findings(policy);
    WHEELYARD_ASSIGN(auto frame, inspect::read_frame(bytes, findings));
    const std::string sentence = "The " + std::string(which) + " wheel cannot be read";
    if (!frame) {
        const auto verdicts = findings.take();
        return base::fail("compare.unreadable", sentence, verdicts.empty() ? "" : verdicts.front().text());
    }
    const auto unreadable = std::find_if(frame->members.begin(), frame->members.end(),
                                         [](const Member& member) { return !member.readable; });
    if (unreadable == frame->members.end()) return std::move(*frame);
    return base::fail("compare.unreadable",
                      sentence + ": a member is encrypted, or packed by an unknown method", unreadable->name);
}

// Both streams at once, so that neither member has to fit into memory.
base::Result<bool> has_same_contents(const base::Reader& a_bytes, const Member& a,
                                     const base::Reader& b_bytes, const Member& b) {
    if (a.crc32 != b.crc32 || a.unpacked_bytes != b.unpacked_bytes) return false;
    MemberStream a_stream(a_bytes, a);
    MemberStream b_stream(b_bytes, b);
    std::string_view a_piece;
    std::string_view b_piece;
    while (true) {
        if (a_piece.empty()) {
            WHEELYARD_ASSIGN(a_piece, a_stream.next());
        }
        if (b_piece.empty()) {
            WHEELYARD_ASSIGN(b_piece, b_stream.next());
        }
        if (a_piece.empty() || b_piece.empty()) return a_piece.empty() && b_piece.empty();
        const std::size_t length = std::min(a_piece.size(), b_piece.size());
        if (a_piece.substr(0, length) != b_piece.substr(0, length)) return false;
        a_piece.remove_prefix(length);
        b_piece.remove_prefix(length);
    }
}

bool is_record(std::string_view name) {
    return name.ends_with(".dist-info/RECORD");
}

// The header of a .pyc file has the time of its source (PEP 552).
bool differs_by_source_time(std::string_view name, std::string_view a, std::string_view b) {
    constexpr std::size_t time_at = 8;
    constexpr std::size_t code_at = 16;
    return name.ends_with(".pyc") && a.size() > code_at && b.size() > code_at &&
           a.substr(0, time_at) == b.substr(0, time_at) && a.substr(code_at) == b.substr(code_at);
}

bool is_printable(char c) {
    return c == '\t' || (c >= ' ' && c <= '~');
}

bool is_text(std::string_view bytes) {
    return bytes.find('\0') == std::string_view::npos && base::is_utf8(bytes);
}

std::vector<std::string_view> strings_of(std::string_view bytes) {
    std::vector<std::string_view> found;
    for (std::size_t begin = 0; begin < bytes.size();) {
        const auto* const from = bytes.begin() + begin;
        const auto* const to = std::find_if_not(from, bytes.end(), is_printable);
        const auto length = static_cast<std::size_t>(to - from);
        if (length >= min_string_bytes) found.push_back(bytes.substr(begin, length));
        begin += length + 1;
    }
    return found;
}

using Texts = std::vector<std::string_view>;

// The texts of `texts` that `others` has not, sorted; at most max_differing_texts.
Texts only_in(Texts texts, Texts others) {
    std::sort(texts.begin(), texts.end());
    std::sort(others.begin(), others.end());
    Texts only;
    std::set_difference(texts.begin(), texts.end(), others.begin(), others.end(), std::back_inserter(only));
    only.resize(std::min(only.size(), max_differing_texts));
    return only;
}

bool has_digits(std::string_view text, std::size_t at, std::string_view pattern) {
    if (at + pattern.size() > text.size()) return false;
    for (std::size_t i = 0; i < pattern.size(); ++i) {
        const char c = text[at + i];
        const bool is_met = pattern[i] == '#'   ? base::is_ascii_digit(c)
                            : pattern[i] == '_' ? base::is_ascii_digit(c) || c == ' '
                                                : c == pattern[i];
        if (!is_met) return false;
    }
    return true;
}

// The length of the date or time at this place; 0: none.
std::size_t length_of_time(std::string_view text, std::size_t at) {
    static constexpr std::array<std::string_view, 12> months = {"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                                                "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
    static constexpr std::array<std::string_view, 7> days = {"Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"};
    static constexpr std::array<std::string_view, 5> patterns = {"####-##-##", "##:##:##", "##.##.####",
                                                                 "##/##/####", "########T######"};
    for (const auto pattern : patterns) {
        if (has_digits(text, at, pattern)) return pattern.size();
    }
    const auto begins_with = [&](std::string_view word) { return text.substr(at).starts_with(word); };
    for (const auto month : months) {  // __DATE__: "Feb  1 2020"
        if (begins_with(month) && has_digits(text, at + 3, " _# ####")) return 11;
        if (begins_with(month) && has_digits(text, at + 3, " _#")) return 6;
    }
    if (std::any_of(days.begin(), days.end(), begins_with) && at + 3 < text.size() &&
        (text[at + 3] == ' ' || text[at + 3] == ','))
        return 3;
    // Seconds since 1970, from 2001 to 2033, possibly with a fraction.
    const bool begins_number = at == 0 || !base::is_ascii_digit(text[at - 1]);
    if (begins_number && has_digits(text, at, "1#########")) {
        std::size_t end = at + 10;
        while (end < text.size() && (base::is_ascii_digit(text[end]) || text[end] == '.'))
            ++end;
        return end - at;
    }
    return 0;
}

std::string without_names(std::string_view text, const std::vector<std::string>& names) {
    std::string masked(text);
    for (const auto& name : names) {
        if (!name.empty()) masked = base::replace_all(masked, name, mark);
    }
    return masked;
}

// The first text that has a name of its build.
std::string_view first_with_name(std::string_view bytes, const std::vector<std::string>& names) {
    std::size_t at = std::string_view::npos;
    for (const auto& name : names)
        at = std::min(at, name.empty() ? std::string_view::npos : bytes.find(name));
    if (at == std::string_view::npos) return {};
    const auto is_end = [](char c) { return !is_printable(c); };
    const auto begin = bytes.rend() - static_cast<std::ptrdiff_t>(at);
    const auto from =
        static_cast<std::size_t>(std::find_if(begin, bytes.rend(), is_end).base() - bytes.begin());
    const auto* const to = std::find_if(bytes.begin() + at, bytes.end(), is_end);
    return bytes.substr(from, static_cast<std::size_t>(to - bytes.begin()) - from);
}

std::string evidence_text(std::string_view text) {
    std::string shown(base::cut_utf8(base::trim(text), max_evidence_bytes));
    return shown.size() < base::trim(text).size() ? shown + "…" : shown;
}

// The evidence begins near the first differing byte, so that a long line shows it.
CauseExample example_of(const std::string& member, std::string_view recorded, std::string_view again) {
    const auto* const end = recorded.begin() + std::min(recorded.size(), again.size());
    auto at = static_cast<std::size_t>(std::mismatch(recorded.begin(), end, again.begin()).first -
                                       recorded.begin());
    constexpr std::size_t before = max_evidence_bytes / 2;
    at = at > before && std::max(recorded.size(), again.size()) > max_evidence_bytes ? at - before : 0;
    return {member, "", evidence_text(recorded.substr(at)), evidence_text(again.substr(at))};
}

class WheelComparer {
  public:
    explicit WheelComparer(const WheelPair& pair) : pair_(pair) {}

    base::Result<Comparison> compare() {
        WHEELYARD_ASSIGN(recorded_, read_wheel(pair_.recorded, "recorded"));
        WHEELYARD_ASSIGN(again_, read_wheel(pair_.again, "rebuilt"));
        for (const Member& member : again_.members)
            others_.emplace(member.name, &member);
        for (const Member& member : recorded_.members) {
            WHEELYARD_TRY(base::renew_or_abort(pair_.keep_alive));
            WHEELYARD_TRY(compare_member(member));
        }
        for (const auto& [name, member] : others_)
            result_.add(Cause::bytes, {name, "a member of the rebuilt wheel alone"});
        // RECORD follows from the other members.
        if (differing_record_.first != nullptr && result_.causes.empty()) {
            WHEELYARD_TRY(explain(*differing_record_.first, *differing_record_.second));
        }
        if (result_.causes.empty()) {
            WHEELYARD_TRY(compare_archives());
        }
        return std::move(result_);
    }

  private:
    base::Status compare_member(const Member& recorded) {
        const auto found = others_.find(recorded.name);
        if (found == others_.end()) {
            result_.add(Cause::bytes, {recorded.name, "a member of the recorded wheel alone"});
            return {};
        }
        const Member& again = *found->second;
        others_.erase(found);
        WHEELYARD_ASSIGN(const bool same, has_same_contents(pair_.recorded, recorded, pair_.again, again));
        ++(same ? result_.same_members : result_.differing_members);
        if (recorded.time_and_date != again.time_and_date)
            result_.add(Cause::build_time, {recorded.name, "its time in the archive"});
        if (same) return {};
        if (is_record(recorded.name)) {
            differing_record_ = {&recorded, &again};
            return {};
        }
        return explain(recorded, again);
    }

    base::Status explain(const Member& recorded, const Member& again) {
        if (std::max(recorded.unpacked_bytes, again.unpacked_bytes) > max_explained_bytes) {
            result_.add(Cause::bytes, {recorded.name, "too large to explain"});
            return {};
        }
        WHEELYARD_ASSIGN(const auto a, inspect::read_member(pair_.recorded, recorded, max_explained_bytes));
        WHEELYARD_ASSIGN(const auto b, inspect::read_member(pair_.again, again, max_explained_bytes));
        if (differs_by_source_time(recorded.name, a, b)) {
            result_.add(Cause::build_time, {recorded.name, "the time of its source"});
        } else {
            explain_bytes(recorded.name, a, b);
        }
        return {};
    }

    void explain_bytes(const std::string& name, std::string_view a, std::string_view b) {
        const std::string recorded = without_names(a, pair_.names.recorded);
        const std::string again = without_names(b, pair_.names.again);
        const bool has_path = recorded != a && again != b;
        const auto recorded_path = first_with_name(a, pair_.names.recorded);
        const auto again_path = first_with_name(b, pair_.names.again);
        const bool is_path = has_path && recorded_path != again_path;
        if (is_path) result_.add(Cause::build_path, example_of(name, recorded_path, again_path));
        const bool are_texts = is_text(recorded) && is_text(again);
        const auto texts_of = are_texts ? [](std::string_view bytes) { return base::split_lines(bytes); }
                                        : [](std::string_view bytes) { return strings_of(bytes); };
        const Texts all = texts_of(recorded);
        const Texts others = texts_of(again);
        const Texts only_recorded = only_in(all, others);
        const Texts only_again = only_in(others, all);
        std::map<std::string, std::string_view> by_timeless;
        for (const auto text : only_again)
            by_timeless.emplace(without_times(text), text);
        for (const auto text : only_recorded) {
            const auto same = by_timeless.find(without_times(text));
            if (same == by_timeless.end()) continue;
            result_.add(Cause::build_time, example_of(name, text, same->second));
            return;
        }
        if (is_path) return;
        const auto first = [](const Texts& texts) {
            return texts.empty() ? std::string_view() : texts.front();
        };
        result_.add(Cause::bytes, example_of(name, first(only_recorded), first(only_again)));
    }

    // All members are equal.
    base::Status compare_archives() {
        bool same = pair_.recorded.size() == pair_.again.size();
        std::string other;
        std::uint64_t at = 0;
        const auto compare = [&](std::string_view piece) -> base::Status {
            if (!same) return {};
            other.resize(piece.size());
            WHEELYARD_TRY(pair_.again.read_at(at, other.data(), other.size()));
            same = piece == other;
            at += piece.size();
            return {};
        };
        WHEELYARD_TRY(base::for_each_piece(pair_.recorded, archive_piece_bytes, compare));
        result_.identical = same;
        if (!same) result_.add(Cause::bytes, {"", "the archive: order, modes or packing of its members"});
        return {};
    }

    const WheelPair& pair_;
    Frame recorded_;
    Frame again_;
    std::map<std::string, const Member*> others_;  // of the second wheel, not met yet
    std::pair<const Member*, const Member*> differing_record_ = {nullptr, nullptr};
    Comparison result_;
};

}  // namespace

void Comparison::add(Cause cause, CauseExample example) {
    auto at = std::lower_bound(causes.begin(), causes.end(), cause,
                               [](const FoundCause& one, Cause other) { return one.cause < other; });
    if (at == causes.end() || at->cause != cause) at = causes.insert(at, {cause, 0, {}});
    ++at->places;
    if (at->examples.size() < max_examples) at->examples.push_back(std::move(example));
}

base::Result<Comparison> compare_wheels(const WheelPair& pair) {
    return WheelComparer(pair).compare();
}

std::string without_times(std::string_view text) {
    std::string masked;
    for (std::size_t at = 0; at < text.size();) {
        const std::size_t length = length_of_time(text, at);
        masked += length > 0 ? mark : text.substr(at, 1);
        at += std::max<std::size_t>(length, 1);
    }
    return masked;
}

}  // namespace wheelyard::builder
