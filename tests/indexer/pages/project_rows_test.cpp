#include "indexer/pages/project_rows.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "indexer/pages/simple_html.hpp"
#include "indexer/pages/simple_json.hpp"
#include "tests/indexer/sample_view.hpp"

using namespace wheelyard;
using namespace wheelyard::indexer;

namespace {

void check_same(const ProjectRows& rows, const ProjectView& view) {
    CHECK(rows.size() == view.files.size());
    std::string html;
    std::string json;
    rows.append_html(html, view);
    rows.append_json(json, view);
    CHECK(html == render_project_html(view));
    CHECK(json == render_project_json(view));
}

// In every order that PEP 440 has; equal versions in two texts, and one that is none.
const std::vector<std::string> versions{"1.0",        "1.0.0",   "1.9",      "1.10", "1.10.dev20260101",
                                        "1.10rc1",    "1!0.1",   "2",        "2.0",  "1.10+cu126",
                                        "1.10.post1", "not-one", "20261201", "0.0.1"};

}  // namespace

TEST_CASE("rows that were put and removed one by one make the same pages as all files at once") {
    std::mt19937 random(20261201);
    const auto below = [&](std::size_t count) { return random() % count; };
    ProjectRows rows;
    std::map<std::string, catalog::FileRow> files;
    rows.render({"sample", {}});
    for (int step = 0; step < 400; ++step) {
        const std::string version = versions[below(versions.size())];
        const std::string filename =
            "sample-" + version + "-" + std::to_string(below(3)) + "-py3-none-any.whl";
        ProjectView view{"sample", {}};
        view.root_url = "https://wheels.example.org/";
        if (below(3) == 0) {
            rows.remove(filename);
            files.erase(filename);
        } else {
            catalog::FileRow row = sample_row(version, filename, 'a');
            row.yanked = below(4) == 0;
            row.yanked_reason = row.yanked ? std::string(below(50), '<') : std::string();
            row.size_bytes = below(20);  // 0: an upstream that gives none
            if (below(4) == 0) row.attestations_sha256 = std::string(64, 'e');
            rows.put(row, view);
            files[filename] = row;
        }
        if (below(10) == 0) {
            catalog::VariantsFile variants;
            variants.filename = "sample-2-variants.json";
            variants.sha256 = std::string(64, 'd');
            view.variants.push_back(variants);
        }
        std::vector<catalog::FileRow> all;
        for (const auto& [name, row] : files)
            all.push_back(row);
        std::shuffle(all.begin(), all.end(), random);
        view.files = make_project_view("sample", all).files;
        check_same(rows, view);
        ProjectRows at_once;
        at_once.render(view);
        check_same(at_once, view);
    }
}

TEST_CASE("the order of two files is that of the page, also where all versions are plain releases") {
    for (const bool only_releases : {true, false}) {
        std::vector<catalog::FileRow> all;
        for (const std::string& version : versions) {
            if (only_releases && version.find_first_not_of("0123456789.") != std::string::npos) continue;
            for (const char* tag : {"py3", "cp312"})
                all.push_back(sample_row(version, "sample-" + version + "-" + tag + "-none-any.whl", 'a'));
        }
        const auto view = make_project_view("sample", all);
        for (std::size_t a = 0; a < view.files.size(); ++a) {
            for (std::size_t b = 0; b < view.files.size(); ++b) {
                const auto& first = view.files[a];
                const auto& second = view.files[b];
                CAPTURE(first.filename);
                CAPTURE(second.filename);
                CHECK(is_listed_before({first.version, first.filename}, {second.version, second.filename}) ==
                      (a < b));
            }
        }
    }
}
