// I/O threads and their shared state.
#include "registry/server/io_loop.hpp"

#include <algorithm>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/post.hpp>
#include <csignal>
#include <cstddef>
#include <ctime>
#include <exception>
#include <vector>

#include "lib/base/clock.hpp"
#include "lib/base/digest/digest.hpp"
#include "lib/base/text/encoding.hpp"
#include "lib/io/log.hpp"
#include "registry/http/api.hpp"
#include "registry/http/forwarded.hpp"
#include "registry/server/connection.hpp"

namespace wheelyard::http {

namespace asio = boost::asio;

namespace {

constexpr std::size_t forward_threads = 16;  // for requests that another node answers

template <typename Is>
std::set<std::string, std::less<>> names_of(const std::vector<IndexEntry>& indexes, Is is) {
    std::set<std::string, std::less<>> names;
    for (const IndexEntry& index : indexes)
        if (is(index)) names.insert(index.name);
    return names;
}

std::vector<IndexEntry> public_ones_of(std::vector<IndexEntry> indexes) {
    std::erase_if(indexes, [](const IndexEntry& index) { return index.is_private; });
    return indexes;
}

}  // namespace

ServedIndexes::ServedIndexes(std::vector<IndexEntry> all)
    : entries(std::move(all)),
      names(names_of(entries, [](const IndexEntry&) { return true; })),
      private_names(names_of(entries, [](const IndexEntry& index) { return index.is_private; })),
      moving_names(names_of(entries, [](const IndexEntry& index) { return index.is_moving; })),
      public_entries(public_ones_of(entries)) {}

ServerShared::ServerShared(ServerSettings server_settings, UploadService& upload_service,
                           ApiService* api_service, ResumableService* resumable_service,
                           UpstreamService* upstream_service, ReaderService* reader_service,
                           ForwardService* forward_service)
    : settings(std::move(server_settings)),
      uploads(upload_service),
      api(api_service),
      resumable(resumable_service),
      upstream(upstream_service),
      readers(reader_service),
      forward(forward_service),
      pool(std::max(1u, settings.upload_threads)),
      served_(&kept_.emplace_back(settings.indexes)),
      id_prefix_(base::encode_hex(base::random_bytes(4)) + "-") {
    if (forward != nullptr) forward_pool.emplace(forward_threads);
}

void ServerShared::replace_indexes(std::vector<IndexEntry> entries) {
    served_.store(&kept_.emplace_back(std::move(entries)), std::memory_order_release);
}

const std::string& ServerShared::openapi() {
    std::call_once(openapi_once_, [this] { openapi_ = render_openapi(settings.operations); });
    return openapi_;
}

std::string ServerShared::next_request_id() {
    return id_prefix_ + std::to_string(next_id_.fetch_add(1, std::memory_order_relaxed));
}

IoLoop::IoLoop(ServerShared& shared)
    : shared_(shared),
      work_(context_.get_executor()),
      sweep_(context_),
      tree_(shared.settings.published, shared.settings.accel_prefix, shared.settings.farm),
      // No proxy reads the private tree, so files of it are sent here.
      private_tree_(shared.settings.published_private, {}, shared.settings.farm) {}

void IoLoop::run() {
    schedule_sweep();
    // sendfile(2) to a closed connection raises SIGPIPE, and signals are process-wide, so the thread starts
    // with all signals blocked.
    sigset_t blocked;
    sigset_t before;
    sigfillset(&blocked);
    pthread_sigmask(SIG_SETMASK, &blocked, &before);
    thread_ = std::thread([this] { context_.run(); });
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

void IoLoop::stop_and_join() {
    work_.reset();
    context_.stop();
    if (thread_.joinable()) thread_.join();
}

void IoLoop::adopt(asio::generic::stream_protocol::socket socket, std::shared_ptr<const TlsContext> tls,
                   std::unique_ptr<ConnectionPlaces::Place> place) {
    asio::post(context_, [this, socket = std::move(socket), place = std::move(place),
                          tls = std::move(tls)]() mutable {
        try {
            auto connection =
                std::make_shared<Connection>(*this, std::move(socket), std::move(tls), std::move(place));
            asio::co_spawn(context_, Connection::serve(std::move(connection)), asio::detached);
        } catch (const std::exception& e) {  // out of memory for one client must not affect the others
            io::log_error("server.accept_threw", {{"what", e.what()}});
        }
    });
}

void IoLoop::drain() {
    asio::post(context_, [this] {
        for (Connection* connection : connections_)
            connection->drain();
    });
}

void IoLoop::abort() {
    asio::post(context_, [this] {
        for (Connection* connection : connections_)
            connection->abort();
    });
}

std::string_view IoLoop::date() {
    const std::time_t now = std::time(nullptr);
    if (now != date_second_) {
        date_second_ = now;
        date_ = base::render_http_date(std::int64_t{now} * 1'000'000);
    }
    return date_;
}

void IoLoop::schedule_sweep() {
    const ServerSettings& settings = shared_.settings;
    const std::int64_t shortest =
        std::min({settings.header_timeout_ms, settings.idle_timeout_ms, settings.stall_timeout_ms});
    const std::int64_t period_ms = std::clamp<std::int64_t>(shortest / 4, 5, 500);
    sweep_.expires_after(std::chrono::milliseconds(period_ms));
    sweep_.async_wait([this](const boost::system::error_code& error) {
        if (error) return;
        const auto now = std::chrono::steady_clock::now();
        for (Connection* connection : connections_)
            connection->expire_if_due(now);
        schedule_sweep();
    });
}

}  // namespace wheelyard::http
