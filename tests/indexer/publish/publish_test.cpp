#include "indexer/publish/publish.hpp"

#include <doctest/doctest.h>

#include <sys/stat.h>
#include <fstream>

#include <algorithm>
#include <set>
#include <utility>

#include "indexer/check/check.hpp"
#include "indexer/pages/project_view.hpp"
#include "indexer/publish/flat_pages.hpp"
#include "indexer/publish/publish_run.hpp"
#include "indexer/tree/page_files.hpp"
#include "indexer/tree/paths.hpp"
#include "indexer/web/index_pages.hpp"
#include "indexer/web/search_list.hpp"
#include "lib/base/files/file.hpp"
#include "lib/base/files/lock_file.hpp"
#include "lib/base/text/encoding.hpp"
#include "lib/base/text/url.hpp"
#include "lib/io/gzip.hpp"
#include "lib/io/zstd.hpp"
#include "lib/simple/page.hpp"
#include "tests/indexer/dying_disk.hpp"
#include "tests/indexer/forwarding_disk.hpp"
#include "tests/indexer/store_fixture.hpp"

using namespace wheelyard;
using namespace wheelyard::indexer;

namespace {

namespace fs = std::filesystem;

const std::string six_wheel = "six-1.16.0-py2.py3-none-any.whl";

PublishReport publish_all(StoreFixture& store, const std::vector<std::string>& indexes = {"main"}) {
    const auto report = publish(store.catalog, store.blobs, store.tree, indexes, store.clock);
    if (!report) FAIL(report.error().text());
    return *report;
}

std::string text_of(const fs::path& path) {
    const auto text = base::read_file(path, 1 << 24);
    return text ? *text : "(none)";
}

// Every path and inode of the tree; shows that untouched files are the same files.
std::vector<std::string> fingerprint(const fs::path& tree) {
    std::vector<std::string> all;
    for (const auto& entry : fs::recursive_directory_iterator(tree)) {
        struct stat status {};
        REQUIRE(::stat(entry.path().c_str(), &status) == 0);
        if (entry.is_regular_file())
            all.push_back(entry.path().native() + " " + std::to_string(status.st_ino));
    }
    std::sort(all.begin(), all.end());
    return all;
}

void check_whole(const StoreFixture& store) {
    const auto report = check_tree(store.tree);
    REQUIRE(report);
    for (const auto& finding : report->findings)
        FAIL_CHECK(finding.code << " " << finding.page << " " << finding.detail);
}

simple::ProjectPage read_page(const StoreFixture& store, const std::string& index, const std::string& project,
                              bool json) {
    const auto url = base::parse_url("http://host/" + index + "/simple/" + project + "/");
    const auto text = text_of(project_folder(store.tree, index, project) / (json ? json_page : html_page));
    auto page = json ? simple::parse_project_json(text, *url) : simple::parse_project_html(text, *url);
    REQUIRE(page);
    return *page;
}

}  // namespace

TEST_CASE("an index without a wheel has root pages, so that clients find it") {
    StoreFixture store;
    const auto report = publish_all(store, {"main", "bede-gh200"});
    CHECK(report.serial == 0);
    CHECK(report.root_pages == 2);
    CHECK(fs::exists(store.tree / "main/simple/index.html"));
    CHECK(fs::exists(store.tree / "bede-gh200/simple/index.json"));
    check_whole(store);
}

TEST_CASE("a wheel is published with its metadata, byte for byte") {
    StoreFixture store;
    const auto row = store.make_row("main", "six", "1.16.0", six_wheel);
    store.add(row);
    const auto report = publish_all(store);
    CHECK(report.serial == 1);
    CHECK(report.files_linked == 1);
    CHECK(report.project_pages == 1);
    CHECK(report.root_pages == 1);
    const fs::path folder = file_folder(store.tree, "main", row.sha256);
    CHECK(fs::equivalent(folder / six_wheel, store.blobs.path_of(row.sha256)));
    CHECK(text_of(folder / (six_wheel + ".metadata")) ==
          "Metadata-Version: 2.1\nName: six\nVersion: 1.16.0\n");
    check_whole(store);
}

TEST_CASE("the provenance of a wheel is published beside it, named by the JSON page, and goes with it") {
    StoreFixture store;
    const auto row = store.with_provenance(store.make_row("main", "six", "1.16.0", six_wheel));
    store.add(row);
    store.add("main", "six", "1.17.0", "six-1.17.0-py2.py3-none-any.whl");
    publish_all(store);
    const fs::path file = file_folder(store.tree, "main", row.sha256) / (six_wheel + ".prov");
    CHECK(fs::equivalent(file, store.blobs.path_of(row.provenance_sha256)));
    const auto page = read_page(store, "main", "six", true);
    REQUIRE(page.files.size() == 2);
    CHECK(page.files[0].provenance_sha256 == row.provenance_sha256);
    CHECK(page.files[1].provenance_sha256.empty());
    check_whole(store);
    fs::remove(file);
    REQUIRE(base::replace_file(file, "another document"));
    const auto report = check_tree(store.tree);
    REQUIRE(report);
    REQUIRE(report->findings.size() == 1);
    CHECK(report->findings[0].code == "wrong_hash");
    REQUIRE(store.catalog.delete_file({"main", six_wheel}, {.actor = "anna", .reason = "", .time = noon}));
    publish_all(store);
    CHECK(!fs::exists(file.parent_path()));
    check_whole(store);
}

TEST_CASE(
    "the attestations of a wheel are published beside it, and another URL of the tree rewrites the pages") {
    StoreFixture store;
    const auto row = store.with_attestations(store.make_row("main", "six", "1.16.0", six_wheel));
    store.add(row);
    const auto publish_at = [&](std::optional<std::string> root_url) {
        const auto report = publish(store.catalog, store.blobs, store.tree, {"main"}, store.clock,
                                    {.root_url = std::move(root_url)});
        REQUIRE_MESSAGE(report, report.error().text());
        check_whole(store);
        return report->project_pages;
    };
    const auto page_has = [&](const std::string& url) {
        return text_of(project_folder(store.tree, "main", "six") / "index.json")
                   .find("\"provenance\":\"" + url) != std::string::npos;
    };
    const fs::path file = file_folder(store.tree, "main", row.sha256) / (six_wheel + ".pep740");
    publish_at("https://one.example/");
    CHECK(fs::equivalent(file, store.blobs.path_of(row.attestations_sha256)));
    CHECK(page_has("https://one.example/main/files/"));
    CHECK(publish_at(std::nullopt) == 0);  // of a run that does not know the configuration
    CHECK(publish_at("https://one.example/") == 0);
    CHECK(publish_at("https://two.example/") == 1);
    CHECK(page_has("https://two.example/main/files/"));
    CHECK(publish_at("") == 1);
    CHECK_FALSE(page_has(""));
    REQUIRE(store.catalog.delete_file({"main", six_wheel}, {.actor = "anna", .reason = "", .time = noon}));
    publish_at(std::nullopt);
    CHECK(!fs::exists(file.parent_path()));
}

TEST_CASE("a run without events writes nothing") {
    StoreFixture store;
    store.add("main", "six", "1.16.0", six_wheel);
    publish_all(store);
    const auto before = fingerprint(store.tree);
    const auto report = publish_all(store);
    CHECK(report.events == 0);
    CHECK(report.serial == 1);
    CHECK(fingerprint(store.tree) == before);
}

TEST_CASE("a new version rewrites only its project's page") {
    StoreFixture store;
    store.add("main", "six", "1.16.0", six_wheel);
    store.add("main", "torch", "2.4.0", "torch-2.4.0-cp312-cp312-linux_aarch64.whl");
    publish_all(store);
    const auto before = fingerprint(store.tree);
    store.add("main", "six", "1.17.0", "six-1.17.0-py2.py3-none-any.whl");
    const auto report = publish_all(store);
    CHECK(report.project_pages == 1);
    CHECK(report.root_pages == 0);
    CHECK(report.files_linked == 1);
    const auto after = fingerprint(store.tree);
    const auto same = std::count_if(after.begin(), after.end(), [&](const auto& file) {
        return std::find(before.begin(), before.end(), file) != before.end();
    });
    // All files except six's two pages, the one of --find-links and published.json.
    CHECK(same + 4 == static_cast<std::ptrdiff_t>(before.size()));
    check_whole(store);
}

