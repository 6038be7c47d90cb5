// Shares of networks, and who gives way.
#include "registry/server/connection_places.hpp"

#include <sys/socket.h>

#include <chrono>

namespace wheelyard::http {

bool ConnectionPlaces::IsFirstToGiveWay::operator()(const Network* one, const Network* other) const {
    if (one->places.size() != other->places.size()) return one->places.size() > other->places.size();
    return one->changed < other->changed;
}

ConnectionPlaces::Place::Place(ConnectionPlaces& places, int socket, const Client& client)
    : places_(places), socket_(socket), network_(client.network) {
    const std::lock_guard lock(places_.mutex_);
    is_taken_ = places_.take(*this, client);
    ++places_.connected_;
    if (!is_taken_) ++places_.refused_;
}

ConnectionPlaces::Place::~Place() {
    const std::lock_guard lock(places_.mutex_);
    if (!is_taken_)
        --places_.refused_;
    else if (state_ != State::gone)
        places_.leave(*this);
    if (--places_.connected_ == 0) places_.none_left_.notify_all();
}

bool ConnectionPlaces::Place::begin_request() {
    State silent = State::silent;
    return state_.compare_exchange_strong(silent, State::asking);
}

std::size_t ConnectionPlaces::connected() const {
    const std::lock_guard lock(mutex_);
    return connected_;
}

std::size_t ConnectionPlaces::refused() const {
    const std::lock_guard lock(mutex_);
    return refused_;
}

bool ConnectionPlaces::wait_for_none(std::int64_t timeout_ms) {
    std::unique_lock lock(mutex_);
    const auto none = [this] { return connected_ == 0; };
    if (timeout_ms >= 0) return none_left_.wait_for(lock, std::chrono::milliseconds(timeout_ms), none);
    none_left_.wait(lock, none);
    return true;
}

bool ConnectionPlaces::take(Place& place, const Client& client) {
    const std::size_t max = max_ + (client.is_of_this_machine ? places_of_this_machine : 0);
    const std::size_t left = max > taken_ ? max - taken_ : 0;
    const auto own = networks_.find(client.network);
    const std::size_t held = own == networks_.end() ? 0 : own->second.places.size();
    if (held >= left) {
        // Of equals the own network gives way: two that are as large would only chase each other.
        if (!make_room_in_larger(held) && (held == 0 || !make_room_in(own->second))) return false;
    }
    ++taken_;
    if (!client.network.empty())
        change(networks_[client.network],
               [&](Network& network) { place.at_ = network.places.insert(network.places.end(), &place); });
    return true;
}

// A network whose connections all have requests under way does not give way; then the next largest does.
bool ConnectionPlaces::make_room_in_larger(std::size_t held) {
    std::size_t tries = 0;
    for (auto at = by_size_.begin(); at != by_size_.end() && (*at)->places.size() > held; ++tries) {
        Network& network = **at++;  // which make_room_in() moves or removes
        if (tries == max_networks_asked) return false;
        if (make_room_in(network)) return true;
    }
    return false;
}

bool ConnectionPlaces::make_room_in(Network& network) {
    for (Place* place : network.places) {
        Place::State silent = Place::State::silent;
        if (!place->state_.compare_exchange_strong(silent, Place::State::gone)) continue;
        ::shutdown(place->socket_, SHUT_RDWR);  // its thread finds the end of the stream
        leave(*place);
        return true;
    }
    return false;
}

void ConnectionPlaces::leave(Place& place) {
    --taken_;
    if (place.network_.empty()) return;
    const auto own = networks_.find(place.network_);
    change(own->second, [&](Network& network) { network.places.erase(place.at_); });
    if (!own->second.places.empty()) return;
    by_size_.erase(&own->second);
    networks_.erase(own);
}

template <typename Change>
void ConnectionPlaces::change(Network& network, Change change) {
    by_size_.erase(&network);
    change(network);
    network.changed = ++changes_;
    by_size_.insert(&network);
}

}  // namespace wheelyard::http
