// Passes requests that write on to the node that writes, over plain HTTP(S) with the client's credentials.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "lib/io/http_client.hpp"
#include "lib/store/nodes/node_board.hpp"
#include "registry/http/forward.hpp"

namespace wheelyard::registry {

class WriteForward final : public http::ForwardService {
  public:
    // `id`: of this node; `is_here`: it writes; `find`: the node that does, as the board has it. Both are
    // fast, and any thread calls them. `answer_wait_ms`: for the answer after the last byte.
    WriteForward(std::string id, std::function<bool()> is_here,
                 std::function<std::optional<nodes::WritingNode>()> find, std::int64_t answer_wait_ms);
    [[nodiscard]] Writer writer() const override;
    [[nodiscard]] const std::string& id() const override { return id_; }
    [[nodiscard]] http::Answered<std::unique_ptr<http::ForwardedRequest>> begin(
        const http::RequestHead& head, const std::string& client) override;

  private:
    [[nodiscard]] std::optional<nodes::WritingNode> elsewhere() const;
    const std::string id_;
    const std::function<bool()> is_here_;
    const std::function<std::optional<nodes::WritingNode>()> find_;
    io::HttpSettings settings_;
};

}  // namespace wheelyard::registry