TEST_CASE("a large root page may be late repeatedly and is complete in the end") {
    StoreFixture store;
    store.add("main", "six", "1.16.0", six_wheel);
    publish_all(store);
    const fs::path root = store.tree / "main/simple/index.html";
    const auto publish_promptly = [&](std::uint64_t large_root_bytes) {
        LocalDisk disk;
        const auto report =
            publish_with(disk, store.catalog, store.blobs, store.tree, {"main"}, store.clock, {},
                         {.roots = RootPages::prompt, .large_root_bytes = large_root_bytes});
        if (!report) FAIL(report.error().text());
        return *report;
    };
    const std::vector<std::string> main{"main"};
    const std::uint64_t size = fs::file_size(root);
    for (const char* name : {"numpy", "torch"}) {
        store.add("main", name, "1", std::string(name) + "-1-py3-none-any.whl");
        const auto report = publish_promptly(size);
        CHECK(report.serial == *store.catalog.last_serial());
        CHECK(report.late_roots == main);
        CHECK(report.root_pages == 0);
        CHECK(read_page(store, "main", name, true).files.size() == 1);
        CHECK(fs::file_size(root) == size);
    }
    store.add("main", "torch", "2", "torch-2-py3-none-any.whl");
    CHECK(publish_promptly(size).late_roots == main);  // no event for the root, and not forgotten
    SUBCASE("by a run that writes all") {
        CHECK(publish_all(store).root_pages == 1);
    }
    SUBCASE("by a prompt run, if the root is small") {
        CHECK(publish_promptly(size + 1).root_pages == 1);
    }
    CHECK(text_of(root).find("numpy") != std::string::npos);
    CHECK(text_of(root).find("torch") != std::string::npos);
    CHECK(publish_promptly(1).late_roots.empty());
    check_whole(store);
}

TEST_CASE(
    "names leave a large root page in the run that removes their pages, even if other changes are late") {
    StoreFixture store;
    store.add("main", "six", "1.16.0", six_wheel);
    const catalog::Cause cause{.actor = "configuration", .reason = {}, .time = noon};
    REQUIRE(store.catalog.set_index_rules({{"gpu", {"main"}, {}}}, cause));
    publish_all(store);
    REQUIRE(store.catalog.set_index_rules({{"gpu", {"main"}, {"six"}}}, cause));
    store.add("main", "torch", "1", "torch-1-py3-none-any.whl");
    LocalDisk disk;
    const auto report = publish_with(disk, store.catalog, store.blobs, store.tree, {"main"}, store.clock, {},
                                     {.roots = RootPages::prompt, .large_root_bytes = 1});
    REQUIRE(report);
    CHECK(report->late_roots == std::vector<std::string>{"main"});
    CHECK(text_of(store.tree / "gpu/simple/index.html").find("six") == std::string::npos);
    CHECK(text_of(store.tree / "gpu/simple/index.html").find("torch") != std::string::npos);
    CHECK_FALSE(fs::exists(store.tree / "gpu/simple/six"));
    publish_all(store);
    check_whole(store);
}

TEST_CASE("two indexes keep their own bytes under one file name") {
    StoreFixture store;
    const std::string name = "torch-2.4.0-cp312-cp312-linux_x86_64.whl";
    store.add("cpu", "torch", "2.4.0", name);
    store.add("gfx90a", "torch", "2.4.0", name);
    publish_all(store, {});
    const auto cpu = read_page(store, "cpu", "torch", true);
    const auto gpu = read_page(store, "gfx90a", "torch", true);
    CHECK(cpu.files[0].filename == gpu.files[0].filename);
    CHECK(cpu.files[0].sha256 != gpu.files[0].sha256);
    check_whole(store);
}

TEST_CASE("both page formats read back as exactly the catalog's content") {
    StoreFixture store;
    const std::vector<std::pair<std::string, std::string>> versions{
        {"2.4.0", "cp312-cp312-linux_aarch64"},
        {"2.4.0+cu126", "cp311-cp311-linux_aarch64"},
        {"2.10.0", "cp312-cp312-manylinux_2_28_x86_64"},
        {"1!0.1", "py3-none-any"},
        {"2.4.0rc1", "cp312-abi3-linux_x86_64"}};
    for (const auto& [version, tags] : versions) {
        auto row = store.make_row("main", "torch", version, "torch-" + version + "-" + tags + ".whl");
        row.requires_python = version == "2.10.0" ? ">=3.10,<4" : "";
        row.yanked = version == "2.4.0";
        row.yanked_reason = row.yanked ? "wrong <NCCL> & \"slow\" — see ticket" : "";
        store.clock.set(store.clock.now() + 1'234'567);
        store.add(row);
    }
    publish_all(store);
    check_whole(store);

    const auto rows = make_project_view("torch", *store.catalog.files("main", "torch")).files;
    REQUIRE(rows.size() == versions.size());
    for (const bool json : {false, true}) {
        CAPTURE(json);
        const auto page = read_page(store, "main", "torch", json);
        REQUIRE(page.files.size() == rows.size());
        for (std::size_t i = 0; i < rows.size(); ++i) {
            const auto& link = page.files[i];
            CAPTURE(rows[i].filename);
            CHECK(link.filename == rows[i].filename);
            CHECK(link.sha256 == rows[i].sha256);
            CHECK(link.requires_python == rows[i].requires_python);
            CHECK(link.yanked == rows[i].yanked);
            CHECK(link.yanked_reason == rows[i].yanked_reason);
            CHECK(link.has_metadata);
            CHECK(link.metadata_sha256 == rows[i].metadata_sha256);
            if (!json) continue;
            CHECK(link.size_bytes == rows[i].size_bytes);
            CHECK(link.upload_time == rows[i].upload_time);
        }
    }
}

TEST_CASE("a missing or damaged file is restored by the next event of its project") {
    StoreFixture store;
    const auto row = store.make_row("main", "six", "1.16.0", six_wheel);
    store.add(row);
    publish_all(store);
    const fs::path file = file_folder(store.tree, "main", row.sha256) / six_wheel;
    fs::remove(file);
    REQUIRE(base::replace_file(file.native() + ".metadata", "half"));
    store.add("main", "six", "1.17.0", "six-1.17.0-py2.py3-none-any.whl");
    CHECK(publish_all(store).files_linked == 2);
    check_whole(store);
}

TEST_CASE("a tree whose state is lost is restored without rewriting correct files") {
    StoreFixture store;
    store.add("main", "six", "1.16.0", six_wheel);
    publish_all(store);
    fs::remove(store.tree / ".wheelyard/published.json");
    const auto report = publish_all(store);
    CHECK(report.serial == 1);
    CHECK(report.project_pages == 0);
    CHECK(report.files_linked == 0);
    check_whole(store);
}

TEST_CASE("a staged index of a killed run is removed with the next new name, even if the index exists") {
    StoreFixture store;
    store.add("main", "six", "1.16.0", six_wheel);
    publish_all(store);
    const fs::path left = store.tree / "main/.simple.tmp.dead";
    REQUIRE(base::make_directories(left / "six"));
    REQUIRE(base::replace_file(left / "six/index.html", "<!DOC"));
    store.add("main", "numpy", "2.0.0", "numpy-2.0.0-cp312-cp312-linux_aarch64.whl");
    publish_all(store);
    CHECK_FALSE(fs::exists(left));
    check_whole(store);
}

TEST_CASE("a tree that is ahead of its catalog is not changed") {
    StoreFixture store;
    store.add("main", "six", "1.16.0", six_wheel);
    publish_all(store);
    const auto before = fingerprint(store.tree);
    StoreFixture older;
    const auto report = publish(older.catalog, older.blobs, store.tree, {"main"}, store.clock);
    REQUIRE(!report);
    CHECK(report.error().code == "publish.tree_ahead");
    CHECK(report.error().kind == base::ErrorKind::conflict);  // a node makes its tree again
    CHECK(fingerprint(store.tree) == before);
}

