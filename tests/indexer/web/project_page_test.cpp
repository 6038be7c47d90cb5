#include "indexer/web/project_page.hpp"

#include <doctest/doctest.h>

#include <tuple>

#include "indexer/tree/paths.hpp"
#include "indexer/web/index_pages.hpp"
#include "indexer/web/limits.hpp"
#include "indexer/web/shown_index.hpp"
#include "indexer/web/shown_project.hpp"
#include "indexer/web/state_cell.hpp"
#include "lib/base/text/encoding.hpp"
#include "lib/base/text/text.hpp"
#include "lib/page/frame.hpp"
#include "lib/page/template.hpp"
#include "tests/indexer/sample_view.hpp"

using namespace wheelyard;
using namespace wheelyard::indexer;

namespace {

constexpr std::string_view hostile = "\"'><script>alert(1)</script><img src=x onerror=alert(1)>\xE2\x80\xAE";

constexpr std::string_view status_json = R"({"format":"wheelyard.index-status/1","index":"main","sites":[
  {"format":"wheelyard.site/1","site":"bede","index":"main","time":"2026-11-20T11:58:00Z","pythons":["3.12"],
   "nodes":[{"name":"gh200","gpus":1,"accelerator":"h100","architectures":["sm_90"]},
            {"name":"old","gpus":4,"accelerator":"v100","architectures":["sm_70"]}],
   "cells":[{"package":"sample","version":"2.0","python":"3.12","accelerator":"cuda12.6","state":"given up",
             "reason":"nvcc: out of memory","attempt":"a0"},
            {"package":"sample","version":"1.10.0","python":"3.12","accelerator":"cuda12.6","state":"have"},
            {"package":"sample","version":"1.10.0","python":"3.12","accelerator":"cuda12.6","state":"wanted",
             "purpose":"gpu-test"},
            {"package":"sample","version":"1.10.0","python":"3.11","state":"held"},
            {"package":"other","version":"9.9","python":"3.12","state":"wanted"}],
   "attempts":[{"id":"a1","package":"sample","version":"3.0","python":"3.12","state":"running","phase":"compile",
                "done":30,"total":120,
                "began":"2026-11-20T09:00:00Z","memory_limit_mib":2048,"memory_mib":[512,1536,1024],
                "phases":["unpack","compile"],"phase_seconds":[3,6723],"log_tail":["[30/120] cc <a>"]}],
   "failures":[{"attempt":"a0","package":"sample","version":"2.0","python":"3.12","accelerator":"cuda12.6",
                "began":"2026-11-20T08:59:30Z","ended":"2026-11-20T10:00:00Z","cause":"memory ran out","remedy":"fewer jobs"}]}]})";

ProjectView proven_view() {
    ProjectView view = sample_view();
    for (auto& row : view.files)
        row.facts_json =
            R"({"tags":["cp312-cp312-linux_aarch64"],"machines":["aarch64"],"symbol_floors":{"GLIBC":"2.28"},
            "needed":{"mpi":["libmpi.so.40"],"cuda":["libcudart.so.12"]},"cuda_sm":["sm_90"],"search_paths":["/opt/x"],
            "unpacked_bytes":1572864})";
    return view;
}

