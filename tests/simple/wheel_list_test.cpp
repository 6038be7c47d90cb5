#include "lib/simple/wheel_list.hpp"

#include <doctest/doctest.h>

#include <algorithm>

#include "lib/base/files/file.hpp"
#include "lib/base/files/temp_dir.hpp"
#include "lib/base/text/text.hpp"
#include "lib/simple/limits.hpp"

using namespace wheelyard;
using namespace wheelyard::simple;

namespace {

WheelListProject make_project(const std::string& key, const std::vector<std::string>& filenames) {
    WheelListProject project{key, filenames.size(), {}, {}};
    for (const auto& filename : filenames) {
        project.lines += render_wheel_list_line({filename, false, {}, ">=3.8", 0, 11});
        project.facts += "{\"of\":\"" + filename + "\"}\n";
    }
    return project;
}

struct Folder {
    base::TempDir folder = *base::TempDir::make("wheelyard-catalogue-test");
    void write(std::string_view name, const WheelListHead& head,
               const std::vector<WheelListProject>& projects) const {
        REQUIRE(base::replace_file(folder.path() / name, render_wheel_list(head, projects)));
    }
    WheelList open() const {
        auto wheel_list = WheelList::open(folder.path());
        REQUIRE_MESSAGE(wheel_list.has_value(), wheel_list.error().text());
        return std::move(*wheel_list);
    }
};

std::string shown(const WheelList& wheel_list) {
    std::string text;
    const auto status =
        wheel_list.visit_all([](std::string_view) { return true; },
                             [&](const WheelListView& view) {
                                 text += std::string(view.key) + ":";
                                 for (const auto line : base::split_lines(view.lines))
                                     text += " " + std::string(parse_wheel_list_line(line).filename);
                                 text += "\n";
                             });
    REQUIRE(status);
    return text;
}

std::string shown_one(const WheelList& wheel_list, std::string_view key) {
    std::string text;
    REQUIRE(wheel_list.visit_one(key, [&](const WheelListView& view) {
        text = std::string(view.lines);
        CHECK(view.part->facts(view.entry)->find("\"of\"") != std::string::npos);
    }));
    return text;
}

}  // namespace

TEST_CASE("a wheel list that arrives is taken up to the size that its head states, and only whole") {
    const auto folder = *base::TempDir::make("wheel-list-arrival");
    const auto file = folder.path() / "list";
    const std::string good = render_wheel_list({.serial = 1}, {make_project("b", {"b-1.whl"})});
    const auto arrive = [&](std::string_view text, std::size_t piece) -> std::string {
        WheelListArrival arrival(file);
        for (; !text.empty(); text.remove_prefix(std::min(piece, text.size()))) {
            if (const auto taken = arrival.take(text.substr(0, piece)); !taken) return taken.error().code;
        }
        const auto finished = arrival.finish();
        return finished ? "whole" : finished.error().code;
    };
    for (const std::size_t piece : {std::size_t{1}, std::size_t{7}, good.size()})
        CHECK(arrive(good, piece) == "whole");
    CHECK(*base::read_file(file, 4096) == good);
    for (const std::string& bad :
         {good + "x", good.substr(0, good.size() - 1), std::string("wheelyard.catalogue/1"), std::string(),
          "[" + std::string(2000, ' ')})
        CHECK(arrive(bad, 7) == "catalogue.damaged");
    CHECK(arrive("wheelyard.catalogue/2\n", 7) == "catalogue.version");
    CHECK(*base::read_file(file, 4096) == good);
}

TEST_CASE("a line survives a round trip, and no field can break it") {
    const base::UnixMicros noon = base::parse_rfc3339("2026-11-20T12:00:00Z").value();
    const ProjectFile wheel{"a-1.whl", true, "bad\tNCCL\nindeed", ">=3.8,<4", noon, 12, "ab"};
    const auto line = render_wheel_list_line(wheel);
    CHECK(line == "a-1.whl\tybad NCCL indeed\t>=3.8,<4\t2026-11-20T12:00:00.000000Z\t12\tab\n");
    const auto back = parse_wheel_list_line(std::string_view(line).substr(0, line.size() - 1)).file();
    CHECK(back.filename == "a-1.whl");
    CHECK(back.yanked);
    CHECK(back.yanked_reason == "bad NCCL indeed");
    CHECK(back.requires_python == ">=3.8,<4");
    CHECK(back.upload_time == noon);
    CHECK(back.size_bytes == 12);
    CHECK(back.sha256 == "ab");
    CHECK_FALSE(parse_wheel_list_line("a-1.whl\t\t\t\t\t").yanked);
    CHECK(parse_wheel_list_line("a-1.whl").filename == "a-1.whl");
}

