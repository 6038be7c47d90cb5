// The API under /api/v1: small JSON in, small JSON out. One table names every operation; the router matches
// its paths and docs/reference/openapi.json is drawn from it, so neither can know an address that the other
// does not.
//
// To add an operation: one row in operations.cpp, one in openapi.cpp for what it takes, and a branch on its
// id where the ApiService is implemented.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "registry/http/upload.hpp"

namespace wheelyard::http {

// One address and method of this server; {name} in `path` stands for one segment.
struct Operation {
    std::string_view method;
    std::string_view path;
    std::string_view id;       // camelCase, as OpenAPI's generators like it
    std::string_view summary;  // a sentence without its full stop
    std::string_view produces;
    bool takes_body = false;
    bool needs_token = false;
};

// All of the server's, the pages' and the files' included.
[[nodiscard]] std::span<const Operation> operations();

struct ApiRequest {
    std::string request_id;                                           // for the log
    std::string_view operation;                                       // the id of its row
    std::map<std::string, std::string, std::less<>> parameters = {};  // of the path, decoded
    std::string query = {};                                           // as sent, without `?`
    std::string authorization = {};                                   // as sent, empty when absent
    std::string content_type = {};
    std::string body = {};  // max_api_body_bytes at most; of a log its bytes
};

struct ApiReply {
    int status = 200;
    std::string json = {};
    std::optional<std::string> text = {};  // plain text instead: a log
    // Where the answer has to wait for something, say a page: calls `then` once, true when it is there, on
    // any thread or at once, without blocking. Until then no thread waits; when it does not come,
    // `if_not_visible` is the answer.
    std::function<void(std::function<void(bool)> then)> when_visible = {};
    wire::Problem if_not_visible = {};
};

class ApiService {
  public:
    virtual ~ApiService() = default;
    // Both on a thread of the pool: they may wait for the disk.
    // Before a byte of the body is read: the credentials, 401 and 403. Who is not admitted takes no slot.
    [[nodiscard]] virtual Answered<void> admit(const ApiRequest& head) = 0;
    // Credentials again, and their scope: between the two a token may have been revoked.
    [[nodiscard]] virtual Answered<ApiReply> answer(const ApiRequest& request) = 0;
};

}  // namespace wheelyard::http
