#include "builder/compare/explain_bytes.hpp"

#include <algorithm>
#include <array>
#include <iterator>
#include <optional>

#include "lib/base/text/text.hpp"
#include "lib/base/text/utf8.hpp"

namespace wheelyard::builder {
namespace {

// Differing lines or strings of one such pair that are compared with each other.
constexpr std::size_t max_differing_texts = 4096;
constexpr std::size_t min_string_bytes = 4;  // of a printable text in binary bytes, as in strings(1)

constexpr std::string_view mark = "?";

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

struct Sides {
    Texts recorded;
    Texts again;
};

// The texts that only one side has, in order, at most max_differing_texts.
Texts only_in(const Texts& texts, Texts others) {
    std::sort(others.begin(), others.end());
    std::vector<bool> used(others.size(), false);
    Texts only;
    for (const auto text : texts) {
        auto at = std::lower_bound(others.begin(), others.end(), text) - others.begin();
        while (at < std::ssize(others) && others[static_cast<std::size_t>(at)] == text &&
               used[static_cast<std::size_t>(at)])
            ++at;
        const bool is_there = at < std::ssize(others) && others[static_cast<std::size_t>(at)] == text;
        if (is_there)
            used[static_cast<std::size_t>(at)] = true;
        else if (only.size() < max_differing_texts)
            only.push_back(text);
    }
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

std::string evidence_text(std::string_view text) {
    std::string shown(base::cut_utf8(base::trim(text), max_evidence_bytes));
    return shown.size() < base::trim(text).size() ? shown + "…" : shown;
}

// Begins the evidence near the first differing byte, so that a long line shows it.
Evidence evidence_of(Cause cause, std::string_view recorded, std::string_view again) {
    const auto length = std::min(recorded.size(), again.size());
    const auto* const end = recorded.begin() + length;
    auto at = static_cast<std::size_t>(std::mismatch(recorded.begin(), end, again.begin()).first -
                                       recorded.begin());
    constexpr std::size_t before = max_evidence_bytes / 2;
    at = at > before && std::max(recorded.size(), again.size()) > max_evidence_bytes ? at - before : 0;
    return {cause, {}, evidence_text(recorded.substr(at)), evidence_text(again.substr(at))};
}

// The cause of a pair of differing texts, both already without the builds' names; nullopt: unknown.
std::optional<Cause> cause_of_pair(std::string_view recorded, std::string_view again) {
    if (without_times(recorded) == without_times(again)) return Cause::build_time;
    if (recorded.starts_with("Generator:") && again.starts_with("Generator:")) return Cause::generator;
    const auto has_temporary = [](std::string_view text) {
        return text.find("/tmp/") != std::string_view::npos;
    };
    if (has_temporary(recorded) && has_temporary(again)) return Cause::temporary_path;
    return std::nullopt;
}

class Explainer {
  public:
    Explainer(std::string_view recorded, std::string_view again, const BuildNames& names)
        : recorded_(recorded), again_(again), names_(names) {}

    std::vector<Evidence> explain() {
        const std::string recorded = without_names(recorded_, names_.recorded);
        const std::string again = without_names(again_, names_.again);
        if (recorded != recorded_ && again != again_) note_path();
        if (recorded == again) {
            if (found_.empty()) add(Cause::bytes, recorded_, again_);
            return found_;
        }
        const bool are_texts = is_text(recorded) && is_text(again);
        const Sides all = are_texts ? Sides{base::split_lines(recorded), base::split_lines(again)}
                                    : Sides{strings_of(recorded), strings_of(again)};
        const Sides only{only_in(all.recorded, all.again), only_in(all.again, all.recorded)};
        if (only.recorded.empty() && only.again.empty()) {
            judge_equal_texts(all, are_texts);
            return found_;
        }
        const std::size_t pairs = std::min(only.recorded.size(), only.again.size());
        for (std::size_t i = 0; i < pairs; ++i)
            add(cause_of_pair(only.recorded[i], only.again[i]).value_or(Cause::bytes), only.recorded[i],
                only.again[i]);
        if (only.recorded.size() > pairs) add(Cause::bytes, only.recorded[pairs], "");
        if (only.again.size() > pairs) add(Cause::bytes, "", only.again[pairs]);
        return found_;
    }

  private:
    // The first texts that have a name of their build.
    void note_path() {
        const auto first_with_name = [](std::string_view bytes, const std::vector<std::string>& names) {
            std::size_t at = std::string_view::npos;
            for (const auto& name : names)
                at = std::min(at, name.empty() ? std::string_view::npos : bytes.find(name));
            if (at == std::string_view::npos) return std::string_view();
            const auto is_end = [](char c) { return !is_printable(c); };
            const auto begin = bytes.rend() - static_cast<std::ptrdiff_t>(at);
            const auto from =
                static_cast<std::size_t>(std::find_if(begin, bytes.rend(), is_end).base() - bytes.begin());
            const auto* const to = std::find_if(bytes.begin() + at, bytes.end(), is_end);
            return bytes.substr(from, static_cast<std::size_t>(to - bytes.begin()) - from);
        };
        const auto recorded = first_with_name(recorded_, names_.recorded);
        const auto again = first_with_name(again_, names_.again);
        if (!recorded.empty() && recorded != again) add(Cause::build_path, recorded, again);
    }

    // The same lines or strings on both sides.
    void judge_equal_texts(const Sides& all, bool are_texts) {
        const auto differing =
            std::mismatch(all.recorded.begin(), all.recorded.end(), all.again.begin(), all.again.end());
        if (differing.first != all.recorded.end())
            add(Cause::order, *differing.first, *differing.second);
        else
            add(Cause::bytes, are_texts ? "other line ends" : "", "");
    }

    void add(Cause cause, std::string_view recorded, std::string_view again) {
        const bool is_known = std::any_of(found_.begin(), found_.end(),
                                          [cause](const Evidence& one) { return one.cause == cause; });
        if (!is_known) found_.push_back(evidence_of(cause, recorded, again));
    }

    std::string_view recorded_;
    std::string_view again_;
    const BuildNames& names_;
    std::vector<Evidence> found_;
};

}  // namespace

std::string without_names(std::string_view text, const std::vector<std::string>& names) {
    std::string masked(text);
    for (const auto& name : names) {
        if (!name.empty()) masked = base::replace_all(masked, name, mark);
    }
    return masked;
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

std::vector<Evidence> explain_bytes(std::string_view recorded, std::string_view again,
                                    const BuildNames& names) {
    return Explainer(recorded, again, names).explain();
}

}  // namespace wheelyard::builder
