// An HTTP/1.1 server on 127.0.0.1 for tests: answers what it is told, one request after another, and records
// what came.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "lib/base/fd.hpp"

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
    std::string raw = {};   // when set: sent instead of all the above, then the connection is closed
    bool read_body = true;  // false: answers (and closes) as soon as the request's headers are in
    bool silent = false;    // true: says nothing until the client goes away or the server stops
};

class LoopbackServer {
  public:
    // Called one request at a time, when its headers are in; the body is read afterwards (see requests()). It
    // must not call requests().
    using Handler = std::function<LoopbackAnswer(const LoopbackRequest&)>;

    explicit LoopbackServer(Handler handler);
    LoopbackServer(const LoopbackServer&) = delete;
    LoopbackServer& operator=(const LoopbackServer&) = delete;
    ~LoopbackServer();

    [[nodiscard]] int port() const { return port_; }
    [[nodiscard]] std::string url(const std::string& target = "/") const;  // "http://127.0.0.1:PORT" + target
    [[nodiscard]] std::vector<LoopbackRequest> requests() const;           // those whose headers were read

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
    std::vector<std::thread> conversations_;  // the listening thread's
    std::thread thread_;
};

}  // namespace wheelyard::testing
