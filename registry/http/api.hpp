// The JSON API under /api/v1, as the server sees it: each operation's address, arguments and limits, and who
// answers it. The operations themselves are rows of registry/api/operation.hpp; the router, the OpenAPI
// document and the list of arguments all read the same row, so they cannot differ.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "lib/io/record.hpp"
#include "registry/http/limits.hpp"
#include "registry/http/upload.hpp"

namespace wheelyard::http {

// Where a request has an argument.
enum class In { path, query, body };

struct Argument {
    io::Member member;
    In in = In::body;
    bool is_needed = false;
};

enum class BodyKind {
    none,
    json,      // of the operation's arguments
    document,  // JSON that another module reads
    text,      // of a log, as it is
    bytes,     // a part of a file
    form,      // multipart
};

// Whose slots a request takes that shows no credentials: strangers at one door leave those at the others
// alone.
enum class StrangersPool { other, login, publisher, renewal };
inline constexpr std::size_t strangers_pools = 4;

// One method and path of this server; {name} in `path` matches one segment.
struct Operation {
    std::string_view method;
    std::string_view path;
    std::string_view id;       // OpenAPI's operationId, camelCase
    std::string_view summary;  // a sentence without its full stop
    std::string_view produces;
    BodyKind body = BodyKind::none;
    bool needs_token = false;
    std::span<const Argument> arguments = {};
    std::string_view format = {};  // the `format` of a JSON body; empty: it has none
    std::size_t max_body_bytes = max_api_body_bytes;
    bool is_kept_by_writer =
        false;             // of several nodes only the one that writes can answer, though it only reads
    bool has_tag = false;  // its answers have an ETag
    StrangersPool pool = StrangersPool::other;
    io::Document (*answer)() = nullptr;  // of an answer in JSON; nullptr: it has none
    int status = 200;                    // of the answer
};
using Operations = std::span<const Operation>;

// The routes that are no operations of the API: pages, files, uploads, and what monitors ask.
[[nodiscard]] Operations page_operations();

struct ApiRequest {
    std::string request_id;                                           // for the log
    std::string_view operation;                                       // Operation::id
    std::map<std::string, std::string, std::less<>> parameters = {};  // path parameters, decoded
    std::string query = {};                                           // as sent, without `?`
    std::string authorization = {};                                   // header as sent; empty if absent
    std::string content_type = {};
    std::string if_none_match = {};  // of a client that has ApiReply::tag the body need not be made
    std::string client = {};         // its address, for limits of those without a token
    std::string body = {};           // at most Operation::max_body_bytes; for a build's log its raw bytes
};

struct ApiReply {
    int status = 200;
    std::string json = {};
    std::optional<std::string> text = {};  // if set, the body is this plain text instead of JSON
    std::string tag =
        {};  // of the ETag: a client that has the same document gets 304; empty: nobody keeps it
    // Of set_cookie(): an index and a value.
    std::vector<std::pair<std::string, std::string>> cookies = {};
    // Set if the reply must wait, for example for a page: calls `then` once with true when it is visible, on
    // any thread or before it returns, without blocking. No thread waits for it. If it does not become
    // visible in time, `if_not_visible` is the reply.
    std::function<void(std::function<void(bool)> then)> when_visible = {};
    wire::Problem if_not_visible = {};
};

// What the credentials of a request permit.
struct Admission {
    bool may_administer = false;  // changes published files: slots are kept back for such requests
    std::string owner = {};       // whose request it is; empty: a stranger's
};

class ApiService {
  public:
    virtual ~ApiService() = default;
    // Both run on a pool thread and may block on the disk. Checks the credentials (401, 403), which of
    // operations without a token are in the body; otherwise before the body is read. A rejected client takes
    // no slot.
    [[nodiscard]] virtual Answered<Admission> admit(const ApiRequest& request) = 0;
    // Checks the credentials again, and their scope: a token may have been revoked in between.
    [[nodiscard]] virtual Answered<ApiReply> answer(const ApiRequest& request) = 0;
};

[[nodiscard]] std::string render_openapi(Operations api);

}  // namespace wheelyard::http
