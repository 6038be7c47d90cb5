// What of a unit is read, and when a start works.
#include "registry/serve/systemd.hpp"

#include <doctest/doctest.h>

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
