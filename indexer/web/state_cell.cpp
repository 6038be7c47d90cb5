#include "indexer/web/state_cell.hpp"

#include <algorithm>
#include <array>
#include <iterator>

#include "indexer/web/shown_index.hpp"
#include "lib/base/clock.hpp"
#include "lib/base/text/encoding.hpp"
#include "lib/base/text/text.hpp"
#include "lib/page/template.hpp"

namespace wheelyard::indexer {

using page::Html;

namespace {

struct StateWord {
    std::string_view state;
    std::string_view colour;  // a class of the style sheet
    std::string_view word;
};
constexpr std::array<StateWord, 14> state_words{{
    {"have", "have", "built"},  // of a wheel that the index does not offer: else the wheel says more
    {"wanted", "wanted", "queued"},
    {"active", "active", "building"},
    {"held", "wanted", "held"},
    {"given up", "failed", "failed"},
    {"impossible", "excluded", "impossible"},
    {"excluded", "excluded", "excluded"},
    {"queued", "wanted", "asked for"},  // these six: of a request
    {"awaits_approval", "wanted", "awaits approval"},
    {"claimed", "active", "building"},
    {"done", "have", "done"},
    {"failed", "failed", "failed"},
    {"cancelled", "excluded", "cancelled"},
    {"unknown", "unknown", "unknown"},
}};

}  // namespace

Html render_bar(const ReportedBuild& build) {
    if (build.total <= 0) return {};
    const auto total = static_cast<std::uint64_t>(build.total);
    return page::render(
        "bar.html",
        ShownBar{std::min(static_cast<std::uint64_t>(std::max<std::int64_t>(build.done, 0)), total), total});
}

std::string place_text(const ReportedBuild& build) {
    return (build.site.empty() ? "" : build.site + " · ") + "Python " + build.python +
           (build.accelerator.empty() ? "" : ", " + build.accelerator);
}

std::string build_anchor(std::string_view id) {
    std::string anchor = "build-";
    std::copy_if(id.begin(), id.end(), std::back_inserter(anchor), base::is_ascii_alnum);
    return anchor;
}

Html render_state(const ReportedBuild& cell, std::string_view builds) {
    const auto found = std::find_if(state_words.begin(), state_words.end(),
                                    [&](const StateWord& word) { return word.state == cell.state; });
    const StateWord& word = found == state_words.end() ? state_words.back() : *found;
    ShownState shown;
    shown.colour = word.colour;
    shown.word = word.word;
    const bool is_request = cell.site.empty();
    const bool has_more = is_request || cell.state == "active" || cell.state == "given up";
    if (has_more && !builds.empty() && !cell.id.empty())
        shown.link = std::string(builds) + (is_request ? "request.html?id=" + base::encode_percent(cell.id)
                                                       : "#" + build_anchor(cell.id));
    shown.bar = render_bar(cell);
    shown.reason = cell.reason;
    return page::render("state.html", shown);
}

std::string short_time(std::string_view rfc3339) {
    constexpr std::size_t minutes = 16;  // "2026-11-20T12:00"
    if (rfc3339.size() < minutes) return std::string(rfc3339);
    return base::replace_all(rfc3339.substr(0, minutes), "T", " ") + " UTC";
}

Html render_time(std::string_view rfc3339) {
    constexpr std::size_t seconds = 19;  // HTML takes at most three digits of a fraction
    const auto time = base::parse_rfc3339(rfc3339);
    if (!time) return Html().text(short_time(rfc3339));
    const std::string text = base::render_rfc3339(*time);
    return page::render("time.html", ShownTime{text.substr(0, seconds) + "Z", short_time(text)});
}

Html between_status_marks(const Html& part) {
    return page::SafeMarkup::adopt(std::string(status_begin) + part.bytes() + std::string(status_end));
}

std::string without_status(std::string_view html) {
    std::string kept;
    for (;;) {
        const auto begin = html.find(status_begin);
        kept.append(html.substr(0, begin));
        if (begin == std::string_view::npos) return kept;
        const auto end = html.find(status_end, begin);
        if (end == std::string_view::npos) return kept;
        html.remove_prefix(end + status_end.size());
    }
}

}  // namespace wheelyard::indexer
