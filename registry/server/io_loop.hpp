// One I/O thread: its io_context, its connections, and the sweep that ends those past their deadline.
// Internal to the server.
//
// A sweep over all connections every few hundred milliseconds replaces a timer per operation: setting a
// deadline is one store. Deadlines are late by at most one sweep.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/generic/stream_protocol.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/thread_pool.hpp>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <ctime>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <unordered_set>
#include <utility>
#include <vector>

#include "registry/server/connection_places.hpp"
#include "registry/server/published_tree.hpp"
#include "registry/server/server.hpp"
#include "registry/server/tls.hpp"

// GCC 12 inlines only one half of the operator pair with which Asio allocates coroutine frames, and reports a
// false mismatch.
#pragma GCC diagnostic ignored "-Wmismatched-new-delete"

namespace wheelyard::http {

// A limited number of concurrent operations of which no owner holds all. Internal to the server; thread-safe.
class OwnerSlots {
  public:
    // One operation of `owner`, released at the end of its scope.
    class Held {
      public:
        // `max`: of all owners together. `of_owner`: of this one; without it, it gets one more only while it
        // holds fewer than are left, as a network of connections (ConnectionPlaces). No owner: `max` alone.
        Held(OwnerSlots& slots, std::string owner, std::size_t max, std::optional<std::size_t> of_owner = {})
            : slots_(slots), owner_(std::move(owner)), taken_(slots_.take(owner_, max, of_owner)) {}
        ~Held() {
            if (taken_) slots_.give(owner_);
        }
        Held(const Held&) = delete;
        Held& operator=(const Held&) = delete;
        [[nodiscard]] bool taken() const { return taken_; }

      private:
        OwnerSlots& slots_;
        const std::string owner_;
        const bool taken_;
    };

    [[nodiscard]] std::size_t now() const {
        const std::lock_guard lock(mutex_);
        return now_;
    }
    // The number of operations of the owner with the most.
    [[nodiscard]] std::size_t max_held() const {
        const std::lock_guard lock(mutex_);
        std::size_t most = 0;
        for (const auto& [_, held] : held_)
            most = std::max(most, held);
        return most;
    }

  private:
    bool take(const std::string& owner, std::size_t max, std::optional<std::size_t> of_owner) {
        const std::lock_guard lock(mutex_);
        if (now_ >= max) return false;
        if (!owner.empty()) {
            std::size_t& held = held_[owner];
            // An entry that was made just now is below any limit.
            if (held >= of_owner.value_or(max - now_)) return false;
            ++held;
        }
        ++now_;
        return true;
    }
    void give(const std::string& owner) {
        const std::lock_guard lock(mutex_);
        --now_;
        if (const auto found = held_.find(owner); found != held_.end() && --found->second == 0)
            held_.erase(found);
    }

    mutable std::mutex mutex_;
    std::size_t now_ = 0;
    std::map<std::string, std::size_t> held_;  // no entry is 0
};

class Connection;

// The indexes that the server has, as one immutable snapshot.
struct ServedIndexes {
    explicit ServedIndexes(std::vector<IndexEntry> all);
    std::vector<IndexEntry> entries;
    std::set<std::string, std::less<>> names;
    std::set<std::string, std::less<>> private_names;  // of them
    std::set<std::string, std::less<>> moving_names;   // of them
    std::vector<IndexEntry> public_entries;
};

// State shared by all threads; outlives every connection.
struct ServerShared {
    ServerShared(ServerSettings server_settings, UploadService& upload_service, ApiService* api_service,
                 ResumableService* resumable_service, UpstreamService* upstream_service,
                 ReaderService* reader_service, ForwardService* forward_service);

    const ServerSettings settings;
    [[nodiscard]] const std::string& openapi();  // rendered once: it takes some milliseconds
    // A request uses one snapshot from its head to its reply.
    [[nodiscard]] const ServedIndexes& served() const { return *served_.load(std::memory_order_acquire); }
    void replace_indexes(std::vector<IndexEntry> entries);  // one thread at a time
    UploadService& uploads;
    ApiService* const api;              // may be null
    ResumableService* const resumable;  // may be null
    UpstreamService* const upstream;    // may be null
    ReaderService* const readers;       // may be null
    ForwardService* const forward;      // null: this is the only node
    std::vector<const RequestMetrics*>
        metrics;  // one per I/O thread; complete before the first thread starts
    boost::asio::thread_pool pool;
    // Log-ins and publishers' jobs, which may wait for a provider for seconds.
    boost::asio::thread_pool provider_pool{provider_threads};
    // Checks of readers take microseconds; uploads and the API do not wait for them, nor they for those.
    boost::asio::thread_pool reader_pool{1};
    // Waits for another node. Absent where there is none.
    std::optional<boost::asio::thread_pool> forward_pool;
    std::atomic<std::size_t> reader_checks_now = 0;
    std::atomic<bool> draining = false;
    ConnectionPlaces places{settings.max_connections};
    OwnerSlots uploads_now, api_requests_now;                                  // of tokens
    std::array<OwnerSlots, strangers_pools> strangers_now, strangers_waiting;  // of networks
    OwnerSlots files_now, upstream_waits_now, forwards_now;  // of networks, clients, networks
    std::atomic<std::size_t> uploads_waiting = 0;            // for others of their token
    std::atomic<std::size_t> waiting_for_page = 0;
    std::atomic<std::size_t> forwarded_fetches_now = 0;

    // "7f3a9c12-42": unique within this run, and across runs by its random prefix.
    [[nodiscard]] std::string next_request_id();

  private:
    std::deque<ServedIndexes> kept_;  // all there were: requests refer to them
    std::atomic<const ServedIndexes*> served_;
    std::once_flag openapi_once_;
    std::string openapi_;
    std::string id_prefix_;
    std::atomic<std::uint64_t> next_id_ = 1;
};

class IoLoop {
  public:
    explicit IoLoop(ServerShared& shared);
    void run();  // starts the thread
    void stop_and_join();

    // May be called on any thread.
    void adopt(boost::asio::generic::stream_protocol::socket socket, std::shared_ptr<const TlsContext> tls,
               std::unique_ptr<ConnectionPlaces::Place> place);
    void drain();  // ends idle connections
    void abort();  // ends all connections

    // Only on this loop's thread.
    void add(Connection& connection) { connections_.insert(&connection); }
    void remove(Connection& connection) { connections_.erase(&connection); }
    [[nodiscard]] std::string_view date();  // the current value of Date
    [[nodiscard]] PublishedTree& tree() { return tree_; }
    [[nodiscard]] PublishedTree& private_tree() { return private_tree_; }
    [[nodiscard]] RequestMetrics& metrics() { return metrics_; }
    [[nodiscard]] ServerShared& shared() { return shared_; }
    [[nodiscard]] boost::asio::io_context& context() { return context_; }

  private:
    void schedule_sweep();
    ServerShared& shared_;
    boost::asio::io_context context_{1};
    boost::asio::executor_work_guard<boost::asio::io_context::executor_type> work_;
    boost::asio::steady_timer sweep_;
    std::unordered_set<Connection*> connections_;
    PublishedTree tree_;
    PublishedTree private_tree_;
    RequestMetrics metrics_;
    std::time_t date_second_ = 0;
    std::string date_;
    std::thread thread_;
};

}  // namespace wheelyard::http
