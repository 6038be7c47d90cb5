// Operators bind in the order WITH, AND, OR (SPDX 2.3, annex D.4.5). No recursion: parentheses of hostile
// texts nest deeply.
#include "lib/inspect/dist_info/license_expression.hpp"

#include <algorithm>
#include <iterator>
#include <set>
#include <unordered_set>

#include "lib/base/text/text.hpp"

namespace wheelyard::inspect {
namespace {

bool is_word(char c) {
    return base::is_ascii_alpha(c) || base::is_ascii_digit(c) || c == '-' || c == '.';
}

// Splits "(A OR B) AND C WITH D" into parentheses, names and operators.
std::vector<std::string_view> pieces_of(std::string_view text) {
    std::vector<std::string_view> pieces;
    for (std::size_t at = 0; at < text.size();) {
        std::size_t length = 1;
        if (is_word(text[at])) {
            while (at + length < text.size() &&
                   (is_word(text[at + length]) || text[at + length] == '+' || text[at + length] == ':'))
                ++length;
        }
        if (text[at] != ' ') pieces.push_back(text.substr(at, length));
        at += length;
    }
    return pieces;
}

std::unordered_set<std::string_view> words_of(std::string_view list) {
    const auto words = base::split(list, ' ');
    return {words.begin(), words.end()};
}

bool is_spdx_exception(const std::string& lower) {
    static const auto known = words_of(spdx_exception_ids);
    return known.count(lower) != 0;
}

// An identifier of the list, with `+` for later versions, or LicenseRef-… with an optional DocumentRef-….
bool is_spdx_license(const std::string& lower) {
    static const auto known = words_of(spdx_license_ids);
    std::string_view name = lower;
    constexpr std::string_view document = "documentref-", reference = "licenseref-";
    const auto colon = name.find(':');
    if (colon != std::string_view::npos) {
        if (!name.starts_with(document) || colon == document.size()) return false;
        name.remove_prefix(colon + 1);
        if (!name.starts_with(reference)) return false;
    }
    if (name.starts_with(reference))
        return name.size() > reference.size() && std::all_of(name.begin(), name.end(), is_word);
    if (known.count(name) != 0) return true;
    if (name.ends_with('+')) name.remove_suffix(1);
    return known.count(name) != 0;
}

// Names are compared without regard to case.
std::string key_of(std::string_view license) {
    std::string key;
    for (const std::string_view piece : pieces_of(license))
        key.append(key.empty() ? "" : " ").append(base::ascii_lower(piece));
    return key;
}

}  // namespace

bool is_license_expression(std::string_view text) {
    // Names, operators and parentheses alternate correctly, and the list has the names.
    enum class Last { nothing, license, exception, closing, joining, with };
    Last last = Last::nothing;
    int open = 0;
    for (const std::string_view piece : pieces_of(text)) {
        const std::string lower = base::ascii_lower(piece);
        const bool complete = last == Last::license || last == Last::exception || last == Last::closing;
        if (piece == "(") {
            if (complete || last == Last::with) return false;
            ++open;
            last = Last::nothing;
        } else if (piece == ")") {
            if (!complete || open-- == 0) return false;
            last = Last::closing;
        } else if (lower == "and" || lower == "or") {
            if (!complete) return false;
            last = Last::joining;
        } else if (lower == "with") {
            if (last != Last::license) return false;
            last = Last::with;
        } else {
            const bool exception = last == Last::with;
            if (complete || !(exception ? is_spdx_exception(lower) : is_spdx_license(lower))) return false;
            last = exception ? Last::exception : Last::license;
        }
    }
    return open == 0 && (last == Last::license || last == Last::exception || last == Last::closing);
}

bool is_one_license(std::string_view text) {
    const auto pieces = pieces_of(text);
    return is_license_expression(text) &&
           (pieces.size() == 1 || (pieces.size() == 3 && base::equals_ignoring_case(pieces[1], "with")));
}

std::vector<std::string> licenses_not_allowed(std::string_view expression,
                                              const std::vector<std::string>& allowed) {
    struct Level {         // of parentheses
        bool any = false;  // of the operands of OR so far
        bool all = true;   // of the operands of AND so far, which are the current operand of OR
    };
    std::set<std::string> keys;
    std::transform(allowed.begin(), allowed.end(), std::inserter(keys, keys.end()), key_of);
    std::vector<std::string> missing;
    std::set<std::string> seen;  // of missing: a hostile text names half a million
    std::vector<Level> levels(1);
    const auto pieces = pieces_of(expression);
    for (std::size_t at = 0; at < pieces.size(); ++at) {
        const std::string word = base::ascii_lower(pieces[at]);
        if (word == "(") {
            levels.emplace_back();
        } else if (word == ")") {
            const bool inside = levels.back().any || levels.back().all;
            levels.pop_back();
            levels.back().all = levels.back().all && inside;
        } else if (word == "or") {
            levels.back().any = levels.back().any || levels.back().all;
            levels.back().all = true;
        } else if (word != "and") {
            std::string license(pieces[at]);
            if (at + 2 < pieces.size() && base::equals_ignoring_case(pieces[at + 1], "with")) {
                license.append(" WITH ").append(pieces[at + 2]);
                at += 2;
            }
            if (keys.count(key_of(license)) != 0) continue;
            levels.back().all = false;
            if (seen.insert(license).second) missing.push_back(std::move(license));
        }
    }
    return levels.back().any || levels.back().all ? std::vector<std::string>() : missing;
}

}  // namespace wheelyard::inspect
