// Following a tree over HTTP: from scratch, by the log, and through kills, forged content and lost responses.
#include "indexer/follow/follow.hpp"

#include <doctest/doctest.h>

#include <atomic>
#include <chrono>
#include <functional>
#include <set>
#include <thread>
#include <utility>

#include "indexer/check/check.hpp"
#include "indexer/follow/followed_files.hpp"
#include "indexer/publish/publish_run.hpp"
#include "indexer/tree/event_log.hpp"
#include "indexer/tree/followed_state.hpp"
#include "indexer/tree/limits.hpp"
#include "indexer/tree/paths.hpp"
#include "indexer/wheel_list/wheel_list_file.hpp"
#include "lib/base/digest/digest.hpp"
#include "lib/base/files/file.hpp"
#include "lib/base/text/encoding.hpp"
#include "lib/base/text/text.hpp"
#include "lib/base/text/url.hpp"
#include "lib/io/json.hpp"
#include "lib/simple/wheel_list.hpp"
#include "tests/indexer/forwarding_disk.hpp"
#include "tests/indexer/store_fixture.hpp"
#include "tests/support/loopback_server.hpp"

using namespace wheelyard;
using namespace wheelyard::indexer;

namespace {

namespace fs = std::filesystem;
using testing::LoopbackAnswer;
using testing::LoopbackRequest;
using testing::LoopbackServer;

// A published tree behind a web server without any package logic.
struct Upstream : StoreFixture {
    std::string broken;  // requests with this suffix get `broken_status`
    int broken_status = 500;
    std::string forged;   // … with altered bytes
    std::string endless;  // … with more bytes than any page may have
    std::function<void(const std::string& target)> on_request = {};
    LoopbackServer server{[this](const LoopbackRequest& request) { return answer(request); }};
    fs::path ours = folder.path() / "ours";
    io::HttpClient http;

    LoopbackAnswer answer(const LoopbackRequest& request) const {
        if (on_request) on_request(request.target);
        if (!broken.empty() && request.target.ends_with(broken)) return {.status = broken_status};
        if (request.target.find("/catalogue") != std::string::npos) return answer_tagged(request);
        if (!endless.empty() && request.target.ends_with(endless))
            return {.status = 200, .body = std::string(max_page_bytes + 1, ' ')};
        const auto path = base::decode_percent(request.target);
        const auto text = base::read_file(tree / path->substr(1), 1 << 25);
        if (!text) return {.status = 404};
        if (!forged.empty() && request.target.ends_with(forged))
            return {.status = 200, .body = "x" + text->substr(1)};
        return {.status = 200, .body = *text};
    }
    LoopbackAnswer answer_tagged(const LoopbackRequest& request) const {
        const auto text = base::read_file(tree / request.target.substr(1), 1 << 24);
        if (!text) return {.status = 404};
        const std::string etag = "\"" + base::sha256_hex(*text) + "\"";
        if (request.header("if-none-match") == etag) return {.status = 304};
        return {.status = 200, .body = *text, .headers = {{"ETag", etag}}};
    }
    void publish_pages() {
        REQUIRE(publish(catalog, blobs, tree, {"main"}, clock, {.find_links = true, .precompressed = true}));
    }
    void publish_wheel_list() {
        LocalDisk disk;
        REQUIRE(update_wheel_lists(disk, catalog, tree, clock));
    }
    void publish_all() {
        publish_pages();
        publish_wheel_list();
    }
    void add_with_facts(const std::string& project, const std::string& version,
                        const std::string& facts = R"({"machines":["aarch64"],"cuda_sm":["sm_90"]})") {
        auto row = make_row("main", project, version, project + "-" + version + "-py3-none-any.whl");
        row.facts_json = facts;
        add(row);
    }
    // The content of a folder's wheel list: key, lines and facts of each project.
    static std::string wheel_list_in(const fs::path& of) {
        const auto opened = simple::WheelList::open(root_folder(of, "main"));
        if (!opened) return opened.error().code;
        std::string text;
        REQUIRE(opened->visit_all([](std::string_view) { return true; },
                                  [&](const simple::WheelListView& view) {
                                      text.append(view.key).append("\n").append(view.lines);
                                      text += *view.part->facts(view.entry);
                                  }));
        return text;
    }
    FollowOptions options(bool all = false) const {
        FollowOptions wanted;
        wanted.from = server.url("/main");
        wanted.tree = ours;
        wanted.all = all;
        return wanted;
    }
    FollowReport follow_all(bool all = false) {
        const auto report = follow(options(all), http, clock);
        if (!report) FAIL(report.error().text());
        return *report;
    }
    std::size_t requests_of(const std::string& part) const {
        std::size_t count = 0;
        const auto requests = server.requests();
        for (const auto& request : requests)
            count += static_cast<std::size_t>(request.target.find(part) != std::string::npos);
        return count;
    }
};

std::string six(const std::string& version) {
    return "six-" + version + "-py3-none-any.whl";
}

void check_whole(const fs::path& tree) {
    const auto report = check_tree(tree);
    REQUIRE(report);
    for (const auto& finding : report->findings)
        FAIL_CHECK(finding.code << " " << finding.page << " " << finding.detail);
}

// Every page and file visible to readers is the same in both trees.
void check_same(const Upstream& at) {
    std::set<std::string> theirs;
    std::set<std::string> ours;
    for (const auto& [tree, into] :
         {std::pair(at.tree / "main", &theirs), std::pair(at.ours / "main", &ours)}) {
        for (const auto& entry : fs::recursive_directory_iterator(tree)) {
            const std::string path = entry.path().lexically_relative(tree).native();
            if (entry.is_regular_file() && path.find("events/") != 0)
                into->insert(path + " " + *base::read_file(entry.path(), 1 << 24));
        }
    }
    CHECK(theirs == ours);
    check_whole(at.ours);
}

}  // namespace

