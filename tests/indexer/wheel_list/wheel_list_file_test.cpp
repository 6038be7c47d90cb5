#include "indexer/wheel_list/wheel_list_file.hpp"

#include <doctest/doctest.h>

#include "indexer/publish/publish_run.hpp"
#include "indexer/tree/disk.hpp"
#include "indexer/tree/paths.hpp"
#include "lib/base/files/file.hpp"
#include "lib/base/text/text.hpp"
#include "tests/indexer/forwarding_disk.hpp"
#include "tests/indexer/store_fixture.hpp"

using namespace wheelyard;
using namespace wheelyard::indexer;

namespace fs = std::filesystem;

namespace {

struct Published : StoreFixture {
    void publish() {
        REQUIRE(indexer::publish(catalog, blobs, tree, {"main"}, clock).has_value());
        LocalDisk disk;
        REQUIRE(update_wheel_lists(disk, catalog, tree, clock));
    }
    [[nodiscard]] simple::WheelList open() const {
        return *simple::WheelList::open(root_folder(tree, "main"));
    }
    [[nodiscard]] std::string shown() const {
        std::string text;
        REQUIRE(open().visit_all([](std::string_view) { return true; },
                                 [&](const simple::WheelListView& view) {
                                     text += std::string(view.key) + ":";
                                     for (const auto line : base::split_lines(view.lines))
                                         text +=
                                             " " + std::string(simple::parse_wheel_list_line(line).filename);
                                     text += "\n";
                                 }));
        return text;
    }
};

const base::KeepAlive no_wait = [] { return base::Status(); };

}  // namespace

TEST_CASE("the wheel list has the wheels of the pages, newest version first") {
    Published store;
    store.publish();
    CHECK(store.shown() == "");
    store.add("main", "flash-attn", "1.9", "flash_attn-1.9-py3-none-any.whl");
    store.add("main", "flash-attn", "1.10", "flash_attn-1.10-py3-none-any.whl");
    store.add("main", "flash-attn", "1.10", "flash_attn-1.10.tar.gz");
    store.add("main", "six", "1.17.0", "six-1.17.0-py2.py3-none-any.whl");
    store.add("other", "hidden", "1", "hidden-1-py3-none-any.whl");
    store.publish();
    CHECK(store.shown() ==
          "flash_attn: flash_attn-1.10-py3-none-any.whl flash_attn-1.9-py3-none-any.whl\n"
          "six: six-1.17.0-py2.py3-none-any.whl\n");
    const auto serial = store.open().serial();
    REQUIRE(store.catalog.last_serial() == serial);
    store.publish();
    CHECK(store.open().serial() == serial);
}

TEST_CASE("a wheel list that is damaged or of another version is rebuilt from the catalog") {
    Published store;
    store.add("main", "six", "1.17.0", "six-1.17.0-py2.py3-none-any.whl");
    store.publish();
    for (const char* text : {"", "wheelyard.catalogue/2\t1\n", "<html>"}) {
        REQUIRE(base::replace_file(root_folder(store.tree, "main") / simple::wheel_list_name, text));
        store.publish();
        CHECK(store.shown() == "six: six-1.17.0-py2.py3-none-any.whl\n");
    }
}

TEST_CASE("wheel lists of an older version, with fewer facts, are written again") {
    Published store;
    store.add("main", "six", "1.17.0", "six-1.17.0-py2.py3-none-any.whl");
    store.publish();
    const auto file = root_folder(store.tree, "main") / simple::wheel_list_name;
    const auto state = wheel_lists_folder(store.tree) / "state.json";
    const auto text = *base::read_file(state, base::mib);
    const auto list = *base::read_file(file, base::mib);
    for (const auto* format : {"catalogues/1", "catalogues/2", "catalogues/3"}) {
        CAPTURE(format);
        auto older = list;
        older.replace(older.find("six-1.17.0"), 10, "old-1.17.0");
        REQUIRE(base::replace_file(file, older));
        REQUIRE(base::replace_file(state, base::replace_all(text, "catalogues/3", format)));
        store.publish();
        CHECK((*base::read_file(file, base::mib) == older) == (format == std::string("catalogues/3")));
        CHECK(base::read_file(state, base::mib)->find("catalogues/3") != std::string::npos);
    }
}