std::string page_of(const ProjectView& view, const ProjectText& text = {}, const FarmReport& report = {}) {
    return render_project_page({"main", view, text, report, page::Farm{}});
}
ProjectText with_summary(const std::string& summary) {
    ProjectText text;
    text.summary = summary;
    return text;
}
SearchEntry uploaded_at(std::int64_t time_s) {
    SearchEntry entry;
    entry.uploaded_s = time_s;
    return entry;
}
SearchTop top_of(const SearchList& list) {
    return {.count = list.size(), .newest = {list.begin(), list.end()}};
}
bool has(const std::string& html, std::string_view part) {
    return html.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("the views of pages have what their templates name") {
    CHECK_NOTHROW(page::check_template<ShownProject>("project.html"));
    CHECK_NOTHROW(page::check_template<WheelSection>("wheel.html"));
    CHECK_NOTHROW(page::check_template<ShownGrid>("grid.html"));
    CHECK_NOTHROW(page::check_template<ShownInstall>("install.html"));
    CHECK_NOTHROW(page::check_template<ShownContents>("contents.html"));
    CHECK_NOTHROW(page::check_template<ProjectCard>("card.html"));
    CHECK_NOTHROW(page::check_template<NoView>("help.html"));
    CHECK_NOTHROW(page::check_template<ShownFront>("front.html"));
    CHECK_NOTHROW(page::check_template<ShownSearch>("search.html"));
    CHECK_NOTHROW(page::check_template<page::ShownSearchForm>("search_form.html"));
    CHECK_NOTHROW(page::check_template<ShownBuilds>("builds.html"));
    CHECK_NOTHROW(page::check_template<ShownFromApi>("from_api.html"));
    CHECK_NOTHROW(page::check_template<ShownState>("state.html"));
    CHECK_NOTHROW(page::check_template<ShownBar>("bar.html"));
    CHECK_NOTHROW(page::check_template<ShownTime>("time.html"));
}

TEST_CASE("a project page shows the install line, each wheel and what its bytes prove") {
    const std::string html = page_of(proven_view());
    for (const char* part : {"pip install --index-url https://THIS-SERVER/main/simple/ sample==1!0.1",
                             "id=\"wheel-eeeeeeeeeeee\"", "href=\"../../files/ee/", "GLIBC 2.28",
                             "libmpi.so.40", "libcudart.so.12", "sm_90", "/opt/x", "1.5 MiB",
                             "Yanked: installed only by an exact pin.", "<th scope=\"row\">1!0.1<small>"})
        CHECK_MESSAGE(has(html, part), part);
}

TEST_CASE("without scripts the texts to paste have the address of the server where it is known") {
    const ProjectView view = proven_view();
    const ProjectText text;
    const FarmReport report;
    const page::Farm farm{.url = "https://wheels.example.org/py"};
    const std::string html = render_project_page({"ma in", view, text, report, farm});
    CHECK(has(html, "pip install --index-url https://wheels.example.org/py/ma%20in/simple/ sample==1!0.1"));
    CHECK(!has(html, "THIS-SERVER"));
}

TEST_CASE(
    "a project page shows the states that sites report, and on which node types a wheel runs and why not") {
    const std::string html = page_of(proven_view(), {}, read_farm_report(status_json));
    for (const char* part :
         {"<span class=\"state failed\">failed</span>", "nvcc: out of memory",
          "data-cell=\"2.0|bede|3.12|cuda12.6\"", "bede, gh200 (h100)", "built for sm_90, here is sm_70"})
        CHECK_MESSAGE(has(html, part), part);
    CHECK(!has(html, "9.9"));  // another project's
    CHECK(!has(page_of(proven_view()), "data-cell"));
}

TEST_CASE("a wheel that a site has for a kind of node runs there, whatever the site reports of the node") {
    const std::string facts = R"({"tags":["cp312-cp312-linux_aarch64"],"machines":["aarch64"]})";
    ProjectView view =
        make_project_view("sample", {sample_row("2.0", "sample-2.0-cp312-cp312-linux_aarch64.whl", 'a')});
    view.files[0].facts_json = facts;
    struct Row {
        const char* state;
        const char* reason;
        const char* accelerator;
        bool runs;
    };
    for (const Row& row :
         {Row{"have", "sample-2.0-cp312-cp312-linux_aarch64.whl", "h100", true},
          Row{"have", "", "h100", true}, Row{"have", "", "", true}, Row{"have", "", "a100", false},
          Row{"have", "sample-2.0-1-cp312-cp312-linux_aarch64.whl", "h100", false},
          Row{"wanted", "", "h100", false}}) {
        FarmReport report = read_farm_report(status_json);
        report.nodes.resize(1);
        ReportedBuild cell;
        cell.site = "bede";
        cell.package = "sample";
        cell.version = "2.0";
        cell.python = "3.12";
        cell.state = row.state;
        cell.reason = row.reason;
        cell.accelerator = row.accelerator;
        report.cells["sample"] = {cell};
        const std::string html = page_of(view, {}, report);
        CAPTURE(row.reason);
        CAPTURE(row.accelerator);
        CHECK(
            has(html, "<th scope=\"row\">bede, gh200 (h100)</th><td><span class=\"state have\">yes</span>") ==
            row.runs);
        CHECK(has(html, "bede has this wheel for Python 3.12") == row.runs);
        CHECK(has(html, "not known") != row.runs);
    }
}

TEST_CASE("a wheel does not run where its test has failed, whatever else speaks for it") {
    ProjectView view =
        make_project_view("sample", {sample_row("2.0", "sample-2.0-cp312-cp312-linux_aarch64.whl", 'a')});
    view.files[0].facts_json = R"({"tags":["cp312-cp312-linux_aarch64"],"machines":["aarch64"]})";
    FarmReport report = read_farm_report(status_json);
    report.nodes.resize(1);
    ReportedBuild built;
    built.site = "bede";
    built.package = "sample";
    built.version = "2.0";
    built.python = "3.12";
    built.state = "have";
    ReportedBuild test = built;
    test.state = "given up";
    test.reason = "sums differ";
    const std::string row = "<th scope=\"row\">bede, gh200 (h100)</th><td><span class=\"state ";
    for (const auto& [purpose, word, why] :
         {std::tuple("gpu-test", "failed\">no<", "its test on GPUs has failed at bede: sums differ"),
          std::tuple("multi-node-test", "unknown\">not known<",
                     "its test on several nodes has failed at bede: sums differ"),
          std::tuple("promotion", "have\">yes<", "bede has this wheel for Python 3.12")}) {
        test.purpose = purpose;
        report.cells["sample"] = {built, test};
        const std::string html = page_of(view, {}, report);
        CAPTURE(purpose);
        CHECK(has(html, row + word));
        CHECK(has(html, why));
    }
    test.purpose = "gpu-test";
    for (std::string ReportedBuild::*other :
         {&ReportedBuild::version, &ReportedBuild::python, &ReportedBuild::accelerator, &ReportedBuild::site,
          &ReportedBuild::state}) {
        ReportedBuild of_another = test;
        of_another.*other = "1.0";
        report.cells["sample"] = {built, of_another};
        CHECK(has(page_of(view, {}, report), row + "have\">yes<"));
    }
}

TEST_CASE("a wheel shows what the rules found, with the evidence and what to do") {
    ProjectView view = proven_view();
    std::string& facts = view.files.back().facts_json;
    const auto page_with = [&](const std::string& findings) {
        facts = R"({"tags":["cp312-cp312-linux_aarch64"])" + findings + "}";
        return page_of(view);
    };
    const std::string html = page_with(
        R"(,"findings":[{"code":"zip.name_case","severity":"warn","member":"a/<B>.py","expected":"x","found":"a/<b>.py"},
        {"code":"of.tomorrow","severity":"note"},{"code":"zip.bomb","severity":"quarantine"}])");
    for (const char* part :
         {"<span class=\"state wanted\">warning</span> The names of two members differ only in case",
          "<code>zip.name_case</code>", "a/&lt;B&gt;.py: expected x, found a/&lt;b&gt;.py",
          "What to do: Rename one of them.", "<code>of.tomorrow</code>",
          "<span class=\"state failed\">quarantine</span>",
          " <span class=\"state wanted\">2 warnings</span></summary>"})
        CHECK_MESSAGE(has(html, part), part);
    CHECK(has(page_with(",\"findings\":[]"), "<h5>Findings of the check</h5>\n<p>None.</p>"));
    for (const char* unknown : {"", ",\"findings\":null", ",\"findings\":{}"})
        CHECK(!has(page_with(unknown), "Findings of the check"));
}

