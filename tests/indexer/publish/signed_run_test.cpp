// What a publish run signs: every page as it is, and nothing that is gone.
#include "indexer/publish/signed_run.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cerrno>
#include <string>
#include <vector>

#include "indexer/publish/publish_run.hpp"
#include "tests/indexer/forwarding_disk.hpp"
#include "tests/indexer/signed_tree.hpp"
#include "tests/indexer/store_fixture.hpp"

using namespace wheelyard;
using namespace wheelyard::indexer;

namespace {

namespace fs = std::filesystem;

struct SignedStore : StoreFixture {
    TestSigner by;

    void run(PublishSettings settings = {}) {
        LocalDisk disk;
        run_on(disk, std::move(settings));
    }
    void run_on(Disk& disk, PublishSettings settings = {}) {
        const auto report = publish_with(disk, catalog, blobs, tree, {"main"}, clock,
                                         {.precompressed = true, .signer = by.signer()}, settings);
        REQUIRE_MESSAGE(report, report.error().text());
    }
    void run_unsigned() { REQUIRE(publish(catalog, blobs, tree, {"main"}, clock, {.precompressed = true})); }
    void check(const std::string& index = "main") { check_signed(tree, by, clock.now(), index); }
    attest::IndexState state() { return signed_state(tree, by, clock.now()); }
    void add_project(const std::string& name, const std::string& version = "1.0") {
        add("main", name, version, name + "-" + version + "-py3-none-any.whl");
    }
    std::set<std::string> signed_files() const {
        std::set<std::string> names;
        for (const auto& entry : fs::directory_iterator(signed_folder(tree, "main")))
            names.insert(entry.path().filename().native());
        return names;
    }
};

// Remembers which signed documents were written.
struct DocumentWatch : ForwardingDisk {
    std::set<std::string> written;
    base::Status replace_together(const std::string& folder, const std::vector<NamedBytes>& files) override {
        if (folder.ends_with("/signed")) {
            for (const auto& file : files)
                written.insert(file.name);
        }
        return ForwardingDisk::replace_together(folder, files);
    }
};

// Is full when the signed documents are written.
struct FullAtTheEnd : ForwardingDisk {
    base::Status replace_together(const std::string& folder, const std::vector<NamedBytes>& files) override {
        if (folder.ends_with("/signed")) return base::fail_errno("write", folder, ENOSPC);
        return ForwardingDisk::replace_together(folder, files);
    }
};

// Remembers in which order a run signs, writes the web UI and removes files.
struct OrderWatch : ForwardingDisk {
    std::vector<std::string> steps;
    void note(const std::string& step) {
        if (std::find(steps.begin(), steps.end(), step) == steps.end()) steps.push_back(step);
    }
    base::Status replace_together(const std::string& folder, const std::vector<NamedBytes>& files) override {
        if (folder.ends_with("/signed")) note("sign");
        if (folder.find("/main/project/") != std::string::npos) note("web");
        return ForwardingDisk::replace_together(folder, files);
    }
    base::Status remove(const fs::path& path) override {
        if (path.extension() == ".whl") note("remove");
        return ForwardingDisk::remove(path);
    }
};

}  // namespace

TEST_CASE("each run signs all pages as they are") {
    SignedStore at;
    at.run();  // an empty index
    at.check();
    for (const char* name : {"six", "torch", "numpy", "demo"})
        at.add_project(name);
    at.run();
    at.check();
    at.add_project("six", "1.1");
    REQUIRE(at.catalog.delete_file({"main", "demo-1.0-py3-none-any.whl"}, {"anna", "bad", noon}));
    at.run();
    at.check();
    CHECK(at.state().serial == *at.catalog.last_serial());
}

TEST_CASE("a new wheel changes its list, the first one and the state") {
    SignedStore at;
    for (int i = 0; i < 40; ++i)
        at.add_project("demo" + std::to_string(i));
    at.run();
    at.add_project("demo7", "2.0");
    DocumentWatch disk;
    at.run_on(disk);
    const std::string list = attest::page_list_of("demo7");
    CHECK(disk.written == std::set<std::string>{list.substr(list.find('/') + 1), "pages.txt", "state.json"});
    at.check();
}

TEST_CASE("a run without a change signs again after a seventh of the state's time") {
    SignedStore at;
    at.add_project("six");
    at.run();
    const auto first = at.state();
    CHECK(first.valid_until - first.time == 7 * one_day);
    at.clock.set(noon + one_day - 1);
    at.run();
    CHECK(at.state().time == first.time);
    at.clock.set(noon + one_day);
    at.run();
    CHECK(at.state().time == first.time + one_day);
    CHECK(at.state().pages == first.pages);
    CHECK(at.state().serial == first.serial);
    at.check();
}