TEST_CASE("changes of a large wheel list go to its delta until there are many") {
    const StoreFixture store;
    LocalDisk disk;
    const auto& folder = store.tree;
    REQUIRE(disk.make_directories(folder));
    const WheelListFolders place{folder, folder};
    const auto none = []() -> base::Result<std::vector<simple::WheelListProject>> {
        return base::fail("test", "the catalog was asked");
    };
    std::vector<simple::WheelListProject> many;
    const std::string long_line(small_wheel_list_bytes, 'x');
    many.push_back({"big", 1, long_line + "\n", "\n"});
    REQUIRE(update_wheel_list(
        disk, place, {"main", 5, noon, {}},
        [&]() -> base::Result<std::vector<simple::WheelListProject>> { return many; }, no_wait));

    const auto update = [&](catalog::Serial serial, const std::string& key) {
        return update_wheel_list(disk, place, {"main", serial, noon, {{key, 1, key + "-1.whl\n", "\n"}}},
                                 none, no_wait);
    };
    const auto base_serial = [&] { return simple::WheelList::open(folder)->base_head().serial; };
    REQUIRE(update(6, "a"));
    CHECK(base_serial() == 5);
    CHECK(simple::WheelList::open(folder)->serial() == 6);
    // The same serial again (a restored file): this delta would be taken for one older than the base.
    REQUIRE(update(7, "b"));
    REQUIRE(update_wheel_list(disk, place, {"main", 8, noon, {{"a", 0, {}, {}}}}, none, no_wait));
    std::string keys;
    REQUIRE(simple::WheelList::open(folder)->visit_all(
        [](std::string_view) { return true; },
        [&](const simple::WheelListView& view) { keys += std::string(view.key) + " "; }));
    CHECK(keys == "b big ");
    for (std::size_t i = 0; i <= max_delta_projects; ++i)
        REQUIRE(update(static_cast<catalog::Serial>(9 + i), "p" + std::to_string(i)));
    CHECK(base_serial() > 5);
    REQUIRE(update(base_serial(), "late"));  // not newer than the base, so the base is rewritten
    bool has_late = false;
    REQUIRE(simple::WheelList::open(folder)->visit_one("late", [&](const auto&) { has_late = true; }));
    CHECK(has_late);
}

TEST_CASE("the wheel list of an index without upstreams is whole, until it has one") {
    Published store;
    store.add("main", "six", "1.17.0", "six-1.17.0-py2.py3-none-any.whl");
    store.publish();
    CHECK(store.open().is_whole());
    REQUIRE(store.catalog.set_index_rules({{.index = "main", .upstreams = {"main.up"}}},
                                          {.actor = "configuration", .reason = {}, .time = noon}));
    store.publish();
    CHECK_FALSE(store.open().is_whole());
    CHECK(store.shown() == "six: six-1.17.0-py2.py3-none-any.whl\n");
}

TEST_CASE("an index whose wheel list lags behind others is updated from the log alone, and only once") {
    Published store;
    store.add("main", "six", "1.17.0", "six-1.17.0-py2.py3-none-any.whl");
    store.add("quiet", "numpy", "2.1", "numpy-2.1-py3-none-any.whl");
    store.publish();
    const auto quiet = root_folder(store.tree, "quiet") / simple::wheel_list_name;
    const auto written = std::filesystem::last_write_time(quiet);
    store.add("main", "six", "1.18.0", "six-1.18.0-py2.py3-none-any.whl");
    store.publish();
    CHECK(store.shown() == "six: six-1.18.0-py2.py3-none-any.whl six-1.17.0-py2.py3-none-any.whl\n");
    CHECK(std::filesystem::last_write_time(quiet) == written);
    // Also without the state file.
    REQUIRE(base::remove_file(wheel_lists_folder(store.tree) / "state.json"));
    store.add("quiet", "numpy", "2.2", "numpy-2.2-py3-none-any.whl");
    store.publish();
    CHECK(simple::WheelList::open(quiet.parent_path())->serial() == store.catalog.last_serial());
    CHECK(store.shown() == "six: six-1.18.0-py2.py3-none-any.whl six-1.17.0-py2.py3-none-any.whl\n");
}

