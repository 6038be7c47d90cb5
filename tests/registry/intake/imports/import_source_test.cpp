// What `import` believes: names, hashes and pages, accepted and refused.
#include "registry/intake/imports/import_source.hpp"

#include <doctest/doctest.h>

#include <string>

#include "lib/base/files/file.hpp"
#include "lib/base/files/temp_dir.hpp"
#include "lib/base/text/url.hpp"

using namespace wheelyard;
using registry::choose_link;
using registry::parse_wheel_choice;

namespace {

const std::string six_file = "six-1.16.0-py2.py3-none-any.whl";
const std::string hash(64, 'a');
const std::string other(64, 'b');
const std::string index_url = "https://wheels.example.org/main/simple/";

simple::ProjectPage page_with(const std::string& sha256, bool yanked = false) {
    simple::FileLink link;
    link.filename = six_file;
    link.url = "https://wheels.example.org/files/" + six_file;
    link.sha256 = sha256;
    link.yanked = yanked;
    return {{link}};
}

}  // namespace

TEST_CASE("a wheel is named by its file name, with its hash behind it or without") {
    const auto plain = parse_wheel_choice(six_file);
    REQUIRE(plain.has_value());
    CHECK(plain->filename == six_file);
    CHECK(plain->name.project == "six");
    CHECK(plain->sha256.empty());
    CHECK(parse_wheel_choice(six_file + "#sha256=" + std::string(64, 'A'))->sha256 == hash);
    for (const std::string& wrong :
         {six_file + "#", six_file + "#sha256=", six_file + "#sha256=" + hash.substr(1),
          six_file + "#sha256=" + hash + "a", six_file + "#sha256=" + hash.substr(1) + "g",
          six_file + "#md5=" + hash}) {
        CAPTURE(wrong);
        REQUIRE_FALSE(parse_wheel_choice(wrong).has_value());
        CHECK(parse_wheel_choice(wrong).error().code == "import.hash");
    }
    for (const char* wrong : {"", "six", "six-1.16.0.tar.gz",
                              "../"
                              "six-1.16.0-py3-none-any.whl",
                              "#sha256="})
        CHECK_FALSE(parse_wheel_choice(wrong).has_value());
}

TEST_CASE("an import takes other spellings, and into a mirror versions that are not in normal form") {
    CHECK(parse_wheel_choice("PyYAML-6.0.3-cp312-cp312-manylinux2014_x86_64.whl")->name.project == "pyyaml");
    const std::string name = "MarkupSafe-v3.0.2-cp312-cp312-manylinux_2_17_x86_64.whl";
    const auto refused = parse_wheel_choice(name);
    REQUIRE_FALSE(refused.has_value());
    CHECK(refused.error().code == "upload.name_not_normalized");
    const auto taken = parse_wheel_choice(name, inspect::make_preset("mirror").value());
    REQUIRE(taken.has_value());
    CHECK(taken->filename == name);
    CHECK(taken->name.project == "markupsafe");
}

TEST_CASE("a page's hash counts where nobody on the way can have changed it") {
    for (const char* good :
         {"https://wheels.example.org/main/simple/", "http://127.0.0.1:8080/main/simple/",
          "http://localhost/simple/", "http://[::1]:8080/simple/", "file:///shared/wheels/main/simple/"})
        CHECK_MESSAGE(registry::may_say_hashes(good), good);
    for (const char* bad : {"http://wheels.example.org/simple/", "ftp://127.1/", "",
                            "http://127.example.org.evil/x", "http://127.example.org/simple/"})
        CHECK_FALSE_MESSAGE(registry::may_say_hashes(bad), bad);
}

TEST_CASE("a file URL is an index whose pages lie in a folder, or a folder of wheels") {
    const auto place = base::TempDir::make("my wheels");
    REQUIRE(place.has_value());
    const base::fs::path root = place->path(), simple = root / "simple", wheels = root / "wheels";
    REQUIRE(base::make_directories(simple / "six"));
    REQUIRE(base::make_directories(wheels));
    const auto write = [](const base::fs::path& file, const std::string& text) {
        REQUIRE(base::replace_file(file, text));
    };
    write(simple / "six/index.html",
          "<a href=\"../../wheels/" + six_file + "#sha256=" + hash + "\">" + six_file + "</a>");
    write(wheels / six_file, "");
    io::HttpClient http;
    const auto find = [&](const std::string& from, const std::string& wheel) {
        return registry::find_wheel(http, from, parse_wheel_choice(wheel).value());
    };
    const std::string pages = base::file_url(simple.native()), folder = base::file_url(wheels.native());
    for (const std::string& from : {pages, pages + "/", "file://localhost" + pages.substr(7)}) {
        CAPTURE(from);
        const auto found = find(from, six_file);
        REQUIRE_MESSAGE(found.has_value(), found.error().text());
        CHECK(found->url.empty());
        CHECK(found->path == wheels / six_file);
        CHECK(found->sha256 == hash);
    }
    CHECK(find(pages, six_file + "#sha256=" + other).error().code == "import.hash_differs");
    CHECK(find(pages, "seven-1.0-py3-none-any.whl").error().code == "import.not_there");
    CHECK(find(pages + "-away", six_file).error().code == "os.ENOENT");
    CHECK(find("file://elsewhere/simple/", six_file).error().code == "url.invalid");
    for (const std::string& from : {folder, folder + "/"}) {
        CAPTURE(from);
        CHECK(find(from, six_file).error().code == "import.no_hash");
        const auto found = find(from, six_file + "#sha256=" + hash);
        REQUIRE_MESSAGE(found.has_value(), found.error().text());
        CHECK(found->path == wheels / six_file);
    }
    write(simple / "six/index.html",
          "<a href=\"https://wheels.example.org/" + six_file + "#sha256=" + hash + "\">" + six_file + "</a>");
    const auto elsewhere = find(pages, six_file);
    REQUIRE(elsewhere.has_value());
    CHECK(elsewhere->url == "https://wheels.example.org/" + six_file);
    CHECK(elsewhere->path.empty());
}

TEST_CASE("what the person says and what the page says must prove the wheel, and agree") {
    struct Row {
        const char* what;
        std::string said;
        simple::ProjectPage page;
        std::string from;
        const char* code;  // empty: taken
    };
    const std::string plain_http = "http://wheels.example.org/simple/";
    const Row rows[] = {
        {"the page's hash over https", "", page_with(hash), index_url, ""},
        {"the same hash twice", hash, page_with(hash), index_url, ""},
        {"a page without hashes, and the person's", hash, page_with(""), index_url, ""},
        {"plain http, and the person's", hash, page_with(hash), plain_http, ""},
        {"no hash at all", "", page_with(""), index_url, "import.no_hash"},
        {"a hash over plain http alone", "", page_with(hash), plain_http, "import.no_hash"},
        {"two hashes", hash, page_with(other), index_url, "import.hash_differs"},
        {"yanked", hash, page_with(hash, true), index_url, "import.yanked"},
        {"not on the page", hash, {}, index_url, "import.not_there"},
    };
    for (const Row& row : rows) {
        CAPTURE(row.what);
        auto choice = parse_wheel_choice(six_file);
        REQUIRE(choice.has_value());
        choice->sha256 = row.said;
        const auto place = choose_link(*choice, row.page, row.from);
        CHECK((place ? "" : place.error().code) == row.code);
        if (place) CHECK(place->sha256 == hash);
    }
}
