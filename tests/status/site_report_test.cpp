#include "lib/status/site_report.hpp"

#include <doctest/doctest.h>

#include "lib/base/text/text.hpp"
#include "lib/status/index_status.hpp"
#include "tests/support/golden.hpp"

namespace wheelyard::status {
namespace {

constexpr base::UnixMicros noon = 1'795'000'000'000'000;
constexpr base::UnixMicros minute = 60'000'000;

SiteReport sample() {
    SiteReport report{.site = "bede",
                      .index = "bede-gh200",
                      .program = "wheelyard-builder 0.1.0",
                      .time = noon,
                      .next_tick = noon + 5 * minute,
                      .is_cut = false,
                      .pythons = {"3.12"},
                      .nodes = {{"gh", 72, 480'000, 1, "h100", {"sm_90"}}},
                      .cells = {{"torch", "2.4.0", "3.12", "h100", "", "active", "", "w1"},
                                {"six", "1.17.0", "3.12", "", "", "have", "six.whl in index", ""}},
                      .attempts = {},
                      .failures = {}};
    report.attempts.push_back({.id = "w1",
                               .package = "torch",
                               .version = "2.4.0",
                               .python = "3.12",
                               .accelerator = "h100",
                               .state = "running",
                               .phase = "build",
                               .waiting = "",
                               .began = noon - minute,
                               .done = 12,
                               .total = 345,
                               .memory_limit_mib = 64'000,
                               .memory_mib = {0, 5'200, 61'000},
                               .phases = {"unpack", "build"},
                               .phase_seconds = {3, 57},
                               .log_tail = {"[12/345] c++", "warning: x"},
                               .source = "https://files.example.org/torch-2.4.0.tar.gz",
                               .source_sha256 = std::string(64, 'a')});
    report.failures.push_back({.id = "w0",
                               .package = "torch",
                               .version = "2.4.0",
                               .python = "3.12",
                               .accelerator = "h100",
                               .phase = "build",
                               .began = noon - 9 * minute,
                               .ended = noon - 2 * minute,
                               .rule = "memory.compiler_killed",
                               .cause = "killed",
                               .remedy = "more memory"});
    report.held_queues = {{"gpu", "qsub: in maintenance until 18:00", noon - minute}};
    return report;
}

std::string with(std::string_view from, std::string_view to) {
    const std::string text = render_site_report(sample());
    REQUIRE(text.find(from) != std::string::npos);
    return base::replace_all(text, from, to);
}

}  // namespace

TEST_CASE("a report survives a round trip") {
    const std::string text = render_site_report(sample());
    const auto read = parse_site_report(text);
    REQUIRE(read.has_value());
    CHECK(render_site_report(*read) == text);
    CHECK(read->attempts.at(0).log_tail == sample().attempts.at(0).log_tail);
    CHECK(read->attempts.at(0).memory_mib == sample().attempts.at(0).memory_mib);
    CHECK(read->attempts.at(0).phase_seconds == sample().attempts.at(0).phase_seconds);
    CHECK(read->failures.at(0).began == noon - 9 * minute);
    CHECK(read->failures.at(0).rule == "memory.compiler_killed");
    CHECK(read->held_queues.at(0).reason == "qsub: in maintenance until 18:00");
    CHECK(read->held_queues.at(0).since == noon - minute);
    CHECK(read->cells.at(1).accelerator.empty());
    CHECK(read->next_tick == noon + 5 * minute);
}

TEST_CASE("the bytes of a report stay as they were published") {
    CHECK(test_support::golden_difference("status/site_report.json", render_site_report(sample())) == "");
}

TEST_CASE("a report with a wrong member is refused, and the error names the member") {
    struct Row {
        std::string text;
        std::string names;
    };
    const std::string long_word(max_word_bytes + 1, 'a');
    const Row rows[] = {
        {"", "not JSON"},
        {"[]", "object"},
        {with("site/1", "site/2"), "format"},
        {with("\"site\":\"bede\"", "\"site\":\"../bede\""), "invalid name"},
        {with("\"site\":\"bede\"", "\"site\":7"), "`site`"},
        {with("\"time\":\"", "\"time\":\"yesterday "), "`time`"},
        {with("\"state\":\"have\",", ""), "`cells.state`"},
        {with("\"state\":\"have\"", "\"state\":\"ha\\u001bve\""), "`cells.state`"},
        {with("\"state\":\"have\"", "\"state\":\"" + long_word + "\""), "`cells.state`"},
        {with("\"done\":12", "\"done\":-1"), "`attempts.done`"},
        {with("[\"[12/345] c++\"", "[7"), "`attempts.log_tail`"},
        {with("[\"[12/345] c++\"", "[\"[12/345] c++\",7"), "`attempts.log_tail`"},
        {with("\"pythons\":[\"3.12\"]", "\"pythons\":\"3.12\""), "`pythons`"},
        {with("\"memory_mib\":[0,", "\"memory_mib\":[-1,"), "`attempts.memory_mib`"},
        {with("\"memory_mib\":[0,", "\"memory_mib\":[\"0\","), "`attempts.memory_mib`"},
        {with("\"phase_seconds\":[3,57]", "\"phase_seconds\":3"), "`attempts.phase_seconds`"},
        {with("\"site\":\"bede\",", "\"site\":\"bede\",\"cut\":1,"), "`cut`"},
        {with("\"failures\":[", "\"failures\":[7,"), "failures"},
        {with("\"nodes\":[", "\"nodes\":7,\"x\":["), "`nodes`"},
    };
    for (const Row& row : rows) {
        const auto read = parse_site_report(row.text);
        REQUIRE_MESSAGE(!read.has_value(), row.text);
        CHECK(read.error().code == "site_report.format");
        CHECK_MESSAGE(read.error().sentence.find(row.names) != std::string::npos, read.error().sentence);
    }
    CHECK(parse_site_report(with("\"program\":", "\"new\":{\"a\":[1]},\"program\":")).has_value());
}

TEST_CASE("a report above the limit is refused before it is parsed") {
    const auto read = parse_site_report(std::string(max_report_bytes + 1, '{'));
    REQUIRE(!read.has_value());
    CHECK(read.error().code == "site_report.too_large");
}

TEST_CASE("texts cannot change what a terminal shows, in any document") {
    const auto read = parse_site_report(with("warning: x", "\\u001b[2J\\nrm -rf\\u202e\\u0085\\tend"));
    REQUIRE(read.has_value());
    CHECK(read->attempts.at(0).log_tail.at(1) == "?[2J rm -rf?? end");
    SiteReport own = sample();
    own.cells.at(0).reason = "a\x1b]0;title\x07\nb";
    CHECK(parse_site_report(render_site_report(own))->cells.at(0).reason == "a?]0;title? b");
}

TEST_CASE("a report that is too large loses log lines first and cells last") {
    SiteReport report = sample();
    report.attempts.at(0).log_tail.assign(max_log_lines, std::string(max_log_line_bytes, 'x'));
    const std::size_t cells_only = [&] {
        SiteReport bare = report;
        bare.attempts.clear();
        bare.failures.clear();
        return render_site_report(bare).size();
    }();
    CHECK_FALSE(fit_site_report(report).is_cut);
    const SiteReport some_lines = fit_site_report(report, 15'000);
    CHECK(some_lines.is_cut);
    CHECK(some_lines.attempts.at(0).log_tail.size() == 25);
    CHECK(some_lines.failures.size() == 1);
    const SiteReport no_attempts = fit_site_report(report, cells_only);
    CHECK(no_attempts.attempts.empty());
    CHECK(no_attempts.cells.size() == 2);
    CHECK(render_site_report(fit_site_report(report, 300)).size() <= 400);
    SiteReport all_recipes = sample();
    all_recipes.recipes.assign(max_report_items, "demo");
    CHECK(fit_site_report(all_recipes).recipes.size() == max_report_items);
    all_recipes.recipes.emplace_back("demo");
    CHECK(fit_site_report(all_recipes).recipes.empty());  // unknown, for a part would deny the others
    SiteReport many = sample();
    many.cells.assign(20'000, many.cells.at(0));
    const std::string text = render_site_report(fit_site_report(many));
    CHECK(text.size() <= max_report_bytes);
    CHECK(parse_site_report(text).has_value());
}

TEST_CASE("a site is late ten minutes after its next tick was due") {
    SiteReport report = sample();
    CHECK_FALSE(late_ms(report, noon + 15 * minute).has_value());
    CHECK(late_ms(report, noon + 15 * minute + 1) == 15 * 60'000);
    report.next_tick = 0;
    CHECK_FALSE(late_ms(report, noon + 24 * 60 * minute).has_value());
    CHECK(late_ms(report, noon + 24 * 60 * minute + 1).has_value());
}

TEST_CASE("the status of an index has the reports of its sites") {
    const IndexStatus status{"bede-gh200", {sample(), sample()}};
    const std::string text = render_index_status(status);
    const auto read = parse_index_status(text);
    REQUIRE(read.has_value());
    CHECK(render_index_status(*read) == text);
    CHECK(read->sites.size() == 2);
    const std::string bad[] = {"[]", base::replace_all(text, "index-status/1", "index-status/2"),
                               base::replace_all(text, "\"index\":\"bede-gh200\",\"sites\"", "\"sites\""),
                               base::replace_all(text, "\"bede\"", "\"b\\u0000e\"")};
    for (const std::string& one : bad)
        CHECK_FALSE(parse_index_status(one).has_value());
    IndexStatus crowd{"bede-gh200", {}};
    crowd.sites.resize(max_sites_per_index, sample());
    CHECK(parse_index_status(render_index_status(crowd))->sites.size() == max_sites_per_index);
    crowd.sites.push_back(sample());
    CHECK_FALSE(parse_index_status(render_index_status(crowd)).has_value());
}

TEST_CASE("the page of the formats lists exactly the members") {
    CHECK(test_support::part_difference("reference/site-status.md", "site report", render_report_fields()) ==
          "");
}

}  // namespace wheelyard::status