TEST_CASE("projects that a publish run has read are reused, unless something was committed since") {
    Published store;
    store.add("main", "six", "1.17.0", "six-1.17.0-py2.py3-none-any.whl");
    LocalDisk disk;
    ReadProjects read;
    const PublishSettings settings{.on_view = [&](const ProjectName& name, const ProjectView& view) {
        read.projects.insert_or_assign(name, wheel_list_project(view));
    }};
    const auto report =
        publish_with(disk, store.catalog, store.blobs, store.tree, {"main"}, store.clock, {}, settings);
    REQUIRE(report);
    read.serial = report->serial;
    REQUIRE(read.projects.size() == 1);
    // Differs from the catalog, so that its origin is visible.
    const simple::WheelListProject strange{"six", 1, "six-0-py3-none-any.whl\n", "\n"};
    read.projects.begin()->second = strange;
    REQUIRE(update_wheel_lists(disk, store.catalog, store.tree, store.clock, true, &read));
    CHECK(store.shown() == "six: six-0-py3-none-any.whl\n");
    read.projects[{"main", "six"}] = strange;
    store.add("main", "six", "1.18.0", "six-1.18.0-py2.py3-none-any.whl");
    REQUIRE(update_wheel_lists(disk, store.catalog, store.tree, store.clock, true, &read));
    CHECK(store.shown() == "six: six-1.18.0-py2.py3-none-any.whl six-1.17.0-py2.py3-none-any.whl\n");
}

TEST_CASE("merging a wheel list aborts without a change whenever the lock is lost between projects") {
    Published store;
    for (const char* name : {"numpy", "six", "torch"})
        store.add("main", name, "1", std::string(name) + "-1-py3-none-any.whl");
    store.publish();
    LocalDisk disk;
    const fs::path folder = root_folder(store.tree, "main");
    const auto none = []() -> base::Result<std::vector<simple::WheelListProject>> {
        return base::fail("test", "the catalog was asked");
    };
    const auto merge = [&](const base::KeepAlive& keep_alive) {
        return update_wheel_list(disk, {folder, wheel_lists_folder(store.tree)},
                                 {"main", 9, noon, {{"zlib", 1, "zlib-1.whl\n", "\n"}}}, none, keep_alive);
    };
    // However many projects are merged before the lock is lost: nothing of the new wheel list is published.
    int merged = 0;
    for (bool lost = true; lost; ++merged) {
        REQUIRE(merged < 100);
        int calls = 0;
        const auto report = merge([&] {
            return calls++ < merged ? base::Status() : base::Status(base::fail("lock.lost", "taken over"));
        });
        lost = !report.has_value();
        if (lost) CHECK(report.error().code == "lock.lost");
        CHECK((store.shown().find("zlib") == std::string::npos) == lost);
    }
    CHECK(merged > 2);  // the lock is checked more than once
}

