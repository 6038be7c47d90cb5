// A file row as the JSON that events carry.
#include "lib/store/catalog/catalog.hpp"

#include <doctest/doctest.h>

#include <string>

#include "tests/support/golden.hpp"

using namespace wheelyard;

namespace {

catalog::FileRow full_row() {
    catalog::FileRow row{{.filename = "torch-2.4.0+cu126-cp312-cp312-linux_aarch64.whl",
                          .yanked = true,
                          .yanked_reason = "wrong MPI",
                          .requires_python = ">=3.8",
                          .upload_time = 1'795'000'000'123'456,
                          .size_bytes = 5'000'000'000,
                          .sha256 = std::string(64, 'a'),
                          .metadata_sha256 = std::string(64, 'b'),
                          .provenance_sha256 = std::string(64, 'c'),
                          .attestations_sha256 = std::string(64, 'd')},
                         "bede-gh200",
                         "torch",
                         "2.4.0+cu126"};
    row.metadata_size_bytes = 26'000;
    row.uploaded_by = "bede \"agent\"";
    row.facts_json = R"({"machines":["aarch64"]})";
    row.metadata_name = "Torch";
    row.provenance_size_bytes = 3'000;
    row.attestations_size_bytes = 9'000;
    return row;
}

}  // namespace

TEST_CASE("a file row comes back from its JSON as it was") {
    const catalog::FileRow row = full_row();
    const auto back = catalog::parse_file_row(catalog::render_file_row(row));
    REQUIRE(back.has_value());
    CHECK(*back == row);
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
