#include "indexer/publish/publish_run.hpp"

#include <doctest/doctest.h>

#include <set>

#include "indexer/check/check.hpp"
#include "indexer/pages/project_view.hpp"
#include "indexer/tree/disk.hpp"
#include "indexer/tree/paths.hpp"
#include "lib/base/files/file.hpp"
#include "lib/store/catalog/catalog.hpp"
#include "tests/indexer/dying_disk.hpp"
#include "tests/indexer/store_fixture.hpp"
#include "tests/support/sample.hpp"

using namespace wheelyard;
using namespace wheelyard::indexer;

namespace {

namespace fs = std::filesystem;

// Invariants for readers, however the run ended.
void check_no_reader_is_misled(const fs::path& tree) {
    static const std::set<std::string> misleading{
        "root_names_missing", "page_names_missing", "outside", "missing",
        "wrong_size",         "wrong_hash",         "no_hash"};
    const auto report = check_tree(tree);
    REQUIRE(report);
    for (const auto& finding : report->findings) {
        if (misleading.contains(finding.code))
            FAIL_CHECK(finding.code << " " << finding.page << " " << finding.detail);
    }
}

// Where compressed copies of project pages are late, a web server that prefers them sends none of another page.
void check_no_copy_is_older(const fs::path& tree) {
    const auto report = check_tree(tree);
    REQUIRE(report);
    for (const auto& finding : report->findings) {
        if (finding.code == "compressed_differs" &&
            fs::path(finding.page).parent_path().filename() != "simple")
            FAIL_CHECK(finding.page << " " << finding.detail);
    }
}

void check_finished(const fs::path& tree) {
    const auto report = check_tree(tree);
    REQUIRE(report);
    for (const auto& finding : report->findings)
        FAIL_CHECK(finding.code << " " << finding.page << " " << finding.detail);
    for (const auto& entry : fs::recursive_directory_iterator(tree)) {
        CHECK_MESSAGE(entry.path().native().find(".tmp.") == std::string::npos, entry.path().native());
    }
}

// gpu and cpu show what main has; later gpu has its own torch, and cpu gives up six.
void inherit(StoreFixture& store, bool later) {
    const catalog::Cause cause{.actor = "configuration", .reason = {}, .time = noon};
    const std::set<std::string> owned_by_gpu =
        later ? std::set<std::string>{"torch"} : std::set<std::string>{};
    const std::set<std::string> owned_by_cpu = later ? std::set<std::string>{"six"} : std::set<std::string>{};
    REQUIRE(store.catalog.set_index_rules({{"gpu", {"main"}, owned_by_gpu}, {"cpu", {"main"}, owned_by_cpu}},
                                          cause));
}

void add_first_wheels(StoreFixture& store) {
    auto six = store.make_row("main", "six", "1.16.0", "six-1.16.0-py2.py3-none-any.whl");
    six.requires_python = ">=2.7" + std::string(min_gzipped_bytes, ' ');  // large enough to be compressed
    store.add(six);
    store.add("main", "torch", "2.4.0", "torch-2.4.0-cp312-cp312-linux_aarch64.whl");
}

void add_six_for(StoreFixture& store, const std::string& version, const std::string& level) {
    auto row = store.make_row("main", "six", version, "six-" + version + "-py3-none-any-" + level + ".whl");
    row.facts_json =
        R"({"variant":{"$schema":"s","default-priorities":{"namespace":["x86_64"]},"variants":{")" + level +
        R"(":{"x86_64":{"level":[")" + level + R"("]}}}}})";
    store.add(row);
}

void add_more_wheels(StoreFixture& store) {
    store.add("main", "six", "1.17.0", "six-1.17.0-py2.py3-none-any.whl");
    store.add("main", "numpy", "2.1.0", "numpy-2.1.0-cp312-cp312-linux_aarch64.whl");
    store.add("gpu", "torch", "2.4.0", "torch-2.4.0-cp312-cp312-linux_aarch64.whl");
    const catalog::Cause cause{.actor = "anna", .reason = "bad", .time = noon};
    REQUIRE(store.catalog.delete_file({"main", "six-1.16.0-py2.py3-none-any.whl"}, cause));
    REQUIRE(store.catalog.set_file_state({"main", "torch-2.4.0-cp312-cp312-linux_aarch64.whl"},
                                         catalog::FileState::quarantined, cause));
}

