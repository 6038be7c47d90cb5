// As root alone: nobody else may give a folder away.
#include "registry/store/owner.hpp"

#include <doctest/doctest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <thread>

#include "lib/base/files/file.hpp"
#include "lib/base/files/temp_dir.hpp"
#include "registry/access/local_actor.hpp"

using namespace wheelyard;

namespace {

constexpr uid_t service = 65534;

uid_t owner_of(const std::filesystem::path& file) {
    struct stat found {};
    REQUIRE(::stat(file.c_str(), &found) == 0);
    return found.st_uid;
}

}  // namespace

TEST_CASE(
    "what root creates belongs to the owner of the store, and root still reads what only root may read") {
    if (::geteuid() != 0) return;
    const base::TempDir dir = base::TempDir::make("owner").value();
    const std::filesystem::path store = dir.path() / "store", secret = dir.path() / "secret";
    REQUIRE(base::make_directories(store));
    REQUIRE(::chown(store.c_str(), service, service) == 0);
    REQUIRE(base::create_new(secret, 0600));
    std::thread command([&] {  // of its own: the change lasts as long as the thread
        registry::create_as_owner_of(store);
        CHECK(base::create_new(store / "catalog", 0600));
        CHECK(base::create_new(dir.path() / "report", 0600));  // in a folder that only root may write to
        CHECK(base::read_file(secret, 1).has_value());
        CHECK(registry::local_actor() == "local:root");
    });
    command.join();
    CHECK(owner_of(store / "catalog") == service);
    CHECK(owner_of(dir.path() / "report") == service);
    CHECK(base::create_new(store / "other", 0600));
    CHECK(owner_of(store / "other") == 0);
}

TEST_CASE("a store that is not there yet belongs to whom the nearest folder above it does") {
    if (::geteuid() != 0) return;
    const base::TempDir dir = base::TempDir::make("owner").value();
    REQUIRE(::chown(dir.path().c_str(), service, service) == 0);
    std::thread command([&] {
        registry::create_as_owner_of(dir.path() / "new" / "store");
        CHECK(base::make_directories(dir.path() / "new" / "store"));
    });
    command.join();
    CHECK(owner_of(dir.path() / "new" / "store") == service);
}

TEST_CASE("who only asks as the owner of the store reads no file that root alone may read") {
    if (::geteuid() != 0) return;
    const base::TempDir dir = base::TempDir::make("owner").value();
    const std::filesystem::path store = dir.path() / "store", secret = dir.path() / "secret";
    REQUIRE(::chmod(dir.path().c_str(), 0755) == 0);
    REQUIRE(base::make_directories(store));
    REQUIRE(::chown(store.c_str(), service, service) == 0);
    REQUIRE(base::create_new(secret, 0600));
    const pid_t asking = ::fork();  // for good, so in a process of its own
    if (asking == 0) {
        const bool is_owner = registry::become_owner_of(store).has_value() && ::getuid() == service;
        const bool is_refused = !base::read_file(secret, 1).has_value();
        ::_exit(is_owner && is_refused && ::setuid(0) != 0 ? 0 : 1);
    }
    int status = 0;
    REQUIRE(::waitpid(asking, &status, 0) == asking);
    CHECK(status == 0);
}

TEST_CASE("a store of root stays root's") {
    if (::geteuid() != 0) return;
    const base::TempDir dir = base::TempDir::make("owner").value();
    registry::create_as_owner_of(dir.path());
    CHECK(base::create_new(dir.path() / "catalog"));
    CHECK(owner_of(dir.path() / "catalog") == 0);
}