TEST_CASE("a second publisher is rejected while the first one runs") {
    StoreFixture store;
    fs::create_directories(store.tree / ".wheelyard");
    const auto lock = base::LockFile::acquire(store.tree / ".wheelyard/lock", store.clock, 60'000);
    REQUIRE(lock);
    const auto report = publish(store.catalog, store.blobs, store.tree, {"main"}, store.clock);
    REQUIRE(!report);
    CHECK(report.error().code == "lock.held");
    CHECK(!fs::exists(store.tree / "main"));
}

TEST_CASE("no page lists a wheel whose blob is missing") {
    StoreFixture store;
    store.add("main", "six", "1.16.0", six_wheel);
    publish_all(store);
    const auto row = store.make_row("main", "six", "1.17.0", "six-1.17.0-py2.py3-none-any.whl");
    store.add(row);
    fs::remove(store.blobs.path_of(row.sha256));
    const auto report = publish(store.catalog, store.blobs, store.tree, {"main"}, store.clock);
    REQUIRE(report);
    REQUIRE(report->lagging.size() == 1);
    CHECK(report->lagging[0].error.code == "publish.blob_missing");
    CHECK(report->lagging[0].filename == row.filename);
    CHECK(read_page(store, "main", "six", false).files.size() == 1);
    check_whole(store);
}

TEST_CASE("a damaged project does not block the others, and follows once it is fixed") {
    StoreFixture store;
    const auto bad = store.make_row("main", "six", "1.16.0", six_wheel);
    store.add(bad);
    fs::rename(store.blobs.path_of(bad.sha256), store.folder.path() / "removed");
    store.add("main", "six", "1.17.0", "six-1.17.0-py2.py3-none-any.whl");
    store.add("main", "zlib-ng", "0.5.0", "zlib_ng-0.5.0-cp312-cp312-linux_aarch64.whl");
    // The folder cannot be created because a file is in its place.
    fs::create_directories(store.tree / "main/simple");
    REQUIRE(base::replace_file(store.tree / "main/simple/numpy", "in the way"));
    store.add("main", "numpy", "2.1.0", "numpy-2.1.0-cp312-cp312-linux_aarch64.whl");

    const auto report = publish(store.catalog, store.blobs, store.tree, {"main"}, store.clock);
    REQUIRE(report);
    CHECK(report->serial == store.catalog.last_serial().value());
    REQUIRE(report->lagging.size() == 2);
    CHECK(report->lagging[0].project == "six");  // in the order of the projects' newest events
    CHECK(report->lagging[0].filename == six_wheel);
    CHECK(report->lagging[1].project == "numpy");
    CHECK(report->lagging[1].filename.empty());
    CHECK(read_page(store, "main", "six", true).files.size() == 1);
    CHECK(read_page(store, "main", "zlib-ng", true).files.size() == 1);

    fs::rename(store.folder.path() / "removed", store.blobs.path_of(bad.sha256));
    fs::remove(store.tree / "main/simple/numpy");
    const auto fixed = publish(store.catalog, store.blobs, store.tree, {"main"}, store.clock);
    REQUIRE(fixed);
    CHECK(fixed->lagging.empty());
    CHECK(read_page(store, "main", "six", true).files.size() == 2);
    CHECK(read_page(store, "main", "numpy", true).files.size() == 1);
    check_whole(store);
}

TEST_CASE("a deleted file leaves its page and the tree, even if its project lagged in between") {
    StoreFixture store;
    const auto gone = store.make_row("main", "six", "1.16.0", six_wheel);
    store.add(gone);
    store.add("main", "six", "1.17.0", "six-1.17.0-py2.py3-none-any.whl");
    publish_all(store);
    const fs::path folder = file_folder(store.tree, "main", gone.sha256);
    CHECK(fs::exists(folder / six_wheel));
    REQUIRE(store.catalog.delete_file({"main", six_wheel}, {.actor = "anna", .reason = "", .time = noon}));
    const fs::path page = store.tree / "main/simple/six";
    fs::rename(page, store.folder.path() / "page");
    REQUIRE(base::replace_file(page, "in the way"));
    CHECK(publish(store.catalog, store.blobs, store.tree, {"main"}, store.clock)->lagging.size() == 1);
    CHECK(fs::exists(folder / six_wheel));
    fs::remove(page);
    fs::rename(store.folder.path() / "page", page);
    REQUIRE(publish(store.catalog, store.blobs, store.tree, {"main"}, store.clock));
    CHECK(read_page(store, "main", "six", true).files.size() == 1);
    CHECK(!fs::exists(folder));
    check_whole(store);
}

TEST_CASE("yanked files are marked; quarantined files are neither listed nor served until released") {
    StoreFixture store;
    const auto row = store.make_row("main", "six", "1.16.0", six_wheel);
    store.add(row);
    store.add("main", "six", "1.17.0", "six-1.17.0-py2.py3-none-any.whl");
    const catalog::Cause cause{.actor = "anna", .reason = "slow", .time = noon};
    REQUIRE(store.catalog.set_yanked({"main", six_wheel}, true, cause));
    publish_all(store);
    for (const bool json : {false, true}) {
        const auto files = read_page(store, "main", "six", json).files;
        REQUIRE(files.size() == 2);
        CHECK(files[0].yanked);
        CHECK(files[0].yanked_reason == "slow");
        CHECK_FALSE(files[1].yanked);
    }
    const fs::path file = file_folder(store.tree, "main", row.sha256) / six_wheel;
    REQUIRE(store.catalog.set_file_state({"main", six_wheel}, catalog::FileState::quarantined, cause));
    publish_all(store);
    CHECK(read_page(store, "main", "six", false).files.size() == 1);
    CHECK(read_page(store, "main", "six", true).files.size() == 1);
    CHECK(!fs::exists(file));
    CHECK(!fs::exists(file.native() + ".metadata"));
    check_whole(store);
    REQUIRE(store.catalog.set_file_state({"main", six_wheel}, catalog::FileState::active, cause));
    publish_all(store);
    CHECK(read_page(store, "main", "six", true).files.size() == 2);
    CHECK(fs::equivalent(file, store.blobs.path_of(row.sha256)));
    check_whole(store);
}

TEST_CASE("a quarantined project keeps its page without files; other statuses list all files") {
    StoreFixture store;
    const auto row = store.make_row("main", "six", "1.16.0", six_wheel);
    store.add(row);
    for (const auto status : {catalog::ProjectStatus::quarantined, catalog::ProjectStatus::archived,
                              catalog::ProjectStatus::deprecated, catalog::ProjectStatus::active}) {
        const std::string word(catalog::project_status_text(status));
        CAPTURE(word);
        REQUIRE(store.catalog.set_project_status(
            {.index = "main", .project = "six", .status = status, .status_reason = "a \"reason\""},
            {.actor = "anna", .reason = "", .time = noon}));
        publish_all(store);
        const bool offers = status != catalog::ProjectStatus::quarantined;
        CHECK(read_page(store, "main", "six", true).files.size() == (offers ? 1u : 0u));
        CHECK(read_page(store, "main", "six", false).files.size() == (offers ? 1u : 0u));
        CHECK(fs::exists(file_folder(store.tree, "main", row.sha256)) == offers);
        const auto json = *base::read_file(store.tree / "main/simple/six/index.json", 1 << 20);
        CHECK(json.find("\"status\":\"" + word + "\"") != std::string::npos);
        const auto html = *base::read_file(store.tree / "main/simple/six/index.html", 1 << 20);
        CHECK((html.find("<meta name=\"pypi:project-status\" content=\"" + word + "\">") !=
               std::string::npos) == (status != catalog::ProjectStatus::active));
        check_whole(store);
    }
}

TEST_CASE("a promoted file is the same file in both indexes, and garbage collection touches no page") {
    StoreFixture store;
    const auto row = store.make_row("staging", "six", "1.16.0", six_wheel);
    store.add(row);
    const catalog::Cause cause{.actor = "anna", .reason = "", .time = noon};
    REQUIRE(store.catalog.promote_files("staging", std::vector<std::string>{six_wheel}, "main", cause));
    REQUIRE(store.catalog.forget_blobs({std::string(64, '0')}, cause));
    publish_all(store);
    CHECK(read_page(store, "main", "six", true).files.size() == 1);
    CHECK(fs::equivalent(file_folder(store.tree, "main", row.sha256) / six_wheel,
                         file_folder(store.tree, "staging", row.sha256) / six_wheel));
    check_whole(store);
}

TEST_CASE("a name committed during a run is left out of the root until its page exists") {
    // Commits another project when the run creates its first folder below the index.
    class CommittingDisk final : public ForwardingDisk {
      public:
        explicit CommittingDisk(StoreFixture& store) : store_(store) {}
        base::Result<bool> make_directories(const std::string& path) override {
            if (path.find("/main/files/") != std::string::npos && !is_done_) {
                is_done_ = true;
                store_.add("main", "late", "1.0", "late-1.0-py3-none-any.whl");
                store_.add("main", "six", "1.17.0", "six-1.17.0-py2.py3-none-any.whl");
            }
            return disk_.make_directories(path);
        }

      private:
        StoreFixture& store_;
        bool is_done_ = false;
    };

    StoreFixture store;
    store.add("main", "six", "1.16.0", six_wheel);
    CommittingDisk disk(store);
    const auto report = publish_with(disk, store.catalog, store.blobs, store.tree, {"main"}, store.clock);
    REQUIRE(report);
    CHECK(report->serial == 1);
    CHECK(report->events == 1);
    CHECK(text_of(store.tree / "main/simple/index.html").find("late") == std::string::npos);
    check_whole(store);

    CHECK(publish_all(store).serial == 3);
    CHECK(text_of(store.tree / "main/simple/index.html").find("late") != std::string::npos);
    check_whole(store);
}

TEST_CASE("the flat view has every wheel under its own name and drops deleted ones") {
    StoreFixture store;
    const auto row =
        store.make_row("main", "torch", "2.4.0+cu126", "torch-2.4.0+cu126-cp312-cp312-linux_aarch64.whl");
    store.add(row);
    store.add("main", "six", "1.16.0", six_wheel);
    const TreeViews flat{.find_links = true};
    REQUIRE(publish(store.catalog, store.blobs, store.tree, {"main"}, store.clock, flat));
    const fs::path link = flat_folder(store.tree, "main") / row.filename;
    CHECK(fs::is_symlink(link));
    CHECK(fs::read_symlink(link).is_relative());  // the tree can be moved
    CHECK(fs::equivalent(link, store.blobs.path_of(row.sha256)));
    const auto before = fingerprint(store.tree);
    publish_all(store);
    CHECK(fingerprint(store.tree) == before);
    const catalog::Cause cause{.actor = "anna", .reason = "bad", .time = noon};
    REQUIRE(store.catalog.delete_file({"main", row.filename}, cause));
    publish_all(store);  // not requested again: a tree keeps its views
    CHECK(!fs::exists(fs::symlink_status(link)));
    CHECK(fs::exists(flat_folder(store.tree, "main") / six_wheel));
    check_whole(store);
}

namespace {

// The file names on the page of --find-links, each of which leads to its bytes.
std::set<std::string> flat_names(const StoreFixture& store, const std::string& index) {
    const auto url = base::parse_url("http://host/" + index + "/find-links/");
    const auto page = simple::parse_project_html(text_of(flat_folder(store.tree, index) / html_page), *url);
    REQUIRE(page);
    std::set<std::string> names;
    for (const auto& link : page->files) {
        const std::string path = base::parse_url(link.url)->path.substr(1);
        CHECK(base::sha256_hex(text_of(store.tree / *base::decode_percent(path))) == link.sha256);
        names.insert(link.filename);
    }
    return names;
}

}  // namespace

TEST_CASE("the page of --find-links lists every file of its index, also without the folder of links") {
    using Names = std::set<std::string>;
    StoreFixture store;
    const std::string torch = "torch-2.4.0+cu126-cp312-cp312-linux_aarch64.whl";
    const std::string newer = "six-1.17.0-py3-none-any.whl";
    const catalog::Cause cause{.actor = "anna", .reason = "<h2>bad", .time = noon};
    REQUIRE(store.catalog.set_index_rules({{"gpu", {"main"}, {}}}, cause));
    store.add("main", "six", "1.16.0", six_wheel);
    store.add("main", "torch", "2.4.0+cu126", torch);
    publish_all(store, {"main", "gpu", "empty"});
    CHECK(flat_names(store, "main") == Names{six_wheel, torch});
    CHECK(flat_names(store, "gpu") == Names{six_wheel, torch});
    CHECK(flat_names(store, "empty").empty());
    REQUIRE(store.catalog.set_yanked({"main", six_wheel}, true, cause));
    store.add("main", "six", "1.17.0", newer);
    publish_all(store);
    CHECK(flat_names(store, "gpu") == Names{six_wheel, newer, torch});
    REQUIRE(store.catalog.delete_file({"main", newer}, cause));
    REQUIRE(store.catalog.set_file_state({"main", torch}, catalog::FileState::quarantined, cause));
    publish_all(store);
    CHECK(flat_names(store, "main") == Names{six_wheel});
    check_whole(store);
    REQUIRE(store.catalog.set_index_rules({{"gpu", {"main"}, {"six"}}}, cause));
    publish_all(store);
    CHECK(flat_names(store, "gpu").empty());
    for (const auto& entry : fs::recursive_directory_iterator(store.tree))
        CHECK_MESSAGE(!entry.path().native().ends_with("find-links/index.html.gz"), entry.path().native());
}

TEST_CASE("the page of --find-links is late in a server, but not where a file leaves") {
    StoreFixture store;
    store.add("main", "six", "1.16.0", six_wheel);
    publish_all(store);
    const auto publish_promptly = [&] {
        LocalDisk disk;
        const auto report = publish_with(disk, store.catalog, store.blobs, store.tree, {"main"}, store.clock,
                                         {}, {.roots = RootPages::prompt});
        REQUIRE(report);
        return report->are_pages_late;
    };
    CHECK(!publish_promptly());
    const std::string newer = "six-1.17.0-py3-none-any.whl";
    store.add("main", "six", "1.17.0", newer);
    CHECK(publish_promptly());
    CHECK(flat_names(store, "main") == std::set{six_wheel});
    const catalog::Cause cause{.actor = "anna", .reason = {}, .time = noon};
    REQUIRE(store.catalog.delete_file({"main", six_wheel}, cause));
    CHECK(!publish_promptly());
    CHECK(flat_names(store, "main") == std::set{newer});
    check_whole(store);
}

TEST_CASE(
    "an index with too many files has a page of --find-links that says so, until all is written again") {
    StoreFixture store;
    store.add("main", "six", "1.16.0", six_wheel);
    publish_all(store);
    LocalDisk disk;
    const auto links = *read_flat_page(disk, store.tree, "main");
    REQUIRE(links);
    REQUIRE(write_flat_page(disk, store.tree, "main", *links, 300));
    const auto page = text_of(flat_folder(store.tree, "main") / html_page);
    CHECK(page.find("--index-url") != std::string::npos);
    CHECK(!*read_flat_page(disk, store.tree, "main"));
    check_whole(store);
    store.add("main", "torch", "1", "torch-1-py3-none-any.whl");
    publish_all(store);
    CHECK(text_of(flat_folder(store.tree, "main") / html_page) == page);
    REQUIRE(publish_with(disk, store.catalog, store.blobs, store.tree, {"main"}, store.clock, {},
                         {.rewrite_pages = true}));
    CHECK(flat_names(store, "main").size() == 2);
}

TEST_CASE("a view requested later includes everything published before") {
    StoreFixture store;
    for (int number = 10; number < 40; ++number)
        store.add("main", "six", "1." + std::to_string(number),
                  "six-1." + std::to_string(number) + "-py3-none-any.whl");
    publish_all(store);
    CHECK(!fs::exists(store.tree / "main/simple/six/index.html.gz"));
    REQUIRE(publish(store.catalog, store.blobs, store.tree, {"main"}, store.clock,
                    {.find_links = true, .precompressed = true}));
    CHECK(fs::exists(flat_folder(store.tree, "main") / "six-1.10-py3-none-any.whl"));
    CHECK(text_of(store.tree / "main/simple/six/index.html.gz") ==
          *io::gzip(text_of(store.tree / "main/simple/six/index.html")));
    CHECK(text_of(store.tree / "main/simple/six/index.json.gz") ==
          *io::gzip(text_of(store.tree / "main/simple/six/index.json")));
    CHECK(text_of(store.tree / "main/simple/six/index.json.zst") ==
          *io::zstd(text_of(store.tree / "main/simple/six/index.json")));
    CHECK(!fs::exists(store.tree / "main/simple/index.html.gz"));  // too small to be compressed
    CHECK(!fs::exists(store.tree / "main/simple/index.html.zst"));
}

TEST_CASE("a compressed page always matches its page and is removed once the page is small") {
    StoreFixture store;
    const TreeViews views{.precompressed = true};
    std::vector<std::string> names;
    for (int number = 10; number < 20; ++number) {
        names.push_back("six-1." + std::to_string(number) + "-py3-none-any.whl");
        store.add("main", "six", "1." + std::to_string(number), names.back());
    }
    REQUIRE(publish(store.catalog, store.blobs, store.tree, {"main"}, store.clock, views));
    const fs::path page = store.tree / "main/simple/six/index.html";
    const fs::path compressed = store.tree / "main/simple/six/index.html.gz";
    REQUIRE(fs::exists(compressed));
    // An outdated compressed page, as a killed run and a reverted change leave it.
    REQUIRE(base::replace_file(compressed, "another time's"));
    const catalog::Cause cause{.actor = "anna", .reason = "bad", .time = noon};
    REQUIRE(store.catalog.set_pinned({"main", names[0]}, true, cause));
    publish_all(store);
    CHECK(text_of(compressed) == *io::gzip(text_of(page)));
    REQUIRE(store.catalog.set_pinned({"main", names[0]}, false, cause));
    for (const auto& name : names)
        REQUIRE(store.catalog.delete_file({"main", name}, cause));
    publish_all(store);
    CHECK(!fs::exists(compressed));
}

TEST_CASE("the compressed copies of a project's page are late in a server, and no older ones stay") {
    StoreFixture store;
    const fs::path page = store.tree / "main/simple/six/index.html";
    const auto run = [&](RootPages roots) {
        LocalDisk disk;
        const auto report = publish_with(disk, store.catalog, store.blobs, store.tree, {"main"}, store.clock,
                                         {.precompressed = true}, {.roots = roots});
        REQUIRE(report);
        return report->late_copies;
    };
    for (int number = 10; number < 30; ++number) {
        store.add("main", "six", "1." + std::to_string(number),
                  "six-1." + std::to_string(number) + "-py3-none-any.whl");
        if (number < 20) continue;
        CHECK(run(RootPages::prompt) == 1);
        CHECK_FALSE(fs::exists(page.native() + ".gz"));
        CHECK(run(RootPages::prompt) == 1);  // another run, as for another project
        if (number % 2 == 0) continue;       // several uploads before they are written
        CHECK(run(RootPages::all) == 0);
        CHECK(text_of(page.native() + ".gz") == *io::gzip(text_of(page)));
        CHECK(text_of(page.native() + ".zst") == *io::zstd(text_of(page)));
        CHECK(parse_published_state(text_of(published_file(store.tree)))->late_copies.empty());
    }
    store.add("main", "six", "2", "six-2-py3-none-any.whl");
    CHECK(run(RootPages::prompt) == 1);
    fs::remove_all(page.parent_path());  // what is no longer there has none
    CHECK(run(RootPages::all) == 0);
}

TEST_CASE(
    "copies that an older program did not keep are removed before anything, and come back with a change") {
    StoreFixture store;
    for (int number = 10; number < 20; ++number)
        store.add("main", "six", "1." + std::to_string(number),
                  "six-1." + std::to_string(number) + "-py3-none-any.whl");
    REQUIRE(publish(store.catalog, store.blobs, store.tree, {"main"}, store.clock, {.precompressed = true}));
    const fs::path page = store.tree / "main/simple/six/index.html";
    const fs::path copy = page.native() + ".zst";
    REQUIRE(fs::exists(copy));
    publish_all(store);
    CHECK(fs::exists(copy));
    PublishedState state = parse_published_state(text_of(published_file(store.tree))).value();
    state.copies.clear();  // as a program writes it that does not know the member
    REQUIRE(base::replace_file(published_file(store.tree), render_published_state(state)));
    publish_all(store);
    CHECK_FALSE(fs::exists(copy));
    CHECK(fs::exists(page.native() + ".gz"));
    REQUIRE(store.catalog.set_yanked({"main", "six-1.10-py3-none-any.whl"}, true,
                                     {.actor = "anna", .reason = "bad", .time = noon}));
    publish_all(store);
    CHECK(text_of(copy) == *io::zstd(text_of(page)));
}

TEST_CASE("a run that does not know the configuration keeps the farm's titles, also a repair") {
    StoreFixture store;
    store.add("main", "six", "1.16.0", six_wheel);
    const FarmText farm{.title = "A farm", .titles = {{"main", "Wheels of Bede"}}, .hidden = {"staging"}};
    REQUIRE(publish(store.catalog, store.blobs, store.tree, {"main", "staging"}, store.clock,
                    {.pages = true, .farm = farm}));
    const std::string front = text_of(store.tree / "index.html");
    REQUIRE(front.find("Wheels of Bede") != std::string::npos);
    store.add("main", "six", "1.17.0", "six-1.17.0-py3-none-any.whl");
    publish_all(store);
    CHECK(text_of(store.tree / "index.html").find("Wheels of Bede") != std::string::npos);
    CHECK(text_of(store.tree / "index.html").find("staging") == std::string::npos);
    REQUIRE(repair_tree(store.catalog, store.blobs, store.tree, store.clock));
    CHECK(text_of(store.tree / "index.html").find("Wheels of Bede") != std::string::npos);
    // Without titles after all.
    REQUIRE(publish(store.catalog, store.blobs, store.tree, {"main"}, store.clock,
                    {.pages = true, .farm = FarmText{}}));
    CHECK(text_of(store.tree / "index.html").find("Wheels of Bede") == std::string::npos);
}

TEST_CASE("an index without pages has none, loses those that it had, and can have them again") {
    StoreFixture store;
    store.add("main", "six", "1.16.0", six_wheel);
    store.add("bulk", "six", "1.16.0", six_wheel);
    const auto publish_with = [&](std::set<std::string> without) {
        REQUIRE(publish(
            store.catalog, store.blobs, store.tree, {"main", "bulk"}, store.clock,
            {.precompressed = true, .pages = true, .farm = FarmText{.without_pages = std::move(without)}}));
    };
    publish_with({});
    REQUIRE(fs::exists(store.tree / "bulk/project/six/index.html"));
    REQUIRE(fs::exists(store.tree / "bulk/builds/index.html"));
    const std::string simple = text_of(store.tree / "bulk/simple/six/index.html");
    publish_with({"bulk"});
    CHECK(!fs::exists(store.tree / "bulk/project"));
    CHECK(!fs::exists(store.tree / "bulk/builds"));
    CHECK(!fs::exists(store.tree / "bulk/site"));
    CHECK(text_of(store.tree / "bulk/simple/six/index.html") == simple);
    CHECK(text_of(store.tree / "index.html").find("bulk") == std::string::npos);
    CHECK(fs::exists(store.tree / "main/project/six/index.html"));
    // New files bring no page, in a run that does not know the configuration either; the check misses none.
    store.add("bulk", "six", "1.17.0", "six-1.17.0-py3-none-any.whl");
    publish_all(store);
    CHECK(!fs::exists(store.tree / "bulk/project"));
    check_whole(store);
    publish_with({});
    CHECK(text_of(store.tree / "bulk/project/six/index.html").find("1.17.0") != std::string::npos);
    check_whole(store);
}

TEST_CASE(
    "a farm's style and logo lie in the tree before pages name them, and older names stay for older pages") {
    StoreFixture store;
    store.add("main", "six", "1.16.0", six_wheel);
    const FarmText farm{.title = "A farm",
                        .style = ":root { --accent: #7a0019; }",
                        .logo = "logo.0123456789ab.svg",
                        .logo_bytes = {"<svg/>"}};
    REQUIRE(publish(store.catalog, store.blobs, store.tree, {"main"}, store.clock,
                    {.pages = true, .farm = farm}));
    CHECK(text_of(store.tree / farm.logo) == "<svg/>");
    const std::string style = frame_of(farm).style;
    CHECK(text_of(store.tree / style) == farm.style);
    for (const char* page :
         {"index.html", "main/project/index.html", "main/project/six/index.html", "main/builds/index.html"}) {
        CHECK_MESSAGE(text_of(store.tree / page).find(style) != std::string::npos, page);
        CHECK_MESSAGE(text_of(store.tree / page).find(farm.logo) != std::string::npos, page);
    }
    // A run that does not know the configuration keeps them; the check compares with them.
    store.add("main", "six", "1.17.0", "six-1.17.0-py3-none-any.whl");
    publish_all(store);
    CHECK(text_of(store.tree / "main/project/six/index.html").find(style) != std::string::npos);
    check_whole(store);
    REQUIRE(publish(store.catalog, store.blobs, store.tree, {"main"}, store.clock,
                    {.pages = true, .farm = FarmText{}}));
    CHECK(text_of(store.tree / "main/project/six/index.html").find(style) == std::string::npos);
    CHECK(fs::exists(store.tree / style));
}

TEST_CASE(
    "what a site reports is on the pages of its projects, whatever came first, and changes no other page") {
    StoreFixture store;
    store.add("main", "six", "1.16.0", six_wheel);
    store.add("main", "torch", "2.4.0", "torch-2.4.0-cp312-cp312-linux_aarch64.whl");
    const auto publish_pages = [&](RootPages roots) {
        const auto report =
            publish(store.catalog, store.blobs, store.tree, {"main"}, store.clock, {.pages = true}, roots);
        REQUIRE(report);
        return *report;
    };
    const auto report_state = [&](const std::string& state, const std::string& nodes) {
        LocalDisk disk;
        REQUIRE(write_status_file(
            disk, store.tree, "main",
            R"({"format":"wheelyard.index-status/1","index":"main","sites":[{"format":"wheelyard.site/1","site":"bede",
            "index":"main","time":"2026-11-20T11:58:00Z","pythons":["3.12"],"nodes":[)" +
                nodes + R"(],"cells":[{"package":"torch","version":"2.4.0","python":"3.12","state":")" +
                state +
                R"("},{"package":"never-built","version":"1","python":"3.12","state":"wanted"}]}]})"));
    };
    const fs::path torch = store.tree / "main/project/torch/index.html";
    const fs::path six = store.tree / "main/project/six/index.html";
    const auto inode = [](const fs::path& file) {
        struct stat status {};
        REQUIRE(::stat(file.c_str(), &status) == 0);
        return status.st_ino;
    };
    publish_pages(RootPages::all);
    CHECK(text_of(torch).find("status-time") == std::string::npos);
    const auto old_six = inode(six);
    report_state("wanted", "");
    publish_pages(RootPages::prompt);  // an upload does not wait for this
    CHECK(text_of(torch).find("status-time") == std::string::npos);
    publish_pages(RootPages::all);
    CHECK(text_of(torch).find(">queued<") != std::string::npos);
    CHECK(text_of(store.tree / "main/builds/index.html").find("never-built") != std::string::npos);
    CHECK(!fs::exists(store.tree / "main/project/never-built"));
    CHECK(inode(six) == old_six);
    report_state("have", "");
    publish_pages(RootPages::all);
    CHECK(text_of(torch).find(">queued<") == std::string::npos);
    CHECK(text_of(torch).find("data-cell") == std::string::npos);  // its wheel says it
    report_state("have", R"({"name":"gh"})");
    publish_pages(RootPages::all);
    CHECK(text_of(six).find("Where it runs") != std::string::npos);
    CHECK(publish_pages(RootPages::all).web_pages == 0);
    // The site's own page has both projects; another version changes the lines of its project.
    const fs::path site = store.tree / "main/site/bede";
    CHECK(text_of(site / "index.html").find(">six</a>") != std::string::npos);
    CHECK(text_of(site / "index.html").find(">torch</a>") != std::string::npos);
    CHECK(text_of(site / "feed.xml").find("six 1.16.0") != std::string::npos);
    store.add("main", "six", "1.17.0", "six-1.17.0-py3-none-any.whl");
    publish_pages(RootPages::all);
    CHECK(text_of(site / "feed.xml").find("six 1.16.0") == std::string::npos);
    CHECK(text_of(site / "feed.xml").find("six 1.17.0") != std::string::npos);
    CHECK(text_of(site / "index.html").find(">torch</a>") != std::string::npos);
    // A list that is damaged is made again, of all projects.
    std::ofstream(site / ".wheels") << "damaged";
    store.add("main", "six", "1.18.0", "six-1.18.0-py3-none-any.whl");
    publish_pages(RootPages::all);
    CHECK(text_of(site / "index.html").find(">torch</a>") != std::string::npos);
    check_whole(store);
    // A site that no longer reports has no page.
    LocalDisk disk;
    REQUIRE(write_status_file(disk, store.tree, "main",
                              R"({"format":"wheelyard.index-status/1","index":"main","sites":[]})"));
    publish_pages(RootPages::all);
    CHECK(!fs::exists(site));
    CHECK(fs::exists(store.tree / "main/site/index.html"));
    check_whole(store);
}

