#include "indexer/tree/disk.hpp"

#include <doctest/doctest.h>
#include <sys/stat.h>

#include <set>

#include "indexer/tree/paths.hpp"
#include "indexer/tree/tree_files.hpp"
#include "lib/base/digest/digest.hpp"
#include "lib/base/files/file.hpp"
#include "lib/base/files/temp_dir.hpp"
#include "lib/store/blobs/folder/folder_blobs.hpp"
#include "tests/store/blobs/memory_blobs.hpp"

using namespace wheelyard;
using namespace wheelyard::indexer;

namespace {

struct Folder {
    base::TempDir folder = *base::TempDir::make("wheelyard-disk-test");
    std::filesystem::path operator/(const char* name) const { return folder.path() / name; }
    std::size_t entries() const {
        return static_cast<std::size_t>(std::distance(std::filesystem::directory_iterator(folder.path()),
                                                      std::filesystem::directory_iterator()));
    }
};

std::string text_of(const std::filesystem::path& path) {
    return *base::read_file(path, 1 << 24);
}

const base::KeepAlive no_wait = [] { return base::Status(); };

}  // namespace

TEST_CASE("missing parent folders are created, and the result is true only for a new folder") {
    const Folder folder;
    LocalDisk disk;
    CHECK(*disk.make_directories(folder / "a/b/c"));
    CHECK_FALSE(*disk.make_directories(folder / "a/b/c"));
    CHECK(*disk.make_directories(folder / "a/b/d"));
    REQUIRE(base::replace_file(folder / "a/file", "bytes"));
    CHECK(disk.make_directories(folder / "a/file").error().code == "os.EEXIST");
    // A slash at the end, which makes the last folder twice.
    CHECK(disk.make_directories(folder / "e/f/"));
    CHECK(std::filesystem::is_directory(folder / "e/f"));
    // Relative to the current directory.
    const auto before = std::filesystem::current_path();
    std::filesystem::current_path(folder.folder.path());
    CHECK(*disk.make_directories("relative/inner"));
    CHECK_FALSE(*disk.make_directories("relative"));
    std::filesystem::current_path(before);
}

TEST_CASE("a damaged file is replaced by the blob without leftovers") {
    const Folder folder;
    const auto files = *blobs::FolderBlobs::open(folder / "store");
    const std::string sha256 = *files.store_bytes("bytes");
    REQUIRE(base::replace_file(folder / "file.whl", "half"));
    REQUIRE(LocalDisk().place_blob(files, sha256, folder / "file.whl", no_wait));
    CHECK(text_of(folder / "file.whl") == "bytes");
    REQUIRE(LocalDisk().place_blob(files, sha256, folder / "file.whl",
                                   no_wait));  // again: it is already the blob
    CHECK(text_of(folder / "file.whl") == "bytes");
    CHECK(folder.entries() == 2);
}

TEST_CASE("a stand-in has the size of a file, and nobody reads zeros for its bytes") {
    const Folder folder;
    constexpr std::uint64_t size = 3'000'000'000;
    for (const bool in_bulk : {false, true}) {
        CAPTURE(in_bulk);
        REQUIRE(base::make_directories(folder / "tree"));
        LocalDisk disk;
        if (in_bulk) REQUIRE(disk.begin_bulk(folder / "tree"));
        for (int again = 0; again < 2; ++again)  // replaces what is there
            REQUIRE(disk.place_stand_in(folder / "tree/a.whl", size));
        if (in_bulk) REQUIRE(disk.end_bulk());
        struct stat status {};
        REQUIRE(::stat((folder / "tree/a.whl").c_str(), &status) == 0);
        CHECK(static_cast<std::uint64_t>(status.st_size) == size);
        CHECK(status.st_blocks == 0);
        CHECK((status.st_mode & 07777) == 0);
        CHECK(base::is_stand_in(std::filesystem::path(folder / "tree/a.whl")));
        CHECK(std::distance(std::filesystem::directory_iterator(folder / "tree"), {}) == 1);
        std::filesystem::remove_all(folder / "tree");
    }
    CHECK_FALSE(base::is_stand_in(std::filesystem::path(folder / "tree/a.whl")));
}

