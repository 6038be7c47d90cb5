// The HTTP server: serves pages and files from the published tree and passes uploads to the UploadService.
// Asio and Beast stay in the .cpp files.
//
// Threads: one io_context per I/O thread; a connection stays on its thread. Hashing, disk writes and
// validation of uploads run on a bounded pool; when all slots are taken the reply is 503.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "lib/base/result.hpp"
#include "lib/page/farm.hpp"
#include "registry/http/api.hpp"
#include "registry/http/forward.hpp"
#include "registry/http/front_pages.hpp"
#include "registry/http/metrics.hpp"
#include "registry/http/readers.hpp"
#include "registry/http/upload.hpp"
#include "registry/http/upstream.hpp"

namespace wheelyard::http {

// An address to listen on: IP address and port, or a Unix socket.
struct ListenPoint {
    std::string address = "127.0.0.1";
    std::uint16_t port = 8080;  // 0: the system chooses a free port
    bool tls = false;
    std::filesystem::path unix_socket = {};  // if not empty, replaces address and port
};

struct ServerSettings {
    std::vector<ListenPoint> listen{ListenPoint{}};
    std::filesystem::path certificate_file = {};  // PEM, for listen points with TLS
    std::filesystem::path key_file = {};
    unsigned unix_socket_mode = 0660;  // mode of Unix sockets; connecting requires write permission
    std::string public_url = {};  // "https://example.org/wheels", for absolute URLs; empty: from the request
    std::vector<std::string> trusted_proxies = {};  // addresses, or "unix", whose fields are used
    std::vector<std::string> trusted_fields = {"X-Forwarded-For", "X-Forwarded-Host",
                                               "X-Forwarded-Proto"};  // of proxy_fields, which they set
    std::string accel_prefix = {};  // for X-Accel-Redirect: the proxy's internal location of the tree
    bool log_json = false;          // io::log_as_json()
    bool log_requests = false;      // one line per request at level info
    unsigned io_threads = 2;
    unsigned upload_threads = 4;
    std::filesystem::path published;               // root of the tree that the indexer writes
    Operations operations = {};                    // of the API
    std::filesystem::path published_private = {};  // that of the private indexes
    std::vector<IndexEntry> indexes;               // existing indexes; others are 404
    page::Farm farm = {};                          // in the frame of the pages that the server renders
    std::vector<std::pair<std::string, std::string>> farm_files = {};  // its style and logo: name, bytes
    std::int64_t header_timeout_ms = 30'000;
    std::int64_t idle_timeout_ms = 75'000;
    std::int64_t stall_timeout_ms = 60'000;  // without enough progress of a body, in either direction
    std::int64_t drain_timeout_ms = 30'000;
    std::int64_t page_wait_ms = 60'000;  // time that an upload waits for its page before it gets 503
    std::size_t max_connections = 10'000;
    std::size_t max_files = 10'000;     // sent concurrently; each uses a second descriptor
    std::size_t max_uploads = 16;       // concurrent; each uses 2 MiB of buffers, and a pool thread at times
    std::size_t max_token_uploads = 8;  // of them, of one token
    std::int64_t token_wait_ms = 10'000;        // time that one more waits for another of its token to end
    std::int64_t strangers_wait_ms = 3'000;     // time that a request without a token waits for a place
    RemoteFileService* remote_files = nullptr;  // null: the tree has all bytes
    ServiceStateFunction service_state = {};    // for /readyz and /metrics
    std::function<bool()> may_answer =
        {};  // of several nodes: whether the pages are known to be new; empty: always
    // Of several nodes: the value of reading_only_field, empty while the database answers. Asked before
    // may_answer.
    std::function<std::string()> reading_only = {};
};

// The error that start() would have about certificate, key and addresses, of which one in use is none.
[[nodiscard]] base::Status check_listening(const ServerSettings& settings, bool may_use_low_ports);

class Server {
  public:
    // Binds, then serves on its own threads. Error "server.bind" contains the address. Without `api`, its
    // routes return 404; without `readers`, so do all addresses of private indexes; without `forward`, this
    // server writes.
    [[nodiscard]] static base::Result<Server> start(const ServerSettings& settings, UploadService& uploads,
                                                    ApiService* api = nullptr,
                                                    ResumableService* resumable = nullptr,
                                                    UpstreamService* upstream = nullptr,
                                                    ReaderService* readers = nullptr,
                                                    ForwardService* forward = nullptr);
    Server(Server&&) noexcept;
    Server& operator=(Server&&) noexcept;
    ~Server();  // calls drain()
    // The port of settings.listen[point]; 0 for a Unix socket.
    [[nodiscard]] std::uint16_t port(std::size_t point = 0) const;
    // Reloads certificate and key for new connections. If they cannot be read, the old ones stay.
    [[nodiscard]] base::Status reload_certificate();
    // From the next request on; requests under way keep the indexes that they began with.
    void replace_indexes(std::vector<IndexEntry> entries);
    // Stops accepting, waits for requests in progress (at most drain_timeout_ms), then joins the threads.
    void drain();

  private:
    struct State;
    Server();
    std::unique_ptr<State> state_;
};

}  // namespace wheelyard::http
