#include "indexer/pages/simple_json.hpp"

#include <doctest/doctest.h>

#include "indexer/pages/simple_html.hpp"
#include "lib/io/json.hpp"
#include "tests/indexer/sample_view.hpp"
#include "tests/support/golden.hpp"

using namespace wheelyard;
using namespace wheelyard::indexer;

namespace {

// Indented for readers; the served bytes are compact.
std::string pretty(const std::string& compact) {
    const auto json = io::parse_json(compact);
    REQUIRE(json);
    CHECK(compact == json->render() + "\n");
    return json->render_pretty();
}

}  // namespace

TEST_CASE("a project page in JSON matches the golden file") {
    CHECK(test_support::golden_difference("indexer/project.json",
                                          pretty(render_project_json(sample_view()))) == "");
}

TEST_CASE("a root page in JSON matches the golden file") {
    CHECK(test_support::golden_difference("indexer/root.json",
                                          pretty(render_root_json({"flash-attn", "six", "torch"}))) == "");
}

TEST_CASE("empty pages have empty lists") {
    CHECK(render_root_json({}).find("\"projects\":[]") != std::string::npos);
    const std::string page = render_project_json({"six", {}});
    CHECK(page.find("\"files\":[]") != std::string::npos);
    CHECK(page.find("\"versions\":[]") != std::string::npos);
}

TEST_CASE("the variants of a version are the last files, with hash and size (PEP 825)") {
    ProjectView view = sample_view();
    const std::size_t files = view.files.size();
    view.variants = {{{.filename = "sample-1.10.0+cu126-variants.json",
                       .upload_time = 1'795'176'000'123'456,
                       .size_bytes = 2,
                       .sha256 = std::string(64, '7')}}};
    const auto page = io::parse_json(render_project_json(view));
    REQUIRE(page.has_value());
    REQUIRE(page->items("files").size() == files + 1);
    CHECK(page->items("files").back().render() ==
          R"({"filename":"sample-1.10.0+cu126-variants.json","url":")" + std::string(64, '7') +
              R"(/sample-1.10.0%2Bcu126-variants.json","hashes":{"sha256":")" + std::string(64, '7') +
              R"("},"size":2,"upload-time":"2026-11-20T12:00:00.123456Z"})");
    CHECK(page->items("versions").size() == 4);
}

TEST_CASE("core metadata never appears under its old name") {
    CHECK(render_project_json(sample_view()).find("dist-info-metadata") == std::string::npos);
}

TEST_CASE("`versions` covers every file and names each version once (PEP 700)") {
    const auto page = io::parse_json(render_project_json(sample_view()));
    std::vector<std::string> versions;
    for (const auto& version : *page->find("versions")->as_array())
        versions.push_back(*version.as_string());
    CHECK(versions == std::vector<std::string>{"1.9.0", "1.10.0", "1.10.0+cu126", "1!0.1"});
}

TEST_CASE("attestations have an absolute URL, where the tree's own is known (PEP 740)") {
    ProjectView view = sample_view();
    view.files.resize(1);
    const auto file = [&] { return io::parse_json(render_project_json(view))->items("files").front(); };
    view.root_url = "https://wheels.example/farm/";
    CHECK(file().find("provenance") == nullptr);
    view.files[0].attestations_sha256 = std::string(64, 'e');
    const catalog::FileRow& row = view.files[0];
    CHECK(file().string_or("provenance", "") == "https://wheels.example/farm/" + row.index + "/files/" +
                                                    row.sha256.substr(0, 2) + "/" + row.sha256 + "/" +
                                                    row.filename + ".pep740");
    CHECK(file().find("_wheelyard_attestations")->string_or("sha256", "") == std::string(64, 'e'));
    const std::string url = file().string_or("provenance", "");
    CHECK(render_project_html(view).find(" data-provenance=\"" + url + "\"") != std::string::npos);
    view.files[0].attestations_sha256.clear();
    view.attested.insert(row.filename);  // another server has them: their hash is unknown
    CHECK(file().string_or("provenance", "") == url);
    CHECK(file().find("_wheelyard_attestations") == nullptr);
    view.files[0].attestations_sha256 = std::string(64, 'e');
    view.root_url.clear();
    CHECK(file().find("provenance") == nullptr);
    CHECK(file().find("_wheelyard_attestations") != nullptr);
    CHECK(render_project_html(view).find("data-provenance") == std::string::npos);
}

TEST_CASE("a yank is its reason, or true without one (PEP 592)") {
    ProjectView view = sample_view();
    view.files.resize(1);
    const auto yanked = [&] {
        return *io::parse_json(render_project_json(view))->find("files")->as_array()->front().find("yanked");
    };
    CHECK(yanked() == io::Json(false));
    view.files[0].yanked = true;
    CHECK(yanked() == io::Json(true));
    view.files[0].yanked_reason = "broken";
    CHECK(yanked() == io::Json("broken"));
}

TEST_CASE(
    "a page that lacks the size of one file claims no version of the API that requires sizes (PEP 700)") {
    ProjectView view = sample_view();
    const auto version = [&] {
        return io::parse_json(render_project_json(view))->find("meta")->string_or("api-version", "");
    };
    CHECK(version() == "1.4");
    view.files[1].size_bytes = 0;
    CHECK(version() == "1.0");
}