TEST_CASE("the tree has stand-ins for the wheels of a store that serves them, and the bytes of METADATA") {
    const Folder folder;
    auto memory = *blobs::MemoryBlobs::open(folder / "staging only");
    catalog::FileRow row;
    row.index = "main";
    row.filename = "six-1.0-py3-none-any.whl";
    row.sha256 = *memory.store_bytes("wheel");
    row.size_bytes = 5;
    row.metadata_sha256 = *memory.store_bytes("Name: six");
    row.metadata_size_bytes = 9;
    const std::filesystem::path tree = folder / "tree";
    for (const bool serves : {true, false}) {
        memory.serves = serves;
        LocalDisk disk;
        TreeFiles files(disk, memory, tree, no_wait);
        REQUIRE(files.place(row, true));
        const auto file = file_folder(tree, row.index, row.sha256) / row.filename;
        CHECK(base::is_stand_in(file) == serves);
        CHECK(base::file_size(file) == 5);
        CHECK(text_of(file.native() + ".metadata") == "Name: six");
        REQUIRE(files.place(row, true));  // what is in place stays
        std::filesystem::remove_all(tree);
    }
}

TEST_CASE("a blob is linked where its store has files, and its checked bytes are copied where it has none") {
    const Folder folder;
    const auto files = *blobs::FolderBlobs::open(folder / "store");
    const auto memory = *blobs::MemoryBlobs::open(folder / "staging only");
    const std::string sha256 = *files.store_bytes("bytes");
    REQUIRE(*memory.store_bytes("bytes") == sha256);
    for (const bool in_bulk : {false, true}) {
        CAPTURE(in_bulk);
        REQUIRE(base::make_directories(folder / "tree"));
        LocalDisk disk;
        if (in_bulk) REQUIRE(disk.begin_bulk(folder / "tree"));
        REQUIRE(disk.place_blob(files, sha256, folder / "tree/linked.whl", no_wait));
        REQUIRE(disk.place_blob(memory, sha256, folder / "tree/copied.whl", no_wait));
        if (in_bulk) REQUIRE(disk.end_bulk());
        CHECK(std::filesystem::equivalent(files.path_of(sha256), folder / "tree/linked.whl"));
        CHECK(text_of(folder / "tree/copied.whl") == "bytes");
        struct stat status {};
        REQUIRE(::stat((folder / "tree/copied.whl").c_str(), &status) == 0);
        CHECK((status.st_mode & 0777) == 0444);
        CHECK(status.st_nlink == 1);
        std::filesystem::remove_all(folder / "tree");
    }
    memory.damage(sha256, "bytez");
    CHECK(LocalDisk().place_blob(memory, sha256, folder / "file.whl", no_wait).error().code ==
          "publish.blob_damaged");
    REQUIRE(memory.remove_if_stored_before(sha256, INT64_MAX));
    std::filesystem::remove(files.path_of(sha256));
    for (const blobs::BlobStore* store :
         {static_cast<const blobs::BlobStore*>(&files), static_cast<const blobs::BlobStore*>(&memory)}) {
        const auto missing = LocalDisk().place_blob(*store, sha256, folder / "file.whl", no_wait);
        REQUIRE(!missing);
        CHECK(missing.error().code == "publish.blob_missing");
        CHECK(missing.error().value.find(sha256) != std::string::npos);
    }
    CHECK_FALSE(std::filesystem::exists(folder / "file.whl"));
}

TEST_CASE("a copy has the blob's bytes and mode, for any length") {
    const Folder folder;
    for (const std::size_t size :
         {std::size_t{0}, std::size_t{1}, copy_chunk_bytes - 1, copy_chunk_bytes, copy_chunk_bytes + 1}) {
        CAPTURE(size);
        const std::string bytes(size, 'x');
        REQUIRE(base::replace_file(folder / "blob", bytes));
        REQUIRE(copy_verified(*base::FileReader::open(folder / "blob"), folder / "file.whl",
                              base::sha256_hex(bytes), no_wait));
        CHECK(text_of(folder / "file.whl") == bytes);
        struct stat status {};
        REQUIRE(::stat((folder / "file.whl").c_str(), &status) == 0);
        CHECK((status.st_mode & 0777) == 0444);
    }
}

