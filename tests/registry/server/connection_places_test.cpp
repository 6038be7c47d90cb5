// Which network gets how many connections, and who gives way, over pairs of sockets.
#include "registry/server/connection_places.hpp"

#include <doctest/doctest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace wheelyard::http {
namespace {

struct Connected {
    Connected(ConnectionPlaces& places, const ConnectionPlaces::Client& client) {
        REQUIRE(::socketpair(AF_UNIX, SOCK_STREAM, 0, sockets.data()) == 0);
        place.emplace(places, sockets[0], client);
    }
    ~Connected() {
        place.reset();
        for (const int socket : sockets)
            ::close(socket);
    }
    Connected(const Connected&) = delete;
    Connected& operator=(const Connected&) = delete;
    [[nodiscard]] bool is_open() const {
        char byte = 0;
        return ::recv(sockets[1], &byte, 1, MSG_DONTWAIT) < 0;
    }
    std::array<int, 2> sockets{};
    std::optional<ConnectionPlaces::Place> place;
};

struct Crowd {
    explicit Crowd(std::size_t max) : places(max) {}
    // Whether `network` gets one more place. `asks`: it has a request under way.
    bool connect(const std::string& network, bool asks = false, bool is_of_this_machine = false) {
        all.push_back(
            std::make_unique<Connected>(places, ConnectionPlaces::Client{network, is_of_this_machine}));
        if (!all.back()->place->is_taken()) {
            all.pop_back();
            return false;
        }
        if (asks) CHECK(all.back()->place->begin_request());
        return true;
    }
    [[nodiscard]] std::size_t open() const {
        std::size_t count = 0;
        for (const auto& one : all)
            if (one->is_open()) ++count;
        return count;
    }
    std::size_t fill(const std::string& network, bool asks) {
        std::size_t got = 0;
        while (got < 1'000 && connect(network, asks))
            ++got;
        return got;
    }
    ConnectionPlaces places;
    std::vector<std::unique_ptr<Connected>> all;
};

}  // namespace

TEST_CASE("one network that asks gets half of the places, and each further one a share of what is left") {
    Crowd crowd(600);
    CHECK(crowd.fill("a", true) == 300);
    CHECK(crowd.fill("b", true) == 150);
    for (int i = 0; i < 200; ++i)
        CHECK(crowd.fill("network " + std::to_string(i), true) <= 75);
    CHECK(crowd.places.connected() <= 600);
    CHECK(crowd.open() == crowd.places.connected());
    crowd.all.clear();
    CHECK(crowd.places.wait_for_none(0));
}

TEST_CASE("200 networks that ask in turns leave as many places as each of them has") {
    Crowd crowd(10 * 201);
    for (int round = 0; round < 20; ++round)
        for (int i = 0; i < 200; ++i)
            CHECK(crowd.connect(std::to_string(i), true) == (round < 10));
    CHECK(crowd.fill("honest", true) == 5);  // half of the ten that are left
}

TEST_CASE("where the largest network only asks, a silent connection of the next one gives way") {
    Crowd crowd(4);
    CHECK(crowd.connect("asking", true));
    CHECK(crowd.connect("asking", true));
    CHECK(crowd.connect("silent"));
    CHECK(crowd.connect("another"));
    CHECK(crowd.connect("new", true));
    CHECK(crowd.open() == 4);
}

TEST_CASE("past its share a network's oldest connection without a request gives way, and none of others") {
    Crowd crowd(8);
    CHECK(crowd.connect("other"));
    CHECK(crowd.connect("a", true));
    for (int i = 0; i < 3; ++i)
        CHECK(crowd.connect("a"));
    CHECK(crowd.open() == 5);
    CHECK(crowd.connect("a"));
    CHECK(crowd.open() == 5);
    CHECK(crowd.all[0]->is_open());
    CHECK(crowd.all[1]->is_open());
    CHECK_FALSE(crowd.all[2]->is_open());
    CHECK_FALSE(crowd.all[2]->place->begin_request());
    crowd.all[1]->place->end_request();
    CHECK(crowd.connect("a"));
    CHECK_FALSE(crowd.all[1]->is_open());
}

TEST_CASE(
    "in a full table the network that holds most gives way to one that holds less, of equals the oldest") {
    Crowd crowd(4);
    for (const char* network : {"a", "b", "c", "d"})
        CHECK(crowd.connect(network));
    CHECK(crowd.connect("e"));
    CHECK(crowd.connect("f"));
    CHECK_FALSE(crowd.all[0]->is_open());
    CHECK_FALSE(crowd.all[1]->is_open());
    CHECK(crowd.open() == 4);
    for (const auto& one : crowd.all)
        if (one->is_open()) CHECK(one->place->begin_request());
    CHECK_FALSE(crowd.connect("g"));
    CHECK(crowd.places.connected() == 6);  // with two whose sockets are still open here
}

TEST_CASE("programs on the machine find places of their own in a table that is full of requests") {
    Crowd crowd(1);
    CHECK(crowd.connect("a", true));
    CHECK_FALSE(crowd.connect("b", true));
    CHECK_FALSE(crowd.connect(""));
    CHECK(crowd.connect("127.0.0.0/24", true, true));
}

TEST_CASE("a trusted proxy has no share and never gives way") {
    Crowd crowd(5);
    CHECK(crowd.connect("a"));
    CHECK(crowd.fill("", false) == 5);  // the last one in place of a's
    CHECK_FALSE(crowd.all[0]->is_open());
    CHECK_FALSE(crowd.connect("a"));
    CHECK(crowd.open() == 5);
}

}  // namespace wheelyard::http