TEST_CASE("a package that a site names like a path is no project, and no page is removed for it") {
    StoreFixture store;
    store.add("main", "six", "1.16.0", six_wheel);
    store.add("other", "six", "1.16.0", six_wheel);
    const auto publish_pages = [&] {
        const auto report = publish(store.catalog, store.blobs, store.tree, {"main", "other"}, store.clock,
                                    {.pages = true}, RootPages::all);
        if (!report) FAIL(report.error().text());
    };
    publish_pages();
    const auto before = fingerprint(store.tree);
    LocalDisk disk;
    for (const std::string package : {".", "../builds", "../../other/project/six", "../../other/simple/six",
                                      "../..", "six/../six", "./six", "Six"}) {
        CAPTURE(package);
        REQUIRE(write_status_file(
            disk, store.tree, "main",
            R"({"format":"wheelyard.index-status/1","index":"main","sites":[{"format":"wheelyard.site/1","site":"bede",
            "index":"main","time":"2026-11-20T11:58:00Z","cells":[{"package":")" +
                package + R"(","version":"1","python":"3.12","state":"wanted"}]}]})"));
        publish_pages();
        for (const char* page : {"index.html", "main/project/index.html", "main/project/six/index.html",
                                 "main/builds/index.html", "other/project/six/index.html",
                                 "other/project/six/feed.xml", "other/simple/six/index.html"})
            CHECK_MESSAGE(fs::exists(store.tree / page), page);
    }
    CHECK(fingerprint(store.tree).size() >= before.size());
    check_whole(store);
}