TEST_CASE("a long copy calls keep_alive between chunks and aborts if it fails") {
    const Folder folder;
    const std::string bytes(3 * copy_chunk_bytes, 'x');
    REQUIRE(base::replace_file(folder / "blob", bytes));
    int calls = 0;
    const base::KeepAlive count = [&calls] {
        ++calls;
        return base::Status();
    };
    REQUIRE(copy_verified(*base::FileReader::open(folder / "blob"), folder / "file.whl",
                          base::sha256_hex(bytes), count));
    CHECK(calls >= 3);  // at least once for each chunk
    const base::KeepAlive lost = [] { return base::Status(base::fail("lock.lost", "taken over")); };
    const auto ended = copy_verified(*base::FileReader::open(folder / "blob"), folder / "second.whl",
                                     base::sha256_hex(bytes), lost);
    REQUIRE(!ended);
    CHECK(ended.error().code == "lock.lost");
    CHECK(!std::filesystem::exists(folder / "second.whl"));
}

TEST_CASE("a file and an empty folder are removed; missing paths and non-empty folders are ignored") {
    const Folder folder;
    REQUIRE(base::make_directories(folder / "full" / "inner"));
    REQUIRE(base::replace_file(folder / "file", "x"));
    for (const char* name : {"file", "full", "absent"})
        CHECK(LocalDisk().remove(folder / name));
    CHECK(!std::filesystem::exists(folder / "file"));
    CHECK(std::filesystem::exists(folder / "full"));
    CHECK(LocalDisk().remove(folder / "full" / "inner"));
    CHECK(LocalDisk().remove(folder / "full"));
    CHECK(!std::filesystem::exists(folder / "full"));
}

TEST_CASE("damaged bytes are not published") {
    const Folder folder;
    REQUIRE(base::replace_file(folder / "blob", "bytez"));
    const auto copied = copy_verified(*base::FileReader::open(folder / "blob"), folder / "file.whl",
                                      base::sha256_hex("bytes"), no_wait);
    REQUIRE(!copied);
    CHECK(copied.error().code == "publish.blob_damaged");
    CHECK(folder.entries() == 1);
}

TEST_CASE("only temporary files are removed as leftovers") {
    const Folder folder;
    for (const char* name : {".index.html.tmp.00ff", ".tmp.12", "index.html", ".htaccess", "lock"}) {
        REQUIRE(base::replace_file(folder / name, "x"));
    }
    REQUIRE(LocalDisk().remove_leftovers(folder.folder.path()));
    CHECK(folder.entries() == 3);
    CHECK(std::filesystem::exists(folder / ".htaccess"));
}

TEST_CASE("in bulk, what waits for its name is no leftover, and what a killed run left is one") {
    const Folder folder;
    const std::string simple = folder / "main";
    LocalDisk disk;
    REQUIRE(disk.make_directories(simple));
    REQUIRE(base::replace_file(folder / "main/.tmp.00ff1", "x"));
    REQUIRE(disk.begin_bulk(folder.folder.path()));
    REQUIRE(disk.replace_together(simple, {{"first.json", "1"}}));
    REQUIRE(disk.remove_leftovers(simple));
    REQUIRE(disk.replace_together(simple, {{"second.json", "2"}}));
    REQUIRE(disk.end_bulk());
    std::set<std::string> names;
    for (const auto& entry : std::filesystem::directory_iterator(folder / "main"))
        names.insert(entry.path().filename().native());
    CHECK(names == std::set<std::string>{"first.json", "second.json"});
}

