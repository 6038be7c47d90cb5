// The orders of versions that advisories use.
#include "registry/commands/advisories/advisory.hpp"

#include <algorithm>
#include <array>
#include <string>
#include <utility>

#include "lib/base/text/text.hpp"
#include "lib/wheel/version.hpp"

namespace wheelyard::advisories {
namespace {

using Order = std::strong_ordering;
using wheel::Number;

bool is_number(std::string_view text) {
    return !text.empty() && std::all_of(text.begin(), text.end(), base::is_ascii_digit);
}

// The text before `mark`, which is removed with it from `text`; all of it where the mark is not in it.
std::string_view take_until(std::string_view& text, char mark) {
    const std::size_t end = std::min(text.find(mark), text.size());
    const std::string_view taken = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    return taken;
}

// --- PEP 440
// -----------------------------------------------------------------------------------------------------

std::optional<Order> compare_pep440(std::string_view a, std::string_view b) {
    const auto left = wheel::Version::parse(a), right = wheel::Version::parse(b);
    if (!left || !right) return std::nullopt;
    return left->compare_public(*right);
}

// --- Semantic Versioning 2.0, section 11
// ---------------------------------------------------------------------------

struct Semver {
    std::array<Number, 3> release;
    std::string_view pre;  // empty: none, which comes after all that have one
};

std::optional<Semver> parse_semver(std::string_view text) {
    if (text.starts_with('v')) text.remove_prefix(1);
    text = text.substr(0, text.find('+'));
    Semver version;
    std::string_view release = take_until(text, '-');
    version.pre = text;
    for (Number& number : version.release) {
        const std::string_view digits = take_until(release, '.');
        if (!is_number(digits)) return std::nullopt;
        number = Number(digits);
        if (release.empty()) return version;
    }
    return std::nullopt;  // a fourth number
}

Order compare_identifiers(std::string_view a, std::string_view b) {
    const bool is_a_number = is_number(a), is_b_number = is_number(b);
    if (is_a_number && is_b_number) return Number(a) <=> Number(b);
    if (is_a_number != is_b_number) return is_a_number ? Order::less : Order::greater;
    return a.compare(b) <=> 0;
}

std::optional<Order> compare_semver(std::string_view a, std::string_view b) {
    auto left = parse_semver(a), right = parse_semver(b);
    if (!left || !right) return std::nullopt;
    if (const Order order = left->release <=> right->release; order != 0) return order;
    if (left->pre.empty() || right->pre.empty())
        return right->pre.empty() == left->pre.empty() ? Order::equal
               : left->pre.empty()                     ? Order::greater
                                                       : Order::less;
    while (!left->pre.empty() && !right->pre.empty()) {
        const std::string_view one = take_until(left->pre, '.'), other = take_until(right->pre, '.');
        if (const Order order = compare_identifiers(one, other); order != 0) return order;
    }
    return left->pre.size() <=> right->pre.size();
}

// --- rpm-version(7)
// ------------------------------------------------------------------------------------------------

bool is_separator(char letter) {
    return !base::is_ascii_digit(letter) && !base::is_ascii_alpha(letter) && letter != '~' && letter != '^';
}

std::string_view take_while(std::string_view& text, bool (*accepts)(char)) {
    const auto end = std::find_if_not(text.begin(), text.end(), accepts);
    const auto count = static_cast<std::size_t>(end - text.begin());
    const std::string_view taken = text.substr(0, count);
    text.remove_prefix(count);
    return taken;
}

// One part, a version or a release: runs of digits and of letters in turn; what separates them does not
// count.
Order compare_rpm_part(std::string_view a, std::string_view b) {
    while (!a.empty() || !b.empty()) {
        take_while(a, is_separator);
        take_while(b, is_separator);
        // "~" comes before everything, also before the end, and "^" directly after the end.
        for (const char mark : {'~', '^'}) {
            const bool has_a = a.starts_with(mark), has_b = b.starts_with(mark);
            if (has_a && has_b) {
                a.remove_prefix(1);
                b.remove_prefix(1);
                return compare_rpm_part(a, b);
            }
            if (!has_a && !has_b) continue;
            const bool is_end = mark == '^' && (has_a ? b : a).empty();
            return has_a == is_end ? Order::greater : Order::less;
        }
        if (a.empty() || b.empty()) return a.size() <=> b.size();
        const bool is_digit = base::is_ascii_digit(a.front());
        if (is_digit != base::is_ascii_digit(b.front())) return is_digit ? Order::greater : Order::less;
        const auto accepts = is_digit ? base::is_ascii_digit : base::is_ascii_alpha;
        const std::string_view one = take_while(a, accepts), other = take_while(b, accepts);
        const Order order = is_digit ? Number(one) <=> Number(other) : one.compare(other) <=> 0;
        if (order != 0) return order;
    }
    return Order::equal;
}

struct RpmVersion {
    std::string_view epoch = "0";
    std::string_view version;
    std::string_view release;  // empty: before every other, as for rpm
};

std::optional<RpmVersion> parse_rpm(std::string_view text) {
    RpmVersion parsed;
    if (text.find(':') != std::string_view::npos) parsed.epoch = take_until(text, ':');
    parsed.version = take_until(text, '-');
    parsed.release = text;
    if (parsed.version.empty() || !is_number(parsed.epoch)) return std::nullopt;
    return parsed;
}

std::optional<Order> compare_rpm(std::string_view a, std::string_view b) {
    const auto left = parse_rpm(a), right = parse_rpm(b);
    if (!left || !right) return std::nullopt;
    if (const Order order = Number(left->epoch) <=> Number(right->epoch); order != 0) return order;
    if (const Order order = compare_rpm_part(left->version, right->version); order != 0) return order;
    return compare_rpm_part(left->release, right->release);
}

}  // namespace

std::optional<Order> compare_versions(VersionOrder order, std::string_view a, std::string_view b) {
    switch (order) {
        case VersionOrder::none:
            return std::nullopt;
        case VersionOrder::pep440:
            return compare_pep440(a, b);
        case VersionOrder::semver:
            return compare_semver(a, b);
        case VersionOrder::rpm:
            return compare_rpm(a, b);
    }
    return std::nullopt;
}

}  // namespace wheelyard::advisories