TEST_CASE("a new tree becomes a copy of the source") {
    Upstream at;
    const auto with_provenance =
        at.with_attestations(at.with_provenance(at.make_row("main", "six", "1.16", six("1.16"))));
    at.add(with_provenance);
    at.add("main", "torch", "2.4.0+cu126", "torch-2.4.0+cu126-cp312-cp312-linux_aarch64.whl");
    at.publish_all();
    const auto report = at.follow_all();
    CHECK(fs::exists(file_folder(at.ours, "main", with_provenance.sha256) / (six("1.16") + ".prov")));
    CHECK(fs::exists(file_folder(at.ours, "main", with_provenance.sha256) / (six("1.16") + ".pep740")));
    CHECK(report.from_nothing);
    CHECK(report.serial == 2);
    CHECK(report.files_fetched == 2);
    check_same(at);
    CHECK(fs::is_symlink(at.ours / "main/find-links" / six("1.16")));
}

TEST_CASE("the page of --find-links that an older program left behind is made again") {
    Upstream at;
    at.add("main", "six", "1.16", six("1.16"));
    at.publish_all();
    at.follow_all();
    const fs::path page = at.ours / "main/find-links/index.html";
    const std::string before = *base::read_file(page, 1 << 16);
    at.add("main", "torch", "1", "torch-1-py3-none-any.whl");
    at.publish_all();
    at.follow_all();
    // It wrote everything but this page, and a state without its number.
    REQUIRE(base::replace_file(page, before));
    const fs::path file = followed_file(at.ours, "main");
    auto state = parse_followed_state(*base::read_file(file, 1 << 16));
    REQUIRE(state);
    CHECK(std::exchange(state->flat_serial, 0) == 2);
    REQUIRE(base::replace_file(file, render_followed_state(*state)));
    SUBCASE("although nothing is new") {}
    SUBCASE("with what is new") {
        at.add("main", "six", "1.17", six("1.17"));
        at.publish_all();
    }
    at.follow_all();
    check_same(at);
}

TEST_CASE("a new tree is complete even if the source's root page is late") {
    Upstream at;
    at.add("main", "six", "1.16", six("1.16"));
    at.publish_all();
    at.add("main", "torch", "1", "torch-1-py3-none-any.whl");
    LocalDisk disk;
    const auto published = publish_with(disk, at.catalog, at.blobs, at.tree, {"main"}, at.clock,
                                        {.find_links = true, .precompressed = true},
                                        {.roots = RootPages::prompt, .large_root_bytes = 1});
    REQUIRE(published);
    REQUIRE(published->late_roots.size() == 1);
    CHECK(at.follow_all().files_fetched == 2);
    check_whole(at.ours);
    at.publish_all();
    at.follow_all();
    check_same(at);
}

TEST_CASE("an update fetches only what changed: one project's pages and the new file") {
    Upstream at;
    for (const char* name : {"attrs", "six", "zope"})
        at.add("main", name, "1", std::string(name) + "-1-py3-none-any.whl");
    at.publish_all();
    at.follow_all();
    const auto before = at.server.requests().size();
    at.add("main", "six", "2", six("2"));
    at.publish_all();
    const auto report = at.follow_all();
    CHECK(report.projects == 1);
    CHECK(report.files_fetched == 1);
    CHECK(!report.from_nothing);
    // The log, the page, wheel, metadata, the wheel list, which has no delta, and the status.
    CHECK(at.server.requests().size() - before == 7);
    check_same(at);
    const auto quiet = at.follow_all();
    CHECK(quiet.projects == 0);
    CHECK(at.server.requests().size() - before == 9);  // the log and the status
}

TEST_CASE("yanked, deleted, quarantined and archived files and projects are mirrored") {
    Upstream at;
    for (const char* version : {"1", "2", "3"})
        at.add("main", "six", version, six(version));
    at.publish_all();
    at.follow_all();
    const catalog::Cause cause{.actor = "anna", .reason = "bad", .time = noon};
    REQUIRE(at.catalog.set_yanked({"main", six("1")}, true, cause));
    REQUIRE(at.catalog.delete_file({"main", six("2")}, cause));
    REQUIRE(at.catalog.set_file_state({"main", six("3")}, catalog::FileState::quarantined, cause));
    REQUIRE(
        at.catalog.set_project_status({"main", "six", catalog::ProjectStatus::archived, "see seven"}, cause));
    at.publish_all();
    const auto report = at.follow_all();
    CHECK(report.files_removed == 2);
    check_same(at);
}