TEST_CASE("in bulk, files inside and outside the tree appear once they are flushed") {
    for (const char* tree_name : {"tree", "tree/"}) {
        const Folder folder;
        const auto files = *blobs::FolderBlobs::open(folder / "store");
        const std::string sha256 = *files.store_bytes("bytes");
        REQUIRE(base::make_directories(folder / "tree"));
        const std::filesystem::path tree = folder / tree_name;
        {
            LocalDisk disk;
            REQUIRE(disk.begin_bulk(tree));
            CHECK(*disk.make_directories(tree / "main/simple/six"));
            CHECK_FALSE(*disk.make_directories(tree / "main/simple/six"));
            CHECK(*disk.make_directories(folder / "beside"));
            REQUIRE(
                disk.replace_together(tree / "main/simple/six", {{"index.json", "1"}, {"index.html", "22"}}));
            REQUIRE(disk.replace_together(folder / "beside", {{"page", "333"}}));
            REQUIRE(disk.place_blob(files, sha256, tree / "main/file", no_wait));
            CHECK(*disk.size_of(tree / "main/file") == 5);
            CHECK(*disk.size_of(tree / "main/simple/six/index.html") == std::nullopt);
            CHECK(*disk.size_of(folder / "beside/page") == std::nullopt);
            REQUIRE(disk.flush_pending());
            CHECK(*disk.size_of(tree / "main/simple/six/index.html") == 2);
            CHECK(*disk.size_of(folder / "beside/page") == 3);
            REQUIRE(disk.replace_together(tree / "main", {{"late", "4"}}));
            REQUIRE(disk.end_bulk());
            CHECK(text_of(tree / "main/late") == "4");
            REQUIRE(disk.begin_bulk(tree));
            REQUIRE(disk.replace_together(tree / "main", {{"never", "5"}}));
        }
        // A run that ends before a flush leaves no temporary file.
        std::set<std::string> left;
        for (const auto& entry : std::filesystem::directory_iterator(folder / "tree/main"))
            left.insert(entry.path().filename().native());
        CHECK(left == std::set<std::string>{"file", "late", "simple"});
    }
}

TEST_CASE("a staged folder is renamed with its contents when it is published") {
    const Folder folder;
    const std::string simple = folder / "main/simple";
    const auto names = [&] {
        std::set<std::string> all;
        for (const auto& entry : std::filesystem::directory_iterator(folder / "main"))
            all.insert(entry.path().filename().native());
        return all;
    };
    REQUIRE(base::make_directories(folder / "main/.simple.tmp.dead/six"));
    REQUIRE(base::replace_file(folder / "main/.simple.tmp.dead/six/index.html", "<!DOC"));
    REQUIRE(base::make_directories(folder / "main/simpler"));
    for (const bool in_bulk : {false, true}) {
        CAPTURE(in_bulk);
        LocalDisk disk;
        if (in_bulk) REQUIRE(disk.begin_bulk(folder.folder.path()));
        REQUIRE(disk.stage_directory(simple, no_wait));
        CHECK(names().size() == 2);  // the dead run's is removed
        CHECK(*disk.make_directories(simple + "/six"));
        CHECK_FALSE(*disk.make_directories(simple + "/six"));
        REQUIRE(disk.replace_together(simple + "/six", {{"index.json", "1"}, {"index.html", "22"}}));
        CHECK_FALSE(*disk.make_directories(simple));
        REQUIRE(disk.replace_together(simple, {{"index.html", "333"}}));
        REQUIRE(disk.replace_together(simple, {{"index.html", "4444"}}));
        CHECK(*disk.size_of(simple + "/six/index.html") == 2);
        CHECK(*disk.read(simple + "/index.html", 10) == "4444");
        REQUIRE(disk.replace_together(simple, {{".index.html.tmp.1", "5"}}));
        REQUIRE(disk.remove_leftovers(simple));  // staged empty, so there is nothing to remove
        CHECK(*disk.size_of(simple + "/.index.html.tmp.1") == 1);
        REQUIRE(disk.remove(simple + "/.index.html.tmp.1"));
        REQUIRE(disk.remove(simple + "/six/index.json"));
        CHECK(*disk.size_of(simple + "/six/index.json") == std::nullopt);
        // A sibling with a longer name is not inside the folder.
        REQUIRE(disk.replace_together(simple + "r", {{"page", "1"}}));
        REQUIRE(disk.end_bulk());
        CHECK(*disk.size_of(simple + "r/page") == 1);
        CHECK_FALSE(std::filesystem::exists(simple));
        REQUIRE(disk.publish_directory(simple));
        CHECK(text_of(simple + "/index.html") == "4444");
        CHECK(text_of(simple + "/six/index.html") == "22");
        CHECK(names() == std::set<std::string>{"simple", "simpler"});
        // From now on like any other folder.
        REQUIRE(disk.replace_together(simple + "/six", {{"index.json", "55555"}}));
        CHECK(text_of(simple + "/six/index.json") == "55555");
        std::filesystem::remove_all(simple);
    }
    {
        LocalDisk disk;
        REQUIRE(disk.stage_directory(simple, no_wait));
        REQUIRE(disk.replace_together(simple, {{"index.html", "1"}}));
        CHECK(names().size() == 2);
    }
    CHECK(names() == std::set<std::string>{"simpler"});  // the destructor removes what was not published
}