// Deleted and quarantined files are no longer in the tree, whichever run removed them.
void check_taken_out(const StoreFixture& store) {
    const auto events = *store.catalog.events_after(0, 100);
    for (const auto& event : events) {
        if (event.filename.empty()) continue;
        const auto row = catalog::parse_file_row(event.details_json);
        const auto there = *store.catalog.file(event.index, event.filename);
        if (there && there->state == catalog::FileState::active) continue;
        CHECK(!fs::exists(file_folder(store.tree, row->index, row->sha256)));
    }
}

// The flat view has exactly the offered wheels, and each link has a target.
void check_flat_view(const StoreFixture& store) {
    std::set<std::string> wanted;
    std::set<std::string> found;
    const auto inheritance = *store.catalog.inheritance();
    const auto indexes = *store.catalog.shown_indexes(inheritance);
    for (const auto& index : indexes) {
        const auto projects = *store.catalog.shown_projects(inheritance, index);
        for (const auto& project : projects) {
            const auto shown = **read_project(store.catalog, inheritance, index, project);
            for (const auto& row : shown.view.files)
                wanted.insert(index + "/" + row.filename);
        }
        for (const auto& entry : fs::directory_iterator(flat_folder(store.tree, index))) {
            CHECK(fs::is_regular_file(entry.path()));
            if (entry.path().filename() == html_page) continue;
            found.insert(index + "/" + entry.path().filename().native());
        }
    }
    CHECK(found == wanted);
}

struct Scene {
    bool on_a_published_tree = false;
    bool in_bulk = false;
    bool inherits = false;
    bool late_roots = false;   // as if they were large
    bool roots_alone = false;  // the project pages are already published
    bool rewrite_pages = false;
    bool for_people = false;           // with the web UI, which doubles the operations
    bool is_of_older_program = false;  // with event logs and signed lists
    bool has_variants = false;         // of a version that loses them, and of others
};

// What a program of before left: event logs, signed lists, and a record without serials of indexes.
void make_older(const fs::path& tree) {
    for (const char* file : {"main/events/tail.tsv", "main/events/1.tsv", "main/signed/state.json"}) {
        REQUIRE(base::make_directories((tree / file).parent_path()));
        REQUIRE(base::replace_file(tree / file, "{}\n"));
    }
    auto record = parse_published_state(*base::read_file(published_file(tree), base::mib)).value();
    REQUIRE(record.serials.contains("main"));
    record.serials.clear();
    REQUIRE(base::replace_file(published_file(tree), render_published_state(record)));
}