TEST_CASE("the variants of a version are mirrored with their wheels, and nothing but them (PEP 825)") {
    Upstream at;
    const auto add_variant = [&](const std::string& label) {
        auto row = at.make_row("main", "six", "1+a", "six-1+a-py3-none-any-" + label + ".whl");
        row.facts_json =
            R"({"variant":{"$schema":"s","default-priorities":{"namespace":["x86_64"]},"variants":{")" +
            label + R"(":{"x86_64":{"level":[")" + label + R"("]}}}}})";
        at.add(row);
        at.publish_all();
        at.follow_all();
        check_same(at);
    };
    at.add("main", "six", "1+a", six("1+a"));
    add_variant("v2");
    add_variant("v3");
    const fs::path page = project_folder(at.tree, "main", "six") / json_page;
    const std::string text = *base::read_file(page, 1 << 20);
    for (const auto& [from, to] : {std::pair("six-1+a-variants.json", "six-1-variants.json"),
                                   std::pair("\"six-1+a-variants.json", "\"seven-1+a-variants.json"),
                                   std::pair("/six-1%2Ba-variants.json", "/../six-1%2Ba-variants.json")}) {
        CAPTURE(std::string(to));
        REQUIRE(text.find(from) != std::string::npos);
        REQUIRE(base::replace_file(page, base::replace_all(text, from, to)));
        const auto report = at.follow_all(true);
        REQUIRE(report.lagging.size() == 1);
        CHECK(report.lagging[0].error.code == "follow.link");
    }
    // What the page says of a version's variants, held against its wheels. Whatever it is, the round goes on.
    at.add("main", "six", "2", six("2"));
    at.add("main", "zope", "1", "zope-1-py3-none-any.whl");
    at.publish_all();
    const std::string whole = *base::read_file(page, 1 << 20);
    const auto begin = whole.find(R"({"filename":"six-1+a-variants.json")");
    const std::string object = whole.substr(begin, whole.rfind("]}") - begin);
    const auto size_at = object.find(R"("size":)");
    const std::string size = object.substr(size_at, object.find(',', size_at) - size_at);
    const std::string too_large = std::to_string(catalog::max_variants_file_bytes + 1);
    const auto of_version = [&](const std::string& version) {
        return base::replace_all(object, "six-1+a", "six-" + version);
    };
    const auto linked = [&](const std::string& version) {
        return base::replace_all(of_version(version), "six-1%2Ba", "six-" + base::encode_percent(version));
    };
    for (const auto& [instead, code] :
         {std::pair(base::replace_all(object, size + ",", ""), "follow.link"),
          std::pair(base::replace_all(object, size, R"("size":)" + too_large), "follow.link"),
          std::pair(base::replace_all(object, size, size + "0"), "follow.wrong_size"),
          std::pair(object + "," + object, "follow.twice"),
          std::pair(object + "," + linked("2"), "follow.link"),  // it has a wheel without a label only
          std::pair(object + "," + linked("3"), "follow.link"),
          std::pair(object + "," + linked("1+" + std::string(200, 'a')), "follow.link")}) {
        CAPTURE(instead);
        REQUIRE(base::replace_file(page, base::replace_all(whole, object, instead)));
        const auto report = at.follow_all(true);
        REQUIRE(report.lagging.size() == 1);
        CHECK(report.lagging[0].error.code == code);
        CHECK(fs::exists(project_folder(at.ours, "main", "zope") / html_page));
    }
    REQUIRE(base::replace_file(page, whole));
    at.follow_all(true);
    check_same(at);
    // Damaged here, with the same size.
    const auto sha256 = object.substr(object.find(R"("sha256":")") + 10, 64);
    const fs::path ours = project_folder(at.ours, "main", "six") / sha256 / "six-1+a-variants.json";
    REQUIRE(base::replace_file(ours, std::string(fs::file_size(ours), '?')));
    at.follow_all(true);
    check_same(at);
    for (const char* label : {"v2", "v3"})
        REQUIRE(at.catalog.delete_file({"main", "six-1+a-py3-none-any-" + std::string(label) + ".whl"},
                                       {.actor = "anna"}));
    at.publish_all();
    at.follow_all();
    check_same(at);
}