TEST_CASE("a wheel with tags as long as its file name may be is published") {
    StoreFixture store;
    std::string long_tag;
    for (int part = 0; part < 100; ++part)
        long_tag += "_x";  // each "_" is three letters in the name of a file
    store.add("main", "six", "1.16.0", "six-1.16.0-py3-none-linux" + long_tag + ".whl");
    store.add("main", "six", "1.17.0", "six-1.17.0-py3" + long_tag + "-none-any.whl");
    const auto report = publish(store.catalog, store.blobs, store.tree, {"main"}, store.clock,
                                {.precompressed = true, .pages = true});
    if (!report) FAIL(report.error().text());
    CHECK(text_of(store.tree / "main/project/index.html").find("six") != std::string::npos);
    check_whole(store);
}

TEST_CASE("a run that makes the search again may die anywhere, and the pages of sites are whole") {
    for (std::size_t at = 0;; ++at) {
        CAPTURE(at);
        StoreFixture store;
        store.add("main", "six", "1.16.0", six_wheel);
        LocalDisk disk;
        const auto publish_pages = [&](Disk& on) {
            return publish_with(on, store.catalog, store.blobs, store.tree, {"main"}, store.clock,
                                {.pages = true}, {});
        };
        REQUIRE(publish_pages(disk));
        REQUIRE(write_status_file(
            disk, store.tree, "main",
            R"({"format":"wheelyard.index-status/1","index":"main","sites":[{"format":"wheelyard.site/1","site":"bede",
            "index":"main","time":"2026-11-20T11:58:00Z","pythons":["3.12"],"nodes":[{"name":"gh"}]}]})"));
        REQUIRE(publish_pages(disk));
        // The tree of a program that wrote no pages of sites, and another search.
        fs::remove_all(store.tree / "main/site");
        std::ofstream(store.tree / "main/project/search.json")
            << R"({"format":"wheelyard.search/1","projects":[]})";
        store.add("main", "torch", "2.4.0", "torch-2.4.0-py3-none-any.whl");
        DyingDisk dying(at, DyingDisk::Moment::before);
        (void)publish_pages(dying);
        REQUIRE(publish_pages(disk));
        const std::string page = text_of(store.tree / "main/site/bede/index.html");
        CHECK(page.find(">six</a>") != std::string::npos);
        CHECK(page.find(">torch</a>") != std::string::npos);
        check_whole(store);
        if (!dying.is_dead()) break;
    }
}