TEST_CASE("the machine type and the glibc that a site reports of a node decide whether a wheel runs there") {
    ProjectView view =
        make_project_view("sample", {sample_row("2.0", "sample-2.0-cp312-cp312-linux_aarch64.whl", 'a')});
    view.files[0].facts_json =
        R"({"tags":["cp312-cp312-linux_aarch64"],"machines":["aarch64"],"symbol_floors":{"GLIBC":"2.28"}})";
    struct Row {
        const char* of_node;
        const char* shown;
    };
    for (const Row& row : {Row{R"("machine":"aarch64","glibc":"2.34",)", "state have\">yes"},
                           Row{R"("machine":"x86_64","glibc":"2.34",)", "aarch64"},
                           Row{R"("machine":"aarch64","glibc":"2.17",)", "2.17"}, Row{"", "not known"}}) {
        CAPTURE(row.of_node);
        const std::string json = base::replace_all(status_json, R"("gpus":1,)", row.of_node);
        FarmReport report = read_farm_report(json);
        report.nodes.resize(1);
        report.cells.clear();
        const std::string html = page_of(view, {}, report);
        const std::size_t at = html.find("<th scope=\"row\">bede, gh200 (h100)</th>");
        REQUIRE(at != std::string::npos);
        CHECK_MESSAGE(has(html.substr(at, html.find("</tr>", at) - at), row.shown), html.substr(at, 400));
    }
}

TEST_CASE("a wheel shows what made it, as its agent states, and a damaged document shows nothing") {
    ProjectView view = proven_view();
    catalog::FileRow& row = view.files.back();
    row.provenance_sha256 = std::string(64, 'd');
    REQUIRE(rows_with_provenance(view).size() == 1);
    const auto page = [&](const std::string& document) {
        const ProjectText text;
        const FarmReport report;
        return render_project_page({"main", view, text, report, page::Farm{}, {{row.sha256, document}}});
    };
    const std::string html = page(
        R"({"format":"wheelyard.provenance/1","site":"bede","program":"wheelyard-builder 0.1.0","began":"2026-11-20T12:00:00Z",
        "source":{"kind":"sdist","origin":"https://example.org/<x>.tar.gz","sha256":"5a5a"},
        "build":{"script_sha256":"6b6b","system":"Linux aarch64","modules":["cuda/12.3"],"tools":{"c++":"g++ <13>"}},
        "notice":"without an extension","log":"wheelyard-builder logs w1"})");
    for (const char* part : {"What made it", "wheelyard-builder 0.1.0", "2026-11-20 12:00 UTC",
                             "https://example.org/&lt;x&gt;.tar.gz", "5a5a", "6b6b", "Linux aarch64",
                             "cuda/12.3", "<dt>c++</dt><dd>g++ &lt;13&gt;</dd>", "wheelyard-builder logs w1",
                             "<dt>Notice</dt><dd>without an extension</dd>"})
        CHECK_MESSAGE(has(html, part), part);
    CHECK(has(html, "href=\"https://example.org/"));
    CHECK(!has(html, "builds/build.html"));
    CHECK(has(page(R"({"site":"bede","attempt":"w1<k","source":{"origin":"/folder"}})"),
              "<a id=\"built-w1&lt;k\" href=\"../../builds/build.html?site=bede&amp;id=w1%3Ck\">Build and "
              "log</a>"));
    // The page of a repository, not that of an address that nobody serves.
    CHECK(has(page(R"json({"source":{"kind":"git","origin":"https://example.org/x@v1 (3f2a)"}})json"),
              "href=\"https://example.org/x\">https://example.org/x@v1 (3f2a)</a>"));
    for (const char* damaged : {"", "{}", "[]", "no JSON", "null"})
        CHECK(!has(page(damaged), "What made it"));
    // A line for who wants to verify what the registry signed.
    REQUIRE(has(row.filename, "!"));  // interactive shells replace it, so that the name is quoted
    const auto lines = [&](const std::string& more) {
        return " data-index=\"https://THIS-SERVER/main/\">avail_wheels verify &#39;" + row.filename +
               "&#39; --index-url https://THIS-SERVER/main/simple/ --root root.json" + more + "</code>";
    };
    CHECK(!has(html, "avail_wheels verify"));
    CHECK(has(page(R"({"site":"bede","statements":[{"payload":""},{"payload":""}]})"), lines("")));
    // It names the index that the registry's statement names, so that it needs no warning.
    const auto uploaded_to = [&](const std::string& index) {
        return page(R"({"site":"bede","statements":[{"payload":""},{"payload":")" +
                    base::encode_base64(R"({"predicate":{"index":")" + index + R"("}})") + R"("}]})");
    };
    CHECK(has(uploaded_to("main"), lines(" --uploaded-to main")));
    CHECK(has(uploaded_to("a b"), lines(" --uploaded-to &#39;a b&#39;")));
    CHECK(!has(uploaded_to("main"), "promoted"));
    CHECK(has(uploaded_to("staging"), lines(" --uploaded-to staging")));
    CHECK(has(uploaded_to("staging"), "The wheel was uploaded to staging and promoted from there"));
    // An agent that does not know the time sends none.
    CHECK(!has(page(R"({"site":"bede","began":"1970-01-01T00:00:00.000000Z"})"), "Began"));
    const auto links_in = [&row](const std::string& shown) {
        const std::size_t at = shown.find("<p><a href=\"" + file_link(row) + "\">Download</a>");
        REQUIRE(at != std::string::npos);
        return shown.substr(at, shown.find("</p>", at) - at);
    };
    // Its bill of materials is of the API of the index that has the file; of files of upstreams there is none.
    const std::string sbom = R"(<span class="sbom" hidden> · <a>SBOM</a></span>)";
    CHECK(links_in(html).ends_with(">Provenance</a>" + sbom));
    row.provenance_sha256.clear();
    CHECK(links_in(page("")).ends_with(" · without provenance" + sbom));
    row.index = "base";
    CHECK(has(page(""), "\" data-index=\"base\" open>"));
    row.index = "main.public";
    CHECK(!has(links_in(page("")), "SBOM"));
}

TEST_CASE("a wheel shows what it contains, as its SBOM states") {
    ProjectView view = proven_view();
    view.files.back().facts_json =
        R"({"sbom":[{"name":"zlib","version":"1.2.11-25.el8","license":"Zlib","purl":"pkg:rpm/zlib@1.2.11-25.el8"},{"name":"<b>"}],"sbom_left_out":40})";
    const ProjectText text;
    const FarmReport report;
    const std::string html = render_project_page({"main", view, text, report, page::Farm{}, {}});
    CHECK(has(html,
              "<dt>Contains, as its SBOM states</dt><dd><span class=\"mono\">zlib 1.2.11-25.el8 "
              "(Zlib, pkg:rpm/zlib@1.2.11-25.el8)</span>, "
              "<span class=\"mono\">&lt;b&gt;</span> and 40 more"));
}

