#include "registry/serve/write_forward.hpp"

#include <algorithm>
#include <array>
#include <string>
#include <utility>

#include "lib/io/http_push.hpp"
#include "lib/io/log.hpp"
#include "registry/http/forwarded.hpp"

namespace wheelyard::registry {
namespace {

constexpr std::int64_t writer_connect_ms = 3'000;
constexpr std::uint64_t max_forwarded_answer_bytes = 64u << 20;

// Headers of the connection to the other node (RFC 9110, 7.6.1), and those that this node sets itself.
bool is_of_the_hop(std::string_view name) {
    constexpr std::array<std::string_view, 9> hop{"connection",  "keep-alive", "transfer-encoding", "te",
                                                  "trailer",     "upgrade",    "content-length",    "date",
                                                  "x-request-id"};
    return std::find(hop.begin(), hop.end(), name) != hop.end() || name.starts_with("access-control-");
}

http::Reply reply_of(io::HttpAnswer answer) {
    http::Reply reply{answer.status};
    reply.reason = std::move(answer.reason);
    for (const auto& [name, value] : answer.headers) {
        if (!is_of_the_hop(name)) reply.add(name, value);
    }
    reply.body = std::move(answer.body);
    return reply;
}

wire::Problem unreachable(const base::Error& error, const std::string& writer) {
    io::log_warn("node.not_forwarded", {{"writer", writer}, {"error", error.text()}});
    return http::no_writer("The node that writes does not answer this one.");
}

class Forwarded final : public http::ForwardedRequest {
  public:
    Forwarded(std::unique_ptr<io::HttpPush> push, std::string writer)
        : push_(std::move(push)), writer_(std::move(writer)) {}
    [[nodiscard]] http::Answered<void> feed(std::string_view bytes) override {
        const base::Status fed = push_->feed(bytes);
        if (fed) return {};
        return tl::unexpected(unreachable(fed.error(), writer_));
    }
    [[nodiscard]] bool wants_more() const override { return !push_->has_ended(); }
    [[nodiscard]] http::Reply finish() override {
        auto answer = push_->finish();
        if (!answer) return http::reply_problem(unreachable(answer.error(), writer_));
        return reply_of(std::move(*answer));
    }

  private:
    std::unique_ptr<io::HttpPush> push_;
    const std::string writer_;
};

// A client may send a whole URL (RFC 9112, 3.2.2), whose host is not the other node's.
std::string path_and_query(const std::string& target) {
    std::string text(http::path_of_target(target));
    const auto query = target.find('?');
    return query == std::string::npos ? text : text + target.substr(query);
}

io::HttpHeaders headers_of(const http::RequestHead& head, const std::string& client,
                           const nodes::WritingNode& writer) {
    io::HttpHeaders headers{{std::string(http::forwarded_field), writer.id},
                            {std::string(http::client_field), client}};
    const auto add = [&](const char* name, const std::string& value) {
        if (!value.empty()) headers.emplace_back(name, value);
    };
    add("Authorization", head.authorization);
    add("Content-Type", head.content_type);
    add("Accept", head.accept);
    add("Accept-Encoding", head.accept_encoding);
    add("If-None-Match", head.if_none_match);
    add("Range", head.range);
    if (head.upload_offset) add("Upload-Offset", std::to_string(*head.upload_offset));
    if (head.upload_length) add("Upload-Length", std::to_string(*head.upload_length));
    return headers;
}

}  // namespace

WriteForward::WriteForward(std::string id, std::function<bool()> is_here,
                           std::function<std::optional<nodes::WritingNode>()> find,
                           std::int64_t answer_wait_ms)
    : id_(std::move(id)), is_here_(std::move(is_here)), find_(std::move(find)) {
    settings_.connect_timeout_ms = writer_connect_ms;
    settings_.answer_timeout_ms = answer_wait_ms;
    settings_.follows_redirects = false;
    settings_.uses_environment = false;  // the nodes of a registry are neighbours
}

std::optional<nodes::WritingNode> WriteForward::elsewhere() const {
    auto found = find_();
    if (found && found->address.empty()) found.reset();
    return found;
}

http::ForwardService::Writer WriteForward::writer() const {
    if (is_here_()) return Writer::here;
    return elsewhere() ? Writer::elsewhere : Writer::unknown;
}

http::Answered<std::unique_ptr<http::ForwardedRequest>> WriteForward::begin(const http::RequestHead& head,
                                                                            const std::string& client) {
    const auto writer = elsewhere();
    if (!writer)
        return tl::unexpected(http::no_writer("No node has the right to write, or it has no address."));
    if (head.is_from_node)
        return tl::unexpected(http::no_writer("Another node takes this one for the one that writes."));
    io::PushedRequest request{.method = head.method,
                              .url = writer->address + path_and_query(head.target),
                              .headers = headers_of(head, client, *writer),
                              .limit_bytes = max_forwarded_answer_bytes,
                              // It may be frozen: when another node writes, the client can send it again.
                              .is_given_up = [this, id = writer->id] {
                                  const auto now = find_();
                                  return is_here_() || (now && now->id != id);
                              }};
    if (head.chunked)
        request.length_bytes = std::nullopt;
    else
        request.length_bytes = head.content_length.value_or(0);
    auto push = io::HttpPush::begin(settings_, request);
    if (!push) return tl::unexpected(unreachable(push.error(), writer->name));
    return std::make_unique<Forwarded>(std::move(*push), writer->name);
}

}  // namespace wheelyard::registry
