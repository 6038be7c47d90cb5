// Wheel file names compared with `packaging`, and our extensions: labels, old spellings, normal names,
// sdists.
#include "lib/wheel/filename.hpp"

#include <set>
#include <utility>
#include <vector>

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
    CHECK(parsed("foo-1.0-py3-none-win32-any.whl").variant == "any");
    CHECK(parsed("foo-1.0-cp312-cp312-linux_x86_64-linux_x86_64.whl").variant == "linux_x86_64");
    CHECK(parse_wheel_filename("foo-1.0-py3-none-any-CU.whl").error().code == "filename.variant");
}

TEST_CASE("each error names the invalid part") {
    struct Row {
        std::string filename;
        const char* code;
    };
    const Row rows[] = {
        {"foo-1.0-py3-none-any.zip", "filename.extension"},
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
        {"foo-1.0-x1-py3-none-any.whl", "filename.build"},
        {"foo-1.0-x1-py3-none-manylinux_2_17_x86_64.manylinux2014_x86_64.whl", "filename.build"},
        {"foo-1.0-g1a-cp312-cp312-linux_x86_64.whl", "filename.build"},
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

TEST_CASE(
    "a name is normal, or differs in case and separators only, or has its version written another way") {
    const std::pair<const char*, NameForm> rows[] = {
        {"foo_bar-1.0-py3-none-any.whl", NameForm::normal},
        {"torch-2.4.0+cu126.1-cp312-cp312-linux_x86_64.whl", NameForm::normal},
        {"a-1!2.0rc1-py3-none-any.whl", NameForm::normal},
        {"PyYAML-6.0.3-cp312-cp312-manylinux2014_x86_64.whl", NameForm::other_spelling},
        {"zope.proxy-5.2-cp311-cp311-linux_x86_64.whl", NameForm::other_spelling},
        {"foo__bar-1.0-py3-none-any.whl", NameForm::other_spelling},
        {"torch-2.4.0+cu126_1-cp312-cp312-linux_x86_64.whl", NameForm::other_spelling},
        {"torch-2.4.0+CU126-cp312-cp312-linux_x86_64.whl", NameForm::other_spelling},
        {"foo-1.00-py3-none-any.whl", NameForm::other_text},
        {"foo-v1.0-py3-none-any.whl", NameForm::other_text},
        {"foo-1.0_1-py3-none-any.whl", NameForm::other_text},
        {"Foo-1.0.RC1-py3-none-any.whl", NameForm::other_text},
    };
    for (const auto& [text, form] : rows)
        CHECK_MESSAGE(form_of(parsed(text)) == form, text);
    CHECK(parsed("foo-1.0_1-py3-none-any.whl").version.text() == "1.0.post1");
}

TEST_CASE("spellings of one file have one key, and no two files share one") {
    const std::vector<const char*> groups[] = {
        {"zope_proxy-5.2-cp311-cp311-linux_x86_64.whl", "zope.proxy-5.2-cp311-cp311-linux_x86_64.whl",
         "Zope__Proxy-5.2-cp311-CP311-linux_x86_64.whl"},
        {"zope_proxy-5.2-1-cp311-cp311-linux_x86_64.whl", "zope.proxy-5.2-01-cp311-cp311-linux_x86_64.whl"},
        {"zope_proxy-5.2-cp312-cp312-linux_x86_64.whl"},
        {"zope_proxy-5.3-cp311-cp311-linux_x86_64.whl", "zope_proxy-5.03-cp311-cp311-linux_x86_64.whl",
         "zope_proxy-5.3.0-cp311-cp311-linux_x86_64.whl", "zope_proxy-5.3.0.0-cp311-cp311-linux_x86_64.whl"},
        {"zope_proxy-5.3.0.1-cp311-cp311-linux_x86_64.whl"},
        {"zope_proxy-5.30-cp311-cp311-linux_x86_64.whl"},
        {"zope_proxy-5.3.0rc1+a.0-cp311-cp311-linux_x86_64.whl",
         "zope_proxy-5.3rc1+a.0-cp311-cp311-linux_x86_64.whl"},
        {"zope_proxy-5.3rc1+a-cp311-cp311-linux_x86_64.whl"},
        {"zope_proxy-0-cp311-cp311-linux_x86_64.whl", "zope_proxy-0.0-cp311-cp311-linux_x86_64.whl"},
        {"zopeproxy-5.2-cp311-cp311-linux_x86_64.whl"},
        {"six-1.0-py2.py3-none-any.whl", "six-1.0-py3.py2-none-any.whl"},
        {"six-1.0-py3-none-any.whl"},
        {"zope_proxy-5.2.tar.gz", "zope_proxy-5.2.0.tar.gz", "zope.proxy-5.2.tar.gz",
         "zope-proxy-5.2.tar.gz"},
        {"zope_proxy-5.2.zip"},
        {"neither a wheel"},
    };
    std::set<std::string> keys;
    for (const auto& group : groups) {
        for (const char* name : group)
            CHECK_MESSAGE(spelling_key(name) == spelling_key(group.front()), name);
        CHECK_MESSAGE(keys.insert(spelling_key(group.front())).second, group.front());
    }
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
        NameForm form;
    };
    const Row rows[] = {
        {"six-1.16.0.tar.gz", "six", "1.16.0", NameForm::normal},
        {"ruamel_yaml-0.18.6.tar.gz", "ruamel-yaml", "0.18.6", NameForm::normal},
        {"ruamel.yaml-0.18.6.tar.gz", "ruamel-yaml", "0.18.6", NameForm::other_spelling},
        {"my-tool-1.0.tar.gz", "my-tool", "1.0", NameForm::other_spelling},
        {"Six-1.16.0.tar.gz", "six", "1.16.0", NameForm::other_spelling},
        {"six-1.16.0.post01.tar.gz", "six", "1.16.0.post1", NameForm::other_text},
        {"six-1.16.0.zip", "six", "1.16.0", NameForm::other_text},
        {"six-1.0+cu126.tar.gz", "six", "1.0+cu126", NameForm::normal},
        {"six.tar.gz", "", "", NameForm::normal},
        {"six-.tar.gz", "", "", NameForm::normal},
        {"-1.0.tar.gz", "", "", NameForm::normal},
        {"six-one.tar.gz", "", "", NameForm::normal},
        {"six-1.0.tar.bz2", "", "", NameForm::normal},
        {"six-1.0/x-1.0.tar.gz", "", "", NameForm::normal},
        {"six-1.0-py3-none-any.whl", "", "", NameForm::normal},
    };
    for (const Row& row : rows) {
        CAPTURE(row.filename);
        const auto sdist = parse_sdist_filename(row.filename);
        CHECK((sdist ? sdist->project : std::string()) == row.project);
        if (!sdist) continue;
        CHECK(sdist->version.text() == row.version);
        CHECK(form_of(*sdist) == row.form);
    }
}

}  // namespace wheelyard::wheel
