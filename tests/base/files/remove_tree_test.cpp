// Recursive removal, and its callback that keeps locks alive or aborts it.
#include "lib/base/files/temp_dir.hpp"

#include <doctest/doctest.h>
#include <fcntl.h>
#include <sys/stat.h>

#include "lib/base/files/file.hpp"

using namespace wheelyard::base;

namespace {

struct Tree {
    TempDir place = TempDir::make("remove").value();
    fs::path path = place.path() / "tree";

    Tree() {
        REQUIRE(make_directories(path / "a/b"));
        for (const char* name : {"1", "2", "a/3", "a/b/4"})
            REQUIRE(replace_file(path / name, "x"));
    }
    static constexpr int entries = 7;
    [[nodiscard]] int left() const {
        const fs::recursive_directory_iterator found(path);
        return 1 + static_cast<int>(std::distance(begin(found), end(found)));
    }
};

}  // namespace

TEST_CASE("a folder is removed recursively, with a callback per entry") {
    const Tree tree;
    int calls = 0;
    REQUIRE(remove_tree(tree.path, [&]() -> Status {
        ++calls;
        return {};
    }));
    CHECK_FALSE(fs::exists(tree.path));
    CHECK(calls == Tree::entries);
    CHECK(remove_tree(tree.path));  // a missing path
}

TEST_CASE("an error of the callback stops the removal") {
    const Tree tree;
    int calls = 0;
    const auto ended = remove_tree(tree.path, [&]() -> Status {
        if (++calls == 4) return fail("lock.lost", "taken over");
        return {};
    });
    REQUIRE_FALSE(ended);
    CHECK(ended.error().code == "lock.lost");
    CHECK(calls == 4);
    CHECK(tree.left() >= Tree::entries - 3);
}

TEST_CASE("files, pipes and links are removed; a link's target stays") {
    const Tree tree;
    const fs::path link = tree.place.path() / "link", inner = tree.path / "a/up",
                   pipe = tree.place.path() / "pipe";
    fs::create_directory_symlink(tree.path, link);
    fs::create_symlink("../nowhere", inner);
    REQUIRE(::mkfifo(pipe.c_str(), 0600) == 0);
    for (const auto& path : {link, inner, pipe, tree.path / "1"}) {
        CAPTURE(path.native());
        REQUIRE(remove_tree(path));
        CHECK_FALSE(fs::exists(fs::symlink_status(path)));
    }
    CHECK(tree.left() == Tree::entries - 1);
}

TEST_CASE("a folder deeper than any path that the system takes is removed, and nothing beside it") {
    const Tree tree;
    const std::string name(200, 'd');
    // As a build makes it: from inside, one name at a time.
    Fd folder(::open(tree.path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    for (int depth = 0; depth < 60; ++depth) {
        REQUIRE(::mkdirat(folder.get(), name.c_str(), 0700) == 0);
        REQUIRE(::mkdirat(folder.get(), "beside", 0700) == 0);
        folder = Fd(::openat(folder.get(), name.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
        REQUIRE(folder);
    }
    const Status removed = remove_tree(tree.path);
    REQUIRE_MESSAGE(removed, removed.error().text());
    CHECK_FALSE(fs::exists(tree.path));
    CHECK(fs::is_empty(tree.place.path()));
}

TEST_CASE("an entry that cannot be removed is reported, and the others are removed") {
    const auto refused = remove_tree("/proc/self/fdinfo");
    REQUIRE_FALSE(refused);
    CHECK(refused.error().code.starts_with("os."));
    CHECK(refused.error().value.starts_with("/proc/self/fdinfo/"));
}
