// Following a tree whose registry signs: what a hostile source cannot do, and what an honest one can.
#include "indexer/follow/signed_source.hpp"

#include <doctest/doctest.h>

#include <functional>
#include <map>

#include "indexer/follow/follow.hpp"
#include "indexer/follow/followed_page.hpp"
#include "indexer/pages/simple_html.hpp"
#include "indexer/publish/publish_run.hpp"
#include "lib/attest/limits.hpp"
#include "tests/indexer/signed_tree.hpp"
#include "tests/indexer/store_fixture.hpp"
#include "tests/support/loopback_server.hpp"

using namespace wheelyard;
using namespace wheelyard::indexer;

namespace {

namespace fs = std::filesystem;
using testing::LoopbackAnswer;
using testing::LoopbackRequest;

// A signed tree behind a mirror that may lie.
struct SignedMirror : StoreFixture {
    TestSigner by;
    std::map<std::string, std::string> lies;  // path → what the mirror sends instead; empty: 404
    std::set<std::string> failing;            // paths that the mirror answers with 503
    std::function<void(const std::string& path)> on_request = {};
    fs::path shown = tree;      // the tree that the mirror has
    std::string root_url = {};  // the registry's
    testing::LoopbackServer server{[this](const LoopbackRequest& request) { return answer(request); }};
    fs::path ours = folder.path() / "ours";
    fs::path root = folder.path() / "root.json";
    io::HttpClient http;

    SignedMirror() {
        REQUIRE(base::replace_file(root, by.root_text()));
        for (const char* name : {"six", "torch", "numpy"})
            add_project(name);
        run();
    }
    LoopbackAnswer answer(const LoopbackRequest& request) const {
        if (on_request) on_request(request.target);
        if (failing.contains(request.target)) return {.status = 503};
        const auto lie = lies.find(request.target);
        if (lie != lies.end() && lie->second.empty()) return {.status = 404};
        if (lie != lies.end()) return {.status = 200, .body = lie->second};
        const auto text = base::read_file(shown / request.target.substr(1), 1 << 25);
        if (!text) return {.status = 404};
        return {.status = 200, .body = *text};
    }
    void add_project(const std::string& name, const std::string& version = "1.0") {
        add("main", name, version, name + "-" + version + "-py3-none-any.whl");
    }
    void run(RootPages roots = RootPages::all) {
        LocalDisk disk;
        const auto report = publish_with(
            disk, catalog, blobs, tree, {"main"}, clock,
            {.find_links = true, .precompressed = true, .root_url = root_url, .signer = by.signer()},
            {.roots = roots, .large_root_bytes = 1});
        REQUIRE_MESSAGE(report, report.error().text());
    }
    base::Result<FollowReport> follow_signed(bool all = false) {
        FollowOptions options;
        options.from = server.url("/main");
        options.tree = ours;
        options.root = root;
        options.all = all;
        return follow(options, http, clock);
    }
    FollowReport follow_whole() {
        const auto report = follow_signed();
        REQUIRE_MESSAGE(report, report.error().text());
        for (const auto& item : report->lagging)
            FAIL_CHECK(item.project << " " << item.error.text());
        return *report;
    }
    // Code of the whole round's error, or of the project that lags alone.
    std::string refusal() {
        const auto report = follow_signed();
        if (!report) return report.error().code;
        REQUIRE(report->lagging.size() == 1);
        return report->lagging.front().project + " " + report->lagging.front().error.code;
    }
    std::string page(const std::string& project) const {
        return signed_text_of(project_folder(ours, "main", project) / "index.html");
    }
    void keep_copy(const std::string& name) const {
        fs::copy(tree, folder.path() / name, fs::copy_options::recursive | fs::copy_options::copy_symlinks);
    }
    // Our pages are the registry's, and so is what is signed about them.
    void check_copy() {
        for (const auto& entry : fs::recursive_directory_iterator(tree / "main/simple")) {
            const fs::path path = entry.path().lexically_relative(tree);
            if (entry.is_regular_file() && path.filename().native().starts_with("index."))
                CHECK_MESSAGE(signed_text_of(tree / path) == signed_text_of(ours / path), path.native());
        }
        check_signed(ours, by, clock.now());
        CHECK(signed_text_of(ours / "main/signed/state.json") ==
              signed_text_of(tree / "main/signed/state.json"));
    }
};

}  // namespace

