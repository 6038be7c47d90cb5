// The states of builds, as every page shows them: a word, a colour, a bar and the reason.
#pragma once

#include <string>
#include <string_view>

#include "indexer/web/farm_report.hpp"
#include "lib/page/html.hpp"

namespace wheelyard::indexer {

// `<span class="state failed">failed</span>` with the bar of a running build and the reason below. `builds`:
// from the page to the page of builds, which has more on builds that run or have failed; empty: no link.
[[nodiscard]] page::Html render_state(const ReportedBuild& cell, std::string_view builds = {});
// "bede · Python 3.12, gh200"
[[nodiscard]] std::string place_text(const ReportedBuild& build);
// The fragment of such a build: "build-w1kq7x9aab3cde".
[[nodiscard]] std::string build_anchor(std::string_view id);
// `<progress>` with the steps; empty if their number is unknown.
[[nodiscard]] page::Html render_bar(const ReportedBuild& build);
// "2026-11-20 12:00 UTC"
[[nodiscard]] std::string short_time(std::string_view rfc3339);
// The same in `<time>`, which common.js shows as "3 minutes ago". What is no time stays text.
[[nodiscard]] page::Html render_time(std::string_view rfc3339);
// What a status.json changes lies between these comments, so that a check of the tree compares only what the
// catalog decides.
inline constexpr std::string_view status_begin = "<!--status-->";
inline constexpr std::string_view status_end = "<!--/status-->";
[[nodiscard]] page::Html between_status_marks(const page::Html& part);
[[nodiscard]] std::string without_status(std::string_view html);

}  // namespace wheelyard::indexer
