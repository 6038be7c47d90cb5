// A file row as the JSON that events carry.
#include "registry/catalog/file_row.hpp"

#include <doctest/doctest.h>

#include <string>

#include "tests/support/golden.hpp"

using namespace wheelyard;

namespace {

catalog::FileRow full_row() {
    return {.index = "bede-gh200",
            .project = "torch",
            .filename = "torch-2.4.0+cu126-cp312-cp312-linux_aarch64.whl",
            .version = "2.4.0+cu126",
            .sha256 = std::string(64, 'a'),
            .size_bytes = 5'000'000'000,
            .metadata_sha256 = std::string(64, 'b'),
            .metadata_size_bytes = 26'000,
            .requires_python = ">=3.8",
            .upload_time = 1'795'000'000'123'456,
            .uploaded_by = "bede \"agent\"",
            .yanked = true,
            .yanked_reason = "wrong MPI",
            .facts_json = R"({"machines":["aarch64"]})",
            .metadata_name = "Torch",
            .provenance_sha256 = std::string(64, 'c'),
            .provenance_size_bytes = 3'000,
            .attestations_sha256 = std::string(64, 'd'),
            .attestations_size_bytes = 9'000};
}

}  // namespace

TEST_CASE("a file row comes back from its JSON as it was") {
    const catalog::FileRow row = full_row();
    const auto back = catalog::parse_file_row(catalog::render_file_row(row));
    REQUIRE(back.has_value());
    CHECK(back->index == row.index);
    CHECK(back->project == row.project);
    CHECK(back->filename == row.filename);
    CHECK(back->version == row.version);
    CHECK(back->sha256 == row.sha256);
    CHECK(back->size_bytes == row.size_bytes);
    CHECK(back->metadata_sha256 == row.metadata_sha256);
    CHECK(back->metadata_size_bytes == row.metadata_size_bytes);
    CHECK(back->metadata_name == row.metadata_name);
    CHECK(back->provenance_sha256 == row.provenance_sha256);
    CHECK(back->provenance_size_bytes == row.provenance_size_bytes);
    CHECK(back->attestations_sha256 == row.attestations_sha256);
    CHECK(back->attestations_size_bytes == row.attestations_size_bytes);
    CHECK(back->requires_python == row.requires_python);
    CHECK(back->upload_time == row.upload_time);
    CHECK(back->uploaded_by == row.uploaded_by);
    CHECK(back->yanked);
    CHECK(back->yanked_reason == row.yanked_reason);
    CHECK(back->facts_json == row.facts_json);
}

TEST_CASE("the bytes of a file row stay as events carry them") {
    const std::string text =
        catalog::render_file_row(full_row()) + "\n" + catalog::render_file_row({}) + "\n";
    CHECK(test_support::golden_difference("registry/file_row.json", text) == "");
}

TEST_CASE("a row without facts carries an empty object") {
    catalog::FileRow row = full_row();
    row.facts_json.clear();
    CHECK(catalog::parse_file_row(catalog::render_file_row(row))->facts_json == "{}");
}

TEST_CASE("a document that lacks what a page needs is an error") {
    for (const char* json :
         {"", "[]", "{}", R"({"index":"a"})",
          R"({"index":"a","project":"b","filename":"c","version":"1","sha256":"d","size_bytes":-1,)"
          R"("metadata_sha256":"e","metadata_size_bytes":0,"upload_time":1})",
          R"({"index":"a","project":"b","filename":"c","version":"1","sha256":"d","size_bytes":"1",)"
          R"("metadata_sha256":"e","metadata_size_bytes":0,"upload_time":1})"}) {
        CAPTURE(json);
        CHECK_FALSE(catalog::parse_file_row(json).has_value());
    }
}