TEST_CASE("a signed index is followed, and readers of the copy can verify it, too") {
    SignedMirror at;
    CHECK(at.follow_whole().project_pages == 3);
    at.check_copy();
    at.add_project("six", "1.1");
    at.add_project("demo");
    at.run();
    CHECK(at.follow_whole().projects == 2);
    at.check_copy();
    CHECK(at.follow_whole().projects == 0);
    // A state that was only signed again is passed on.
    at.clock.set(noon + one_day);
    at.run();
    CHECK(at.follow_whole().projects == 0);
    at.check_copy();
}

TEST_CASE(
    "pages with URLs of attestations are the signed ones, also in a copy of the copy and under another "
    "name") {
    SignedMirror at;
    at.root_url = "https://wheels.example/pypi/";
    at.add(at.with_attestations(at.make_row("main", "six", "1.1", "six-1.1-py3-none-any.whl")));
    at.add(at.with_attestations(at.make_row("main", "torch", "1.1", "torch-1.1-py3-none-any.whl")));
    at.run();
    at.follow_whole();
    CHECK(at.page("six").find("data-provenance=\"https://wheels.example/pypi/main/files/") !=
          std::string::npos);
    at.check_copy();
    at.shown = at.ours;
    at.ours = at.folder.path() / "next";
    at.follow_whole();
    at.check_copy();

    FollowOptions options;
    options.from = at.server.url("/main");
    options.tree = at.folder.path() / "third";
    options.root = at.root;
    options.index = "other";
    const auto report = follow(options, at.http, at.clock);
    REQUIRE_MESSAGE(report, report.error().text());
    CHECK(fs::exists(options.tree / "other/signed/state.json"));
}

TEST_CASE("URLs of attestations of another form, or of several places, are left out") {
    SignedMirror at;
    at.root_url = "https://wheels.example/";
    for (const char* version : {"1.1", "1.2"})
        at.add(at.with_attestations(
            at.make_row("main", "six", version, std::string("six-") + version + "-py3-none-any.whl")));
    at.run();
    const std::string text = signed_text_of(at.tree / "main/simple/six/index.json");
    const std::string from = at.server.url("/main/");
    CHECK(read_followed_page(text, from, "six")->view.root_url == at.root_url);
    const std::string url = R"("provenance":"https://wheels.example/main/files/)";
    const auto first = text.find(url);
    const auto second = text.find(url, first + 1);
    REQUIRE(second != std::string::npos);
    const auto check_left_out = [&](const std::string& changed, const std::string& place) {
        const auto page = read_followed_page(changed, from, "six");
        REQUIRE_MESSAGE(page, place);
        CHECK_MESSAGE(page->view.root_url.empty(), place);
        CHECK(render_project_html(page->view).find("data-provenance") == std::string::npos);
    };
    for (const char* place :
         {"http://wheels.example/main/files/", "https://anna@wheels.example/main/files/",
          "https://wheels.example/?/main/files/", "https://wheels.example/#/main/files/", "/main/files/",
          "https://wheels.example/main/file/", "https://files/", "https://elsewhere.example/main/files/"}) {
        const std::string other = std::string(R"("provenance":")") + place;
        std::string changed = text;
        changed.replace(second, url.size(), other);
        check_left_out(changed, place);
        changed.replace(first, url.size(), other);
        if (place != std::string_view("https://elsewhere.example/main/files/"))
            check_left_out(changed, place);
    }
}

TEST_CASE("a copy can be followed in turn") {
    SignedMirror at;
    at.follow_whole();
    at.shown = at.ours;
    at.ours = at.folder.path() / "next";
    at.follow_whole();
    at.check_copy();
}

TEST_CASE("a mirror that goes back is refused, and our tree stays") {
    SignedMirror at;
    at.keep_copy("old");
    at.add_project("six", "1.1");
    at.run();
    at.follow_whole();
    at.shown = at.folder.path() / "old";
    CHECK(at.refusal() == "attest.rollback");
    CHECK(at.page("six").find("six-1.1") != std::string::npos);
    at.shown = at.tree;
    at.follow_whole();
    at.check_copy();
}

TEST_CASE("a mirror that fails after it has shown a state cannot go back behind it") {
    SignedMirror at;
    at.follow_whole();
    at.keep_copy("old");
    at.add_project("six", "1.1");
    at.add_project("torch", "1.1");
    at.run();
    at.failing = {"/main/simple/torch/index.json"};
    CHECK(at.refusal() == "http.status");
    CHECK(at.page("six").find("six-1.1") != std::string::npos);
    at.failing.clear();
    at.shown = at.folder.path() / "old";
    CHECK(at.refusal() == "attest.rollback");
    CHECK(at.page("six").find("six-1.1") != std::string::npos);
    at.shown = at.tree;
    at.follow_whole();
    at.check_copy();
}