TEST_CASE("the front page shows the hardware of the sites and what is being built") {
    FarmReport report = read_farm_report(status_json);
    report.nodes[0].cores = 72;
    report.nodes[0].memory_mib = 490'000;
    const std::string html = render_front({}, {summarise("main", {}, report)});
    CHECK(has(html, ">bede, gh200 (h100): 72 cores, 479 GiB, 1 GPU of sm_90</li>"));
    CHECK(has(html, "<h2>Being built</h2>"));
    CHECK(has(html, "<a href=\"main/builds/#build-a1\">sample 3.0</a>"));
    CHECK(!has(render_front({}, {summarise("main", {}, {})}), "Being built"));
}

TEST_CASE("a queue that refuses jobs is on the page of builds, with its site and the batch system's words") {
    const std::string held = base::replace_all(
        status_json, R"("cells":[)",
        R"("held_queues":[{"queue":"main","reason":"qsub: <in maintenance>","since":"2026-11-20T11:00:00.000000Z"}],"cells":[)");
    REQUIRE(held != status_json);
    const std::string page = render_builds_page({}, "main", read_farm_report(held));
    CHECK(has(page,
              "<span class=\"note\">Queue main takes no jobs, first refused <time "
              "datetime=\"2026-11-20T11:00:00Z\">2026-11-20 11:00"));
    CHECK(has(page, ": qsub: &lt;in maintenance&gt;</span>"));
}

TEST_CASE("a project page leads from a failed build to its item on the page of builds") {
    const FarmReport report = read_farm_report(status_json);
    CHECK(has(page_of(proven_view(), {}, report),
              "<a href=\"../../builds/#build-a0\"><span class=\"state failed\">"));
    CHECK(has(render_builds_page({}, "main", report), "<li class=\"card\" id=\"build-a0\">"));
    CHECK(build_anchor("a\" b<1") == "build-ab1");
}

TEST_CASE("a test of a wheel does not hide the state of its build") {
    const std::string html = page_of(make_project_view("sample", {}), {}, read_farm_report(status_json));
    CHECK(has(html, "1.10.0|bede|3.12|cuda12.6\"><span class=\"state have\">"));
    CHECK(without_status(html) == without_status(page_of(make_project_view("sample", {}))));
}

TEST_CASE("a wide table scrolls in a box of its own that the keyboard reaches") {
    ProjectText text;
    text.description = "| a | b |\n|---|---|\n| <table> | 2 |\n";
    text.description_type = "text/markdown";
    const std::string html = page_of(proven_view(), text);
    CHECK(has(html, "<div class=\"scroll\" tabindex=\"0\"><table>"));
    CHECK(has(html, "</table></div>"));
}

TEST_CASE("what sites report does not count when a page is compared with the catalog") {
    const std::string with = page_of(proven_view(), {}, read_farm_report(status_json));
    const std::string without = page_of(proven_view());
    CHECK(with != without);
    CHECK(without_status(with) == without_status(without));
    CHECK(has(without_status(with), "libmpi.so.40"));
}

TEST_CASE("no text of a project can inject HTML into any page") {
    ProjectView view = proven_view();
    const std::string text(hostile);
    view.status = catalog::ProjectStatus::archived;
    view.status_reason = text;
    view.files[0].yanked = true;
    view.files[0].yanked_reason = text;
    view.files[1].requires_python = text;
    view.files.back().facts_json =
        R"({"tags":["<script>alert(1)</script>"],"machines":["\"><script>alert(1)</script>"],
        "needed":{"<script>alert(1)</script>":["<img src=x onerror=alert(1)>"]},"cuda_sm":["<script>"],
        "findings":[{"code":"<script>alert(1)</script>","member":"<img src=x onerror=alert(1)>","found":"<script>"}]})";
    const std::string metadata =
        "Metadata-Version: 2.1\nName: sample\nVersion: 1\nSummary: " + text + "\nKeywords: " + text +
        "\nLicense: " + text + "\nRequires-Dist: " + text + "\nProject-URL: " + text +
        ", https://example.org/" + text + "\nProject-URL: Bad, javascript:alert(1)\nHome-page: " +
        "javascript:alert(1)\nProject-URL: Data, data:text/html;base64,x\n" +
        "Description-Content-Type: text/markdown\n\n" + text + "\n[x](javascript:alert(1))\n";
    const ProjectText project = read_project_text(metadata);
    CHECK(project.summary == hostile);
    FarmReport report = read_farm_report(status_json);
    for (ReportedBuild& cell : report.cells["sample"])
        cell.reason = cell.site = cell.python = cell.accelerator = cell.version = cell.state = text;
    report.nodes[0].node.name = report.nodes[0].site = report.sites[0].site = report.sites[0].time = text;
    for (auto* builds : {&report.attempts, &report.failures})
        for (ReportedBuild& build : *builds)
            build.package = build.phase = build.cause = build.remedy = build.ended = text;
    report.attempts[0].log_tail = {text};
    const SearchList list{{"sample", *make_search_entry(view, project)}};
    FarmText farm{.title = text,
                  .text = text,
                  .contact = text,
                  .titles = {{"main", text}},
                  .upstreams = {{"main", text}},
                  .hidden = {}};
    for (const std::string& html :
         {page_of(view, project, report), render_search_page(farm, "main", list, 1),
          render_builds_page({}, "main", report),
          render_front(farm, {summarise("main", top_of(list), report)}), render_feed("main", view)}) {
        CHECK(!has(html, "<script>"));
        CHECK(!has(html, "<img"));
        CHECK(!has(html, "=javascript:"));
        CHECK(!has(html, "\"javascript:"));
        CHECK(!has(html, "data:text"));
        CHECK(!has(html, "\xE2\x80\xAE"));
        CHECK(!has(html, " onerror=alert(1)>"));
        CHECK(!has(html, "style="));  // the policy forbids it
    }
}