// Dies at operation `at`, dies there again, then succeeds. False: the run had fewer operations than that.
bool survives_death_at(std::size_t at, DyingDisk::Moment moment, const Scene& scene) {
    CAPTURE(at);
    CAPTURE(scene.on_a_published_tree);
    CAPTURE(scene.in_bulk);
    const PublishSettings prompt{.roots = RootPages::prompt, .large_root_bytes = 1};
    PublishSettings settings = scene.late_roots ? prompt : PublishSettings{};
    settings.bulk_from = scene.in_bulk ? std::size_t{0} : std::size_t{1'000};
    settings.flush_every = 1;
    settings.rewrite_pages = scene.rewrite_pages;
    const TreeViews all_views{.find_links = true, .precompressed = true, .pages = scene.for_people};
    StoreFixture store;
    if (scene.inherits) inherit(store, false);
    add_first_wheels(store);
    if (scene.has_variants) {
        add_six_for(store, "1.15.0", "v2");
        add_six_for(store, "1.16.0", "v3");
    }
    if (scene.on_a_published_tree) {
        REQUIRE(publish(store.catalog, store.blobs, store.tree, {"main"}, store.clock, all_views));
        if (scene.is_of_older_program) make_older(store.tree);
        if (scene.inherits) inherit(store, true);
        add_more_wheels(store);
        if (scene.has_variants) {
            add_six_for(store, "1.15.0", "v3");
            REQUIRE(store.catalog.delete_file({"main", "six-1.16.0-py3-none-any-v3.whl"}, {.actor = "anna"}));
        }
    }
    if (scene.roots_alone) {
        LocalDisk disk;
        const auto report = publish_with(disk, store.catalog, store.blobs, store.tree, {"main"}, store.clock,
                                         all_views, prompt);
        REQUIRE(report);
        CHECK(report->late_roots == std::vector<std::string>{"main"});
        check_no_reader_is_misled(store.tree);
    }
    for (int deaths = 0; deaths < 2; ++deaths) {
        DyingDisk disk(at, moment);
        const auto report = publish_with(disk, store.catalog, store.blobs, store.tree, {"main"}, store.clock,
                                         all_views, settings);
        if (!disk.is_dead() && deaths == 0) return false;
        if (!disk.is_dead()) break;  // the remainder after the first run has fewer operations
        CHECK(!report);
        if (fs::exists(store.tree)) check_no_reader_is_misled(store.tree);
        if (scene.late_roots) check_no_copy_is_older(store.tree);
    }
    if (scene.late_roots) {
        check_no_reader_is_misled(store.tree);
        check_no_copy_is_older(store.tree);
    }
    const auto report = publish(store.catalog, store.blobs, store.tree, {"main"}, store.clock, all_views);
    REQUIRE(report);
    CHECK(report->serial == *store.catalog.last_serial());
    if (scene.on_a_published_tree) check_taken_out(store);
    for (const char* left : {"main/events", "main/signed"})
        CHECK_FALSE(fs::exists(store.tree / left));
    check_finished(store.tree);
    CHECK(compare_with_catalog(store.catalog, store.tree)->empty());
    check_flat_view(store);
    return true;
}

const std::string set_torch = "torch-2.4.0-cp312-cp312-linux_aarch64.whl";
const std::string set_audio = "audio-2.4.0-cp312-cp312-linux_aarch64.whl";
const std::string set_vision = "vision-0.19.0-cp312-cp312-linux_aarch64.whl";

// Two indexes with an older torch each; `gpu` inherits vision and audio.
void add_set(StoreFixture& store) {
    const catalog::Cause cause{.actor = "configuration", .reason = {}, .time = noon};
    REQUIRE(store.catalog.set_index_rules({{"main", {}, {}}, {"gpu", {"main"}, {}}}, cause));
    for (const auto* project : {"torch", "audio", "vision"})
        store.add("main", project, "1.0", std::string(project) + "-1.0-cp312-cp312-linux_aarch64.whl");
    store.add("staging", "torch", "2.4.0", set_torch);
    store.add("staging", "audio", "2.4.0", set_audio);
    store.add("staging", "vision", "0.19.0", set_vision);
}

// Checks the pages of the indexes that inherit the first file, too: it is nowhere without the others.
void check_whole_set(const StoreFixture& store) {
    const auto shows = [&](const std::string& index, const std::string& project, const std::string& filename,
                           const std::string& page) {
        const auto text = base::read_file(project_folder(store.tree, index, project) / page, 1 << 20);
        return text && text->find(filename) != std::string::npos;
    };
    for (const std::string index : {"main", "gpu"}) {
        for (const std::string page : {"index.json", "index.html"}) {
            if (!shows(index, "torch", set_torch, page)) continue;
            CHECK(shows(index, "audio", set_audio, page));
            CHECK(shows(index, "vision", set_vision, page));
        }
    }
}

void die_everywhere(DyingDisk::Moment moment, const Scene& scene, std::size_t fewest = 20) {
    // The last operation of a sample lies within its step of the run's end.
    const std::size_t step = test_support::step_of_sample(5);
    std::size_t operations = 0;
    while (survives_death_at(operations, moment, scene))
        operations += step;
    CHECK(operations > fewest);
}

}  // namespace

