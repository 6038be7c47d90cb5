// One object for both databases: what is missing is said, what is made is private, a copy counts once it is kept.
#include "registry/database/store.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include "lib/base/files/temp_dir.hpp"
#include "tests/registry/catalog/row_fixture.hpp"

using namespace wheelyard;
using database::Store;
namespace fs = std::filesystem;

namespace {

struct Folder {
    base::TempDir dir = base::TempDir::make("store").value();
    Store store{dir.path()};
    base::ManualClock clock{1'795'000'000'000'000};
};

}  // namespace

TEST_CASE("only a writer makes a catalog; readers and the list of indexes say that there is none") {
    const Folder folder;
    CHECK(folder.store.find_catalog().error().code == "os.ENOENT");
    CHECK(folder.store.reader().error().code == "catalog.missing");
    CHECK(folder.store.index_list().value().empty());
    CHECK(fs::is_empty(folder.dir.path()));
    REQUIRE(folder.store.writer());
    CHECK(folder.store.find_catalog());
    CHECK(folder.store.reader());
}

TEST_CASE("what one of its connections writes the others read") {
    const Folder folder;
    const auto writer = folder.store.writer().value();
    const auto reader = folder.store.reader().value();
    REQUIRE(writer->set_index_rules({}, {.actor = "me"}, {}, "[1]"));
    CHECK(reader->change_count().value() == 1);
    CHECK(reader->index_list().value() == "[1]");
    CHECK(folder.store.index_list().value() == "[1]");
}

TEST_CASE("its files have known names, lie in its folder and are private") {
    const Folder folder;
    CHECK(Store("/etc/wheelyard/data").catalog_files().front() == "/etc/wheelyard/data/catalog.sqlite");
    CHECK(folder.store.left_out_of_backups().empty());
    REQUIRE(folder.store.writer());
    REQUIRE(folder.store.tasks({}, folder.clock));
    CHECK(folder.store.left_out_of_backups() == std::vector<std::string>{"tasks.sqlite"});
    const std::vector<fs::path> known = folder.store.files();
    for (const auto& entry : fs::directory_iterator(folder.dir.path())) {
        CAPTURE(entry.path().string());
        CHECK(std::find(known.begin(), known.end(), entry.path()) != known.end());
        CHECK((entry.status().permissions() & (fs::perms::group_all | fs::perms::others_all)) ==
              fs::perms::none);
    }
}

TEST_CASE("a copy is in force once it is kept, and one that is dropped leaves nothing") {
    const Folder live;
    REQUIRE(live.store.writer().value()->add_file(catalog::row_of("main", "six", "1.0")));
    const Folder backup;
    CHECK(backup.store.make_copy_of(live.store).value()->last_serial().value() == 1);
    CHECK_FALSE(backup.store.find_catalog().has_value());
    REQUIRE(backup.store.drop_copy());
    CHECK(fs::is_empty(backup.dir.path()));
    REQUIRE(backup.store.make_copy_of(live.store));
    REQUIRE(backup.store.keep_copy());
    CHECK(backup.store.reader().value()->last_serial().value() == 1);
    const Folder restored;
    CHECK(restored.store.restore_copy_of(backup.store).value()->last_serial().value() == 1);
    REQUIRE(restored.store.keep_copy());
    CHECK(restored.store.writer().value()->add_file(catalog::row_of("main", "six", "1.1"))->serial == 2);
}