TEST_CASE("a project with 2,000 files has a page of bounded size, with every file on it") {
    ProjectView view = proven_view();
    const catalog::FileRow row = view.files.back();
    view.files.clear();
    for (int at = 0; at < 2'000; ++at) {
        catalog::FileRow more = row;
        more.version = "1." + std::to_string(at);
        more.filename = "sample-" + more.version + "-cp312-cp312-linux_aarch64.whl";
        more.sha256.replace(0, 4, std::to_string(1'000 + at));
        view.files.push_back(std::move(more));
    }
    const std::string html = page_of(view);
    CHECK(html.size() < 1'000'000);
    CHECK(has(html, "1960 older files"));
    CHECK(has(html, ">sample-1.0-cp312-cp312-linux_aarch64.whl</a>"));
}

TEST_CASE("a project page says that the project is archived and why, and has no install line without files") {
    ProjectView view{.project = "six",
                     .files = {},
                     .status = catalog::ProjectStatus::archived,
                     .status_reason = "use seven"};
    const std::string html = page_of(view);
    CHECK(has(html, "<strong>archived</strong>. use seven"));
    CHECK(has(html, "This project has no files."));
    view.quarantined = 2;
    CHECK(has(page_of(view), "All files of this project are in quarantine"));
    CHECK(!has(page_of(view), "no files"));
    CHECK(!has(page_of(view), "No wheel yet"));
    ProjectView more = proven_view();
    more.quarantined = 2;
    CHECK(has(page_of(more), "2 more files are in quarantine and not offered."));
}

TEST_CASE("the newest final version that is not yanked describes a project") {
    ProjectView view =
        make_project_view("sample", {sample_row("1.0", "sample-1.0-py3-none-any.whl", 'a'),
                                     sample_row("2.0", "sample-2.0-py3-none-any.whl", 'b'),
                                     sample_row("3.0rc1", "sample-3.0rc1-py3-none-any.whl", 'c')});
    CHECK(newest_row(view)->version == "2.0");
    view.files[1].yanked = true;
    CHECK(newest_row(view)->version == "1.0");
    view.files[0].yanked = true;
    CHECK(newest_row(view)->version == "3.0rc1");
}

TEST_CASE("the front page lists indexes with titles and the newest wheels, and no hidden index") {
    const SearchList old{{"old", uploaded_at(5)}};
    const SearchList fresh{{"fresh", uploaded_at(9)}};
    const FarmText farm{.title = "The farm", .titles = {{"main", "Wheels of Bede"}}, .hidden = {"staging"}};
    const std::string html =
        render_front(farm, {summarise("main", top_of(old), {}), summarise("gpu", top_of(fresh), {}),
                            summarise("staging", top_of(fresh), {})});
    CHECK(has(html, "Wheels of Bede"));
    CHECK(!has(html, "staging"));
    CHECK(has(html, "data-folders=\"main/project/ gpu/project/\""));
    CHECK(has(html, "1 project<"));
    CHECK(html.find(">fresh</a>") < html.find(">old</a>"));
}

TEST_CASE("an index with upstreams says where its other projects are from, and has no number without any") {
    const FarmText farm{.upstreams = {{"base", "pypi"}, {"main", "pypi, torch"}}};
    const SearchList one{{"old", uploaded_at(5)}};
    const std::string html =
        render_front(farm, {summarise("base", {}, {}), summarise("main", top_of(one), {})});
    CHECK(has(html, ">projects from pypi<"));
    CHECK(has(html, ">1 project, others from pypi, torch<"));
    CHECK(has(render_search_page(farm, "base", {}, 0), "<small>projects from pypi</small>"));
    CHECK(has(render_search_page(farm, "gpu", {}, 0), "<small>0 projects</small>"));
}

TEST_CASE(
    "builds that failed are counted where nothing was built since, and how long a cell has waited is said") {
    const FarmReport report = read_farm_report(status_json);
    const std::string html = render_builds_page({}, "main", report);
    CHECK(has(html, "<a href=\"#failed\">" + std::to_string(report.failures.size()) + " failed</a>"));
    CHECK(has(render_front({}, {summarise("main", {}, report)}),
              "<a href=\"main/builds/#failed\">" + std::to_string(report.failures.size()) + " failed</a>"));
    FarmReport well = report;
    for (ReportedBuild failed : report.failures) {
        failed.state = "have";
        well.cells[failed.package].push_back(failed);
        well.cells[failed.package].back().asked = "2026-11-20T10:00:00.000000Z";
    }
    CHECK(has(render_builds_page({}, "main", well), "No build has failed."));
    for (auto& [package, cells] : well.cells)
        for (ReportedBuild& cell : cells)
            cell.state = "wanted";
    CHECK(has(render_builds_page({}, "main", well), " · queued <time datetime=\"2026-11-20T10:00:00Z\">"));
}

TEST_CASE("the front page says what the farm says of itself, and a contact is a link where it can be one") {
    const auto front = [](const char* text, const char* contact) {
        return render_front({.text = text, .contact = contact}, {});
    };
    CHECK(has(front("", ""), "<p class=\"lead\">Python wheels built"));
    CHECK(!has(front("", ""), "Contact"));
    CHECK(has(front("Wheels of <Bede>", ""), "<p class=\"lead\">Wheels of &lt;Bede&gt;</p>"));
    CHECK(has(front("", "help@example.org"), "<a href=\"mailto:help@example.org\">help@example.org</a>"));
    CHECK(has(front("", "https://example.org/@help"), "<a href=\"https://example.org/@help\">"));
    CHECK(has(front("", "room 3, ask Anna"), "Contact: room 3, ask Anna</p>"));
    CHECK(!has(front("", "javascript:alert(1)"), "<a href=\"javascript"));
}

TEST_CASE("the builds page shows agents, running builds with a bar, the queue and failures with a remedy") {
    const std::string html = render_builds_page({}, "main", read_farm_report(status_json));
    for (const char* part :
         {"bede", "2026-11-20 11:58 UTC", "value=\"30\" max=\"120\"", "30 of 120 steps",
          "began <time datetime=\"2026-11-20T09:00:00Z\">2026-11-20 09:00 UTC</time>",
          "at most 2 GiB of memory", "[30/120] cc &lt;a&gt;", "unpack 3 s · compile 1 h 52 min",
          "1 GiB now, peak 1.5 GiB, limit 2 GiB", "<path d=\"M0 48L0 36H80L80 12H160L160 24H240V48\"/>",
          "after 1 h 00 min", "other 9.9", "gpu-test", "memory ran out", "fewer jobs"})
        CHECK_MESSAGE(has(html, part), part);
    const std::string absurd = base::replace_all(status_json, "[512,1536,1024]", "[0,9223372036854775807]");
    CHECK(has(render_builds_page({}, "main", read_farm_report(absurd)), "H120L120 0H240V48"));
    const std::string empty = render_builds_page({}, "main", read_farm_report("no JSON"));
    CHECK(has(empty, "No site reports to this index yet"));
}

TEST_CASE(
    "a project page names the newest version for each Python, and installs without a version where they "
    "differ") {
    const auto wheel = [](const char* version, const char* python, char digit) {
        return sample_row(
            version, "sample-" + std::string(version) + "-" + python + "-" + python + "-linux_aarch64.whl",
            digit);
    };
    const std::string line = "pip install --index-url https://THIS-SERVER/main/simple/ ";
    std::vector<catalog::FileRow> rows{wheel("2.6.0", "cp311", 'a'), wheel("2.6.0", "cp312", 'b'),
                                       wheel("2.7.0", "cp311", 'c')};
    std::string html = page_of(make_project_view("sample", rows));
    CHECK(has(html, line + "sample</code>"));
    CHECK(has(html, "The newest version for each Python: 3.11: 2.7.0 · 3.12: 2.6.0."));
    CHECK(has(html, "data-node=\"\" data-offer=\"sample 3.11:sample==2.7.0 3.12:sample==2.6.0\""));
    // The Pythons that sites have count, too; what is shown without a report does not change.
    const std::string at_site =
        page_of(make_project_view("sample", rows), {},
                read_farm_report(
                    base::replace_all(status_json, R"("pythons":["3.12"])", R"("pythons":["3.12","3.13"])")));
    CHECK(has(at_site, " 3.12:sample==2.6.0 3.13:\""));
    CHECK(has(at_site,
              "data-node=\"bede, gh200 (h100)\" data-offer=\"sample==2.6.0 3.11:sample==2.7.0 "
              "3.12:sample==2.6.0 3.13:\""));
    CHECK(has(at_site, "data-node=\"bede, old (v100)\""));
    CHECK(without_status(at_site) == without_status(html));
    // Where all that runs is yanked, that is why nothing is offered.
    auto yanked = rows;
    for (auto& row : yanked)
        row.yanked = true;
    yanked[1].yanked_reason = "breaks MPI_Init";
    CHECK(has(page_of(make_project_view("sample", yanked), {}, read_farm_report(status_json)),
              "2.6.0 is yanked: breaks MPI_Init"));
    // pip would build a source distribution that is newer than the wheels.
    rows.push_back(sample_row("2.8.0", "sample-2.8.0.tar.gz", 'd'));
    html = page_of(make_project_view("sample", rows));
    CHECK(has(html, line + "--only-binary sample sample</code>"));
    // Neither yanked wheels nor pre-releases, and the stable ABI suits each Python from its own on.
    rows = {wheel("1.0", "cp311", 'a'), wheel("2.0", "cp311", 'b'), wheel("3.0rc1", "cp311", 'c'),
            sample_row("1.5", "sample-1.5-cp310-abi3-linux_aarch64.whl", 'd')};
    rows[1].yanked = true;
    html = page_of(make_project_view("sample", rows));
    CHECK(has(html, line + "sample==1.5</code>"));
    CHECK(has(html, "1.5 \\\n    --hash=sha256:" + std::string(64, 'd') + "</code>"));
}

TEST_CASE("Requires-Python decides which version is the newest for a Python, as the tags do") {
    const auto wheel = [](const char* version, const char* requires_python, char digit) {
        auto row = sample_row(version, "sample-" + std::string(version) + "-py3-none-any.whl", digit);
        row.requires_python = requires_python;
        return row;
    };
    const std::string line = "pip install --index-url https://THIS-SERVER/main/simple/ ";
    std::vector<catalog::FileRow> rows{wheel("1.7", "", 'a'), wheel("3.0", "<3.11", 'b')};
    std::string html = page_of(make_project_view("sample", rows));
    CHECK(has(html, line + "sample</code>"));
    CHECK(has(html,
              "data-node=\"\" data-offer=\"sample 3.9:sample==3.0 3.10:sample==3.0 3.11:sample==1.7 "
              "3.12:sample==1.7 3.13:sample==1.7 3.14:sample==1.7\""));
    CHECK(has(html, "The newest version for each Python: 3.9: 3.0 · 3.10: 3.0 · 3.11: 1.7 · "));
    // One wheel of a Python, and one of any for the others.
    rows = {wheel("1.7", ">=3.12", 'a'), sample_row("3.0", "sample-3.0-cp312-cp312-linux_aarch64.whl", 'b')};
    html = page_of(make_project_view("sample", rows));
    CHECK(has(html, "data-offer=\"sample 3.12:sample==3.0 3.13:sample==1.7 3.14:sample==1.7\""));
    // Where all choose the same one, Pythons are not named.
    rows = {wheel("1.7", "", 'a'), wheel("3.0", ">=3.8", 'b')};
    html = page_of(make_project_view("sample", rows));
    CHECK(has(html, line + "sample==3.0</code>"));
    CHECK(has(html, "data-node=\"\" data-offer=\"sample==3.0\""));
    // A wheel stands in the column of a reported Python only if that takes it.
    rows = {wheel("3.0", "<3.11", 'b')};
    html = page_of(make_project_view("sample", rows), {}, read_farm_report(status_json));
    const std::string cell = "<td data-version=\"3.0\" data-python=\"3.12\">";
    REQUIRE(has(html, cell));
    CHECK(!html.substr(html.find(cell) + cell.size()).starts_with("<a class"));
}

TEST_CASE("wheels of one cell that are for the same machine are told apart by their file names") {
    const std::string html = page_of(make_project_view(
        "sample", {sample_row("1.0", "sample-1.0-cp312-cp312-linux_x86_64.whl", 'a'),
                   sample_row("1.0", "sample-1.0-2-cp312-cp312-linux_x86_64.whl", 'b'),
                   sample_row("1.0", "sample-1.0-cp312-cp312-manylinux_2_28_x86_64.whl", 'c'),
                   sample_row("1.0", "sample-1.0-cp312-cp312-linux_aarch64.whl", 'd')}));
    for (const char* label :
         {"aaaaaaaaaaaa\">x86_64, linux_x86_64<", "bbbbbbbbbbbb\">x86_64, build 2, linux_x86_64<",
          "cccccccccccc\">x86_64, manylinux_2_28_x86_64<", "dddddddddddd\">aarch64<"})
        CHECK_MESSAGE(has(html, std::string("#wheel-") + label), label);
}

TEST_CASE("a cell of the grid has the wheels for its Python, or the build and its reason") {
    const auto wheel = [](const char* version, const char* tags, char digit) {
        return sample_row(version, "sample-" + std::string(version) + "-" + tags + ".whl", digit);
    };
    const ProjectView view = make_project_view(
        "sample", {wheel("1.10.0", "cp312-cp312-linux_aarch64", 'a'), wheel("1.9.0", "py3-none-any", 'b'),
                   wheel("1.8.0", "cp39-abi3-linux_x86_64", 'c')});
    const std::string html = page_of(view, {}, read_farm_report(status_json));
    const auto cell = [&](const std::string& version, const std::string& python) {
        const std::string start = "<td data-version=\"" + version + "\" data-python=\"" + python + "\">";
        const auto at = html.find(start);
        return at == std::string::npos
                   ? "no cell"
                   : html.substr(at + start.size(), html.find("</td>", at) - at - start.size());
    };
    CHECK(has(cell("1.10.0", "3.12"), "href=\"#wheel-aaaaaaaaaaaa\">aarch64</a>"));
    CHECK(!has(cell("1.10.0", "3.12"), "built"));  // the wheel says it
    // Without a wheel in the index, as of one in quarantine, nothing is available.
    CHECK(has(page_of(make_project_view("sample", {}), {}, read_farm_report(status_json)), ">built</span>"));
    CHECK(has(cell("1.10.0", "3.11"), ">held</span><small>bede</small>"));
    for (const char* python : {"any 3", "3.11", "3.12"})
        CHECK_MESSAGE(has(cell("1.9.0", python), "any machine</a>"), python);
    CHECK(has(cell("1.8.0", "3.9 and newer"), ">x86_64</a>"));
    CHECK(has(cell("1.8.0", "3.12"), ">x86_64</a>"));
    CHECK(cell("1.8.0", "any 3") == "<!--status--><!--/status-->");
    CHECK(
        has(cell("2.0", "3.12"),
            "failed</span></a><span class=\"why\">nvcc: out of memory</span><small>bede, cuda12.6</small>"));
    CHECK(html.find("row\">2.0<") < html.find("row\">1.10.0<"));
    CHECK(html.find("row\">1.10.0<") < html.find("row\">1.9.0<"));
    CHECK(without_status(html) == without_status(page_of(view)));
}

TEST_CASE(
    "a cell of the grid has the newest request for its wheel if that has not come, with the way to its "
    "page") {
    const std::string reports(status_json);
    const FarmReport report = read_farm_report(reports.substr(0, reports.size() - 1) + R"(,"requests":[
        {"id":"t9","package":"sample","version":"5.0","python":"3.12","state":"queued","asked":"2026-11-20T11:00:00Z"},
        {"id":"t8","package":"sample","version":"5.0","python":"3.12","state":"failed","reason":"old",
         "asked":"2026-11-19T11:00:00Z","ended":"2026-11-19T12:00:00Z"},
        {"id":"t7","package":"sample","version":"6.0","python":"3.12","accelerator":"h200","state":"failed",
         "reason":"no <compiler>","asked":"2026-11-20T11:00:00Z","ended":"2026-11-20T12:00:00Z"},
        {"id":"t6","package":"sample","version":"7.0","python":"3.12","state":"done","asked":"2026-11-20T11:00:00Z",
         "ended":"2026-11-20T12:00:00Z"},
        {"id":"t5","package":"sample","version":"2.0","python":"3.12","accelerator":"cuda12.6","state":"claimed",
         "asked":"2026-11-20T11:00:00Z"},
        {"id":"t4","package":"settled","version":"1","python":"3.12","state":"cancelled","asked":"2026-11-20T11:00:00Z",
         "ended":"2026-11-20T12:00:00Z"}]})");
    const std::string html = page_of(proven_view(), {}, report);
    CHECK(has(html,
              "<a href=\"../../builds/request.html?id=t7\"><span class=\"state failed\">failed</span></a>"
              "<span class=\"why\">no &lt;compiler&gt;</span><small>request, h200</small>"));
    CHECK(
        has(html,
            "request.html?id=t9\"><span class=\"state wanted\">asked for</span></a><small>request</small>"));
    for (const char* id : {"t8", "t6", "t5"})  // an older one, one that is done, one that its site reports
        CHECK_MESSAGE(!has(html, "id=" + std::string(id)), id);
    CHECK(!report.cells.contains("settled"));
    CHECK(without_status(html) == without_status(page_of(proven_view())));
}

