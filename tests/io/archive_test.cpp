// Archives: valid ones are unpacked completely, hostile ones never write outside the folder.
#include "lib/io/archive.hpp"

#include <archive.h>
#include <archive_entry.h>
#include <doctest/doctest.h>
#include <sys/stat.h>

#include <clocale>
#include <optional>

#include "lib/base/files/file.hpp"
#include "lib/base/files/temp_dir.hpp"
#include "lib/base/process/process.hpp"

using namespace wheelyard::io;
namespace base = wheelyard::base;
namespace fs = std::filesystem;

namespace {

struct Entry {
    std::string name;
    std::string body = {};
    mode_t kind = AE_IFREG;
    std::string link = {};
    mode_t mode = 0644;
    bool hardlink = false;
    la_int64_t hole = 0;  // the file's size, if it is sparse and has no data
};

enum class Form { tar, tar_gz, tar_xz, tar_bz2, tar_zst, zip };

// Writes under a UTF-8 locale, so that names are marked as UTF-8; our programs read under the C locale.
void write_archive(const fs::path& path, const std::vector<Entry>& entries, Form form = Form::tar) {
    REQUIRE(::setlocale(LC_CTYPE, "C.UTF-8") != nullptr);
    archive* out = archive_write_new();
    if (form == Form::zip) {
        archive_write_set_format_zip(out);
    } else {
        archive_write_set_format_pax_restricted(out);
    }
    if (form == Form::tar_gz) archive_write_add_filter_gzip(out);
    if (form == Form::tar_xz) archive_write_add_filter_xz(out);
    if (form == Form::tar_bz2) archive_write_add_filter_bzip2(out);
    if (form == Form::tar_zst) archive_write_add_filter_zstd(out);
    REQUIRE(archive_write_open_filename(out, path.c_str()) == ARCHIVE_OK);
    for (const auto& entry : entries) {
        archive_entry* header = archive_entry_new();
        archive_entry_set_pathname(header, entry.name.c_str());
        archive_entry_set_filetype(header, entry.kind);
        archive_entry_set_perm(header, entry.mode);
        archive_entry_set_mtime(header, 1'000'000'000, 0);
        archive_entry_set_size(header,
                               entry.hole > 0 ? entry.hole : static_cast<la_int64_t>(entry.body.size()));
        if (entry.hole > 0) archive_entry_sparse_add_entry(header, entry.hole, 0);
        if (entry.hardlink) archive_entry_set_hardlink(header, entry.link.c_str());
        if (entry.kind == AE_IFLNK) archive_entry_set_symlink(header, entry.link.c_str());
        REQUIRE(archive_write_header(out, header) == ARCHIVE_OK);
        archive_write_data(out, entry.body.data(), entry.body.size());
        archive_entry_free(header);
    }
    REQUIRE(archive_write_close(out) == ARCHIVE_OK);
    archive_write_free(out);
    ::setlocale(LC_CTYPE, "C");
}

struct Folder {
    base::TempDir dir = base::TempDir::make("archive-test").value();
    fs::path file = dir.path() / "source.archive";
    fs::path into = dir.path() / "into";
    Folder() { fs::create_directory(into); }
    [[nodiscard]] base::Result<std::vector<std::string>> unpack_it(const UnpackLimits& limits = {}) const {
        return unpack(file, into, limits);
    }
};

// Unpacks `entries` and returns "" or the error's code.
std::string code_of(const Folder& folder, const std::vector<Entry>& entries,
                    const UnpackLimits& limits = {}) {
    write_archive(folder.file, entries);
    const auto tops = folder.unpack_it(limits);
    return tops ? "" : tops.error().code;
}

}  // namespace

TEST_CASE("every kind of archive is unpacked") {
    for (const auto form : {Form::tar, Form::tar_gz, Form::tar_xz, Form::tar_bz2, Form::tar_zst, Form::zip}) {
        CAPTURE(static_cast<int>(form));
        const Folder folder;
        const std::string large(300'000, 'x');
        write_archive(folder.file,
                      {{.name = "six-1.0/", .kind = AE_IFDIR, .mode = 0755},
                       {.name = "six-1.0/setup.py", .body = "print()", .mode = 0755},
                       {.name = "./six-1.0/sub/größe.c", .body = large}},
                      form);
        const auto tops = folder.unpack_it();
        REQUIRE(tops);
        CHECK(*tops == std::vector<std::string>{"six-1.0"});
        CHECK(base::read_file(folder.into / "six-1.0/setup.py", 100) == "print()");
        CHECK(base::read_file(folder.into / "six-1.0/sub/größe.c", 1 << 20) == large);
        struct stat status {};
        REQUIRE(::stat((folder.into / "six-1.0/setup.py").c_str(), &status) == 0);
        CHECK((status.st_mode & 0100) != 0);
        CHECK(status.st_mtime == 1'000'000'000);
    }
}

TEST_CASE("unpacking calls its callback before each entry and after each piece, and stops at its error") {
    const Folder folder;
    write_archive(folder.file, {{.name = "six-1.0/", .kind = AE_IFDIR, .mode = 0755},
                                {.name = "six-1.0/empty"},
                                {.name = "six-1.0/large", .body = std::string(1'000'000, 'x')},
                                {.name = "six-1.0/last", .body = "x"}});
    int breaths = 0, last_breath = 0;
    const auto unpacked = [&] {
        breaths = 0;
        return unpack(folder.file, folder.into, {}, [&]() -> base::Status {
            if (++breaths == last_breath) return base::fail("lock.lost", "taken over");
            return {};
        });
    };
    REQUIRE(unpacked());
    const int all = breaths;
    constexpr int of_entries = 4, min_of_pieces = 2 + 1;
    CHECK(all >= of_entries + min_of_pieces);
    fs::remove_all(folder.into / "six-1.0");
    last_breath = of_entries;  // the first three precede the folder, the empty file and the large one
    const auto ended = unpacked();
    REQUIRE_FALSE(ended);
    CHECK(ended.error().code == "lock.lost");
    CHECK(breaths == last_breath);
    CHECK(base::read_file(folder.into / "six-1.0/large", 1 << 20) != std::string(1'000'000, 'x'));
    CHECK_FALSE(fs::exists(folder.into / "six-1.0/last"));
}

TEST_CASE("archives by GNU tar are read, long names included") {
    const Folder folder;
    const auto deep = fs::path("top") / std::string(120, 'a') / std::string(120, 'b') / std::string(120, 'c');
    REQUIRE(base::make_directories(folder.dir.path() / deep));
    REQUIRE(base::replace_file(folder.dir.path() / deep / "f", "x"));
    const auto made = base::run_command(
        {.argv = {"tar", "-czf", folder.file.native(), "top"}, .directory = folder.dir.path()});
    REQUIRE(made);
    REQUIRE(made->exit_code == 0);
    REQUIRE(folder.unpack_it());
    CHECK(base::read_file(folder.into / deep / "f", 10) == "x");
}

TEST_CASE("all top-level names are returned without duplicates") {
    const Folder folder;
    write_archive(folder.file, {{.name = "b/x"}, {.name = "a"}, {.name = "b/y"}, {.name = "./"}});
    CHECK(folder.unpack_it().value() == std::vector<std::string>{"a", "b"});
}

TEST_CASE("names that leave the folder are rejected and reported") {
    for (const char* name : {"../evil", "a/../../evil", "/evil", "a/..", "..", "//evil"}) {
        CAPTURE(name);
        const Folder folder;
        write_archive(folder.file, {{.name = name, .body = "x"}});
        const auto tops = folder.unpack_it();
        REQUIRE_FALSE(tops);
        CHECK(tops.error().code == "archive.unsafe");
        CHECK(tops.error().value == name);
        CHECK_FALSE(fs::exists(folder.dir.path() / "evil"));
    }
}

TEST_CASE("links may point inside the folder only") {
    for (const char* target : {"b", "../c", "./b/c", "../d/../e", "../", "b//c"}) {
        const bool climbs_late = std::string(target) == "../d/../e";
        CAPTURE(target);
        const Folder folder;
        CHECK(code_of(folder, {{.name = "top/link", .kind = AE_IFLNK, .link = target}}) ==
              (climbs_late ? "archive.unsafe" : ""));
    }
    for (const char* target : {"/etc/passwd", "../../x", "../../", "b/../../..", "//etc"}) {
        CAPTURE(target);
        const Folder folder;
        CHECK(code_of(folder, {{.name = "top/link", .kind = AE_IFLNK, .link = target}}) == "archive.unsafe");
    }
    // A ".." after a name is rejected too: that name may be a link.
    const Folder folder;
    CHECK(code_of(folder, {{.name = "a/b/up", .kind = AE_IFLNK, .link = "../.."},
                           {.name = "out", .kind = AE_IFLNK, .link = "a/b/up/../x"}}) == "archive.unsafe");
}

TEST_CASE("nothing is written through a link") {
    const Folder folder;
    REQUIRE(base::make_directories(folder.into / "real"));
    const auto code = code_of(
        folder, {{.name = "door", .kind = AE_IFLNK, .link = "real"}, {.name = "door/file", .body = "x"}});
    CHECK(code != "");
    CHECK_FALSE(fs::exists(folder.into / "real/file"));
}

TEST_CASE("hard links refer to files of the archive only") {
    const Folder folder;
    CHECK(code_of(folder, {{.name = "a/f", .body = "x"}, {.name = "a/g", .link = "a/f", .hardlink = true}}) ==
          "");
    CHECK(base::read_file(folder.into / "a/g", 10) == "x");
    REQUIRE(base::replace_file(folder.dir.path() / "secret", "s"));
    for (const std::string& target :
         {std::string("../secret"), (folder.dir.path() / "secret").native(), std::string("a/../../secret")}) {
        CAPTURE(target);
        CHECK(code_of(folder, {{.name = "a/h", .link = target, .hardlink = true}}) == "archive.unsafe");
    }
}

TEST_CASE("a hard link to a symbolic link, which would move it to another depth, is rejected") {
    // a/b/c/door -> ../../../x stays inside at its own depth; as ./door its target would be outside.
    const Folder folder;
    REQUIRE(base::replace_file(folder.dir.path() / "x", "secret"));
    CHECK(code_of(folder, {{.name = "a/b/c/d/door", .kind = AE_IFLNK, .link = "../../../../x"},
                           {.name = "door", .link = "a/b/c/d/door", .hardlink = true}}) == "archive.unsafe");
    CHECK_FALSE(fs::is_symlink(folder.into / "door"));
    // The same through a folder that is a link.
    const Folder other;
    CHECK(code_of(other, {{.name = "a/f", .body = "x"},
                          {.name = "b", .kind = AE_IFLNK, .link = "a"},
                          {.name = "g", .link = "b/f", .hardlink = true}}) == "archive.unsafe");
}

TEST_CASE("unpacking has a time limit") {
    const Folder folder;
    CHECK(code_of(folder, {{.name = "a/f", .body = "x"}}, {.time_ms = 0}) == "archive.too_slow");
    CHECK_FALSE(fs::exists(folder.into / "a"));
}

TEST_CASE("devices, pipes and sockets are rejected") {
    for (const mode_t kind : {AE_IFCHR, AE_IFBLK, AE_IFIFO}) {
        const Folder folder;
        CHECK(code_of(folder, {{.name = "node", .kind = kind}}) == "archive.unsafe");
        CHECK_FALSE(fs::exists(folder.into / "node"));
    }
}

TEST_CASE("no unpacked file is setuid, and its owner can read and remove all of them") {
    const Folder folder;
    CHECK(code_of(folder, {{.name = "d/", .kind = AE_IFDIR, .mode = 0},
                           {.name = "d/tool", .body = "x", .mode = 06755},
                           {.name = "d/closed", .body = "x", .mode = 0}}) == "");
    struct stat status {};
    REQUIRE(::stat((folder.into / "d/tool").c_str(), &status) == 0);
    CHECK((status.st_mode & 07000) == 0);
    REQUIRE(::stat((folder.into / "d/closed").c_str(), &status) == 0);
    CHECK((status.st_mode & 0600) == 0600);
    REQUIRE(::stat((folder.into / "d").c_str(), &status) == 0);
    CHECK((status.st_mode & 0700) == 0700);
}

TEST_CASE("size and number of entries are bounded") {
    const Folder folder;
    const std::vector<Entry> entries{{.name = "a", .body = std::string(600, 'x')},
                                     {.name = "b", .body = std::string(400, 'x')}};
    CHECK(code_of(folder, entries, {.total_bytes = 1000, .entries = 2}) == "");
    CHECK(code_of(folder, entries, {.total_bytes = 999, .entries = 2}) == "archive.too_large");
    CHECK(code_of(folder, entries, {.total_bytes = 1000, .entries = 1}) == "archive.too_large");
}

TEST_CASE("the holes of sparse files count as bytes") {
    const Folder folder;
    const std::vector<Entry> entries{{.name = "a", .hole = 600}, {.name = "b", .hole = 400}};
    CHECK(code_of(folder, entries, {.total_bytes = 1000}) == "");
    CHECK(fs::file_size(folder.into / "a") == 600);
    CHECK(code_of(folder, entries, {.total_bytes = 999}) == "archive.too_large");
    CHECK(code_of(folder, {{.name = "c", .hole = la_int64_t{1} << 60}}) == "archive.too_large");
    CHECK_FALSE(fs::exists(folder.into / "c"));
}

TEST_CASE("a name longer than any path that programs open is rejected") {
    const Folder folder;
    std::string deep;
    while (deep.size() < 2'047)
        deep += "d/";
    CHECK(code_of(folder, {{.name = deep.substr(0, 2'047) + "f", .body = "x"}}) == "");
    CHECK(code_of(folder, {{.name = deep.substr(0, 2'047) + "/f", .body = "x"}}) == "archive.unsafe");
}

TEST_CASE("entries that are in each other's way are the archive's fault, not one that may pass") {
    const Folder folder;
    write_archive(folder.file, {{.name = "six-1.0/setup.py", .body = "x"},
                                {.name = "six-1.0", .kind = AE_IFLNK, .link = "other"}});
    const auto tops = folder.unpack_it();
    REQUIRE_FALSE(tops);
    CHECK_FALSE(tops.error().may_pass());
}

TEST_CASE("a file that is not an archive, or only half of one, is reported as broken") {
    const Folder folder;
    REQUIRE(base::replace_file(folder.file, "this is not an archive"));
    CHECK(folder.unpack_it().error().code == "archive.broken");
    REQUIRE(base::replace_file(folder.file, ""));
    CHECK_FALSE(folder.unpack_it());
    std::string noise;
    for (unsigned i = 0; i < 200'000; ++i)
        noise += static_cast<char>(i * 2654435761u >> 24);
    write_archive(folder.file, {{.name = "a", .body = noise}}, Form::tar_gz);
    const auto whole = base::read_file(folder.file, 1 << 20).value();
    REQUIRE(base::replace_file(folder.file, whole.substr(0, whole.size() / 2)));
    CHECK(folder.unpack_it().error().code == "archive.broken");
    REQUIRE(base::remove_file(folder.file));
    CHECK(folder.unpack_it().error().code == "archive.broken");
    CHECK(unpack(folder.file, folder.dir.path() / "absent").error().code == "os.ENOENT");
}

TEST_CASE("the target folder may be a link") {
    const Folder folder;
    fs::create_directory_symlink(folder.into, folder.dir.path() / "alias");
    write_archive(folder.file, {{.name = "a/f", .body = "x"}});
    CHECK(unpack(folder.file, folder.dir.path() / "alias"));
    CHECK(base::read_file(folder.into / "a/f", 10) == "x");
}
