// METADATA: accepted and rejected files, with error codes.
#include "lib/wheel/metadata.hpp"

#include <doctest/doctest.h>

#include "lib/wheel/limits.hpp"

namespace wheelyard::wheel {
namespace {

std::string with(const std::string& more) {
    return "Metadata-Version: 2.4\nName: foo\nVersion: 1.0\n" + more;
}

}  // namespace

TEST_CASE("a real METADATA is parsed completely") {
    const auto metadata = parse_metadata(
        "Metadata-Version: 2.4\r\nName: Torch_Vision\r\nVersion: 2.4.0+cu126\r\nSummary: Images\r\n"
        "Author: Jos\xC3\xA9\r\nRequires-Python: >=3.9\r\nRequires-Dist: numpy>=1.21\r\nrequires-dist: "
        "pillow; extra == 'io'\r\n"
        "Provides-Extra: io\r\nDynamic: License-File\r\nX-Unknown: kept\r\nLicense-Expression: "
        "BSD-3-Clause\r\n\r\n# Title\r\n\r\nText\r\n");
    REQUIRE(metadata.has_value());
    CHECK(metadata->metadata_version == "2.4");
    CHECK(metadata->name == "Torch_Vision");
    CHECK(metadata->version.text() == "2.4.0+cu126");
    CHECK(metadata->summary == "Images");
    CHECK(metadata->requires_python == ">=3.9");
    CHECK(metadata->requires_dist == std::vector<std::string>{"numpy>=1.21", "pillow; extra == 'io'"});
    CHECK(metadata->provides_extra == std::vector<std::string>{"io"});
    CHECK(metadata->headers.body == "# Title\r\n\r\nText\r\n");
    CHECK(metadata->headers.fields.size() == 12);
    CHECK(*metadata->headers.first("x-unknown") == "kept");
    CHECK(metadata->headers.first("Absent") == nullptr);
    CHECK(metadata->newer_fields.empty());
}

TEST_CASE("every published version of the format is accepted, and 2.0, which was never published") {
    for (const char* version : {"1.0", "1.1", "1.2", "2.0", "2.1", "2.2", "2.3", "2.4", "2.5", "2.6"}) {
        CHECK_MESSAGE(parse_metadata(std::string("Metadata-Version: ") + version + "\nName: a\nVersion: 1\n")
                          .has_value(),
                      version);
    }
}

TEST_CASE("fields newer than the declared version are listed, not rejected") {
    const auto metadata = parse_metadata(
        "Metadata-Version: 2.1\nName: a\nVersion: 1\nLicense-File: LICENSE\nLicense-File: "
        "NOTICE\nImport-Name: a\n");
    REQUIRE(metadata.has_value());
    CHECK(metadata->newer_fields == std::vector<std::string>{"License-File", "Import-Name"});
}

TEST_CASE("folded values keep their lines, in both old folding styles") {
    const auto headers = parse_headers(
        "License: MIT\n        Line two\n          indented\n       |Line four\n\tLine five\n        \nName: "
        "a\n");
    REQUIRE(headers.has_value());
    CHECK(headers->fields[0].second == "MIT\nLine two\n  indented\nLine four\nLine five\n");
    CHECK(headers->fields[1].second == "a");
    CHECK(headers->body.empty());
}

TEST_CASE("each error has its code") {
    struct Row {
        std::string text;
        const char* code;
    };
    const Row rows[] = {
        {"", "metadata.missing"},
        {"Name: foo\nVersion: 1.0\n", "metadata.missing"},
        {"Metadata-Version: 2.1\nVersion: 1.0\n", "metadata.missing"},
        {"Metadata-Version: 2.1\nName: foo\n", "metadata.missing"},
        {"Metadata-Version: 2.1\nName:\nVersion: 1\n", "metadata.missing"},
        {"Metadata-Version: 2.7\nName: foo\nVersion: 1.0\n", "metadata.metadata_version"},
        {"Metadata-Version: 3.0\nName: foo\nVersion: 1.0\n", "metadata.metadata_version"},
        {"Metadata-Version: 2.1\nName: foo-\nVersion: 1.0\n", "metadata.name"},
        {"Metadata-Version: 2.1\nName: foo bar\nVersion: 1.0\n", "metadata.name"},
        {"Metadata-Version: 2.1\nName: " + std::string(max_name_bytes + 1, 'a') + "\nVersion: 1.0\n",
         "metadata.name"},
        {"Metadata-Version: 2.1\nName: foo\nVersion: banana\n", "metadata.version"},
        {with("Version: 1.0\n"), "metadata.repeated"},
        {with("NAME: foo\n"), "metadata.repeated"},
        {with("Summary: a\nSummary: b\n"), "metadata.repeated"},
        {with("Requires-Python: three\n"), "metadata.requires_python"},
        {with("Dynamic: Banana\n"), "metadata.dynamic"},
        {with("Dynamic: Name\n"), "metadata.dynamic"},
        {with("Dynamic: version\n"), "metadata.dynamic"},
        {with("License: MIT\nLicense-Expression: MIT\n"), "metadata.license"},
        {with("no colon here\n"), "metadata.header"},
        {with("Bad Name: x\n"), "metadata.header"},
        {with(": x\n"), "metadata.header"},
        {" folded first\n", "metadata.header"},
        {with("Summary: a\rName: evil\n"), "metadata.control"},
        {with(std::string("Summary: a\0b\n", 13)), "metadata.control"},
        {with("Summary: \xFF\n"), "metadata.encoding"},
        {with("\n\xC0\x80"), "metadata.encoding"},
        {std::string(max_metadata_bytes + 1, 'a'), "metadata.too_long"}};
    for (const auto& row : rows) {
        const auto metadata = parse_metadata(row.text);
        REQUIRE_MESSAGE(!metadata.has_value(), row.text.substr(0, 80));
        CHECK_MESSAGE(metadata.error().code == row.code, row.text.substr(0, 80));
    }
}

TEST_CASE("a lenient reader goes on after what installers ignore, and reports each fault") {
    struct Row {
        std::string text;
        const char* code;
    };
    for (const Row& row :
         {Row{"Name: foo\nVersion: 1.0\n", "metadata.missing"},
          Row{"Metadata-Version: 3.0\nName: foo\nVersion: 1.0\n", "metadata.metadata_version"},
          Row{with("Summary: a\nSummary: b\n"), "metadata.repeated"},
          Row{with("Requires-Python: >=3.6.*\n"), "metadata.requires_python"},
          Row{with("Dynamic: Banana\n"), "metadata.dynamic"},
          Row{with("License: MIT\nLicense-Expression: MIT\n"), "metadata.license"},
          Row{with("no colon here\n"), "metadata.header"},
          Row{" folded first\n" + with(""), "metadata.header"},
          Row{"From a Thu Jan 1 00:00:00 1970\n" + with(""), "metadata.header"},
          Row{with("Summary: a\rKeywords: b\n"), "metadata.control"}}) {
        CAPTURE(row.text);
        Faults faults;
        const auto metadata = parse_metadata(row.text, &faults);
        REQUIRE(metadata.has_value());
        CHECK(metadata->name == "foo");
        REQUIRE(faults.size() == 1);
        CHECK(faults[0].code == row.code);
    }
    Faults faults;
    CHECK(parse_headers("A: 1\nno header\nB: 2\n", &faults)->body == "no header\nB: 2\n");
    for (const char* text : {"Metadata-Version: 2.1\nVersion: 1.0\n", "Metadata-Version: 2.1\nName: foo\n",
                             "Metadata-Version: 2.1\nName: foo bar\nVersion: 1.0\n",
                             "Metadata-Version: 2.1\nName: foo\nVersion: banana\n",
                             "Metadata-Version: 2.1\nName: foo\nVersion: 1\nSummary: \xFF\n"})
        CHECK_FALSE(parse_metadata(text, &faults).has_value());
}

TEST_CASE("a lenient reader ends lines as Python's e-mail parser does: also at a lone carriage return") {
    Faults faults;
    const auto headers = parse_headers("Name: foo\rVersion: 1\r\rbody\n", &faults);
    REQUIRE(headers.has_value());
    REQUIRE(headers->fields.size() == 2);
    CHECK(headers->all("Version") == std::vector<std::string>{"1"});
    CHECK(headers->body == "body\n");
    CHECK(parse_headers("Summary: a\rName: evil\nName: foo\n", &faults)->all("Name").front() == "evil");
    CHECK_FALSE(parse_headers("Name: foo\rVersion: 1\n").has_value());
}

TEST_CASE("a lenient reader takes the versions of wheels that pip or uv read, of version 2 none") {
    const std::string rest = "\nRoot-Is-Purelib: true\nTag: py3-none-any\n";
    for (const char* line : {"Wheel-Version: 0.1", "Wheel-Version: 1", "Wheel-Version: 1.0.0",
                             "Wheel-Version: 01.0", "wheel-version: 1.0"}) {
        CAPTURE(line);
        Faults faults;
        CHECK_FALSE(parse_wheel_info(line + rest).has_value());
        CHECK(parse_wheel_info(line + rest, &faults).has_value());
        CHECK(faults.size() == 1);
    }
    Faults faults;
    CHECK_FALSE(parse_wheel_info("Wheel-Version: 2.0" + rest, &faults).has_value());
    CHECK_FALSE(parse_wheel_info("Wheel-Version: 1.x" + rest, &faults).has_value());
}

TEST_CASE("common deviations are accepted") {
    CHECK(parse_metadata(with("Dynamic: License-file\nDynamic: requires-dist\n")).has_value());
    CHECK(parse_metadata(with("Requires-Python: >=2.7, !=3.0.*, !=3.1.*,\n")).has_value());
    CHECK(parse_metadata(with("License: GPL\n        \f page two\n")).has_value());
    CHECK(
        parse_metadata(with("Classifier: a\nClassifier: b\nPlatform: UNKNOWN\nPlatform: any\n")).has_value());
    CHECK(
        parse_metadata("Metadata-Version: 2.3\nName: a\nVersion: 1\nLicense: MIT\nLicense-Expression: MIT\n")
            .has_value());
    CHECK(parse_metadata("Metadata-Version: 2.1\nName: a\nVersion: 1").has_value());
}

TEST_CASE("the number of headers is bounded") {
    std::string many;
    for (std::size_t i = 0; i <= max_metadata_fields; ++i)
        many += "A: b\n";
    CHECK(parse_headers(many).error().code == "metadata.too_many");
}

TEST_CASE("a licence is that of License-Expression, else of a License of one line, else of all classifiers") {
    const auto stated = [](const std::string& more) {
        const StatedLicense license = stated_license(parse_headers(with(more)).value());
        return license.from + "|" + license.text;
    };
    CHECK(stated("License: BSD\nLicense-Expression: MIT OR Apache-2.0\n") ==
          "License-Expression|MIT OR Apache-2.0");
    const std::string mit = "Classifier: License :: OSI Approved :: MIT License\n";
    CHECK(stated("License: BSD\n" + mit) == "License|BSD");
    CHECK(stated("License: Permission is\n  granted\n" + mit +
                 "Classifier: Topic :: Software\nClassifier: License :: Freeware\n") ==
          "Classifier|MIT License, Freeware");
    CHECK(stated("License: Permission is\n  granted\n") == "|");
    CHECK(stated("License:\n") == "|");
}

TEST_CASE("WHEEL is read with its tags expanded") {
    const auto info = parse_wheel_info(
        "Wheel-Version: 1.0\nGenerator: bdist_wheel (0.45)\nRoot-Is-Purelib: true\nTag: "
        "py2.py3-none-any\nTag: py3-none-any\nBuild: 1a\n\n");
    REQUIRE(info.has_value());
    CHECK(info->wheel_version == "1.0");
    CHECK(info->generator == "bdist_wheel (0.45)");
    CHECK(info->root_is_purelib);
    CHECK(info->build == "1a");
    REQUIRE(info->tags.size() == 2);
    CHECK(info->tags[0].text() == "py2-none-any");
    CHECK(info->tags[1].text() == "py3-none-any");
    CHECK_FALSE(
        parse_wheel_info("Wheel-Version: 1.9\nRoot-Is-Purelib: False\nTag: py3-none-any\n")->root_is_purelib);
}

TEST_CASE("an invalid WHEEL is rejected") {
    struct Row {
        std::string text;
        const char* code;
    };
    const Row rows[] = {
        {"", "wheel_info.missing"},
        {"Wheel-Version: 1.0\nTag: py3-none-any\n", "wheel_info.missing"},
        {"Wheel-Version: 1.0\nRoot-Is-Purelib: true\n", "wheel_info.missing"},
        {"Wheel-Version: 2.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n", "wheel_info.wheel_version"},
        {"Wheel-Version: 0.9\nRoot-Is-Purelib: true\nTag: py3-none-any\n", "wheel_info.wheel_version"},
        {"Wheel-Version: 1\nRoot-Is-Purelib: true\nTag: py3-none-any\n", "wheel_info.wheel_version"},
        {"Wheel-Version: one\nRoot-Is-Purelib: true\nTag: py3-none-any\n", "wheel_info.wheel_version"},
        {"Wheel-Version: 1.0\nRoot-Is-Purelib: maybe\nTag: py3-none-any\n", "wheel_info.purelib"},
        {"Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none\n", "tag.invalid"},
        {"Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag\n", "metadata.header"},
        {"Wheel-Version: 1.0\nGenerator: \xFF\n", "wheel_info.encoding"},
        {std::string(max_wheel_info_bytes + 1, 'a'), "wheel_info.too_long"}};
    for (const auto& row : rows) {
        const auto info = parse_wheel_info(row.text);
        REQUIRE_MESSAGE(!info.has_value(), row.text.substr(0, 80));
        CHECK_MESSAGE(info.error().code == row.code, row.text.substr(0, 80));
    }
    std::string many = "Wheel-Version: 1.0\nRoot-Is-Purelib: true\n";
    for (std::size_t i = 0; i <= max_tags; ++i)
        many += "Tag: py" + std::to_string(i) + "-none-any\n";
    CHECK(parse_wheel_info(many).error().code == "wheel_info.tags");
}

TEST_CASE("a lenient reader needs only the version of WHEEL, as pip does") {
    Faults faults;
    const auto info = parse_wheel_info("Wheel-Version: 1.0\nTag: py3-none\nTag: py3-none-any\n", &faults);
    REQUIRE(info.has_value());
    CHECK_FALSE(info->root_is_purelib);
    CHECK(info->tags.size() == 1);
    CHECK(faults.size() == 2);
    faults.clear();
    CHECK(parse_wheel_info("Wheel-Version: 1.0\n", &faults)->tags.empty());
    CHECK(faults.size() == 2);
    CHECK_FALSE(parse_wheel_info("Wheel-Version: 2.0\n", &faults).has_value());
    CHECK_FALSE(parse_wheel_info("Tag: py3-none-any\n", &faults).has_value());
}

}  // namespace wheelyard::wheel