TEST_CASE("writing large wheel lists renews the lock") {
    // Time advances with every call of now().
    class RushingClock final : public base::Clock {
      public:
        [[nodiscard]] base::UnixMicros now() const override {
            return now_ += lock_stale_after_ms * 1000 / 10;
        }
        void sleep_ms(std::int64_t duration_ms) override { now_ += duration_ms * 1000; }

      private:
        mutable base::UnixMicros now_ = noon;
    };
    class NotingDisk final : public ForwardingDisk {
      public:
        explicit NotingDisk(fs::path lock) : lock_(std::move(lock)) {}
        std::string lock_then;  // when the wheel list was written
        base::Status replace_via(const fs::path& temp, const fs::path& path,
                                 std::string_view bytes) override {
            if (path.filename() == simple::wheel_list_name) lock_then = *base::read_file(lock_, 4'096);
            return disk_.replace_via(temp, path, bytes);
        }

      private:
        fs::path lock_;
    };
    Published store;
    for (int number = 0; number < 20; ++number)
        store.add("main", "p" + std::to_string(number), "1",
                  "p" + std::to_string(number) + "-1-py3-none-any.whl");
    store.publish();
    NotingDisk disk(wheel_lists_folder(store.tree) / "lock");
    const RushingClock clock;
    REQUIRE(update_wheel_lists(disk, store.catalog, store.tree, clock, true));
    const auto at = disk.lock_then.find("refreshed ");
    REQUIRE(at != std::string::npos);
    const std::string rest = disk.lock_then.substr(at + 10);
    const auto renewed = base::parse_rfc3339(base::split_lines(rest).front());
    CHECK(*renewed > noon + lock_stale_after_ms * 1000);
}

TEST_CASE("wheel lists have one writer at a time, and publishers do not wait for it") {
    Published store;
    store.publish();
    LocalDisk disk;
    {
        const auto pages = TreeLock::acquire(store.tree, store.clock);
        REQUIRE(pages);
        CHECK(update_wheel_lists(disk, store.catalog, store.tree, store.clock));
    }
    const auto other = TreeLock::acquire_wheel_lists(store.tree, store.clock);
    REQUIRE(other);
    CHECK(update_wheel_lists(disk, store.catalog, store.tree, store.clock).error().code == "lock.held");
}

TEST_CASE("facts of a wheel list: every library that the wheel lacks, what it requires, and who built it") {
    const auto line = [](const char* filename, const char* facts, const char* provenance) {
        catalog::FileRow row;
        row.filename = filename;
        row.version = "1";
        row.facts_json = facts;
        row.provenance_sha256 = provenance;
        return wheel_list_project(make_project_view("a", {row})).facts;
    };
    constexpr const char* linux = "a-1-cp311-cp311-linux_x86_64.whl";
    CHECK(
        line(
            linux,
            R"({"machines":["x86_64"],"needed":{"inside":["libb.so"],"system":["libc.so.6"],"unknown":["libgsl.so.27"]},)"
            R"("search_paths":["/sw/lib"],"manylinux_fit":"linux_x86_64","requires_dist":[],"elf_bytes":7})",
            "") == R"({"machines":["x86_64"],"needed":{"system":["libc.so.6"],"unknown":["libgsl.so.27"]},)"
                   R"("search_paths":["/sw/lib"],"manylinux_fit":"linux_x86_64","requires_dist":[]})"
                   "\n");
    CHECK(line(linux, R"({"built_cpu":"x86-64-v3","requires_dist":["numpy"]})", "ab") ==
          R"({"requires_dist":["numpy"],"built":{"cpu":"x86-64-v3"}})"
          "\n");
    CHECK(line(linux, R"({"requires_dist":[]})", "ab") == R"({"built":{}})"
                                                          "\n");
    // Which torch fits: `avail_wheels --why` and the builder's plan ask an index, too.
    constexpr const char* of_torch =
        R"({"torch_requires":["torch==2.6.0"],"torch_cxx11_abi":"true","torch_at_least":"2.6","torch_below":"2.9","torch_stable_abi":"true"})";
    CHECK(line(linux, of_torch, "") == std::string(of_torch) + "\n");
    // Which processor: `avail_wheels` asks an index for each of these.
    constexpr const char* of_processor =
        R"({"isa_needed":"x86-64-v2","avx_code":"a","avx512_code":"a.b","sve_code":"a.c","executable_stack":"a.d"})";
    CHECK(line(linux, of_processor, "") == std::string(of_processor) + "\n");
    constexpr const char* of_pypy =
        R"({"pypy_names":{"a":["PyPyList_New"]},"pypy_later":{"b":["PyPyList_Size"]},"needed_surely":{"liba.so.1":"a"}})";
    CHECK(line(linux, of_pypy, "") == std::string(of_pypy) + "\n");
    // A name for one platform promises nothing, so that something is known has to be said.
    CHECK(line(linux, R"({"requires_dist":[]})", "") == "{}\n");
    CHECK(line("a-1-py3-none-any.whl", R"({"requires_dist":[]})", "") == "\n");
    CHECK(line(linux, "{}", "") == "\n");
}
