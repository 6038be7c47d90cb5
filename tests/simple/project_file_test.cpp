// The table of members: what a page writes of a file is what a page is read for.
#include "lib/simple/project_file.hpp"

#include <doctest/doctest.h>

#include "lib/simple/html_anchors.hpp"
#include "lib/simple/page.hpp"

namespace wheelyard::simple {
namespace {

// With a value for every member.
ProjectFile whole_file() {
    return {.filename = "six-1.0-py3-none-any.whl",
            .yanked = true,
            .yanked_reason = "wrong \"<MPI>\" & more",
            .requires_python = ">=3.8,<4",
            .upload_time = 1'795'000'000'123'456,
            .size_bytes = 5'000'000'000,
            .sha256 = std::string(64, 'a'),
            .metadata_sha256 = std::string(64, 'b'),
            .provenance_sha256 = std::string(64, 'c'),
            .attestations_sha256 = std::string(64, 'd')};
}

FileLink read_back(const ProjectFile& file) {
    std::string json = R"({"filename":")" + file.filename + "\"";
    append_json_members(json, file);
    FileLink back;
    back.filename = file.filename;
    read_json_members(io::parse_json(json + "}").value(), back);
    return back;
}

}  // namespace

TEST_CASE("JSON has every member of a file") {
    const ProjectFile whole = whole_file();
    const FileLink back = read_back(whole);
    CHECK(static_cast<const ProjectFile&>(back) == whole);
    CHECK(back.has_metadata);
}

TEST_CASE("a file without a yank, METADATA and a size has none in JSON") {
    ProjectFile bare;
    bare.filename = "six-1.0.tar.gz";
    bare.sha256 = std::string(64, 'a');
    const FileLink back = read_back(bare);
    CHECK(static_cast<const ProjectFile&>(back) == bare);
    CHECK_FALSE(back.has_metadata);
}

TEST_CASE("HTML has what an anchor's attributes can have") {
    std::string html = "<a href=\"x\"";
    append_html_attributes(html, whole_file());
    const HtmlAnchors anchors = scan_anchors(html + ">x</a>", 1);
    REQUIRE(anchors.anchors.size() == 1);
    FileLink back;
    read_html_attributes(anchors.anchors[0], back);
    ProjectFile expected = whole_file();  // the name and the digest are in the address
    for (std::string* not_in_attributes :
         {&expected.filename, &expected.sha256, &expected.provenance_sha256, &expected.attestations_sha256})
        not_in_attributes->clear();
    expected.size_bytes = 0;
    CHECK(static_cast<const ProjectFile&>(back) == expected);
    CHECK(back.has_metadata);
}

}  // namespace wheelyard::simple