TEST_CASE("nor behind a state that it published during the round") {
    SignedMirror at;
    at.follow_whole();
    at.add_project("six", "1.1");
    at.add_project("torch", "1.1");
    at.run();
    at.keep_copy("old");
    bool has_published = false;
    at.on_request = [&](const std::string& path) {
        if (path != "/main/simple/six/index.json" || has_published) return;
        has_published = true;
        at.add_project("six", "1.2");
        at.run();
        at.failing = {"/main/simple/torch/index.json"};
    };
    CHECK(at.refusal() == "http.status");
    CHECK(at.page("six").find("six-1.2") != std::string::npos);
    at.failing.clear();
    at.shown = at.folder.path() / "old";
    CHECK(at.refusal() == "attest.rollback");
    at.shown = at.tree;
    at.follow_whole();
    at.check_copy();
}

TEST_CASE("a mirror that stands still is refused when its state expires") {
    SignedMirror at;
    at.follow_whole();
    at.clock.set(noon + 7 * one_day - 1);
    at.follow_whole();
    at.clock.set(noon + 7 * one_day);
    CHECK(at.refusal() == "attest.expired");
    CHECK(at.page("six").find("six-1.0") != std::string::npos);
}

TEST_CASE("a page that the mirror changes or keeps back is refused; its project keeps its page") {
    SignedMirror at;
    at.follow_whole();
    const std::string old_page = signed_text_of(at.tree / "main/simple/six/index.json");
    at.add_project("six", "1.1");
    at.add_project("torch", "1.1");
    at.run();
    const std::string path = "/main/simple/six/index.json";
    std::string changed = signed_text_of(at.tree / "main/simple/six/index.json");
    changed.replace(changed.find("six-1.1"), 7, "six-9.9");
    for (const std::string& lie : {changed, old_page, std::string(), std::string("{}")}) {
        at.lies[path] = lie;
        CHECK(at.refusal() == "six follow.changed_page");
        CHECK(at.page("six").find("six-1.0") != std::string::npos);
        CHECK(at.page("six").find("six-1.1") == std::string::npos);
        CHECK(at.page("torch").find("torch-1.1") != std::string::npos);
        // Half of the pages are not those of the state, so nobody is told that they are.
        CHECK_FALSE(fs::exists(at.ours / "main/signed/state.json"));
    }
    at.lies.clear();
    at.follow_whole();
    at.check_copy();
}

TEST_CASE("what the event log leaves out is followed, and what it invents is not") {
    SignedMirror at;
    at.follow_whole();
    at.lies["/main/events/tail.tsv"] = signed_text_of(at.tree / "main/events/tail.tsv");
    at.add_project("six", "1.1");
    at.run();
    CHECK(at.follow_whole().projects == 1);
    CHECK(at.page("six").find("six-1.1") != std::string::npos);
    const std::string evil = signed_text_of(at.tree / "main/simple/six/index.json");
    at.lies["/main/simple/evil/index.json"] = evil;
    at.lies["/main/events/tail.tsv"] =
        R"({"format":"wheelyard.events/1","index":"main","first":1,"serial":99,"time":"2026-11-20T12:00:00.000000Z","previous":""})"
        "\n99\t2026-11-20T11:59:00.000000Z\tfile_added\tevil\tevil-1.0-py3-none-any.whl\n";
    at.follow_whole();
    CHECK_FALSE(fs::exists(project_folder(at.ours, "main", "evil")));
}

TEST_CASE("pages of two states are refused, whichever state is shown") {
    SignedMirror at;
    at.keep_copy("old");
    at.follow_whole();
    at.add_project("six", "1.1");
    at.add_project("torch", "1.1");
    at.run();
    const auto old = [&](const std::string& path) { return signed_text_of(at.folder.path() / "old" / path); };
    at.lies = {{"/main/signed/state.json", old("main/signed/state.json")}};
    at.follow_whole();  // it only stands still, which its expiry ends
    at.lies = {{"/main/signed/pages.txt", old("main/signed/pages.txt")}};
    CHECK(at.refusal() == "attest.changed");
    const std::string list = attest::page_list_of("six");
    at.lies = {{"/main/" + list, old("main/" + list)}};
    CHECK(at.refusal() == "attest.changed");
    CHECK(at.page("six").find("six-1.1") == std::string::npos);
}

