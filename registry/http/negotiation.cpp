// Matches Accept headers against the media types of a Simple page.
#include "registry/http/negotiation.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <string>

#include "lib/base/text/text.hpp"

namespace wheelyard::http {

namespace {

constexpr std::size_t max_accept_ranges = 64;  // per Accept header; browsers send up to 10

struct Offer {
    std::string_view media_type;
    PageForm form;
    int order_when_named;     // tie-break among types that the client named exactly; lower wins
    int order_when_wildcard;  // tie-break among types that matched a wildcard
};

constexpr std::array offers{
    Offer{"application/vnd.pypi.simple.v1+json", PageForm::json, 0, 2},
    Offer{"application/vnd.pypi.simple.latest+json", PageForm::json, 1, 3},
    Offer{"application/vnd.pypi.simple.v1+html", PageForm::html_v1, 2, 1},
    Offer{"application/vnd.pypi.simple.latest+html", PageForm::html_v1, 3, 4},
    Offer{"text/html", PageForm::html, 4, 0},
};

// A q-value (0 to 1, up to three decimals) in thousandths; nullopt if malformed.
std::optional<int> parse_q(std::string_view text) {
    if (text.empty() || text.size() > 5 || (text[0] != '0' && text[0] != '1')) return std::nullopt;
    int value = (text[0] - '0') * 1000;
    if (text.size() == 1) return value;
    if (text[1] != '.') return std::nullopt;
    int weight = 100;
    for (const char c : text.substr(2)) {
        if (!base::is_ascii_digit(c)) return std::nullopt;
        value += (c - '0') * weight;
        weight /= 10;
    }
    if (value > 1000) return std::nullopt;
    return value;
}

struct MediaRange {
    std::string name;  // lower case, without parameters
    int q = 1000;
};

// nullopt: malformed, or it has a parameter that no offered type has ("text/html;level=1").
std::optional<MediaRange> parse_media_range(std::string_view text) {
    MediaRange range;
    bool first = true;
    for (const std::string_view raw : base::split(text, ';')) {
        const std::string_view part = base::trim(raw);
        if (first) {
            range.name = base::ascii_lower(part);
            first = false;
            continue;
        }
        const auto equals = part.find('=');
        const std::string_view name = base::trim(part.substr(0, equals));
        if (!base::equals_ignoring_case(name, "q")) {
            if (base::equals_ignoring_case(name, "charset")) continue;
            return std::nullopt;
        }
        if (equals == std::string_view::npos) return std::nullopt;
        const auto q = parse_q(base::trim(part.substr(equals + 1)));
        if (!q) return std::nullopt;
        range.q = *q;
        break;  // parameters after q belong to Accept, not to the type
    }
    return range;
}

// How specifically `range` matches `media_type`: 0 not at all, 1 "*/*", 2 "text/*", 3 exactly.
int precision(std::string_view range, std::string_view media_type) {
    if (range == media_type) return 3;
    if (range == "*/*") return 1;
    if (!range.ends_with("/*")) return 0;
    return media_type.starts_with(range.substr(0, range.size() - 1)) ? 2 : 0;
}

}  // namespace

std::string_view content_type_of(PageForm form) {
    switch (form) {
        case PageForm::json:
            return "application/vnd.pypi.simple.v1+json";
        case PageForm::html_v1:
            return "application/vnd.pypi.simple.v1+html";
        case PageForm::html:
            break;
    }
    return "text/html; charset=utf-8";
}

std::optional<PageForm> choose_page_form(std::string_view accept) {
    if (base::trim(accept).empty()) return PageForm::html;
    struct Match {
        int q = 0;
        int precision = 0;
    };
    std::array<Match, offers.size()> matches{};
    std::size_t ranges = 0;
    for (const std::string_view item : base::split(accept, ',')) {
        if (++ranges > max_accept_ranges) break;
        const auto range = parse_media_range(item);
        if (!range) continue;
        for (std::size_t i = 0; i < offers.size(); ++i) {
            const int exactness = precision(range->name, offers[i].media_type);
            if (exactness > matches[i].precision) matches[i] = {range->q, exactness};
        }
    }
    std::optional<PageForm> chosen;
    Match best;
    int best_order = 0;
    for (std::size_t i = 0; i < offers.size(); ++i) {
        const Match& match = matches[i];
        if (match.q == 0) continue;
        const int order = match.precision == 3 ? offers[i].order_when_named : offers[i].order_when_wildcard;
        const bool better = match.q != best.q                   ? match.q > best.q
                            : match.precision != best.precision ? match.precision > best.precision
                                                                : order < best_order;
        if (chosen && !better) continue;
        chosen = offers[i].form;
        best = match;
        best_order = order;
    }
    return chosen;
}

std::string_view choose_integrity_type(std::string_view accept) {
    constexpr std::string_view integrity_type = "application/vnd.pypi.integrity.v1+json";
    constexpr std::string_view plain_type = "application/json";
    const bool is_plain = accept.find(plain_type) != std::string_view::npos &&
                          accept.find(integrity_type) == std::string_view::npos;
    return is_plain ? plain_type : integrity_type;
}

Coding choose_coding(std::string_view accept_encoding, bool has_zstd) {
    if (accept_encoding.empty()) return Coding::none;
    std::optional<int> zstd, gzip, none, any;
    std::size_t codings = 0;
    for (const std::string_view item : base::split(accept_encoding, ',')) {
        if (++codings > max_accept_ranges) break;
        const auto coding = parse_media_range(item);
        if (!coding) continue;
        if (coding->name == "zstd") zstd = coding->q;
        if (coding->name == "gzip" || coding->name == "x-gzip") gzip = coding->q;
        if (coding->name == "identity") none = coding->q;
        if (coding->name == "*") any = coding->q;
    }
    const int of_zstd = has_zstd ? zstd.value_or(0) : 0;
    const int of_gzip = gzip.value_or(any.value_or(0));
    const int best = std::max(of_zstd, of_gzip);
    if (best == 0 || none.value_or(0) > best) return Coding::none;
    return of_zstd == best ? Coding::zstd : Coding::gzip;
}

std::optional<PageForm> page_form_named(std::string_view media_type) {
    const std::string name = base::ascii_lower(media_type);
    for (const Offer& offer : offers)
        if (offer.media_type == name) return offer.form;
    return std::nullopt;
}

}  // namespace wheelyard::http
