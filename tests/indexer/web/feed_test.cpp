// The Atom feed of failed builds (RFC 4287).

#include <doctest/doctest.h>

#include <string>

#include "indexer/web/index_pages.hpp"
#include "indexer/web/limits.hpp"

namespace wheelyard::indexer {
namespace {

ReportedBuild failed(const std::string& site, const std::string& id, const std::string& ended) {
    ReportedBuild build;
    build.site = site;
    build.id = id;
    build.package = "torch";
    build.version = "2.4.0";
    build.python = "3.12";
    build.ended = ended;
    build.cause = "killed <by> memory";
    build.remedy = "raise `memory_mib`";
    return build;
}

TEST_CASE("the feed of failed builds has those of all sites, the newest first, each with its page") {
    FarmReport report;
    report.failures = {failed("bede", "w1", "2026-11-20T12:00:00.000000Z"),
                       failed("bede", "w2", "2026-11-18T12:00:00.000000Z"),
                       failed("archer2", "w3", "2026-11-19T12:00:00.000000Z"), failed("bede", "w4", "")};
    const std::string feed = render_failure_feed("ma<in", report);
    CHECK(feed.find("<title>Failed builds in ma&lt;in</title>") != std::string::npos);
    // RFC 4287 §4.2.15: when the feed last changed in a way that counts.
    CHECK(feed.find("<updated>2026-11-20T12:00:00.000000Z</updated>\n<author>") != std::string::npos);
    const auto first = feed.find("<id>urn:wheelyard:failure:bede:w1</id>");
    const auto second = feed.find("<id>urn:wheelyard:failure:archer2:w3</id>");
    const auto third = feed.find("<id>urn:wheelyard:failure:bede:w2</id>");
    CHECK(first < second);
    CHECK(second < third);
    CHECK(third != std::string::npos);
    CHECK(feed.find("w4") == std::string::npos);  // nobody knows when
    CHECK(feed.find("href=\"build.html?site=archer2&amp;id=w3\"/>") != std::string::npos);
    CHECK(feed.find("<summary>killed &lt;by&gt; memory\nWhat to do: raise `memory_mib`</summary>") !=
          std::string::npos);
}

TEST_CASE("the feed of failed builds is bounded, and valid without any") {
    FarmReport report;
    CHECK(render_failure_feed("main", report).find("<updated>1970-01-01T00:00:00") != std::string::npos);
    for (std::size_t at = 0; at < 3 * max_feed_entries; ++at)
        report.failures.push_back(failed("bede", "w" + std::to_string(at), "2026-11-20T12:00:00.000000Z"));
    const std::string feed = render_failure_feed("main", report);
    std::size_t entries = 0;
    for (auto at = feed.find("<entry>"); at != std::string::npos; at = feed.find("<entry>", at + 1))
        ++entries;
    CHECK(entries == max_feed_entries);
}

}  // namespace
}  // namespace wheelyard::indexer