TEST_CASE("a state of another key, index, type or history is refused") {
    SignedMirror at;
    const std::string path = "/main/signed/state.json";
    attest::IndexState state = *attest::parse_index_state(signed_text_of(at.tree / "main/signed/state.json"));
    at.lies[path] = attest::sign_index_state(state, attest::SigningKey::generate());
    CHECK(at.refusal() == "attest.unknown_key");
    at.lies[path] = at.by.root_text();
    CHECK(at.refusal() == "attest.index_state");
    state.index = "staging";
    at.lies[path] = attest::sign_index_state(state, at.by.key);
    CHECK(at.refusal() == "attest.index");
    state.index = "main";
    state.history = 2;
    at.lies[path] = attest::sign_index_state(state, at.by.key);
    CHECK(at.refusal() == "attest.history");
    at.lies[path].clear();
    CHECK(at.refusal() == "attest.no_state");
    CHECK_FALSE(fs::exists(at.ours / "main/simple"));
}

TEST_CASE("a restored registry is followed with the root that names its new history") {
    SignedMirror at;
    at.keep_copy("backup");
    at.add_project("six", "1.1");
    at.run();
    at.follow_whole();
    // The registry has the data of the backup again, and signs under the new history.
    attest::IndexState state =
        *attest::parse_index_state(signed_text_of(at.folder.path() / "backup/main/signed/state.json"));
    at.shown = at.folder.path() / "backup";
    state.history = 2;
    REQUIRE(
        base::replace_file(at.shown / "main/signed/state.json", attest::sign_index_state(state, at.by.key)));
    CHECK(at.refusal() == "attest.history");
    CHECK(at.page("six").find("six-1.1") != std::string::npos);
    at.by.root.version = 2;
    at.by.root.history = 2;
    REQUIRE(base::replace_file(at.root, at.by.root_text()));
    at.follow_whole();
    CHECK(at.page("six").find("six-1.1") == std::string::npos);
    at.shown = at.tree;  // what was before the restore is an attack now
    CHECK(at.refusal() == "attest.history");
}

TEST_CASE("a source that publishes during the round is no attack") {
    SignedMirror at;
    at.follow_whole();
    at.add_project("six", "1.1");
    at.add_project("torch", "1.1");
    at.run();
    bool has_published = false;
    at.on_request = [&](const std::string& path) {
        if (path != "/main/simple/six/index.json" || has_published) return;
        has_published = true;
        at.add_project("torch", "1.2");
        at.run();
    };
    at.follow_whole();
    CHECK(has_published);
    CHECK(at.page("torch").find("torch-1.2") != std::string::npos);
    at.follow_whole();
    at.check_copy();
}

TEST_CASE("a source that signs its new pages some seconds later is no attack") {
    SignedMirror at;
    at.follow_whole();
    const auto paths = {"signed/state.json", "signed/pages.txt"};
    for (const char* path : paths)
        at.lies["/main/" + std::string(path)] = signed_text_of(at.tree / "main" / path);
    for (const std::string& list : {attest::page_list_of("six"), attest::page_list_of("torch")})
        at.lies["/main/" + list] = signed_text_of(at.tree / "main" / list);
    at.add_project("six", "1.1");
    at.add_project("torch", "1.1");
    at.run();
    int reads = 0;
    at.on_request = [&](const std::string& path) {
        if (path == "/main/simple/six/index.json" && ++reads == 3) at.lies.clear();
    };
    const auto report = at.follow_signed(true);
    REQUIRE_MESSAGE(report, report.error().text());
    CHECK(report->lagging.empty());
    CHECK(reads == 3);
    CHECK(at.clock.now() == noon + 2 * attest::publish_wait_ms * 1000);
    CHECK(at.page("six").find("six-1.1") != std::string::npos);
    at.follow_whole();
    at.check_copy();
}

TEST_CASE("what a round without a root brought is compared by the next one with it") {
    SignedMirror at;
    at.follow_whole();
    std::string evil = signed_text_of(at.tree / "main/simple/six/index.json");
    evil.replace(evil.find("\"yanked\":false"), 14, "\"yanked\":\"by the mirror\"");
    at.lies["/main/simple/six/index.json"] = evil;
    FollowOptions unsigned_options;
    unsigned_options.from = at.server.url("/main");
    unsigned_options.tree = at.ours;
    unsigned_options.all = true;
    REQUIRE(follow(unsigned_options, at.http, at.clock));
    CHECK(at.page("six").find("by the mirror") != std::string::npos);
    CHECK_FALSE(fs::exists(at.ours / "main/signed"));
    at.lies.clear();
    at.follow_whole();
    at.check_copy();
}

TEST_CASE("a large root that comes late only delays what is passed on") {
    SignedMirror at;
    at.follow_whole();
    at.add_project("demo");
    at.run(RootPages::prompt);
    at.follow_whole();
    CHECK_FALSE(fs::exists(at.ours / "main/signed/state.json"));  // our root has the name already
    at.run();
    at.follow_whole();
    at.check_copy();
}