TEST_CASE("the search finds what any version has, not only the newest, and nothing that is yanked") {
    ProjectView view =
        make_project_view("sample", {sample_row("2.6.0", "sample-2.6.0-cp312-cp312-linux_x86_64.whl", 'a'),
                                     sample_row("2.6.1", "sample-2.6.1-cp310-cp310-linux_x86_64.whl", 'b'),
                                     sample_row("2.7.0", "sample-2.7.0-cp311-cp311-linux_aarch64.whl", 'c')});
    view.files[1].yanked = true;
    const SearchEntry entry = *make_search_entry(view, with_summary("A \"sample\" – é"));
    CHECK(entry.version == "2.7.0");
    CHECK(entry.summary == "A \"sample\" – é");
    CHECK(entry.pythons == std::vector<std::string>{"3.11", "3.12"});
    CHECK(entry.machines == std::vector<std::string>{"aarch64", "x86_64"});
}

TEST_CASE("the search knows the GPU architectures of a version where they are not those of the project") {
    const auto row = [](const std::string& version, char digit, const char* facts) {
        auto made = sample_row(version, "sample-" + version + "-cp312-cp312-linux_aarch64.whl", digit);
        made.facts_json = facts;
        return made;
    };
    auto no_gpu = row("3.0", 'd', "{}");
    no_gpu.filename = "sample-3.0-cp311-cp311-linux_aarch64.whl";
    const SearchEntry entry =
        *make_search_entry(make_project_view("sample", {row("1.0", 'a', R"({"cuda_sm":["sm_70"]})"),
                                                        row("2.0", 'b', R"({"cuda_sm":["sm_70","sm_90"]})"),
                                                        row("3.0", 'c', R"({"cuda_sm":["sm_90"]})"), no_gpu}),
                           with_summary("A sample"));
    CHECK(entry.gpus == std::vector<std::string>{"sm_70", "sm_90"});
    // 3.0 has a wheel that needs none.
    CHECK(entry.version_gpus ==
          std::map<std::string, std::vector<std::string>>{{"1.0", {"sm_70"}}, {"3.0", {}}});
}