TEST_CASE("after a run that is killed anywhere, the files of the search are those of one that was not") {
    const auto files_of = [](const fs::path& tree) {
        std::map<std::string, std::string> files;
        for (const auto& entry : fs::directory_iterator(tree / "main/project")) {
            const std::string name = entry.path().filename().native();
            if (name.starts_with("search.") && name.ends_with(".json")) files[name] = text_of(entry.path());
        }
        return files;
    };
    const auto publish_on = [](Disk& disk, StoreFixture& store) {
        return publish_with(disk, store.catalog, store.blobs, store.tree, {"main"}, store.clock,
                            {.pages = true}, {});
    };
    const auto add_first = [](StoreFixture& store) {
        store.add("main", "six", "1.16.0", six_wheel);
        store.add("main", "torch", "2.4.0", "torch-2.4.0-cp312-cp312-linux_aarch64.whl");
    };
    const auto remove = [](StoreFixture& store, const std::string& wheel) {
        REQUIRE(store.catalog.delete_file({"main", wheel}, {.actor = "anna", .reason = "", .time = noon}));
    };
    const std::string sklearn_wheel = "scikit_learn-1.5-cp313-cp313-linux_x86_64.whl";
    // A project comes with words and a value of its own, one leaves with the only wheel of another value, and
    // one has a new version.
    const auto change = [&](StoreFixture& store) {
        store.add("main", "scikit-learn", "1.5", sklearn_wheel);
        remove(store, "torch-2.4.0-cp312-cp312-linux_aarch64.whl");
        store.add("main", "six", "1.17.0", "six-1.17.0-py3-none-any.whl");
    };
    LocalDisk disk;
    StoreFixture whole;
    add_first(whole);
    REQUIRE(publish_on(disk, whole));
    change(whole);
    REQUIRE(publish_on(disk, whole));
    REQUIRE(files_of(whole.tree).contains(shard_file("python=3.13 ")));
    remove(whole, sklearn_wheel);
    REQUIRE(publish_on(disk, whole));
    const auto wanted = files_of(whole.tree);
    REQUIRE(!wanted.contains(shard_file("python=3.13 ")));
    for (std::size_t at = 0;; ++at) {
        CAPTURE(at);
        StoreFixture store;
        add_first(store);
        REQUIRE(publish_on(disk, store));
        change(store);
        DyingDisk dying(at, DyingDisk::Moment::after);
        (void)publish_on(dying, store);
        remove(store, sklearn_wheel);  // what the killed run has written of it is nobody's
        REQUIRE(publish_on(disk, store));
        CHECK(files_of(store.tree) == wanted);
        if (!dying.is_dead()) break;
    }
}

