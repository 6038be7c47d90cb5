// Lines between a command and the server: whole, in time, of a limited size; and whom the socket lets in.
#include "registry/store/control_socket.hpp"

#include <doctest/doctest.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <string>

#include "lib/base/files/file.hpp"
#include "lib/base/files/temp_dir.hpp"

using namespace wheelyard;
using registry::ControlConnection;

namespace {

constexpr std::int64_t soon_ms = 20;
constexpr std::int64_t long_enough_ms = 60'000;

struct Ends {
    base::Fd far;
    ControlConnection near;

    static Ends make() {
        std::array<int, 2> made{};
        REQUIRE(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, made.data()) == 0);
        return {base::Fd(made[0]), ControlConnection(base::Fd(made[1]))};
    }
    void send(std::string_view bytes) const { REQUIRE(base::write_all(far.get(), bytes).has_value()); }
    // "{…}", or the code of the error.
    std::string read(std::int64_t timeout_ms = long_enough_ms) {
        const auto line = near.read(timeout_ms);
        return line ? line->render() : line.error().code;
    }
};

}  // namespace

TEST_CASE("lines are read whole, however they are cut, and in their order") {
    Ends ends = Ends::make();
    ends.send(R"({"a":1}
{"b")");
    CHECK(ends.read() == R"({"a":1})");
    CHECK(ends.read(soon_ms) == "control.silent");
    ends.send(":2}\n");
    CHECK(ends.read() == R"({"b":2})");
    ends.send("no JSON\n{}\n{");
    CHECK(ends.read() == "json.syntax");
    CHECK(ends.read() == "{}");
    ends.far.reset();
    CHECK(ends.read() == "control.ended");
}

TEST_CASE("to write to one who has gone is an error, not a signal") {
    Ends ends = Ends::make();
    CHECK(ends.near.write(io::Json::object({{"answer", "x\ny"}})).has_value());
    std::array<char, 64> got{};
    const ssize_t size = ::read(ends.far.get(), got.data(), got.size());
    CHECK(std::string(got.data(), static_cast<std::size_t>(size)) == "{\"answer\":\"x\\ny\"}\n");
    ends.far.reset();
    CHECK(ends.near.write(io::Json::object()).error().code == "control.ended");
}

TEST_CASE("a socket that nobody has is replaced, and the new one is its owner's alone") {
    const auto dir = base::TempDir::make("control").value();
    CHECK(registry::connect_to_server(dir.path()).error().os_error == ENOENT);
    registry::listen_for_commands(dir.path()).value().reset();  // as after a crash
    CHECK(registry::connect_to_server(dir.path()).error().os_error == ECONNREFUSED);
    const auto listener = registry::listen_for_commands(dir.path()).value();
    struct stat made {};
    REQUIRE(::lstat((dir.path() / "control.sock").c_str(), &made) == 0);
    CHECK((made.st_mode & 07777) == 0600);
    auto command = registry::connect_to_server(dir.path());
    REQUIRE(command.has_value());
    const ControlConnection server(base::Fd(::accept(listener.get(), nullptr, nullptr)));
    CHECK(server.peer().value() == ::geteuid());
    CHECK(registry::remove_control_socket(dir.path()).has_value());
    CHECK(registry::connect_to_server(dir.path()).error().os_error == ENOENT);
}
