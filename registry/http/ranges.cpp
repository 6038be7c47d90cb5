#include "registry/http/ranges.hpp"

#include <algorithm>
#include <array>
#include <chrono>

#include "lib/base/text/http_date.hpp"
#include "lib/base/text/text.hpp"

namespace wheelyard::http {

RangeChoice choose_range(std::string_view range, std::uint64_t size) {
    const RangeChoice whole{RangeKind::whole, 0, size};
    const RangeChoice unsatisfiable{RangeKind::unsatisfiable, 0, 0};
    const auto equals = range.find('=');
    if (equals == std::string_view::npos) return whole;
    if (!base::equals_ignoring_case(base::trim(range.substr(0, equals)), "bytes")) return whole;
    const std::string_view spec = base::trim(range.substr(equals + 1));
    if (spec.find(',') != std::string_view::npos) return whole;
    const auto dash = spec.find('-');
    if (dash == std::string_view::npos) return whole;
    const std::string_view first_text = spec.substr(0, dash);
    const std::string_view last_text = spec.substr(dash + 1);
    if (first_text.empty()) {  // "-500": the last 500 bytes
        const auto suffix = base::parse_decimal(last_text);
        if (!suffix) return whole;
        if (*suffix == 0 || size == 0) return unsatisfiable;
        const std::uint64_t length = std::min(*suffix, size);
        return {RangeKind::part, size - length, length};
    }
    const auto first = base::parse_decimal(first_text);
    if (!first) return whole;
    std::uint64_t last = size - 1;  // wraps if size is 0, but then `first` is past the end
    if (!last_text.empty()) {
        const auto given = base::parse_decimal(last_text);
        if (!given || *given < *first) return whole;
        last = std::min(*given, size - 1);
    }
    if (*first >= size) return unsatisfiable;
    return {RangeKind::part, *first, last - *first + 1};
}

bool range_still_valid(std::string_view if_range, std::string_view etag, std::string_view last_modified) {
    const std::string_view value = base::trim(if_range);
    return value.empty() || value == etag || value == last_modified;
}

bool names_etag(std::string_view if_none_match, std::string_view etag) {
    std::string_view rest = base::trim(if_none_match);
    if (rest == "*") return true;
    // Entity tags may contain commas, so this scans from quote to quote instead of splitting.
    while (!rest.empty()) {
        if (rest.starts_with("W/")) rest.remove_prefix(2);
        if (!rest.starts_with('"')) return false;
        const auto end = rest.find('"', 1);
        if (end == std::string_view::npos) return false;
        if (rest.substr(0, end + 1) == etag) return true;
        rest.remove_prefix(end + 1);
        const auto next = rest.find_first_not_of(" \t,");
        rest = next == std::string_view::npos ? std::string_view{} : rest.substr(next);
    }
    return false;
}

bool not_modified(std::string_view if_none_match, std::string_view if_modified_since, std::string_view etag,
                  base::UnixMicros last_modified) {
    if (!if_none_match.empty()) return names_etag(if_none_match, etag);
    const auto since = base::parse_http_date(if_modified_since);
    return since && last_modified / 1'000'000 <= *since / 1'000'000;
}

}  // namespace wheelyard::http