TEST_CASE("a first run may die before any of its operations") {
    die_everywhere(DyingDisk::Moment::before, {});
}
TEST_CASE("a first run may die after any of its operations") {
    die_everywhere(DyingDisk::Moment::after, {});
}
TEST_CASE("a first run of many projects may die before any of its operations") {
    die_everywhere(DyingDisk::Moment::before, {.in_bulk = true});
}
TEST_CASE("a first run of many projects may die after any of its operations") {
    die_everywhere(DyingDisk::Moment::after, {.in_bulk = true});
}
TEST_CASE("a later run may die before any of its operations") {
    die_everywhere(DyingDisk::Moment::before, {.on_a_published_tree = true});
}
TEST_CASE("a later run may die after any of its operations") {
    die_everywhere(DyingDisk::Moment::after, {.on_a_published_tree = true});
}
TEST_CASE("a run of many projects may die before any of its operations") {
    die_everywhere(DyingDisk::Moment::before, {.on_a_published_tree = true, .in_bulk = true});
}
TEST_CASE("a run of many projects may die after any of its operations") {
    die_everywhere(DyingDisk::Moment::after, {.on_a_published_tree = true, .in_bulk = true});
}
TEST_CASE("a run that moves projects between indexes may die before any of its operations") {
    die_everywhere(DyingDisk::Moment::before, {.on_a_published_tree = true, .inherits = true});
}
TEST_CASE("a run that moves projects between indexes may die after any of its operations") {
    die_everywhere(DyingDisk::Moment::after, {.on_a_published_tree = true, .inherits = true});
}
TEST_CASE(
    "a run that removes the event logs and signed lists of an older program may die before any of its "
    "operations") {
    die_everywhere(DyingDisk::Moment::before, {.on_a_published_tree = true, .is_of_older_program = true});
}
TEST_CASE(
    "a run that removes the event logs and signed lists of an older program may die after any of its "
    "operations") {
    die_everywhere(DyingDisk::Moment::after, {.on_a_published_tree = true, .is_of_older_program = true});
}
TEST_CASE("an index of an older program's tree has the tree's serial until its next event") {
    StoreFixture store;
    store.add("main", "six", "1.16.0", "six-1.16.0-py3-none-any.whl");
    store.add("other", "six", "1.16.0", "six-1.16.0-py3-none-any.whl");
    const std::vector<std::string> indexes{"main", "other", "empty"};
    const auto serials = [&] {
        REQUIRE(publish(store.catalog, store.blobs, store.tree, indexes, store.clock));
        return parse_published_state(*base::read_file(published_file(store.tree), base::mib))->serials;
    };
    using Serials = std::map<std::string, catalog::Serial>;
    CHECK(serials() == Serials{{"main", 1}, {"other", 2}});
    make_older(store.tree);
    CHECK(serials() == Serials{{"main", 2}, {"other", 2}, {"empty", 2}});
    store.add("main", "six", "1.17.0", "six-1.17.0-py3-none-any.whl");
    CHECK(serials() == Serials{{"main", 3}, {"other", 2}, {"empty", 2}});
}
TEST_CASE("a run that moves projects, with the web UI, may die before any of its operations") {
    die_everywhere(DyingDisk::Moment::before,
                   {.on_a_published_tree = true, .inherits = true, .for_people = true});
}
TEST_CASE("a run that rewrites all pages may die before any of its operations") {
    die_everywhere(DyingDisk::Moment::before,
                   {.on_a_published_tree = true, .in_bulk = true, .inherits = true, .rewrite_pages = true});
}
TEST_CASE("a run that rewrites all pages may die after any of its operations") {
    die_everywhere(DyingDisk::Moment::after,
                   {.on_a_published_tree = true, .in_bulk = true, .inherits = true, .rewrite_pages = true});
}
TEST_CASE("a run that changes variants may die before any of its operations") {
    die_everywhere(DyingDisk::Moment::before, {.on_a_published_tree = true, .has_variants = true});
}
TEST_CASE("a run of many projects that changes variants may die before any of its operations") {
    die_everywhere(DyingDisk::Moment::before,
                   {.on_a_published_tree = true, .in_bulk = true, .has_variants = true});
}
TEST_CASE("a run of many projects that changes variants may die after any of its operations") {
    die_everywhere(DyingDisk::Moment::after,
                   {.on_a_published_tree = true, .in_bulk = true, .has_variants = true});
}
TEST_CASE("a run that leaves large roots for later may die before any of its operations") {
    die_everywhere(DyingDisk::Moment::before, {.on_a_published_tree = true, .late_roots = true});
}
TEST_CASE("a run that leaves large roots for later may die after any of its operations") {
    die_everywhere(DyingDisk::Moment::after, {.on_a_published_tree = true, .late_roots = true});
}
TEST_CASE("a run that moves projects and leaves large roots may die before any of its operations") {
    die_everywhere(DyingDisk::Moment::before,
                   {.on_a_published_tree = true, .inherits = true, .late_roots = true});
}
TEST_CASE("a run that moves projects and leaves large roots may die after any of its operations") {
    die_everywhere(DyingDisk::Moment::after,
                   {.on_a_published_tree = true, .inherits = true, .late_roots = true});
}
TEST_CASE("a run that writes late roots may die before any of its operations") {
    die_everywhere(DyingDisk::Moment::before, {.on_a_published_tree = true, .roots_alone = true}, 3);
}
TEST_CASE("a run that writes late roots may die after any of its operations") {
    die_everywhere(DyingDisk::Moment::after, {.on_a_published_tree = true, .roots_alone = true}, 3);
}

