// What a request target means: knowledge only, no I/O.
//
//     /                                          the list of indexes
//     /healthz  /readyz                          for monitoring
//     /<index>/                                  what to type to use this index
//     /<index>/simple/                           root page         (PEP 503, PEP 691)
//     /<index>/simple/<project>/                 project page; other spellings of the name redirect
//     /<index>/simple/[<project>/]index.html     the same in one form, as a static server shows it
//     (index.json too)
//     /<index>/files/ab/<sha256>/<filename>[.metadata]
//     /<index>/legacy/                           uploads, with or without the last slash (twine follows no
//     redirect)
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "registry/http/negotiation.hpp"
#include "registry/http/upload.hpp"

namespace wheelyard::http {

enum class RouteKind {
    front,
    health,
    readiness,
    index_front,
    root_page,
    project_page,
    file,
    upload,
    redirect,
};

struct Route {
    RouteKind kind = RouteKind::front;
    std::string index = {};
    std::string project = {};           // normalised
    std::string sha256 = {};            // of the file that the URL names
    std::string filename = {};          // with ".metadata" where asked for
    std::optional<PageForm> form = {};  // named by the path or by ?format=; else the Accept header chooses
    std::string location = {};          // where a redirect leads: an absolute path, percent-encoded
};

// Malformed targets are 400 ("request.target"), too long ones 414, unknown places 404 ("request.not_found"),
// a ?format= that we do not speak 406. Whether an index exists is not known here.
[[nodiscard]] Answered<Route> parse_target(std::string_view target);

// "GET, HEAD" or "POST": the value of Allow (RFC 9110 §10.2.1).
[[nodiscard]] std::string_view allowed_methods(RouteKind kind);

}  // namespace wheelyard::http
