// The HTTP server: pages and files from the published tree, uploads to the UploadService. Beast and Asio stay
// in the .cpp files.
//
// Threads: one io_context per I/O thread; a connection stays on its thread. Hashing, disk writes of uploads
// and validation run on a bounded pool; when it is full the answer is 503.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "lib/base/result.hpp"
#include "registry/http/api.hpp"
#include "registry/http/metrics.hpp"
#include "registry/http/resumable.hpp"
#include "registry/http/upload.hpp"

namespace wheelyard::http {

// A place to listen at: an address and a port, or a Unix socket.
struct ListenPoint {
    std::string address = "127.0.0.1";
    std::uint16_t port = 8080;  // 0: the system chooses
    bool tls = false;
    std::filesystem::path unix_socket = {};  // instead of both, when not empty
};

struct ServerSettings {
    std::vector<ListenPoint> listen{ListenPoint{}};
    std::filesystem::path certificate_file = {};  // PEM, for the points with TLS
    std::filesystem::path key_file = {};
    unsigned unix_socket_mode = 0660;  // who may connect to Unix sockets: connecting needs the right to write
    std::string public_url =
        {};  // "https://wheels.example.org": how the server calls itself; empty: as it was asked
    std::vector<std::string> trusted_proxies = {};  // addresses, or "unix", whose X-Forwarded-* are believed
    std::string accel_prefix =
        {};                     // with X-Accel-Redirect: the proxy's internal location of the published tree
    bool log_requests = false;  // each request, at level info
    unsigned io_threads = 2;
    unsigned upload_threads = 4;
    std::filesystem::path published;   // the tree that the indexer writes
    std::vector<std::string> indexes;  // names that exist (others are 404)
    std::int64_t header_timeout_ms = 30'000;
    std::int64_t idle_timeout_ms = 75'000;
    std::int64_t stall_timeout_ms = 60'000;  // no progress on a body in either direction
    std::int64_t drain_timeout_ms = 30'000;
    std::int64_t page_wait_ms = 60'000;  // how long an upload waits for its page before it is told 503
    std::size_t max_connections = 10'000;
    std::size_t max_files = 10'000;  // sent at once: each takes a descriptor beside its connection's
    std::size_t max_uploads =
        16;  // at once; each takes 2 MiB of buffers, and a pool thread while it is worked on
    ServiceStateFunction service_state = {};  // for /readyz and /metrics
};

class Server {
  public:
    // Binds and serves from threads of its own. Error "server.bind" names the address and who may hold it.
    // Without an `api`, its addresses are 404.
    [[nodiscard]] static base::Result<Server> start(const ServerSettings& settings, UploadService& uploads,
                                                    ApiService* api = nullptr,
                                                    ResumableService* resumable = nullptr);
    Server(Server&&) noexcept;
    Server& operator=(Server&&) noexcept;
    ~Server();  // drains
    // Of settings.listen[point]; 0 for a Unix socket.
    [[nodiscard]] std::uint16_t port(std::size_t point = 0) const;
    // Reads certificate and key again; connections from now on get them. When they cannot be read the old
    // ones stay.
    [[nodiscard]] base::Status reload_certificate();
    // Stops accepting, lets requests under way finish (bounded by drain_timeout_ms), then joins the threads.
    void drain();

  private:
    struct State;
    Server();
    std::unique_ptr<State> state_;
};

}  // namespace wheelyard::http
