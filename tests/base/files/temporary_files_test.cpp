// What a crash leaves of replace_file is removed, and nothing else.
#include "lib/base/files/temp_dir.hpp"

#include <doctest/doctest.h>

#include "lib/base/files/file.hpp"

using namespace wheelyard::base;

TEST_CASE("temporary files of one name are removed, and no other file") {
    const TempDir place = TempDir::make("temporary").value();
    const fs::path file = place.path() / "note.json";
    for (const char* name :
         {"note.json", ".note.json.tmp.0a", ".note.json.tmp.1b", ".other.tmp.2c", ".note.json"})
        REQUIRE(replace_file(place.path() / name, "x"));
    REQUIRE(remove_temporary_files(file));
    CHECK_FALSE(fs::exists(place.path() / ".note.json.tmp.0a"));
    CHECK_FALSE(fs::exists(place.path() / ".note.json.tmp.1b"));
    for (const char* name : {"note.json", ".other.tmp.2c", ".note.json"})
        CHECK(fs::exists(place.path() / name));
}

TEST_CASE("a temporary file that somebody may still write stays where an age is asked for") {
    const TempDir place = TempDir::make("temporary").value();
    const fs::path left = place.path() / ".note.json.tmp.0a", written = place.path() / ".note.json.tmp.1b";
    for (const auto& file : {left, written})
        REQUIRE(replace_file(file, "x"));
    fs::last_write_time(left, fs::file_time_type::clock::now() - std::chrono::hours(1));
    REQUIRE(remove_temporary_files(place.path() / "note.json", std::chrono::minutes(30)));
    CHECK_FALSE(fs::exists(left));
    CHECK(fs::exists(written));
}

TEST_CASE("those of all files in a folder are removed, and below it only where asked") {
    const TempDir place = TempDir::make("temporary").value();
    fs::create_directory(place.path() / "in");
    const std::vector<fs::path> left = {".note.json.tmp.0a", ".tmp.1b", "in/.note.json.tmp.0a"};
    const std::vector<fs::path> other = {"note.tmp.json", ".tmp", "in/note.json"};
    for (const auto* names : {&left, &other}) {
        for (const auto& name : *names)
            REQUIRE(replace_file(place.path() / name, "x"));
    }
    REQUIRE(remove_temporary_files_in(place.path()));
    CHECK_FALSE(fs::exists(place.path() / left[0]));
    CHECK_FALSE(fs::exists(place.path() / left[1]));
    CHECK(fs::exists(place.path() / left[2]));
    REQUIRE(remove_temporary_files_below(place.path()));
    CHECK_FALSE(fs::exists(place.path() / left[2]));
    for (const auto& name : other)
        CHECK(fs::exists(place.path() / name));
}

TEST_CASE("a missing folder is an error") {
    const TempDir place = TempDir::make("temporary").value();
    CHECK_FALSE(remove_temporary_files(place.path() / "missing" / "note.json"));
}
