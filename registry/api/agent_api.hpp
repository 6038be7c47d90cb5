// Tokens of agents that enrolled (docs/how-to/enrol-an-agent.md). The agent makes the next renewal itself, so that a lost
// answer is asked for again with the same words; access/agents.hpp has the rules.
//
//     POST /api/v1/agents/renew  {"format":"wheelyard.agent_renewal/1","site":"bede-gh200","credential":"wy_…","next":"wy_…"}
#pragma once

#include <string_view>

#include "lib/base/clock.hpp"
#include "registry/access/tokens.hpp"
#include "registry/commit/writer.hpp"
#include "registry/http/api.hpp"

namespace wheelyard::registry {

class AgentApi {
  public:
    // All outlive the AgentApi.
    AgentApi(TokenVerifier& tokens, Writer& writer, const base::Clock& clock)
        : tokens_(tokens), writer_(writer), clock_(clock) {}
    [[nodiscard]] static bool handles(std::string_view operation);
    [[nodiscard]] wire::Answered<http::ApiReply> answer(const http::ApiRequest& request);

  private:
    TokenVerifier& tokens_;
    Writer& writer_;
    const base::Clock& clock_;
};

}  // namespace wheelyard::registry