TEST_CASE("a new key and a new history sign at once") {
    SignedStore at;
    at.add_project("six");
    at.run();
    at.by = TestSigner();
    at.run();
    at.check();
    at.by.root.history = 2;
    at.run();
    at.check();
    CHECK(at.state().history == 2);
}

TEST_CASE("the serial is that of the index's own log, whatever happens in others") {
    SignedStore at;
    at.add_project("six");
    at.run();
    const auto serial = at.state().serial;
    at.add("other", "torch", "1.0", "torch-1.0-py3-none-any.whl");
    at.run();
    at.check();
    at.check("other");
    CHECK(at.state().serial == serial);
}

TEST_CASE("an index that inherits signs its own pages, and loses those that it shows no more") {
    SignedStore at;
    at.add_project("six");
    at.add_project("torch");
    const catalog::Cause cause{.actor = "configuration", .reason = {}, .time = noon};
    REQUIRE(at.catalog.set_index_rules({{"gpu", {"main"}, {}}}, cause));
    at.run();
    at.check("gpu");
    REQUIRE(at.catalog.set_index_rules({{"gpu", {"main"}, {"torch"}}}, cause));
    at.run();
    CHECK_FALSE(fs::exists(project_folder(at.tree, "gpu", "torch")));
    at.check("gpu");
    at.check();
}

TEST_CASE(
    "a run without a key leaves nothing signed, and the next one with a key signs what it has published") {
    SignedStore at;
    at.add_project("six");
    at.run();
    at.add_project("torch");
    at.run_unsigned();
    CHECK_FALSE(fs::exists(signed_folder(at.tree, "main")));
    at.run();
    at.check();
}

TEST_CASE("after a run of a program that does not know of signatures, the lists are made again") {
    SignedStore at;
    at.add_project("six");
    at.run();
    const fs::path kept = at.folder.path() / "kept";
    fs::copy(signed_folder(at.tree, "main"), kept);
    at.add_project("torch");
    at.run_unsigned();
    fs::copy(kept, signed_folder(at.tree, "main"));  // as such a program leaves them
    at.run();
    at.check();
}

TEST_CASE("lost and damaged lists are made again from the pages") {
    SignedStore at;
    for (const char* name : {"six", "torch", "numpy"})
        at.add_project(name);
    at.run();
    const std::string damages[] = {"pages.txt", "state.json",
                                   fs::path(attest::page_list_of("six")).filename().native()};
    int version = 1;
    for (const std::string& name : damages) {
        for (const char* text : {"", "x\n"}) {
            REQUIRE(base::replace_file(signed_folder(at.tree, "main") / name, text));
            at.add_project("six", "1." + std::to_string(++version));
            at.run();
            at.check();
        }
        fs::remove(signed_folder(at.tree, "main") / name);
        at.add_project("six", "1." + std::to_string(++version));
        at.run();
        at.check();
    }
}

TEST_CASE("a large root page that comes late is signed as it is, before and after") {
    SignedStore at;
    at.add_project("six");
    at.run();
    at.add_project("torch");
    at.run({.roots = RootPages::prompt, .large_root_bytes = 1});
    at.check();
    const auto before = at.state();
    at.run();
    at.check();
    CHECK(at.state().pages != before.pages);
    CHECK(at.state().serial == before.serial);
}

TEST_CASE(
    "a root that a failed run wrote without signing it is signed by the next run, which leaves it late") {
    SignedStore at;
    at.add_project("six");
    at.run();
    at.add_project("torch");
    FullAtTheEnd full;
    const auto failed = publish_with(full, at.catalog, at.blobs, at.tree, {"main"}, at.clock,
                                     {.precompressed = true, .signer = at.by.signer()});
    REQUIRE_FALSE(failed);
    at.run({.roots = RootPages::prompt, .large_root_bytes = 1});
    at.check();
}

TEST_CASE("pages are signed before the web UI is written and files are removed") {
    SignedStore at;
    at.add_project("six");
    at.run();
    at.add_project("six", "1.1");
    REQUIRE(at.catalog.delete_file({"main", "six-1.0-py3-none-any.whl"}, {"anna", "bad", noon}));
    OrderWatch disk;
    REQUIRE(publish_with(disk, at.catalog, at.blobs, at.tree, {"main"}, at.clock,
                         {.pages = true, .signer = at.by.signer()}));
    CHECK(disk.steps == std::vector<std::string>{"sign", "web", "remove"});
    at.check();
}

TEST_CASE("an index that became private takes its signed documents along") {
    SignedStore at;
    at.add_project("six");
    at.run();
    const catalog::Cause cause{.actor = "configuration", .reason = {}, .time = noon};
    catalog::IndexRule rule{"main", {}, {}};
    rule.is_private = true;
    REQUIRE(at.catalog.set_index_rules({rule}, cause));
    at.run();
    CHECK_FALSE(fs::exists(at.tree / "main"));
}