TEST_CASE("no run that dies shows the first file of a promoted set without the others") {
    bool has_died = true;
    for (std::size_t at = 0; has_died; ++at) {
        CAPTURE(at);
        StoreFixture store;
        add_set(store);
        const std::vector<std::string> indexes{"main", "gpu", "staging"};
        REQUIRE(publish(store.catalog, store.blobs, store.tree, indexes, store.clock));
        REQUIRE(store.catalog.promote_files("staging", std::vector{set_torch, set_audio, set_vision}, "main",
                                            {.actor = "anna", .reason = {}, .time = noon}));
        DyingDisk disk(at, DyingDisk::Moment::after);
        const auto report = publish_with(disk, store.catalog, store.blobs, store.tree, indexes, store.clock);
        has_died = disk.is_dead();
        CHECK(report.has_value() != has_died);
        check_whole_set(store);
        if (!has_died) CHECK(at > 10);
    }
}

TEST_CASE("a run that a promotion overtakes leaves all of the set to the next run") {
    // Promotes the set after the run has read the log, and before it reads the rows.
    class PromotingDisk final : public ForwardingDisk {
      public:
        explicit PromotingDisk(StoreFixture& store) : store_(store) {}
        base::Result<std::optional<std::uint64_t>> size_of(const std::string& path) override {
            if (!is_done_ && path.find("/main/simple/torch/") != std::string::npos) {
                is_done_ = true;
                REQUIRE(store_.catalog.promote_files("staging", std::vector{set_torch, set_audio, set_vision},
                                                     "main", {.actor = "anna", .reason = {}, .time = noon}));
            }
            return disk_.size_of(path);
        }

      private:
        StoreFixture& store_;
        bool is_done_ = false;
    };

    StoreFixture store;
    add_set(store);
    const std::vector<std::string> indexes{"main", "gpu", "staging"};
    REQUIRE(publish(store.catalog, store.blobs, store.tree, indexes, store.clock));
    store.add("main", "torch", "1.1", "torch-1.1-cp312-cp312-linux_aarch64.whl");
    PromotingDisk disk(store);
    REQUIRE(publish_with(disk, store.catalog, store.blobs, store.tree, indexes, store.clock));
    const fs::path page = project_folder(store.tree, "main", "torch") / "index.json";
    CHECK(base::read_file(page, 1 << 20)->find("torch-1.1-") != std::string::npos);
    CHECK(base::read_file(page, 1 << 20)->find(set_torch) == std::string::npos);
    CHECK(store.catalog.file("main", set_torch).value().has_value());
    check_whole_set(store);
    REQUIRE(publish(store.catalog, store.blobs, store.tree, indexes, store.clock));
    CHECK(base::read_file(page, 1 << 20)->find(set_torch) != std::string::npos);
    check_whole_set(store);
    CHECK(compare_with_catalog(store.catalog, store.tree)->empty());
}
