// Packets between launcher and broker.
#include "builder/governor/launch/message.hpp"

#include <doctest/doctest.h>
#include <sys/socket.h>
#include <unistd.h>

#include "lib/base/files/temp_dir.hpp"

using namespace wheelyard::governor;

TEST_CASE("messages round-trip, including empty fields and newlines") {
    for (const std::vector<std::string>& fields : {std::vector<std::string>{"run"},
                                                   {"ask", "a b\n.cpp", "", "x"},
                                                   {"", ""},
                                                   {std::string(5000, 'x')}}) {
        CHECK(parse_message(render_message(fields)) == fields);
    }
    CHECK(parse_message("").empty());
    CHECK(parse_message("no end").empty());
}

TEST_CASE("each send is one message, and the end of the connection is reported") {
    const auto folder = wheelyard::base::TempDir::make("message");
    REQUIRE(folder);
    const std::string path = folder->path() / "socket";
    auto listening = listen_at(path);
    REQUIRE(listening);
    auto client = connect_to(path);
    REQUIRE(client);
    wheelyard::base::Fd server(::accept(listening->get(), nullptr, nullptr));
    REQUIRE(server);
    CHECK(receive_message(server.get(), false).empty());
    CHECK(errno == EAGAIN);
    CHECK(send_message(client->get(), {"a", "1"}));
    CHECK(send_message(client->get(), {"b"}));
    client->reset();
    CHECK(receive_message(server.get(), true) == std::vector<std::string>{"a", "1"});
    CHECK(receive_message(server.get(), true) == std::vector<std::string>{"b"});
    CHECK(receive_message(server.get(), true).empty());
    CHECK(errno == ECONNRESET);
    CHECK_FALSE(send_message(server.get(), {"late"}));
}

TEST_CASE("a build is stopped once its socket is removed from its folder") {
    const auto folder = wheelyard::base::TempDir::make("message");
    REQUIRE(folder);
    const std::string path = folder->path() / "socket";
    {
        const auto listening = listen_at(path);
        REQUIRE(listening);
        CHECK_FALSE(was_stopped(path));
    }
    CHECK_FALSE(connect_to(path));
    CHECK_FALSE(was_stopped(path));  // the broker died
    REQUIRE(::unlink(path.c_str()) == 0);
    CHECK(was_stopped(path));
    CHECK_FALSE(was_stopped(folder->path() / "removed/socket"));  // the build ended by itself
}

TEST_CASE("a path too long for a socket is refused with a hint") {
    const auto refused = listen_at("/tmp/" + std::string(200, 'x'));
    REQUIRE_FALSE(refused);
    CHECK(refused.error().code == "governor.socket_path");
    CHECK_FALSE(connect_to("/nonexistent/socket"));
}
