#include "indexer/web/state_cell.hpp"

#include <algorithm>
#include <array>
#include <iterator>

#include "lib/base/clock.hpp"
#include "lib/base/text/text.hpp"

namespace wheelyard::indexer {

using page::Html;
using page::Literal;

namespace {

struct StateWord {
    std::string_view state;
    Literal html;
};
constexpr std::array<StateWord, 11> state_words{{
    {"have", "<span class=\"state have\">available</span>"},
    {"wanted", "<span class=\"state wanted\">queued</span>"},
    {"active", "<span class=\"state active\">building</span>"},
    {"held", "<span class=\"state held\">held</span>"},
    {"given up", "<span class=\"state failed\">failed</span>"},
    {"impossible", "<span class=\"state excluded\">impossible</span>"},
    {"excluded", "<span class=\"state excluded\">excluded</span>"},
    {"queued", "<span class=\"state wanted\">asked for</span>"},  // these three: of a request
    {"awaits_approval", "<span class=\"state held\">awaits approval</span>"},
    {"claimed", "<span class=\"state active\">building</span>"},
    {"unknown", "<span class=\"state unknown\">unknown</span>"},
}};

}  // namespace

Html render_bar(const ReportedBuild& build) {
    Html html;
    if (build.total <= 0) return html;
    const auto total = static_cast<std::uint64_t>(build.total);
    const auto done = std::min(static_cast<std::uint64_t>(std::max<std::int64_t>(build.done, 0)), total);
    html.add("<progress value=\"").number(done).add("\" max=\"").number(total).add("\" aria-label=\"");
    html.number(done).add(" of ").number(total).add(" steps\"></progress>");
    return html;
}

Html render_place(const ReportedBuild& build) {
    Html html;
    if (!build.site.empty()) html.text(build.site).add(" · ");
    html.add("Python ").text(build.python);
    if (!build.accelerator.empty()) html.add(", ").text(build.accelerator);
    return html;
}

std::string build_anchor(std::string_view id) {
    std::string anchor = "build-";
    std::copy_if(id.begin(), id.end(), std::back_inserter(anchor), base::is_ascii_alnum);
    return anchor;
}

Html render_state(const ReportedBuild& cell, std::string_view builds) {
    const auto found = std::find_if(state_words.begin(), state_words.end(),
                                    [&](const StateWord& word) { return word.state == cell.state; });
    const Html word(found == state_words.end() ? state_words.back().html : found->html);
    const bool has_more = cell.state == "active" || cell.state == "given up";
    Html html;
    if (has_more && !builds.empty() && !cell.id.empty())
        html.add("<a href=\"")
            .url(std::string(builds) + "#" + build_anchor(cell.id))
            .add("\">")
            .add(word)
            .add("</a>");
    else
        html.add(word);
    if (cell.total > 0) html.add(" ").add(render_bar(cell));
    if (!cell.reason.empty()) html.add("<span class=\"why\">").text(cell.reason).add("</span>");
    return html;
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
    Html html("<time datetime=\"");
    return html.text(text.substr(0, seconds)).add("Z\">").text(short_time(text)).add("</time>");
}

Html between_status_marks(const Html& part) {
    Html html("<!--status-->");
    return html.add(part).add("<!--/status-->");
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
