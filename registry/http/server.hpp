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
#include "registry/http/upload.hpp"

namespace wheelyard::http {

struct ServerSettings {
    std::string address = "127.0.0.1";
    std::uint16_t port = 8080;  // 0: the system chooses
    unsigned io_threads = 2;
    unsigned upload_threads = 4;
    std::filesystem::path published;   // the tree that the indexer writes
    std::vector<std::string> indexes;  // names that exist (others are 404)
    std::int64_t header_timeout_ms = 30'000;
    std::int64_t idle_timeout_ms = 75'000;
    std::int64_t stall_timeout_ms = 60'000;  // no progress on a body in either direction
    std::int64_t drain_timeout_ms = 30'000;
    std::size_t most_connections = 10'000;
    std::size_t most_uploads =
        16;  // at once; each takes 2 MiB of buffers, and a pool thread while it is worked on
};

class Server {
  public:
    // Binds and serves from threads of its own. Error "server.bind" names the address and who may hold it.
    [[nodiscard]] static base::Result<Server> start(const ServerSettings& settings, UploadService& uploads);
    Server(Server&&) noexcept;
    Server& operator=(Server&&) noexcept;
    ~Server();  // drains
    [[nodiscard]] std::uint16_t port() const;
    // Stops accepting, lets requests under way finish (bounded by drain_timeout_ms), then joins the threads.
    void drain();

  private:
    struct State;
    Server();
    std::unique_ptr<State> state_;
};

}  // namespace wheelyard::http