TEST_CASE("a new node type is on all pages of its index after some runs, each of bounded size") {
    StoreFixture store;
    constexpr std::size_t projects = 5;
    const auto page_of = [&](std::size_t at) {
        return store.tree / "main/project" / ("p" + std::to_string(at)) / "index.html";
    };
    for (std::size_t at = 0; at < projects; ++at) {
        const std::string name = "p" + std::to_string(at);
        store.add("main", name, "1", name + "-1-py3-none-any.whl");
    }
    LocalDisk disk;
    const auto publish_two = [&] {
        const auto report = publish_with(disk, store.catalog, store.blobs, store.tree, {"main"}, store.clock,
                                         {.pages = true}, {.projects_per_report = 2});
        REQUIRE(report);
        return *report;
    };
    const auto shown = [&](const std::string& node) {
        std::size_t count = 0;
        for (std::size_t at = 0; at < projects; ++at)
            if (text_of(page_of(at)).find("bede, " + node) != std::string::npos) ++count;
        return count;
    };
    const auto report_node = [&](const std::string& node) {
        REQUIRE(write_status_file(
            disk, store.tree, "main",
            R"({"format":"wheelyard.index-status/1","index":"main","sites":[{"format":"wheelyard.site/1","site":"bede",
            "index":"main","time":"2026-11-20T11:58:00Z","nodes":[{"name":")" +
                node + R"("}]}]})"));
    };
    CHECK(!publish_two().are_pages_late);
    report_node("gh");
    CHECK(publish_two().are_pages_late);
    CHECK(shown("gh") == 2);
    CHECK(publish_two().are_pages_late);
    CHECK(shown("gh") == 4);
    report_node("gpu");  // before the first has come to its end
    CHECK(publish_two().are_pages_late);
    CHECK(shown("gpu") == 2);
    CHECK(publish_two().are_pages_late);
    CHECK(!publish_two().are_pages_late);
    CHECK(shown("gpu") == projects);
    CHECK(shown("gh") == 0);
}

