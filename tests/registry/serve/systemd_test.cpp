// What of a unit is read, and when a start works.
#include "registry/serve/systemd.hpp"

#include <doctest/doctest.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <string>

#include "lib/base/files/fd.hpp"
#include "lib/base/files/temp_dir.hpp"

using namespace wheelyard;
using namespace wheelyard::registry;

namespace {

// As systemd 252 shows a unit.
constexpr std::string_view shown =
    "User=wheelyard\n"
    "AmbientCapabilities=cap_net_bind_service\n"
    "ProtectSystem=strict\n"
    "ReadWritePaths=/srv/wheelyard -/srv/more\n"
    "StateDirectory=wheelyard\n"
    "ExecStart={ path=/usr/bin/wheelyard-registry ; argv[]=/usr/bin/wheelyard-registry serve --config "
    "/etc/wheelyard/registry.toml ; ignore_errors=no ; start_time=[n/a] ; pid=0 }\n";

}  // namespace

TEST_CASE("a unit is that of the configuration that it starts with, and lets it write what it names") {
    CHECK_FALSE(parse_service_unit("", "/etc/wheelyard/registry.toml"));
    CHECK_FALSE(parse_service_unit(shown, "/etc/wheelyard/other.toml"));
    const auto unit = parse_service_unit(shown, "/etc/wheelyard/registry.toml");
    REQUIRE(unit);
    CHECK(unit->user == "wheelyard");
    CHECK(unit->has_low_ports);
    for (const char* folder : {"/var/lib/wheelyard", "/srv/wheelyard/", "/srv/wheelyard/a", "/srv/more"})
        CHECK_MESSAGE(is_below(folder, unit->writable), folder);
    for (const char* folder : {"/srv/wheelyard2", "/srv", "/", "/srv/wheelyard/../x"})
        CHECK_MESSAGE(!is_below(folder, unit->writable), folder);
}

TEST_CASE("a unit without a sandbox lets root write everywhere") {
    const auto unit = parse_service_unit("ExecStart={ argv[]=serve -c /r.toml ; }\nUser=\n", "/r.toml");
    REQUIRE(unit);
    CHECK(unit->user == "root");
    CHECK_FALSE(unit->has_low_ports);
    CHECK(is_below("/srv", unit->writable));
}

TEST_CASE("a start works as long as it computes, or reads or writes a disk") {
    const Work before{.cpu_ms = 100, .blocks = 5};
    CHECK_FALSE(Work{109, 5}.is_beyond(before));
    CHECK(Work{110, 5}.is_beyond(before));
    CHECK(Work{100, 6}.is_beyond(before));
}

TEST_CASE("a start that only waits for others is waited for") {
    const base::TempDir dir = base::TempDir::make("notify").value();
    const std::string path = dir.path() / "notify";
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    path.copy(address.sun_path, sizeof address.sun_path - 1);
    const base::Fd manager(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0));
    REQUIRE(::bind(manager.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0);
    const timeval patience{30, 0};
    REQUIRE(::setsockopt(manager.get(), SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience) == 0);
    REQUIRE(::setenv("NOTIFY_SOCKET", path.c_str(), 1) == 0);
    {
        const LongStart start(100);  // 30 s of its looks are no work
        for (int told = 0; told < 3; ++told) {
            std::string state(100, '\0');
            const ssize_t size = ::recv(manager.get(), state.data(), state.size(), 0);
            REQUIRE(size > 0);
            CHECK(state.starts_with("EXTEND_TIMEOUT_USEC="));
        }
    }
    ::unsetenv("NOTIFY_SOCKET");
}
