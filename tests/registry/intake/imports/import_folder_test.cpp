// The folder `import-XXXXXX` in the store that receives what `import` downloads
#include "registry/intake/imports/import_source.hpp"

#include <doctest/doctest.h>

#include <optional>
#include <string>

#include "lib/base/files/file.hpp"

using namespace wheelyard;
using namespace wheelyard::registry;
namespace fs = std::filesystem;

TEST_CASE("what a dead import left goes, a living one's stays, and so does all that only looks like one") {
    const auto store = *base::TempDir::make("wheelyard-import-test");
    const fs::path dead = store.path() / "import-a1B2c3";
    fs::create_directory(dead);
    REQUIRE(base::replace_file(dead / "six-1.0-py3-none-any.whl", "half"));
    for (const char* name : {"import-notes", "import-a1B2c34", "imports-a1B2c"})
        fs::create_directory(store.path() / name);
    REQUIRE(base::replace_file(store.path() / "import-abcdef", "a file"));
    fs::create_directory_symlink(store.path(), store.path() / "import-linked");
    const auto living = ImportFolder::make(store.path());
    REQUIRE(living);
    REQUIRE(base::replace_file(living->path() / "six-1.0-py3-none-any.whl", "half"));
    remove_left_import_folders(store.path());
    CHECK_FALSE(fs::exists(dead));
    CHECK(fs::exists(living->path() / "six-1.0-py3-none-any.whl"));
    for (const char* name :
         {"import-notes", "import-a1B2c34", "imports-a1B2c", "import-abcdef", "import-linked"}) {
        CAPTURE(name);
        CHECK(fs::exists(store.path() / name));
    }
}

TEST_CASE("an import that ends takes its folder along") {
    const auto store = *base::TempDir::make("wheelyard-import-test");
    {
        const auto folder = ImportFolder::make(store.path());
        REQUIRE(folder);
        REQUIRE(base::replace_file(folder->path() / "six-1.0-py3-none-any.whl", "all of it"));
    }
    CHECK(fs::is_empty(store.path()));
}