TEST_CASE(
    "the page of builds shows what users ask for, with the reason why nobody takes it, and how it ended") {
    const FarmReport report = read_farm_report(
        R"({"format":"wheelyard.index-status/1","index":"main","sites":[],"requests":[
        {"id":"t1","package":"torch","version":"9.9","python":"3.7","accelerator":"h200","state":"queued",
         "reason":"no agent <builds> for Python 3.7","asked":"2026-11-20T11:00:00.000000Z"},
        {"id":"t2","package":"six","version":"1","python":"3.12","state":"awaits_approval"},
        {"id":"t3","package":"dask","version":"1","python":"3.12","state":"claimed"},
        {"id":"t4","package":"scipy","version":"1","python":"3.12","state":"failed","reason":"no <compiler>",
         "asked":"2026-11-20T11:00:00.000000Z","ended":"2026-11-20T12:00:00.000000Z"}]})");
    const std::string html = render_builds_page({}, "main", report);
    for (const char* part :
         {"<strong><a href=\"request.html?id=t1\">torch 9.9</a></strong><span class=\"quiet\">"
          "Python 3.7, h200 · asked <time datetime=\"2026-11-20T11:00:00Z\">2026-11-20 11:00 UTC</time>",
          ">asked for</span>", "no agent &lt;builds&gt; for Python 3.7", ">awaits approval</span>",
          "<a href=\"request.html?id=t3\">dask 1</a>"})
        CHECK_MESSAGE(has(html, part), part);
    const auto ended = html.find("<ul id=\"ended\"");
    CHECK(html.find("dask 1") < ended);
    REQUIRE(html.find("scipy 1") > ended);
    for (const char* part :
         {"<a href=\"request.html?id=t4\">scipy 1</a>", " · ended <time datetime=\"2026-11-20T12:00:00Z\">",
          "<span class=\"state failed\">failed</span>", "no &lt;compiler&gt;"})
        CHECK_MESSAGE(html.find(part, ended) != std::string::npos, part);
    CHECK(has(render_builds_page({}, "main", {}), "None in the last two weeks."));
    CHECK(!has(html, "Nothing waits."));
    CHECK(has(render_builds_page({}, "main", {}), "Nothing waits."));
}

