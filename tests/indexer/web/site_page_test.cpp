#include "indexer/web/site_page.hpp"

#include <doctest/doctest.h>

#include <set>

#include "indexer/web/index_pages.hpp"
#include "indexer/web/limits.hpp"
#include "indexer/web/project_page.hpp"
#include "lib/page/template.hpp"
#include "tests/indexer/sample_view.hpp"

using namespace wheelyard;
using namespace wheelyard::indexer;

namespace {

constexpr std::string_view two_sites = R"({"format":"wheelyard.index-status/1","index":"main","sites":[
  {"format":"wheelyard.site/1","site":"bede","index":"main","time":"2026-11-20T11:58:00Z","pythons":["3.11","3.12"],
   "nodes":[{"name":"gh","cores":72,"memory_mib":490000,"gpus":1,"accelerator":"gh200","architectures":["sm_90"],
             "machine":"aarch64","glibc":"2.34"},
            {"name":"login","machine":"aarch64","glibc":"2.34"}],
   "cells":[{"package":"waiting<b>","version":"9","python":"3.12","state":"wanted","reason":"waits for torch"}],
   "attempts":[{"id":"w1","package":"running","version":"3.0","python":"3.12","state":"running","phase":"build","done":3,
                "total":12}],
   "failures":[{"attempt":"w2","package":"broken","version":"2.0","python":"3.12","cause":"memory ran out"}]},
  {"format":"wheelyard.site/1","site":"archer2","index":"main","time":"2026-11-20T11:58:00Z","pythons":["3.11"],
   "nodes":[{"name":"standard","machine":"x86_64","glibc":"2.31"}],
   "attempts":[{"id":"w3","package":"elsewhere","version":"3.0","python":"3.11","state":"running"}]}]})";

catalog::FileRow site_wheel_row(const std::string& version, const std::string& python, char digit,
                                const std::string& more_facts = "") {
    const std::string tag = python + "-" + python + "-manylinux_2_28_aarch64";
    catalog::FileRow row = sample_row(version, "sample-" + version + "-" + tag + ".whl", digit);
    row.facts_json = R"({"tags":[")" + tag + R"("],"machines":["aarch64"])" + more_facts + "}";
    return row;
}

std::vector<SiteWheel> site_lines_of(std::vector<catalog::FileRow> rows, const std::string& site = "bede") {
    const FarmReport report = read_farm_report(two_sites);
    const ProjectView view = make_project_view("sample", std::move(rows));
    return wheels_on_site(site, newest_wheels(view, report), report.nodes);
}