TEST_CASE("every project is found, and nothing else") {
    const Folder folder;
    for (const int count : {0, 1, 2, 3, 7, 100}) {
        CAPTURE(count);
        std::vector<WheelListProject> projects;
        for (int i = 0; i < count; ++i) {
            const std::string key = "p" + std::to_string(1000 + 2 * i);
            projects.push_back(make_project(key, {key + "-1.whl", key + "-0.whl"}));
        }
        folder.write(wheel_list_name, {.serial = 5, .written = "now", .index = "main"}, projects);
        const auto wheel_list = folder.open();
        CHECK(wheel_list.base_head().index == "main");
        CHECK(wheel_list.base_head().wheels == projects.size() * 2);
        CHECK_FALSE(wheel_list.is_whole());
        for (const auto& project : projects)
            CHECK(shown_one(wheel_list, project.key) == project.lines);
        for (const char* absent : {"", "a", "p", "p1001", "p10000", "p1199", "z"})
            CHECK(shown_one(wheel_list, absent) == "");
    }
}

TEST_CASE("a list is whole if its base says so") {
    const Folder folder;
    folder.write(wheel_list_name, {.serial = 5, .written = "now", .index = "main", .is_whole = true},
                 {make_project("b", {"b-1.whl"})});
    CHECK(folder.open().is_whole());
    CHECK(shown(folder.open()) == "b: b-1.whl\n");
}

TEST_CASE("a delta replaces, adds and removes projects of its base, and is ignored for another base") {
    const Folder folder;
    folder.write(
        wheel_list_name, {.serial = 5, .written = "then", .index = "main"},
        {make_project("b", {"b-1.whl"}), make_project("c", {"c-1.whl"}), make_project("e", {"e-1.whl"})});
    folder.write(wheel_list_delta_name, {.serial = 7, .base_serial = 5, .written = "now", .index = "main"},
                 {make_project("a", {"a-1.whl"}), make_project("c", {}),
                  make_project("e", {"e-2.whl", "e-1.whl"}), make_project("f", {"f-1.whl"})});
    CHECK(shown(folder.open()) == "a: a-1.whl\nb: b-1.whl\ne: e-2.whl e-1.whl\nf: f-1.whl\n");
    CHECK(folder.open().serial() == 7);
    CHECK(shown_one(folder.open(), "c") == "");
    CHECK(shown_one(folder.open(), "b").starts_with("b-1.whl"));
    CHECK(shown_one(folder.open(), "e").starts_with("e-2.whl"));

    folder.write(wheel_list_name, {.serial = 8, .written = "later", .index = "main"},
                 {make_project("b", {"b-2.whl"})});
    CHECK(shown(folder.open()) == "b: b-2.whl\n");
    CHECK(folder.open().written() == "later");
}

TEST_CASE("selected projects are complete, however long their lines are and however far apart") {
    const Folder folder;
    std::vector<WheelListProject> projects;
    // Some 40 KB each, and one that is larger than the read buffer.
    for (int i = 0; i < 30; ++i) {
        const std::string key = "p" + std::to_string(100 + i);
        const std::size_t wheels = i == 7 ? 12'000 : 1'000;
        std::vector<std::string> filenames;
        for (std::size_t n = 0; n < wheels; ++n)
            filenames.push_back(key + "-" + std::to_string(n) + "-py3-none-any.whl");
        projects.push_back(make_project(key, filenames));
    }
    REQUIRE(projects[7].lines.size() > lines_read_at_once_bytes);
    folder.write(wheel_list_name, {.serial = 1, .written = "now", .index = "main"}, projects);
    const auto wheel_list = folder.open();
    for (const std::size_t step : {1U, 2U, 3U, 7U, 29U}) {
        CAPTURE(step);
        const auto is_chosen = [&](std::string_view key) {
            return (base::parse_decimal(key.substr(1)).value_or(0) - 100) % step == 0;
        };
        std::size_t next = 0;
        REQUIRE(wheel_list.visit_all(is_chosen, [&](const WheelListView& view) {
            CHECK(view.key == projects[next].key);
            CHECK(view.lines == projects[next].lines);
            next += step;
        }));
        CHECK(next >= projects.size());
    }
}

TEST_CASE("another version, a damaged file and a missing file have different errors") {
    const Folder folder;
    const auto code_of = [&](const std::string& text) {
        REQUIRE(base::replace_file(folder.folder.path() / wheel_list_name, text));
        const auto wheel_list = WheelList::open(folder.folder.path());
        return wheel_list ? std::string() : wheel_list.error().code;
    };
    CHECK(WheelList::open(folder.folder.path()).error().code == "os.ENOENT");
    const std::string good = render_wheel_list({.serial = 1}, {make_project("b", {"b-1.whl"})});
    CHECK(code_of(good) == "");
    CHECK(code_of("wheelyard.catalogue/2\t1\n") == "catalogue.version");
    CHECK(code_of("<html>\n") == "catalogue.damaged");
    CHECK(code_of("") == "catalogue.damaged");
    CHECK(code_of(good + "x") == "catalogue.damaged");
    CHECK(code_of(good.substr(0, good.size() - 1)) == "catalogue.damaged");
    CHECK(code_of("wheelyard.catalogue/1\t1\t0\t\t\t1\t1\t9999999999999\t0\t0\n") == "catalogue.damaged");
    // A directory with an offset outside the file.
    REQUIRE(code_of("wheelyard.catalogue/1\t1\t0\t\t\t1\t1\t13\t0\t0\nb\t1\t0\t99\t0\t9\n") == "");
    CHECK(WheelList::open(folder.folder.path())->visit_one("b", [](const WheelListView&) {}).error().code ==
          "catalogue.damaged");
}