TEST_CASE("a tree that is far behind reads the log's older files") {
    Upstream at;
    at.add("main", "six", "1", six("1"));
    at.publish_all();
    at.follow_all();
    const catalog::Cause cause{.actor = "anna", .reason = "bad", .time = noon};
    for (int round = 0; round < 1'100; ++round)
        REQUIRE(at.catalog.set_pinned({"main", six("1")}, round % 2 == 0, cause));
    at.add("main", "zope", "1", "zope-1-py3-none-any.whl");
    at.publish_all();
    REQUIRE(fs::exists(at.tree / "main/events/1.tsv"));
    const auto report = at.follow_all();
    CHECK(!report.from_nothing);
    CHECK(report.projects == 2);
    check_same(at);
    CHECK(fs::exists(at.ours / "main/events/1.tsv"));  // a following tree can itself be followed
}

TEST_CASE("a file with wrong bytes is rejected, blocks no other file, and is retried") {
    Upstream at;
    at.add("main", "six", "1", six("1"));
    at.add("main", "zope", "1", "zope-1-py3-none-any.whl");
    at.publish_all();
    at.forged = six("1");
    const auto report = at.follow_all();
    REQUIRE(report.lagging.size() == 1);
    CHECK(report.lagging[0].error.code == "follow.wrong_hash");
    CHECK(!fs::exists(project_folder(at.ours, "main", "six")));
    CHECK(fs::exists(project_folder(at.ours, "main", "zope") / html_page));
    check_whole(at.ours);
    at.forged.clear();
    CHECK(at.follow_all().lagging.empty());
    check_same(at);
}

TEST_CASE("a file that is deleted between its page and its download is no failure: the page is read again") {
    Upstream at;
    const auto row = at.make_row("main", "six", "1", six("1"));
    at.add(row);
    at.publish_all();
    const fs::path page = project_folder(at.tree, "main", "six") / json_page;
    const std::string before = *base::read_file(page, 1 << 20);
    REQUIRE(at.catalog.delete_file({"main", six("1")}, {.actor = "anna", .reason = "bad", .time = noon}));
    at.add("main", "six", "2", six("2"));
    at.publish_all();
    const std::string after = *base::read_file(page, 1 << 20);
    REQUIRE(!fs::exists(file_folder(at.tree, "main", row.sha256) / six("1")));
    REQUIRE(base::replace_file(page, before));
    at.on_request = [&](const std::string& target) {
        if (target.ends_with(six("1"))) CHECK(base::replace_file(page, after));
    };
    CHECK(at.follow_all().lagging.empty());
    check_same(at);
}

TEST_CASE("no more is fetched of a file than its page states, and a size that is wrong is rejected") {
    Upstream at;
    const auto row = at.make_row("main", "six", "1", six("1"));
    at.add(row);
    at.publish_all();
    const fs::path page = project_folder(at.tree, "main", "six") / json_page;
    const std::string text = *base::read_file(page, 1 << 20);
    const std::string size = "\"size\":" + std::to_string(row.size_bytes);
    const auto follow_with_size = [&](std::uint64_t bytes) {
        REQUIRE(base::replace_file(page, base::replace_all(text, size, "\"size\":" + std::to_string(bytes))));
        const auto report = at.follow_all(true);
        CHECK(report.files_fetched == 0);
        REQUIRE(report.lagging.size() == 1);
        CHECK(!fs::exists(project_folder(at.ours, "main", "six")));
        return report.lagging[0].error.code;
    };
    CHECK(follow_with_size(row.size_bytes - 1) == "http.too_large");
    CHECK(follow_with_size(row.size_bytes + 1) == "follow.wrong_size");
    CHECK(follow_with_size(std::uint64_t{1} << 62) == "follow.wrong_size");
    REQUIRE(base::replace_file(page, text));
    const fs::path metadata = file_folder(at.tree, "main", row.sha256) / (six("1") + ".metadata");
    const std::string right = *base::read_file(metadata, 1 << 20);
    REQUIRE(base::replace_file(metadata, std::string(max_followed_metadata_bytes + 1, 'x')));
    const auto report = at.follow_all(true);
    REQUIRE(report.lagging.size() == 1);
    CHECK(report.lagging[0].error.code == "http.too_large");
    REQUIRE(base::replace_file(metadata, right));
    CHECK(at.follow_all(true).lagging.empty());
    check_same(at);
}

TEST_CASE("a page with a file name twice, or with another project's file, is rejected") {
    Upstream at;
    at.add("main", "six", "1", six("1"));
    at.publish_all();
    const fs::path page = project_folder(at.tree, "main", "six") / json_page;
    const std::string text = *base::read_file(page, 1 << 20);
    const auto files = text.find("\"files\":[") + 9;
    const std::string file = text.substr(files, text.rfind(']') - files);
    REQUIRE(base::replace_file(page, text.substr(0, files) + file + "," + text.substr(files)));
    auto report = at.follow_all();
    REQUIRE(report.lagging.size() == 1);
    CHECK(report.lagging[0].error.code == "follow.twice");
    REQUIRE(base::replace_file(page, base::replace_all(text, six("1"), "torch-1-py3-none-any.whl")));
    report = at.follow_all();
    REQUIRE(report.lagging.size() == 1);
    CHECK(report.lagging[0].error.code == "follow.link");
    CHECK(!fs::exists(project_folder(at.ours, "main", "six")));
}

TEST_CASE("an event log without end is read up to a limit, and one with an empty file is rejected") {
    std::size_t segments = 0;
    std::size_t events_of_each = 600;
    LoopbackServer server([&](const LoopbackRequest& request) {
        if (request.target.find("/events/") == std::string::npos)
            return LoopbackAnswer{.status = 200,
                                  .body = R"({"meta":{"api-version":"1.0"},"projects":[],"files":[]})"};
        const auto first = max_event_serial - static_cast<catalog::Serial>(++segments);
        EventSegment segment;
        segment.index = "main";
        segment.first = segment.serial = first;
        segment.previous = "next.tsv";
        segment.events.resize(events_of_each, LoggedEvent{first, 0, "file_added", "six", six("1")});
        return LoopbackAnswer{.status = 200, .body = render_event_segment(segment)};
    });
    const base::TempDir folder = make_test_folder();
    io::HttpClient http;
    base::ManualClock clock{noon};
    FollowOptions options;
    options.from = server.url("/main");
    options.tree = folder.path();
    options.max_events = 6'000;
    options.all = true;
    const auto follow_all = [&](std::size_t events) {
        events_of_each = events;
        segments = 0;
        return follow(options, http, clock);
    };
    CHECK(follow_all(600).has_value());
    CHECK(segments == 10);
    CHECK(follow_all(1).has_value());  // counts as events_per_segment
    CHECK(segments == 12);
    const auto empty = follow_all(0);
    REQUIRE(!empty.has_value());
    CHECK(empty.error().code == "follow.log");
}

TEST_CASE("a source that lost its latest serials, as by a restore, begins our log again") {
    Upstream at;
    at.add("main", "six", "1", six("1"));
    at.publish_all();
    const fs::path events = at.tree / "main" / event_folder / event_tail;
    const std::string restored = *base::read_file(events, 1 << 20);
    at.add("main", "zope", "1", "zope-1-py3-none-any.whl");
    at.add("main", "zope", "2", "zope-2-py3-none-any.whl");
    at.publish_all();
    CHECK(at.follow_all().serial == 3);
    REQUIRE(base::replace_file(events, restored));
    const auto report = at.follow_all();
    CHECK(report.from_nothing);
    CHECK(report.serial == 1);
    const auto ours = base::read_file(at.ours / "main" / event_folder / event_tail, 1 << 20);
    CHECK(ours.value_or("") == restored);
}

TEST_CASE("a log that begins after our serial is another history: every project is checked") {
    Upstream at;
    at.add("main", "six", "1", six("1"));
    at.publish_all();
    at.follow_all();
    at.add("main", "six", "2", six("2"));
    at.add("main", "zope", "1", "zope-1-py3-none-any.whl");
    at.publish_all();
    const fs::path events = at.tree / "main" / event_folder / event_tail;
    auto log = parse_event_segment(*base::read_file(events, 1 << 20));
    REQUIRE(log);
    log->events.erase(log->events.begin(), log->events.begin() + 2);
    log->first = log->serial;
    REQUIRE(base::replace_file(events, render_event_segment(*log)));
    CHECK(at.follow_all().from_nothing);
    check_same(at);
}

TEST_CASE("a page with links outside the source is rejected") {
    Upstream at;
    at.add("main", "six", "1", six("1"));
    at.publish_all();
    const fs::path page = project_folder(at.tree, "main", "six") / json_page;
    const std::string text = *base::read_file(page, 1 << 20);
    for (const char* link : {"../../../other/files/", "http://elsewhere.test/files/", "/etc/"}) {
        REQUIRE(base::replace_file(page, base::replace_all(text, "../../files/", link)));
        const auto report = at.follow_all(true);
        REQUIRE(report.lagging.size() == 1);
        CHECK(report.lagging[0].error.code == "follow.link");
    }
    CHECK(!fs::exists(project_folder(at.ours, "main", "six")));
}

TEST_CASE("nothing of the source's pages that our parser does not see reaches our pages") {
    Upstream at;
    at.add("main", "six", "1", six("1"));
    at.publish_all();
    const fs::path folder = project_folder(at.tree, "main", "six");
    const std::string html = *base::read_file(folder / html_page, 1 << 20);
    const std::string json = *base::read_file(folder / json_page, 1 << 20);
    const std::string evil =
        "<a href=\"https://evil.test/six-9-py3-none-any.whl\">six-9-py3-none-any.whl</a>";
    const std::string constructs[] = {
        base::replace_all(html, "<a href=", "<a href=\"https://evil.test/six-9-py3-none-any.whl\" href="),
        // A second href after the first: browsers and pip take the first, some parsers the last.
        base::replace_all(html, "#sha256=", "\" href=\"https://evil.test/x.whl#sha256="),
        base::replace_all(html, "</body>", "<textarea>" + evil + "</textarea></body>"),
        base::replace_all(html, "</body>", "<title>" + evil + "</title></body>"),
        base::replace_all(html, "</body>", "<!-->" + evil + "<!-- --></body>"),
        base::replace_all(html, "</body>", "<!-- x --!>" + evil + "<!-- --></body>"),
        base::replace_all(html, "</body>", "<script>" + evil + "</script></body>"),
    };
    for (const std::string& construct : constructs) {
        CAPTURE(construct);
        REQUIRE(construct != html);
        REQUIRE(base::replace_file(folder / html_page, construct));
        CHECK(at.follow_all(true).lagging.empty());
        const auto ours = base::read_file(project_folder(at.ours, "main", "six") / html_page, 1 << 20);
        CHECK(ours.value_or("") == html);
    }
    // JSON: a member twice, a member that we do not know, and a reason that is markup.
    std::string forged = base::replace_all(json, R"("url":")", R"("url":"https://evil.test/x.whl","url":")");
    forged = base::replace_all(forged, R"("yanked":false)",
                               R"x("yanked":"</a><script>evil()</script>","evil":1)x");
    REQUIRE(forged != json);
    REQUIRE(base::replace_file(folder / json_page, forged));
    CHECK(at.follow_all(true).lagging.empty());
    for (const std::string_view name : {json_page, html_page}) {
        CAPTURE(name);
        const std::string page = *base::read_file(project_folder(at.ours, "main", "six") / name, 1 << 20);
        CHECK(page.find("evil()") != std::string::npos);  // the reason, escaped
        CHECK(page.find("evil.test") == std::string::npos);
        CHECK(page.find("\"evil\"") == std::string::npos);
        if (name == html_page) CHECK(page.find("<script>") == std::string::npos);
    }
}

TEST_CASE("a project with an unusable name is left out, and ends no round") {
    for (const std::string& name :
         {std::string("two words"), std::string("line\nbreak"), std::string("a/b"), std::string("../up"),
          std::string(".."), std::string("Not-Normal"), std::string("caf\xc3\xa9"), std::string("-six"),
          std::string(300, 'x'), std::string("per%cent"), std::string("que?ry")}) {
        CAPTURE(name);
        Upstream at;
        at.add("main", "six", "1", six("1"));
        at.add("main", "zope", "1", "zope-1-py3-none-any.whl");
        at.publish_all();
        const fs::path root = root_folder(at.tree, "main") / json_page;
        const std::string listed = io::Json(name).render();
        REQUIRE(
            base::replace_file(root, base::replace_all(*base::read_file(root, 1 << 20), "\"six\"", listed)));
        const auto report = follow(at.options(), at.http, at.clock);
        REQUIRE_MESSAGE(report.has_value(), (report ? "" : report.error().text()));
        REQUIRE(report->lagging.size() == 1);
        CHECK(report->lagging[0].error.code == "follow.name");
        CHECK(fs::exists(project_folder(at.ours, "main", "six") / html_page));  // from the log
        CHECK(fs::exists(project_folder(at.ours, "main", "zope") / html_page));
        check_whole(at.ours);
        // The name is tried again, and ends no later round either.
        CHECK(follow(at.options(), at.http, at.clock).has_value());
    }
}

TEST_CASE("a project with a page that is too large, or with a file name that is too long, ends no round") {
    Upstream at;
    at.add("main", "six", "1", six("1"));
    at.add("main", "zope", "1", "zope-1-py3-none-any.whl");
    at.publish_all();
    const fs::path page = project_folder(at.tree, "main", "six") / json_page;
    const std::string json = *base::read_file(page, 1 << 20);
    const std::string long_name = "six-1-" + std::string(230, '1') + "-py3-none-any.whl";
    REQUIRE(base::replace_file(page, base::replace_all(json, six("1"), long_name)));
    auto report = follow(at.options(), at.http, at.clock);
    REQUIRE_MESSAGE(report.has_value(), (report ? "" : report.error().text()));
    CHECK(report->lagging.size() == 1);
    at.endless = "/six/" + std::string(json_page);
    report = follow(at.options(), at.http, at.clock);
    REQUIRE_MESSAGE(report.has_value(), (report ? "" : report.error().text()));
    REQUIRE(report->lagging.size() == 1);
    CHECK(fs::exists(project_folder(at.ours, "main", "zope") / html_page));
}

TEST_CASE("a server error ends the round, and the next one continues") {
    Upstream at;
    at.add("main", "six", "1", six("1"));
    at.add("main", "zope", "1", "zope-1-py3-none-any.whl");
    at.publish_all();
    at.broken = "zope-1-py3-none-any.whl";
    for (const int status : {500, 503, 429, 425, 408}) {  // all that io::is_temporary_status() knows
        CAPTURE(status);
        at.broken_status = status;
        const auto report = follow(at.options(), at.http, at.clock);
        REQUIRE(!report.has_value());
        CHECK(report.error().code == "http.status");
    }
    CHECK(!fs::exists(project_folder(at.ours, "main", "zope")));
    at.broken.clear();
    CHECK(at.follow_all().files_fetched == 1);  // the other one is already there
    check_same(at);
    CHECK(at.requests_of(six("1") + ".metadata") == 1);
}

TEST_CASE("a round killed at any file operation is finished by the next") {
    // Dies before its Nth change of the disk.
    class DyingDisk final : public ForwardingDisk {
      public:
        explicit DyingDisk(int left) : left_(left) {}
        bool is_dead = false;
        base::Result<bool> make_directories(const std::string& path) override {
            WHEELYARD_TRY(live());
            return disk_.make_directories(path);
        }
        base::Status link_or_copy(const std::string& from, const std::string& to, const std::string& sha256,
                                  const base::KeepAlive& keep_alive) override {
            WHEELYARD_TRY(live());
            return disk_.link_or_copy(from, to, sha256, keep_alive);
        }
        base::Status replace(const fs::path& path, std::string_view bytes) override {
            WHEELYARD_TRY(live());
            return disk_.replace(path, bytes);
        }
        base::Status replace_together(const std::string& at, const std::vector<NamedBytes>& files) override {
            WHEELYARD_TRY(live());
            return disk_.replace_together(at, files);
        }
        base::Result<bool> symlink(const fs::path& path, const fs::path& target) override {
            WHEELYARD_TRY(live());
            return disk_.symlink(path, target);
        }
        base::Status sync_directory(const std::string& path) override {
            WHEELYARD_TRY(live());
            return disk_.sync_directory(path);
        }
        base::Status replace_via(const fs::path& temp, const fs::path& path,
                                 std::string_view bytes) override {
            WHEELYARD_TRY(live());
            return disk_.replace_via(temp, path, bytes);
        }
        base::Status remove(const fs::path& path) override {
            WHEELYARD_TRY(live());
            return disk_.remove(path);
        }

      private:
        base::Status live() {
            is_dead = is_dead || left_-- <= 0;
            return is_dead ? base::Status(base::fail("test.died", "The machine died here")) : base::Status();
        }
        int left_;
    };
    int operations = 0;
    for (bool died = true; died; ++operations) {
        CAPTURE(operations);
        Upstream at;
        at.add_with_facts("six", "1");
        at.add_with_facts("six", "2");
        at.publish_all();
        at.follow_all();
        const catalog::Cause cause{.actor = "anna", .reason = "bad", .time = noon};
        REQUIRE(at.catalog.delete_file({"main", six("1")}, cause));
        at.add_with_facts("zope", "1");
        at.publish_all();
        DyingDisk disk(operations);
        const auto report = follow_with(disk, at.options(), at.http, at.clock);
        died = disk.is_dead;
        CHECK(report.has_value() != died);
        at.follow_all();
        check_same(at);
    }
    CHECK(operations > 10);
}

TEST_CASE("a tree switches to another source only on request") {
    Upstream at;
    at.add("main", "six", "1", six("1"));
    at.publish_all();
    at.follow_all();
    Upstream other;
    other.add("main", "zope", "1", "zope-1-py3-none-any.whl");
    other.publish_all();
    auto options = other.options();
    options.tree = at.ours;
    CHECK(follow(options, at.http, at.clock).error().code == "follow.other_source");
    options.all = true;
    const auto report = follow(options, at.http, at.clock);
    REQUIRE(report);
    CHECK(report->lagging.empty());
    CHECK(fs::exists(project_folder(at.ours, "main", "zope")));
    CHECK(!fs::exists(project_folder(at.ours, "main", "six")));
    CHECK(Upstream::wheel_list_in(at.ours) == Upstream::wheel_list_in(other.tree));
    check_whole(at.ours);
}

TEST_CASE("the wheel list has the facts of the source's, and an update fetches only its delta") {
    Upstream at;
    std::string modules;
    for (std::size_t bytes = 0; bytes < small_wheel_list_bytes; bytes += 10)
        modules += (modules.empty() ? "" : ",") + ("\"module" + std::to_string(100'000 + bytes) + "\"");
    at.add_with_facts("large", "1", R"({"modules":[)" + modules + "]}");
    at.add_with_facts("six", "1");
    at.publish_all();
    at.follow_all();
    check_same(at);
    CHECK(Upstream::wheel_list_in(at.ours).find("sm_90") != std::string::npos);
    CHECK(at.requests_of("/catalogue.txt") == 1);

    at.add_with_facts("six", "2", R"({"machines":["x86_64"]})");
    at.publish_all();
    REQUIRE(fs::exists(root_folder(at.tree, "main") / simple::wheel_list_delta_name));
    at.follow_all();
    check_same(at);
    CHECK(at.requests_of("/catalogue.txt") == 1);
    CHECK(at.requests_of("/catalogue-delta.txt") == 2);
    // Facts that are already known are not requested.
    REQUIRE(
        at.catalog.set_yanked({"main", six("1")}, true, {.actor = "anna", .reason = "bad", .time = noon}));
    at.publish_all();
    at.follow_all();
    check_same(at);
    CHECK(at.requests_of("/catalogue") == 3);
}

TEST_CASE("the lock is renewed while waiting for the source's wheel list") {
    // The server's thread advances it.
    class SharedClock final : public base::Clock {
      public:
        [[nodiscard]] base::UnixMicros now() const override { return now_; }
        void sleep_ms(std::int64_t duration_ms) override { now_ += duration_ms * 1000; }

      private:
        std::atomic<base::UnixMicros> now_ = noon;
    };
    Upstream at;
    at.add_with_facts("six", "1");
    at.publish_all();
    SharedClock clock;
    bool is_renewed = false;
    at.on_request = [&](const std::string& target) {
        if (!target.ends_with("/catalogue.txt")) return;
        clock.sleep_ms(lock_stale_after_ms);
        const std::string time = base::render_rfc3339(clock.now());
        const auto given_up = std::chrono::steady_clock::now() + std::chrono::seconds(60);
        while (!is_renewed && std::chrono::steady_clock::now() < given_up) {
            const auto lock = base::read_file(state_folder(at.ours) / "lock", 4'096);
            is_renewed = lock && lock->find(time) != std::string::npos;
            std::this_thread::sleep_for(std::chrono::milliseconds(10));
        }
    };
    REQUIRE(follow(at.options(), at.http, clock));
    CHECK(is_renewed);
}

TEST_CASE("a wheel whose facts the source does not have yet is left out until it has them") {
    Upstream at;
    at.add_with_facts("six", "1");
    at.publish_all();
    at.follow_all();
    const std::string before = Upstream::wheel_list_in(at.ours);
    at.add_with_facts("six", "2");
    at.publish_pages();
    CHECK(at.follow_all().unlisted == 1);
    CHECK(fs::exists(flat_folder(at.ours, "main") / six("2")));
    CHECK(Upstream::wheel_list_in(at.ours) == before);
    CHECK(at.follow_all().unlisted == 1);
    at.publish_wheel_list();
    const auto report = at.follow_all();
    CHECK(report.unlisted == 0);
    CHECK(report.projects == 0);
    check_same(at);
}

TEST_CASE("if the source has no wheel list, ours has no facts until it has one") {
    Upstream at;
    at.add_with_facts("six", "1");
    at.publish_pages();
    at.follow_all();
    CHECK(Upstream::wheel_list_in(at.ours).find(six("1")) != std::string::npos);
    CHECK(Upstream::wheel_list_in(at.ours).find("sm_90") == std::string::npos);
    at.add_with_facts("zope", "1");
    at.publish_all();
    CHECK(at.follow_all().unlisted == 0);
    check_same(at);
}

TEST_CASE("errors of the source's wheel list block no page, are reported, and clear afterwards") {
    Upstream at;
    at.add_with_facts("six", "1");
    at.publish_all();
    for (const char* broken : {"/catalogue.txt", "/catalogue-delta.txt"}) {
        at.broken = broken;
        const auto report = at.follow_all(true);
        REQUIRE(report.lagging.size() == 1);
        CHECK(report.lagging[0].error.code == "http.status");
        CHECK(fs::exists(project_folder(at.ours, "main", "six") / html_page));
        at.broken.clear();
        CHECK(at.follow_all().lagging.empty());
        check_same(at);
        fs::remove(root_folder(at.ours, "main") / simple::wheel_list_name);
    }
}

TEST_CASE("our wheel list is rebuilt if it is damaged, missing or wrong") {
    Upstream at;
    at.add_with_facts("six", "1");
    at.publish_all();
    at.follow_all();
    const fs::path folder = root_folder(at.ours, "main");
    for (const auto name : {simple::wheel_list_name, simple::wheel_list_delta_name}) {
        REQUIRE(base::replace_file(folder / name, "<html>"));
        at.follow_all();
        check_same(at);
    }
    REQUIRE(base::remove_file(folder / simple::wheel_list_name));
    at.follow_all();
    check_same(at);
    // On the source, a login page in its place counts as absent.
    REQUIRE(base::replace_file(root_folder(at.tree, "main") / simple::wheel_list_name, "<html>"));
    const auto report = at.follow_all(true);
    CHECK(report.lagging.empty());
    CHECK(Upstream::wheel_list_in(at.ours).find("sm_90") !=
          std::string::npos);  // from our own wheel list, for the same bytes
}

TEST_CASE("a publisher in the same tree does not touch the wheel list of a followed index") {
    Upstream at;
    at.add_with_facts("six", "1");
    at.publish_all();
    at.follow_all();
    const StoreFixture other;
    LocalDisk disk;
    REQUIRE(publish(other.catalog, other.blobs, at.ours, {"own"}, at.clock));
    REQUIRE(update_wheel_lists(disk, other.catalog, at.ours, at.clock));
    CHECK(fs::exists(root_folder(at.ours, "own") / simple::wheel_list_name));
    CHECK(Upstream::wheel_list_in(at.ours) == Upstream::wheel_list_in(at.tree));
}

TEST_CASE("the state between rounds survives a round trip") {
    FollowedState state{.from = "http://h/main/", .serial = 12, .lagging = {"six"}};
    state.gone["six"] = {{std::string(64, 'a'), six("1")}};
    state.wheel_list = {.waiting = {"zope"}, .base_etag = "\"a\"", .delta_etag = "W/\"b\""};
    const auto read = parse_followed_state(render_followed_state(state));
    REQUIRE(read);
    CHECK(*read == state);
}

TEST_CASE("an invalid URL and one without an index are reported") {
    Upstream at;
    auto options = at.options();
    for (const char* from : {"", "main", "ftp://h/main/", "file:///main/"}) {
        options.from = from;
        CHECK_MESSAGE(!follow(options, at.http, at.clock), from);
    }
    options.from = at.server.url("/absent/");
    CHECK(!follow(options, at.http, at.clock));
}