bool shows_part(const std::string& html, std::string_view part) {
    return html.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("the views of a site's pages have what their templates name") {
    CHECK_NOTHROW(page::check_template<ShownSitePage>("site.html"));
    CHECK_NOTHROW(page::check_template<ShownSites>("sites.html"));
}

TEST_CASE(
    "a site has of each project the newest version for each of its Pythons, and nothing of another site's") {
    const std::vector<catalog::FileRow> rows{site_wheel_row("1.0", "cp311", 'a'),
                                             site_wheel_row("1.0", "cp312", 'b'),
                                             site_wheel_row("2.0", "cp312", 'c')};
    const std::vector<SiteWheel> lines = site_lines_of(rows);
    REQUIRE(lines.size() == 2);
    CHECK(lines[0].version == "2.0");
    CHECK(lines[0].pythons == std::vector<std::string>{"3.12"});
    CHECK(lines[0].nodes == std::vector<std::string>{"gh (gh200)", "login"});
    CHECK(lines[1].version == "1.0");
    CHECK(lines[1].pythons == std::vector<std::string>{"3.11"});
    CHECK(site_lines_of(rows, "archer2").empty());
    CHECK(site_lines_of(rows, "elsewhere").empty());
    // What is withdrawn or not final is no offer.
    std::vector<catalog::FileRow> gone{site_wheel_row("1.0", "cp312", 'a'),
                                       site_wheel_row("2.0rc1", "cp312", 'b')};
    gone[0].yanked = true;
    CHECK(site_lines_of(gone).empty());
}

TEST_CASE("an older wheel that is known to run stays beside a newer one of which that is not known") {
    const std::string gpu = R"(,"device_code_not_read":["cuda"],"needed":{"mpi":["libmpi.so.40"]})";
    const std::vector<SiteWheel> lines =
        site_lines_of({site_wheel_row("1.0", "cp312", 'a'), site_wheel_row("2.0", "cp312", 'b', gpu)});
    std::set<std::string> versions;
    for (const SiteWheel& line : lines) {
        versions.insert(line.version);
        CHECK(line.is_sure == (line.version == "1.0"));
        CHECK(line.mpi == (line.version == "1.0" ? "" : "libmpi.so.40"));
    }
    CHECK(versions == std::set<std::string>{"1.0", "2.0"});
}

TEST_CASE(
    "the lines of a project take the place of its older ones, and the last that became available come "
    "first") {
    SiteWheels all;
    for (std::size_t at = 0; at < max_site_wheels + 5; ++at)
        replace_project(all, "p" + std::to_string(at),
                        {{.project = "p" + std::to_string(at),
                          .version = "1",
                          .uploaded_s = static_cast<std::int64_t>(at)}});
    REQUIRE(all.lines.size() == max_site_wheels);
    CHECK(all.lines.front().project == "p" + std::to_string(max_site_wheels + 4));
    CHECK(all.lines.back().project == "p5");
    replace_project(all, "p7", {{.project = "p7", .version = "2", .uploaded_s = 1'000'000}});
    REQUIRE(all.lines.size() == max_site_wheels);
    CHECK(all.lines.front().version == "2");
    replace_project(all, "p7", {});
    CHECK(all.lines.size() == max_site_wheels - 1);
    // What was cut is not known again, and the page goes on to say so.
    const auto kept = parse_site_wheels(render_site_wheels(all));
    REQUIRE(kept.has_value());
    CHECK(*kept == all);
    const std::string html = render_site_page({}, "main", "bede", {}, *kept);
    CHECK(shows_part(html, "These are the last " + std::to_string(max_site_wheels - 1)));
    all.is_cut = false;
    CHECK(!shows_part(render_site_page({}, "main", "bede", {}, all), "These are the last"));
}

TEST_CASE("the kept lines of a site are read as they were written, and damaged ones are none") {
    SiteWheels lines{
        site_lines_of({site_wheel_row("1.0", "cp311", 'a'), site_wheel_row("2.0", "cp312", 'c')})};
    const std::string text = render_site_wheels(lines);
    const auto read = parse_site_wheels(text);
    REQUIRE(read.has_value());
    CHECK(*read == lines);
    lines.is_cut = true;
    CHECK(parse_site_wheels(render_site_wheels(lines)) == lines);
    for (const std::string& damaged :
         {std::string(), text.substr(0, text.size() / 2), std::string("{}"),
          std::string(R"({"format":"wheelyard.site-wheels/1","wheels":[["a"]]})")})
        CHECK(!parse_site_wheels(damaged));
}

TEST_CASE(
    "the page of a site shows its node types, wheels and builds, not those of others, and escapes them") {
    const FarmReport report = read_farm_report(two_sites);
    SiteWheels lines{site_lines_of({site_wheel_row("2.0", "cp312", 'c')})};
    const std::string html = render_site_page({}, "main", "bede", report, lines);
    for (const char* part :
         {"data-node=\"bede, gh (gh200)\"", "aarch64 · 72 cores · 479 GiB of memory · 1 GPU, sm_90",
          "href=\"../../project/sample/#wheel-cccccccccccc\"", "<td>gh (gh200), login</td>", "running 3.0",
          "build.html?site=bede&amp;id=w1", "memory ran out", "waiting&lt;b&gt; 9", "waits for torch",
          "href=\"feed.xml\"", "data-pythons=\"3.11,3.12\"", "What a project requires is judged on its page.",
          "What it requires is judged on its project's page."})
        CHECK_MESSAGE(shows_part(html, part), part);
    CHECK(!shows_part(html, "elsewhere"));
    CHECK(!shows_part(html, "not proven"));
    lines.lines.front().is_sure = false;
    CHECK(shows_part(render_site_page({}, "main", "bede", report, lines), "not proven"));
    lines.lines.push_back(lines.lines.front());  // another Python of the same project
    const std::string list = render_sites_page({}, "main", report, {{"bede", lines}});
    CHECK(shows_part(list, ">1 project · last report"));
    CHECK(shows_part(list, ">0 projects · last report"));
    lines.is_cut = true;
    CHECK(shows_part(render_sites_page({}, "main", report, {{"bede", lines}}), ">at least 1 project ·"));
    CHECK(shows_part(list, "href=\"bede/\""));
    CHECK(shows_part(list, "archer2, standard"));
    CHECK(shows_part(render_sites_page({}, "main", {}, {}), "No site reports"));
}

TEST_CASE("the page of a site that names no node types says so, and has what was built there") {
    const FarmReport report = read_farm_report(
        R"({"format":"wheelyard.index-status/1","index":"main","sites":[
        {"format":"wheelyard.site/1","site":"bare","index":"main","time":"2026-11-20T11:58:00Z","pythons":["3.12"],
         "cells":[{"package":"six","version":"1.17.0","python":"3.12","state":"have"},
                  {"package":"six","version":"1.17.0","python":"3.12","state":"have","purpose":"test"}]}]})");
    const std::string html = render_site_page({}, "main", "bare", report, {});
    CHECK(!shows_part(html, "No wheel is known to run here"));
    CHECK(shows_part(html, "names no node types"));
    CHECK(shows_part(html, "<strong>six 1.17.0</strong><span class=\"quiet\">Python 3.12</span>"));
    CHECK(html.find("six 1.17.0") == html.rfind("six 1.17.0"));
    CHECK(!shows_part(render_sites_page({}, "main", report, {}), "0 projects"));
    CHECK(shows_part(render_site_page({}, "main", "bede", read_farm_report(two_sites), {}),
                     "No wheel is known to run here"));
}

TEST_CASE("the feed of a site has what became available there, with a link to the wheel") {
    const std::string feed =
        render_site_feed("main", "bede", {site_lines_of({site_wheel_row("2.0", "cp312", 'c')})});
    for (const char* part :
         {"<id>urn:wheelyard:main:site:bede</id>", "sample 2.0 for Python 3.12 on gh (gh200), login",
          "href=\"../../project/sample/#wheel-cccccccccccc\"", "<updated>"})
        CHECK_MESSAGE(shows_part(feed, part), part);
    CHECK(shows_part(render_site_feed("main", "bede", {}), "1970-01-01T00:00:00"));
}
