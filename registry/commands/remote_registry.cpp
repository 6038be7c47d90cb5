#include "registry/commands/remote_registry.hpp"

#include <string_view>
#include <utility>

#include "lib/base/files/file.hpp"
#include "lib/base/text/text.hpp"
#include "lib/io/json.hpp"
#include "lib/wire/problem.hpp"
#include "registry/access/limits.hpp"
#include "registry/access/tokens.hpp"

namespace wheelyard::registry {
namespace {

base::Result<std::string> read_token_file(const std::filesystem::path& file) {
    WHEELYARD_ASSIGN(const std::string text, base::read_file(file, max_authorization_bytes));
    std::string token(base::trim(text));
    if (!parse_token_text(token))
        return base::fail("lifecycle.token_file", "The token file does not hold one token", file.string(),
                          "put the text that `wheelyard-registry token create` printed into it");
    return token;
}

base::Result<std::string> body_of(io::HttpAnswer answer) {
    if (answer.status == 200) return std::move(answer.body);
    const auto problem = wire::parse_problem(answer.body);
    if (!problem || problem->code.empty())
        return base::fail("lifecycle.refused", "The server refused it without a reason",
                          std::to_string(answer.status) + " " + answer.reason,
                          "check that the URL is a registry's");
    return base::fail(problem->code, problem->detail, problem->value, problem->advice);
}

}  // namespace

base::Result<RemoteRegistry> RemoteRegistry::open(std::string url, const std::filesystem::path& token_file) {
    WHEELYARD_ASSIGN(std::string token, read_token_file(token_file));
    while (url.ends_with('/'))
        url.pop_back();
    // The address of an index, as pip has it: `/main/simple/` below the registry's own.
    if (constexpr std::string_view pages = "/simple"; url.ends_with(pages)) {
        const std::size_t index = url.rfind('/', url.size() - pages.size() - 1);
        const std::size_t host = url.find("://");
        if (index != std::string::npos && host != std::string::npos && index > host + 2) url.resize(index);
    }
    return RemoteRegistry(std::move(url), std::move(token));
}

base::Result<std::string> RemoteRegistry::post(const std::string& address, const std::string& json) {
    WHEELYARD_ASSIGN(io::HttpAnswer answer, client_.post(url_ + address, json,
                                                         {{"Authorization", "Bearer " + token_},
                                                          {"Content-Type", "application/json"}}));
    return body_of(std::move(answer));
}

base::Result<std::string> RemoteRegistry::get(const std::string& address) {
    WHEELYARD_ASSIGN(io::HttpAnswer answer,
                     client_.get(url_ + address, {{"Authorization", "Bearer " + token_}}));
    return body_of(std::move(answer));
}

}  // namespace wheelyard::registry