TEST_CASE("a requirement leads to the search for its project, and has that name in any spelling") {
    ProjectText text;
    text.requirements = {"Typing_Extensions>=4.8",
                         "numpy[x] ; python_version < \"3.12\"",
                         "nccl ; platform_machine == 'x86_64'",
                         "colorama ; sys_platform == 'win32'",
                         "pytest ; extra == 'test'",
                         "<b> no requirement"};
    const std::string html = page_of(proven_view(), text);
    CHECK(has(html,
              "<a data-need=\"typing-extensions\" data-wanted=\"&gt;=4.8\" "
              "href=\"../?q=typing-extensions\">typing-extensions</a>&gt;=4.8</li>"));
    CHECK(has(
        html,
        "<a data-need=\"numpy\" data-pythons=\"-11\" href=\"../?q=numpy\">numpy</a>[x] ; python_version &lt; "
        "&quot;3.12&quot;</li>"));
    // What the script judges for the chosen machine, and what it need not judge.
    CHECK(has(html, "<a data-need=\"nccl\" data-machines=\"x86_64\" href"));
    CHECK(has(html,
              "<a href=\"../?q=colorama\">colorama</a> ; sys_platform == &#39;win32&#39; "
              "<span class=\"quiet\">not needed on Linux</span></li>"));
    CHECK(has(html, "<a data-need=\"pytest\" data-open href"));
    CHECK(has(html, "<li class=\"mono\">&lt;b&gt; no requirement</li>"));
}

TEST_CASE("a project needs what its requirements name, of its extras apart, without itself") {
    ProjectText text;
    text.requirements = {
        "Typing_Extensions>=4.8",         "numpy ; extra == 'all'", "numpy ; python_version < '3.12'",
        "pytest ; extra == \"test\"",     "sample[test]",           "not a requirement !",
        "six @ https://x.example/six.whl"};
    const SearchEntry entry = *make_search_entry(proven_view(), text);
    CHECK(entry.needs == std::vector<std::string>{"numpy", "six", "typing-extensions"});
    CHECK(entry.extra_needs == std::vector<std::string>{"pytest"});
    text.requirements.clear();
    for (std::size_t at = 0; at < 200; ++at)
        text.requirements.push_back("p" + std::to_string(at) + (at < 100 ? " ; extra == 'x'" : ""));
    const SearchEntry many = *make_search_entry(proven_view(), text);
    CHECK(many.needs.size() == max_search_needs);  // those of extras come last
    CHECK(many.extra_needs.empty());
}

TEST_CASE("a failed build shows the end of its log") {
    FarmReport report = read_farm_report(status_json);
    report.attempts.clear();
    CHECK(!has(render_builds_page({}, "main", report), "Last lines of its log"));
    report.failures[0].log_tail = {"cc <a>", "error: b"};
    CHECK(has(render_builds_page({}, "main", report), "<pre>cc &lt;a&gt;\nerror: b</pre></details>"));
}

TEST_CASE("a failed build shows the phase that it failed in, if its site reports one") {
    FarmReport report = read_farm_report(status_json);
    CHECK(!has(render_builds_page({}, "main", report), "in phase"));
    report.failures[0].phase = "compile";
    CHECK(has(render_builds_page({}, "main", report), " · in phase compile · after 1 h 00 min"));
}
