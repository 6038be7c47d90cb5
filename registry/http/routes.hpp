// What a request target means: knowledge only, no I/O.
//
//     /                                          the list of indexes
//     /healthz  /readyz  /metrics                for monitoring
//     /api/v1/…                                  the rows of operations.cpp that begin so
//     /<index>/                                  what to type to use this index
//     /<index>/simple/                           root page         (PEP 503, PEP 691)
//     /<index>/simple/<project>/                 project page; other spellings of the name redirect
//     /<index>/simple/[<project>/]index.html     the same in one form, as a static server shows it
//     (index.json too)
//     /<index>/files/ab/<sha256>/<filename>[.metadata]
//     /<index>/events/<file>                      the published event log: what followers read
//     /<index>/simple/catalogue[-delta].txt      what avail_wheels reads
//     /<index>/legacy/                           uploads, with or without the last slash (twine follows no
//     redirect)
//     /<index>/uploads/[<id>]                    resumable uploads (resumable.hpp)
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "registry/http/api.hpp"
#include "registry/http/negotiation.hpp"
#include "registry/http/upload.hpp"

namespace wheelyard::http {

enum class RouteKind {
    front,
    health,
    readiness,
    metrics,
    openapi,
    api,
    index_front,
    root_page,
    project_page,
    file,
    listing,  // a text file of the published tree that is no page
    upload,
    resumable,       // where resumable uploads are made
    resumable_part,  // one of them
    redirect,
};

struct Route {
    RouteKind kind = RouteKind::front;
    std::string index = {};
    std::string project = {};   // normalised
    std::string sha256 = {};    // of the file that the URL names
    std::string filename = {};  // with ".metadata" where asked for; of a listing: its path below the index
    std::optional<PageForm> form = {};  // named by the path or by ?format=; else the Accept header chooses
    std::string upload_id = {};         // of a resumable upload
    std::string location = {};          // where a redirect leads: an absolute path, percent-encoded
    std::string_view api_path = {};     // of an API's address: the path of its rows in operations.cpp
    std::map<std::string, std::string, std::less<>> parameters = {};  // what stands for {name} in it
    std::string query = {};                                           // of an API's address, as sent
};

// Malformed targets are 400 ("request.target"), too long ones 414, unknown places 404 ("request.not_found"),
// a ?format= that we do not speak 406. Whether an index exists is not known here.
[[nodiscard]] Answered<Route> parse_target(std::string_view target);

// "GET, HEAD" or "POST": the value of Allow (RFC 9110 §10.2.1).
[[nodiscard]] std::string allowed_methods(const Route& route);

// The operation that `method` asks for at an API's address; nullptr: not allowed there. HEAD is GET.
[[nodiscard]] const Operation* find_operation(std::string_view method, std::string_view api_path);

// The route's name in metrics and logs: "page", "file", "upload", …
[[nodiscard]] std::string_view name_of(RouteKind kind);
inline constexpr std::size_t route_kinds = static_cast<std::size_t>(RouteKind::redirect) + 1;

}  // namespace wheelyard::http
