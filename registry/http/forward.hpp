// Requests that only one of several nodes may answer: those that write. Another node passes them on to it,
// with the client's credentials and its body as it arrives, and returns its answer. A redirect would not do:
// uploaders such as twine follow none with a body.
#pragma once

#include <memory>
#include <string_view>

#include "registry/http/reply.hpp"
#include "registry/http/request_head.hpp"
#include "registry/http/upload.hpp"

namespace wheelyard::http {

// Set on what a node passed on, so that it is passed on once. Its value is ForwardService::id() of the node
// that it is for: only who reads the database knows that, so what the next field says is believed with it.
inline constexpr std::string_view forwarded_field = "X-Wheelyard-Forwarded";
// Whom a limit for each client counts: forwarded.hpp.
inline constexpr std::string_view client_field = "X-Wheelyard-Client";

class ForwardedRequest : public BodySink {
  public:
    // After the last byte, or when it wants no more: the other node's answer, or the problem of not having
    // one.
    [[nodiscard]] virtual Reply finish() = 0;
};

class ForwardService {
  public:
    virtual ~ForwardService() = default;
    enum class Writer { here, elsewhere, unknown };
    [[nodiscard]] virtual Writer writer() const = 0;  // fast; any thread
    // The random id of this run of this node; the other nodes read it from the database. Any thread.
    [[nodiscard]] virtual const std::string& id() const = 0;
    // 503: the writer is not known. Runs on a pool thread, as feed() and finish() do: all may wait for the
    // network. `client`: as client_of() names it.
    [[nodiscard]] virtual Answered<std::unique_ptr<ForwardedRequest>> begin(const RequestHead& head,
                                                                            const std::string& client) = 0;
};

// The answer while no node writes, or none can be reached.
[[nodiscard]] inline wire::Problem no_writer(const std::string& detail) {
    return wire::make_problem("node.no_writer", "No node of this registry accepts changes now", detail, {},
                              "try again in a few seconds");
}

// The answer of a node whose pages may be older than what another node has answered.
[[nodiscard]] inline wire::Problem no_lease() {
    return wire::make_problem(
        "node.no_lease", "This node may not answer now",
        "It could not show the registry's database in time that it lives, so its pages may be "
        "old. Other nodes answer.",
        {}, "try again in a few seconds, or at another node");
}

// The answer to changes while the database answers no node.
[[nodiscard]] inline wire::Problem reads_only(const std::string& times) {
    return wire::make_problem("node.reads_only", "The registry only reads now",
                              "Its database does not answer, so nothing can be uploaded or changed.", times,
                              "try again in a few seconds");
}

}  // namespace wheelyard::http
