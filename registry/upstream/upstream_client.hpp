// Requests to one upstream: only to hosts that the configuration names, also after redirects, and to private
// addresses only where it names them. One thread at a time.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <string>
#include <utility>

#include "lib/base/result.hpp"
#include "lib/io/http_client.hpp"
#include "registry/config/upstream_config.hpp"

namespace wheelyard::registry {

inline constexpr int status_ok = 200;

// The error for an answer that is not the wanted one: "upstream.status", whose value is `url` without
// secrets. Of kind missing for 404 and 410, unauthorized for other denials, and unavailable for what may
// pass.
[[nodiscard]] tl::unexpected<base::Error> fail_answer(int status, const std::string& url);
// The upstream answers that there is no such thing, or that it does not give it.
[[nodiscard]] bool is_upstreams_no(const base::Error& error);

class UpstreamClient {
  public:
    // Says of a URL whether it leads back to this registry, which would wait for itself.
    using IsOwn = std::function<bool(const std::string& url)>;
    // Both outlive the client. `stopping` ends a transfer within about a second.
    UpstreamClient(const UpstreamConfig& upstream, const std::atomic<bool>& stopping, IsOwn is_own = {});

    // Any final status is an answer; `url` is where a page's relative links start. Errors: those of
    // HttpClient, and "upstream.redirect".
    [[nodiscard]] base::Result<io::HttpAnswer> get(const std::string& url, const io::HttpHeaders& headers,
                                                   std::uint64_t limit_bytes);
    // Passes the body of a 200 or 206 answer to `sink`, after its head. A body that stands still is given up
    // as cut.
    [[nodiscard]] base::Result<io::HttpAnswer> fetch(const std::string& url, const io::HttpHeaders& headers,
                                                     std::uint64_t limit_bytes, const io::HttpSink& sink,
                                                     const io::HttpHead& head);

    // From now on each request says through which registries it comes; the last of them is this one.
    void send_via(std::string via) { via_ = std::move(via); }

    // How long the last answer asked to be left alone; 0: it did not.
    [[nodiscard]] std::int64_t asked_pause_s() const { return asked_pause_s_; }

  private:
    struct Place {
        io::HttpClient* http;
        io::HttpHeaders headers;
    };
    [[nodiscard]] base::Result<Place> place_of(const std::string& url, const io::HttpHeaders& headers);
    template <typename Request>
    [[nodiscard]] base::Result<io::HttpAnswer> follow(std::string url, const io::HttpHeaders& headers,
                                                      Request request);

    const UpstreamConfig& upstream_;
    const std::atomic<bool>& stopping_;
    const IsOwn is_own_;
    std::int64_t asked_pause_s_ = 0;
    std::string via_;         // empty: not said
    io::HttpClient public_;   // refuses private addresses
    io::HttpClient private_;  // for the hosts that may have them
};

}  // namespace wheelyard::registry