TEST_CASE("if one staged page cannot be written, no partial page remains") {
    const Folder folder;
    const std::string six = folder / "main/simple/six";
    LocalDisk disk;
    REQUIRE(disk.stage_directory(folder / "main/simple", no_wait));
    CHECK(*disk.make_directories(six));
    const auto failed = disk.replace_together(six, {{"index.html", "1"}, {"absent/index.json", "2"}});
    REQUIRE_FALSE(failed);
    CHECK(failed.error().code == "os.ENOENT");
    CHECK(*disk.size_of(six + "/index.html") == std::nullopt);
}

TEST_CASE("removing staged folders calls keep_alive between folders and aborts if it fails") {
    const Folder folder;
    REQUIRE(base::make_directories(folder / "main/.simple.tmp.dead/six"));
    LocalDisk disk;
    const base::KeepAlive lost = [] { return base::Status(base::fail("lock.lost", "taken over")); };
    CHECK(disk.stage_directory(folder / "main/simple", lost).error().code == "lock.lost");
    CHECK(std::filesystem::exists(folder / "main/.simple.tmp.dead/six"));
}

TEST_CASE("removing staged folders of killed runs removes nothing else") {
    const Folder folder;
    for (const char* name : {"simple", ".simple.tmp.dead/six", ".simple.tmp.older", ".simpler.tmp.dead"})
        REQUIRE(base::make_directories(folder / "main" / name));
    REQUIRE(base::replace_file(folder / "main/.simple.tmp.dead/six/index.html", "<!DOC"));
    REQUIRE(LocalDisk().remove_staged(folder / "main/simple", no_wait));
    CHECK(std::filesystem::exists(folder / "main/simple"));
    CHECK(std::filesystem::exists(folder / "main/.simpler.tmp.dead"));
    CHECK_FALSE(std::filesystem::exists(folder / "main/.simple.tmp.dead"));
    CHECK_FALSE(std::filesystem::exists(folder / "main/.simple.tmp.older"));
}

TEST_CASE("staged folders that their own run removes at the same time are no error") {
    const Folder folder;
    const auto staged = {folder / "main/.simple.tmp.dead", folder / "main/.simple.tmp.older"};
    for (const auto& one : staged)
        REQUIRE(base::make_directories(one / "six"));
    const base::KeepAlive their_run_ends = [&staged] {
        for (const auto& one : staged)
            std::filesystem::remove_all(one);
        return base::Status();
    };
    CHECK(LocalDisk().remove_staged(folder / "main/simple", their_run_ends));
}

TEST_CASE("a missing file has no size, and an existing folder is not an error") {
    const Folder folder;
    REQUIRE(base::replace_file(folder / "file", "1234"));
    CHECK(*LocalDisk().size_of(folder / "file") == 4);
    CHECK(*LocalDisk().size_of(folder / "absent") == std::nullopt);
    CHECK(*LocalDisk().size_of(folder / "file" / "below") == std::nullopt);
}
