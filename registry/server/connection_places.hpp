// Who may be connected: each network has a share of the places, and who asks for nothing gives way to others.
// Internal to the server; thread-safe.
//
// A network gets one more place only while it holds fewer than are left. So one alone gets half of them, two
// get a third each, and n leave a part of n + 1 to the next one. Past its share a client takes the place of
// the connection that has been there longest without a request under way, of the network that holds most,
// which may be its own.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <list>
#include <map>
#include <mutex>
#include <set>
#include <string>

namespace wheelyard::http {

// Beside all others: for programs on the server's machine, whatever networks do.
inline constexpr std::size_t places_of_this_machine = 16;
inline constexpr std::size_t max_networks_asked = 1'024;  // to give way to one newcomer

class ConnectionPlaces {
  public:
    struct Client {
        std::string network;  // empty: a trusted proxy, which is many clients, and never gives way
        bool is_of_this_machine = false;
    };
    class Place;

    explicit ConnectionPlaces(std::size_t max) : max_(max) {}
    [[nodiscard]] std::size_t connected() const;  // with those that have no place and get a refusal
    [[nodiscard]] std::size_t refused() const;    // these
    // Returns false if connections remain after `timeout_ms` (negative: no limit).
    [[nodiscard]] bool wait_for_none(std::int64_t timeout_ms);

  private:
    struct Network {
        std::list<Place*> places;   // the oldest first
        std::uint64_t changed = 0;  // number of the last change, of all networks
    };
    struct IsFirstToGiveWay {  // the largest, of equals the one that changed longest ago
        bool operator()(const Network* one, const Network* other) const;
    };
    bool take(Place& place, const Client& client);
    bool make_room_in_larger(std::size_t held);
    bool make_room_in(Network& network);
    void leave(Place& place);
    template <typename Change>
    void change(Network& network, Change change);

    const std::size_t max_;
    mutable std::mutex mutex_;
    std::condition_variable none_left_;
    std::size_t connected_ = 0;
    std::size_t refused_ = 0;
    std::size_t taken_ = 0;
    std::uint64_t changes_ = 0;
    std::map<std::string, Network> networks_;  // no empty ones
    std::set<Network*, IsFirstToGiveWay> by_size_;
};

// Of one client, from accept(2) until just before its socket is closed.
class ConnectionPlaces::Place {
  public:
    // `socket`: to be shut down when the client has to give way.
    Place(ConnectionPlaces& places, int socket, const Client& client);
    ~Place();
    Place(const Place&) = delete;
    Place& operator=(const Place&) = delete;
    // False: the client only gets a refusal.
    [[nodiscard]] bool is_taken() const { return is_taken_; }
    // From here to end_request() the client does not give way. False: it just did.
    [[nodiscard]] bool begin_request();
    void end_request() { state_ = State::silent; }

  private:
    friend class ConnectionPlaces;
    enum class State { silent, asking, gone };
    ConnectionPlaces& places_;
    const int socket_;
    const std::string network_;
    std::list<Place*>::iterator at_{};  // in its network, which a proxy has none of
    std::atomic<State> state_ = State::silent;
    bool is_taken_ = false;
};

}  // namespace wheelyard::http
