// Pages and files that the registry may have to fetch from another index first. The server asks before it
// serves a project's page of an index with upstreams, and when the published tree lacks a file of such an
// index.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "lib/base/clock.hpp"
#include "lib/wire/problem.hpp"
#include "registry/http/compression.hpp"
#include "registry/http/reply.hpp"

namespace wheelyard::http {

// A project's page as both of its forms; the same for every client.
struct RenderedPage {
    std::string html;
    std::string json;
    std::string tag;  // of the ETag
    base::UnixMicros modified = 0;
    std::shared_ptr<PackedCopies> packed = std::make_shared<PackedCopies>();
};

inline constexpr std::string_view attestations_suffix = ".pep740";  // of the file beside a file

struct UpstreamRequest {
    std::string index;
    std::string project = {};   // a page; normalized
    std::string sha256 = {};    // a file
    std::string filename = {};  // a file; including ".metadata" or attestations_suffix
    // False: answer with what is there, even if it is old.
    bool may_wait = true;
    // Says whether the answer may be a file that still arrives.
    bool may_arrive = false;
    std::string client = {};   // who asks, for limits: an address, or a token
    std::string via = {};      // upstream_via_field as received
    std::string version = {};  // of a file's attestations, where their address has it instead of the hash
};

struct UpstreamAnswer {
    enum class Kind {
        published,  // the published tree has the answer, also if that is 404
        page,
        text,  // metadata of a wheel that is not stored yet, attestations, or variants
        arriving,
        problem,
    };
    Kind kind = Kind::published;
    std::shared_ptr<const RenderedPage> page = {};
    std::string upstream = {};  // whose page it is, by its name in the configuration
    SharedText text = {};
    SharedArrivingFile arriving = {};
    wire::Problem problem = {};
    std::string via =
        {};  // upstream_via_field of the answer: the request came back to this registry, or would
};

// The answer when no more requests may wait for upstreams.
[[nodiscard]] inline wire::Problem upstream_busy() {
    return wire::make_problem("upstream.busy", "Too many requests to upstreams",
                              "The server has reached its limit of requests to upstreams.", {},
                              "try again shortly");
}

// The answer when an upstream does not answer and there is no older page. `value`: the project or the file.
[[nodiscard]] inline wire::Problem upstream_unavailable(const std::string& value) {
    return wire::make_problem("upstream.unavailable", "The upstream does not answer",
                              "The project comes from an upstream that does not answer now.", value,
                              "try again shortly");
}

// The answer to a request that would have to be sent to the registry from which it comes.
[[nodiscard]] inline wire::Problem upstream_loop(const std::string& value) {
    return wire::make_problem(
        "upstream.loop", "Registries ask each other for this",
        "The request comes from a registry that this one would have to ask, and neither has the project.",
        value, "no index has this project; if one should, see the `url` of each [[index.upstream]]");
}

class UpstreamService {
  public:
    virtual ~UpstreamService() = default;
    // Says whether pages and files of this index may come from upstream. Fast; any thread.
    [[nodiscard]] virtual bool serves(std::string_view index) const = 0;
    // A file of such an index was sent from the published tree. Fast; any thread.
    virtual void note_use(std::string_view filename, const std::string& sha256) = 0;
    // Runs on a pool thread. Calls `then` once, before it returns or later on another thread, after a request
    // to the upstream.
    virtual void find(const UpstreamRequest& request, std::function<void(UpstreamAnswer)> then) = 0;
};

}  // namespace wheelyard::http
