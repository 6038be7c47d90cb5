// An HTTP/1.1 server on 127.0.0.1 for tests: answers requests with a handler and records them.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "lib/base/files/fd.hpp"

namespace wheelyard::testing {

struct LoopbackRequest {
    std::string method;
    std::string target;                                        // "/simple/six/?a=b"
    std::vector<std::pair<std::string, std::string>> headers;  // names in lower case
    std::string body;
    [[nodiscard]] std::string header(const std::string& name) const;
};

struct LoopbackAnswer {
    int status = 200;
    std::string body = {};
    std::vector<std::pair<std::string, std::string>> headers = {};
    std::string raw = {};   // if set: sent instead of all the above, then the connection is closed
    int byte_pause_ms = 0;  // before each byte of `raw`
    bool read_body = true;  // false: answers and closes right after the request's headers
    bool silent = false;    // true: sends nothing until the client disconnects or the server stops
    // If set: the answer, once the body was read. Called for one request at a time.
    std::function<LoopbackAnswer(const LoopbackRequest&)> after_body = {};
};

class LoopbackServer {
  public:
    // Called for one request at a time, after its headers; the body is read afterwards (see requests()). Must
    // not call requests().
    using Handler = std::function<LoopbackAnswer(const LoopbackRequest&)>;

    explicit LoopbackServer(Handler handler);
    LoopbackServer(const LoopbackServer&) = delete;
    LoopbackServer& operator=(const LoopbackServer&) = delete;
    ~LoopbackServer();

    [[nodiscard]] int port() const { return port_; }
    [[nodiscard]] std::string url(const std::string& target = "/") const;  // "http://127.0.0.1:PORT" + target
    [[nodiscard]] std::vector<LoopbackRequest> requests() const;           // requests whose headers were read

    [[nodiscard]] int connections() const { return connections_; }  // accepted so far

  private:
    void serve();
    void converse(int client);
    [[nodiscard]] LoopbackAnswer ask(const LoopbackRequest& request);
    [[nodiscard]] bool wait_readable(int fd) const;  // false: the server is stopping

    Handler handler_;
    base::Fd listener_;
    int port_ = 0;
    std::atomic<bool> stopping_ = false;
    std::atomic<int> connections_ = 0;
    mutable std::mutex mutex_;
    std::vector<LoopbackRequest> requests_;
    std::vector<std::thread> conversations_;  // owned by the listening thread
    std::thread thread_;
};

}  // namespace wheelyard::testing
