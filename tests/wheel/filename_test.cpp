// Wheel file names compared with `packaging`, and our extensions: labels, old spellings, normal names,
// sdists.
#include "lib/wheel/filename.hpp"

#include "tests/wheel/golden_table.hpp"

namespace wheelyard::wheel {
namespace {

WheelFilename parsed(const std::string& text) {
    auto filename = parse_wheel_filename(text);
    REQUIRE_MESSAGE(filename.has_value(), text);
    return *filename;
}

}  // namespace

TEST_CASE("wheel file names are accepted and parsed as by packaging") {
    for (const auto& row : test::read_golden("filenames.txt")) {
        const auto filename = parse_wheel_filename(row[0]);
        CHECK_MESSAGE(filename.has_value() == (row[1] != "!"), row[0]);
        if (!filename || row[1] == "!") continue;
        REQUIRE(row.size() == 5);
        CHECK_MESSAGE(filename->project == row[1], row[0]);
        CHECK_MESSAGE(filename->version.text() == row[2], row[0]);
        CHECK_MESSAGE((filename->build ? filename->build->text() : "") == row[3], row[0]);
        std::vector<std::string> tags;
        for (const auto& tag : filename->tags)
            tags.push_back(tag.text());
        std::sort(tags.begin(), tags.end());
        CHECK_MESSAGE(base::join(tags, " ") == row[4], row[0]);
        CHECK(filename->text() == row[0]);
    }
}

TEST_CASE("every part of a name is available as written and normalised") {
    const auto filename = parsed(
        "Torch_Vision-2.4.0+CU126-1rc-cp312.cp313-cp312-manylinux_2_28_aarch64.manylinux_2_17_aarch64.whl");
    CHECK(filename.name == "Torch_Vision");
    CHECK(filename.project == "torch-vision");
    CHECK(filename.version_text == "2.4.0+CU126");
    CHECK(filename.version.text() == "2.4.0+cu126");
    CHECK(filename.build->number == Number(std::uint64_t{1}));
    CHECK(filename.build->rest == "rc");
    CHECK(filename.pythons == std::vector<std::string>{"cp312", "cp313"});
    CHECK(filename.abis == std::vector<std::string>{"cp312"});
    CHECK(filename.platforms.size() == 2);
    CHECK(filename.tags.size() == 4);
    CHECK_FALSE(filename.variant.has_value());
    CHECK(parsed("foo-1.0-01-py3-none-any.whl").text() == "foo-1.0-01-py3-none-any.whl");
    CHECK(parsed("foo-1.0-01-py3-none-any.whl").build == parsed("foo-1.0-1-py3-none-any.whl").build);
}

TEST_CASE("build tags order by number, then by the rest") {
    CHECK(BuildTag{Number("2"), ""} < BuildTag{Number("10"), ""});
    CHECK(BuildTag{Number("2"), ""} < BuildTag{Number("2"), "a"});
    CHECK(BuildTag{Number("2"), "a"} < BuildTag{Number("2"), "b"});
}

TEST_CASE("a variant label and a build tag are distinguished by their position") {
    CHECK(parsed("foo-1.0-py3-none-any-x8664v3.whl").variant == "x8664v3");
    CHECK(parsed("foo-1.0-1-py3-none-any-cu126.whl").variant == "cu126");
    CHECK(parsed("foo-1.0-1-py3-none-any-cu126.whl").build->text() == "1");
    CHECK(parsed("foo-1.0-1-py3-none-any-cu126.whl").text() == "foo-1.0-1-py3-none-any-cu126.whl");
    CHECK_FALSE(parsed("foo-1.0-1-py3-none-any.whl").variant.has_value());
    CHECK(parse_wheel_filename("foo-1.0-py3-none-any-CU.whl").error().code == "filename.variant");
}

TEST_CASE("each error names the invalid part") {
    struct Row {
        std::string filename;
        const char* code;
    };
    const Row rows[] = {{"foo-1.0-py3-none-any.zip", "filename.extension"},
                        {"foo-1.0-py3-none-any", "filename.extension"},
                        {"foo-1.0-py3-none-any.WHL", "filename.extension"},
                        {"", "filename.extension"},
                        {".whl", "filename.parts"},
                        {"foo-1.0-any.whl", "filename.parts"},
                        {"a-1.0-1-py3-none-any-x-y.whl", "filename.parts"},
                        {"_foo-1.0-py3-none-any.whl", "filename.name"},
                        {"-1.0-py3-none-any.whl", "filename.name"},
                        {"foo-banana-py3-none-any.whl", "filename.version"},
                        {"foo--py3-none-any.whl", "filename.version"},
                        {"foo-1.0-x1-py3-none-any-l.whl", "filename.build"},
                        {"foo-1.0-1+x-py3-none-any.whl", "filename.build"},
                        {"foo-1.0-py3--any.whl", "filename.tag"},
                        {"foo-1.0-py3-none-.whl", "filename.tag"},
                        {"foo-1.0-3py-none-any.whl", "filename.tag"},
                        {"../foo-1.0-py3-none-any.whl", "filename.characters"},
                        {"a/foo-1.0-py3-none-any.whl", "filename.characters"},
                        {"a\\foo-1.0-py3-none-any.whl", "filename.characters"},
                        {"foo-1.0-py3-none-any\n.whl", "filename.characters"},
                        {"foo-1.0%2Bcu-py3-none-any.whl", "filename.characters"},
                        {"fo\xC3\xB6-1.0-py3-none-any.whl", "filename.characters"},
                        {std::string("foo\0-1.0-py3-none-any.whl", 25), "filename.characters"},
                        {std::string(300, 'a') + "-1.0-py3-none-any.whl", "filename.length"}};
    for (const auto& row : rows) {
        const auto filename = parse_wheel_filename(row.filename);
        REQUIRE_MESSAGE(!filename.has_value(), row.filename);
        CHECK_MESSAGE(filename.error().code == row.code, row.filename);
    }
}

TEST_CASE("only the escaped normal name and the normal version may be uploaded") {
    for (const char* text :
         {"foo_bar-1.0-py3-none-any.whl", "torch-2.4.0+cu126.1-cp312-cp312-linux_x86_64.whl",
          "a-1!2.0rc1-py3-none-any.whl"}) {
        CHECK_MESSAGE(is_normalized(parsed(text)), text);
    }
    for (const char* text :
         {"Foo-1.0-py3-none-any.whl", "foo.bar-1.0-py3-none-any.whl", "foo__bar-1.0-py3-none-any.whl",
          "foo-1.00-py3-none-any.whl", "foo-v1.0-py3-none-any.whl",
          "torch-2.4.0+cu126_1-cp312-cp312-linux_x86_64.whl", "foo-1.0_1-py3-none-any.whl"}) {
        CHECK_MESSAGE(!is_normalized(parsed(text)), text);
    }
    CHECK(parsed("foo-1.0_1-py3-none-any.whl").version.text() == "1.0.post1");
}

TEST_CASE("an sdist's name is split after its project name") {
    const auto sdist = parse_sdist_filename("my-old-name-1.0-1.tar.gz", "My.Old_name");
    REQUIRE(sdist.has_value());
    CHECK(sdist->project == "my-old-name");
    CHECK(sdist->version.text() == "1.0.post1");
    CHECK(sdist->extension == ".tar.gz");
    CHECK(parse_sdist_filename("rapidfuzz-3.9.7.tar.gz", "rapidfuzz")->version.text() == "3.9.7");
    CHECK(parse_sdist_filename("ruamel_yaml-0.18.zip", "ruamel.yaml")->extension == ".zip");
    CHECK(parse_sdist_filename("foo-1.0.tar.bz2", "foo").error().code == "filename.extension");
    CHECK(parse_sdist_filename("bar-1.0.tar.gz", "foo").error().code == "filename.name");
    CHECK(parse_sdist_filename("foo.tar.gz", "foo").error().code == "filename.name");
    CHECK(parse_sdist_filename("foo-bar.tar.gz", "foo").error().code == "filename.version");
    CHECK(parse_sdist_filename("foo-1.0/../x.tar.gz", "foo").error().code == "filename.characters");
}

TEST_CASE("without the project, an sdist's version follows its last dash") {
    struct Row {
        const char* filename;
        const char* project;  // empty: not the name of an sdist
        const char* version;
        bool normalized;
    };
    const Row rows[] = {
        {"six-1.16.0.tar.gz", "six", "1.16.0", true},
        {"ruamel_yaml-0.18.6.tar.gz", "ruamel-yaml", "0.18.6", true},
        {"ruamel.yaml-0.18.6.tar.gz", "ruamel-yaml", "0.18.6", false},
        {"my-tool-1.0.tar.gz", "my-tool", "1.0", false},
        {"Six-1.16.0.tar.gz", "six", "1.16.0", false},
        {"six-1.16.0.post01.tar.gz", "six", "1.16.0.post1", false},
        {"six-1.16.0.zip", "six", "1.16.0", false},
        {"six-1.0+cu126.tar.gz", "six", "1.0+cu126", true},
        {"six.tar.gz", "", "", false},
        {"six-.tar.gz", "", "", false},
        {"-1.0.tar.gz", "", "", false},
        {"six-one.tar.gz", "", "", false},
        {"six-1.0.tar.bz2", "", "", false},
        {"six-1.0/x-1.0.tar.gz", "", "", false},
        {"six-1.0-py3-none-any.whl", "", "", false},
    };
    for (const Row& row : rows) {
        CAPTURE(row.filename);
        const auto sdist = parse_sdist_filename(row.filename);
        CHECK((sdist ? sdist->project : std::string()) == row.project);
        if (!sdist) continue;
        CHECK(sdist->version.text() == row.version);
        CHECK(is_normalized(*sdist) == row.normalized);
    }
}

}  // namespace wheelyard::wheel
