// As root alone: nobody else may give a folder away.
#include "lib/base/process/user.hpp"

#include <doctest/doctest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <functional>
#include <thread>

#include "lib/base/files/file.hpp"
#include "lib/base/files/temp_dir.hpp"

using namespace wheelyard;
using base::FileUser;

namespace {

constexpr uid_t service = 65534;

uid_t owner_of(const std::filesystem::path& file) {
    struct stat found {};
    REQUIRE(::lstat(file.c_str(), &found) == 0);
    return found.st_uid;
}

// In a process of its own: whom it became holds for good.
bool holds_in_child(const std::function<bool()>& claim) {
    const pid_t child = ::fork();
    if (child == 0) ::_exit(claim() ? 0 : 1);
    int status = 1;
    REQUIRE(::waitpid(child, &status, 0) == child);
    return status == 0;
}

struct Folders {
    base::TempDir dir = base::TempDir::make("owner").value();
    std::filesystem::path store = dir.path() / "store", of_root = dir.path() / "root";

    Folders() {
        for (const auto& folder : {store, of_root})
            REQUIRE(base::make_directories(folder));
        REQUIRE(::chmod(dir.path().c_str(), 0755) == 0);
        REQUIRE(::chmod(of_root.c_str(), 0700) == 0);
        REQUIRE(::chown(store.c_str(), service, service) == 0);
        REQUIRE(base::create_new(of_root / "secret", 0600));
    }
};

}  // namespace

TEST_CASE("root has its owner's rights in a folder of another user, and its own for what it named itself") {
    if (::geteuid() != 0) return;
    const Folders folders;
    CHECK(holds_in_child([&] {
        base::become_owner_of(folders.store);
        const auto reads_secret = [&] { return base::read_file(folders.of_root / "secret", 1).has_value(); };
        const bool is_owner =
            base::create_new(folders.store / "catalog", 0600).has_value() && !reads_secret();
        bool is_owner_in_thread = false;
        std::thread([&] { is_owner_in_thread = !reads_secret(); }).join();
        const bool is_caller = base::acting_as(FileUser::caller, [&] {
            const bool is_back = base::acting_as(FileUser::owner, [&] { return !reads_secret(); });
            return is_back && reads_secret() && base::create_new(folders.of_root / "report").has_value();
        });
        return is_owner && is_owner_in_thread && is_caller && !reads_secret() && ::geteuid() == 0;
    }));
    CHECK(owner_of(folders.store / "catalog") == service);
    CHECK(owner_of(folders.of_root / "report") == 0);
}

TEST_CASE("a folder that is not there yet belongs to whom the nearest folder above it does") {
    if (::geteuid() != 0) return;
    const Folders folders;
    CHECK(holds_in_child([&] {
        base::become_owner_of(folders.store / "new" / "store");
        return base::make_directories(folders.store / "new" / "store").has_value();
    }));
    CHECK(owner_of(folders.store / "new" / "store") == service);
}

TEST_CASE("who set a link on the way decides where it leads, root excepted") {
    if (::geteuid() != 0) return;
    const Folders folders;
    const auto link = folders.dir.path() / "link";
    REQUIRE(::symlink("root", link.c_str()) == 0);
    CHECK(!base::other_owner_of(link / "data"));
    REQUIRE(::lchown(link.c_str(), service, service) == 0);
    CHECK(base::other_owner_of(link / "data")->user == service);
    const auto outer = folders.dir.path() / "outer";
    REQUIRE(::symlink(link.c_str(), outer.c_str()) == 0);
    CHECK(base::other_owner_of(outer)->user == service);
    REQUIRE(::symlink("loop", (folders.dir.path() / "loop").c_str()) == 0);
    CHECK(!base::other_owner_of(folders.dir.path() / "loop"));
}

TEST_CASE("a folder of root stays root's") {
    if (::geteuid() != 0) return;
    const Folders folders;
    CHECK(holds_in_child([&] {
        base::become_owner_of(folders.of_root);
        return base::create_new(folders.of_root / "catalog").has_value() &&
               base::acting_as(FileUser::owner, [&] { return owner_of(folders.of_root / "catalog"); }) == 0;
    }));
}

TEST_CASE("what may not be read is not said to be missing, and whom it is denied is named") {
    const base::TempDir dir = base::TempDir::make("fault").value();
    const std::string file = dir.path() / "file", gone = dir.path() / "gone";
    REQUIRE(base::create_new(file, 0600));
    CHECK(base::fault_of_file(file).empty());
    CHECK(base::fault_of_folder(dir.path()).empty());
    CHECK(base::fault_of_path(file).empty());
    CHECK(base::fault_of_file(gone) == "File does not exist: " + gone);
    CHECK(base::fault_of_folder(file + "/below") == "Folder does not exist: " + file + "/below");
    CHECK(base::fault_of_file(dir.path()) == "File is a folder: " + dir.path().string());
    CHECK(base::fault_of_folder(file) == "Folder is a file: " + file);
    if (::geteuid() != 0) return;
    CHECK(holds_in_child([&] {
        const std::string denied = "Permission denied as user " + base::user_name(service) + ": ";
        if (::setresuid(service, service, service) != 0) return false;
        return base::fault_of_file(file) == denied + file && base::fault_of_path(gone) == denied + gone;
    }));
}