TEST_CASE("a tree of another history with the same number of events is not changed") {
    StoreFixture store;
    store.add("main", "six", "1.16.0", six_wheel);
    publish_all(store);
    StoreFixture other;
    other.clock.sleep_ms(1'000);
    other.add("main", "torch", "2.4.0", "torch-2.4.0-cp312-cp312-linux_aarch64.whl");
    const auto report = publish(other.catalog, other.blobs, store.tree, {"main"}, store.clock);
    REQUIRE(!report);
    CHECK(report.error().code == "publish.other_catalog");
    CHECK(report.error().kind == base::ErrorKind::conflict);
    check_whole(store);
}

namespace {

// Counts file lookups, and commits a file of "six" when the first page is written.
class WatchedDisk final : public ForwardingDisk {
  public:
    explicit WatchedDisk(StoreFixture& store) : store_(store) {}
    int looks_at_files = 0;
    bool commits = false;

    base::Result<std::optional<std::uint64_t>> size_of(const std::string& path) override {
        looks_at_files += static_cast<int>(path.find("/main/files/") != std::string::npos);
        return disk_.size_of(path);
    }
    base::Status replace_together(const std::string& folder, const std::vector<NamedBytes>& files) override {
        if (std::exchange(commits, false)) store_.add("main", "six", "9", "six-9-py3-none-any.whl");
        return disk_.replace_together(folder, files);
    }

  private:
    StoreFixture& store_;
};

}  // namespace

TEST_CASE("rewriting pages checks only files that the tree's record does not cover") {
    StoreFixture store;
    for (const char* name : {"numpy", "six", "torch"})
        store.add("main", name, "1", std::string(name) + "-1-py3-none-any.whl");
    publish_all(store);
    fs::remove_all(store.tree / "main/simple");
    fs::remove_all(store.tree / "main/events");
    store.add("main", "torch", "2", "torch-2-py3-none-any.whl");
    WatchedDisk disk(store);
    const PublishSettings rewrite_all{.bulk_from = 2, .rewrite_pages = true};
    const auto made =
        publish_with(disk, store.catalog, store.blobs, store.tree, {"main"}, store.clock, {}, rewrite_all);
    REQUIRE(made);
    CHECK(made->project_pages == 3);
    CHECK(made->files_linked == 1);
    CHECK(disk.looks_at_files <= 8);  // torch's, and once each file of the page of --find-links
    check_whole(store);

    // A file added while pages are written is left to the next run, which places it before a page lists it.
    fs::remove_all(store.tree / "main/simple");
    disk.commits = true;
    const PublishSettings singly{.bulk_from = 100, .rows_per_read = 1, .rewrite_pages = true};
    REQUIRE(publish_with(disk, store.catalog, store.blobs, store.tree, {"main"}, store.clock, {}, singly));
    check_whole(store);
    CHECK(read_page(store, "main", "six", true).files.size() == 1);
    publish_all(store);
    check_whole(store);
    CHECK(read_page(store, "main", "six", true).files.size() == 2);

    // Files are checked again if the tree's record is lost.
    fs::remove(store.tree / ".wheelyard/published.json");
    disk.looks_at_files = 0;
    REQUIRE(
        publish_with(disk, store.catalog, store.blobs, store.tree, {"main"}, store.clock, {}, rewrite_all));
    CHECK(disk.looks_at_files >= 8);
    check_whole(store);
}

TEST_CASE("a bulk run writes the same tree as single runs") {
    StoreFixture store;
    StoreFixture other;
    for (int number = 0; number < 7; ++number) {
        for (auto* at : {&store, &other})
            at->add("main", "p" + std::to_string(number), "1.0",
                    "p" + std::to_string(number) + "-1.0-py3-none-any.whl");
    }
    LocalDisk disk;
    const auto report = publish_with(disk, store.catalog, store.blobs, store.tree, {"main"}, store.clock,
                                     {.find_links = true}, {.bulk_from = 2, .flush_every = 3});
    REQUIRE(report);
    CHECK(report->project_pages == 7);
    check_whole(store);
    publish_all(other);
    for (const char* page : {"p0/index.html", "p6/index.json", "index.html"})
        CHECK(text_of(store.tree / "main/simple" / page) == text_of(other.tree / "main/simple" / page));
    for (const auto& entry : fs::recursive_directory_iterator(store.tree))
        CHECK_MESSAGE(entry.path().native().find(".tmp.") == std::string::npos, entry.path().native());
}

TEST_CASE("a damaged file of the search fails one run, and the next makes all of the search again") {
    StoreFixture store;
    store.add("main", "six", "1.16.0", six_wheel);
    store.add("main", "torch", "2.4.0", "torch-2.4.0-cp312-cp312-linux_aarch64.whl");
    const auto publish_pages = [&] {
        return publish(store.catalog, store.blobs, store.tree, {"main"}, store.clock, {.pages = true});
    };
    REQUIRE(publish_pages());
    const fs::path folder = store.tree / "main/project";
    const fs::path shard = folder / shard_file("name=");
    REQUIRE(text_of(shard).find("torch") != std::string::npos);
    std::ofstream(shard, std::ios::trunc) << "{";
    store.add("main", "six", "1.17.0", "six-1.17.0-py3-none-any.whl");
    const auto failed = publish_pages();
    REQUIRE(!failed);
    CHECK(failed.error().code == "search.format");
    CHECK(fs::exists(folder / search_begun_file));
    CHECK(text_of(shard) == "{");  // nothing was built on it
    REQUIRE(publish_pages());
    CHECK(!fs::exists(folder / search_begun_file));
    CHECK(text_of(shard).find("torch") != std::string::npos);
    CHECK(text_of(shard).find("1.17.0") != std::string::npos);
    check_whole(store);
}

namespace {

void add_variant(StoreFixture& store, const std::string& version, const std::string& label) {
    auto row = store.make_row("main", "six", version, "six-" + version + "-py3-none-any-" + label + ".whl");
    row.facts_json =
        R"({"variant":{"$schema":"s","default-priorities":{"namespace":["x86_64"]},"variants":{")" + label +
        R"(":{"x86_64":{"level":[")" + label + R"("]}}}}})";
    store.add(row);
}

// The links of the page's last files, which are those of variants.
std::vector<std::string> variants_links(const fs::path& page) {
    std::vector<std::string> links;
    const auto url = *base::parse_url("http://host/");
    const auto parsed = simple::parse_project_html(text_of(page), url);
    REQUIRE(parsed.has_value());
    for (const auto& file : parsed->files)
        if (file.filename.ends_with("-variants.json")) links.push_back(file.url.substr(url.text().size()));
    return links;
}

}  // namespace

TEST_CASE("each state of a version's variants has an address of its own, and the last ones stay") {
    StoreFixture store;
    const fs::path folder = store.tree / "main" / "simple" / "six";
    store.add("main", "six", "1.0", "six-1.0-py3-none-any.whl");
    publish_all(store);
    CHECK(variants_links(folder / html_page).empty());
    std::vector<std::string> states;
    for (int label = 0; label < 20; ++label) {
        add_variant(store, "1.0", "v" + std::to_string(label));
        publish_all(store);
        const auto links = variants_links(folder / html_page);
        REQUIRE(links.size() == 1);
        states.push_back(links[0]);
        CHECK(text_of(folder / links[0]).find("\"v" + std::to_string(label) + "\"") != std::string::npos);
    }
    const auto is_there = [&](std::size_t state) { return fs::exists(folder / states[state]); };
    for (std::size_t state = 0; state < states.size(); ++state) {
        CAPTURE(state);
        CHECK(is_there(state) == (state >= 3));  // 16 and the current one
    }
    const auto check = check_tree(store.tree);
    REQUIRE(check.has_value());
    CHECK(check->findings.empty());

    // With the last variant wheel of the version goes its file, and the pages of before come back.
    add_variant(store, "1.1", "v1");
    for (int label = 0; label < 20; ++label)
        REQUIRE(store.catalog.delete_file({"main", "six-1.0-py3-none-any-v" + std::to_string(label) + ".whl"},
                                          {.actor = "test"}));
    publish_all(store);
    CHECK(variants_links(folder / html_page).size() == 1);
    CHECK_FALSE(is_there(19));
    REQUIRE(store.catalog.delete_file({"main", "six-1.1-py3-none-any-v1.whl"}, {.actor = "test"}));
    publish_all(store);
    for (const auto& entry : fs::directory_iterator(folder))
        CHECK_FALSE(entry.is_directory());
}

TEST_CASE("no page lists the variants of a version whose variant wheels are missing") {
    StoreFixture store;
    store.add("main", "six", "1.0", "six-1.0-py3-none-any.whl");
    add_variant(store, "1.0", "v3");
    publish_all(store);
    const auto row = *store.catalog.file("main", "six-1.0-py3-none-any-v3.whl").value();
    fs::remove_all(file_folder(store.tree, "main", row.sha256));
    fs::remove(store.blobs.path_of(row.sha256));
    LocalDisk disk;
    const auto report = publish_with(disk, store.catalog, store.blobs, store.tree, {"main"}, store.clock, {},
                                     {.check_everything = true});
    REQUIRE(report);
    REQUIRE(report->lagging.size() == 1);
    CHECK(report->lagging[0].error.code == "publish.blob_missing");
    const fs::path folder = store.tree / "main" / "simple" / "six";
    CHECK(variants_links(folder / html_page).empty());
    for (const auto& entry : fs::directory_iterator(folder))
        CHECK_FALSE(entry.is_directory());
}
