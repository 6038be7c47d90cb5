// The meaning of request targets. Pure, no I/O.
//
//     /                                          the list of indexes
//     /healthz  /readyz  /metrics                for monitoring
//     /api/v1/                                   the page for operators
//     /api/v1/…                                  the operations with this prefix (registry/api/)
//     /_/oidc/…                                  how jobs get a token, where their clients look for it
//     /<index>/                                  how to use this index
//     /<index>/simple/                           root page         (PEP 503, PEP 691)
//     /<index>/simple/<project>/                 project page; non-normalized names redirect
//     /<index>/simple/[<project>/]index.html     the same in a fixed form, as a static server has it
//     (index.json too)
//     /<index>/simple/<project>/<sha256>/<name>-<version>-variants.json   what a version's variants are (PEP 825)
//     /<index>/files/ab/<sha256>/<filename>[.metadata]
//     /packages/<index>/ab/<sha256>/<filename>   the same file, under the path that bandersnatch expects
//     /<index>/find-links/                        the page of every file, for --find-links
//     /<index>/pypi/<project>/[<version>/]json    PyPI's JSON API
//     /<index>/project/[<project>/]               the web UI; search.json and feed.xml beside them
//     /<index>/builds/                            what the sites of the index report, for people
//     /style.<hash>.css, /live.<hash>.js, …       what these pages load
//     /<index>/simple/wheel_list[-delta].txt      the list for avail_wheels
//     /<index>/status.json                       what the sites of the index report
//     /<index>/legacy/                           uploads, with or without the final slash (twine follows no
//     redirect)
//     /<index>/uploads/[<id>]                    resumable uploads (upload.hpp)
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
    operators,  // the page for operators, whose script uses the API
    login,      // the pages on which people log in, likewise
    api,
    index_front,
    root_page,
    project_page,
    file,
    web_page,  // a page of the web UI in the published tree, or its data
    asset,     // the style sheet and the scripts of these pages
    listing,   // a text file of the published tree that is neither a page of the Simple API nor of the web UI
    pypi_json,  // a project in PyPI's JSON form
    integrity,  // the attestations of a file (PEP 740), as PyPI serves them
    upload,
    resumable,       // creates resumable uploads
    resumable_part,  // an existing resumable upload
    redirect,
};

struct Route {
    RouteKind kind = RouteKind::front;
    std::string index = {};
    std::string project = {};  // normalized; of a file: only of a version's variants
    std::string version = {};  // pypi_json: normalized; empty: the newest
    std::string sha256 = {};   // of the requested file
    std::string filename =
        {};  // including ".metadata"; for a listing or a page of the web UI its path below the index
    std::optional<PageForm> form = {};  // from the path or ?format=; else the Accept header decides
    bool names_page_file = false;       // index.html or index.json: the page as the published tree has it
    std::string upload_id = {};         // of a resumable upload
    std::string location = {};          // target of a redirect: absolute path, percent-encoded
    std::string_view api_path = {};     // api: Operation::path of the matching rows
    std::map<std::string, std::string, std::less<>> parameters = {};  // values of the {name}s
    std::string query = {};                                           // api: query as sent
};

// Clients that publish from continuous integration ask below it, whatever the index; no index is named so.
inline constexpr std::string_view publishing_root = "/_/oidc/";

// Malformed targets return 400 ("request.target"), too long ones 414, unknown paths 404
// ("request.not_found"), an unsupported ?format= 406. Does not check whether an index exists.
[[nodiscard]] Answered<Route> parse_target(std::string_view target, Operations api = {});

// The value of Allow (RFC 9110 §10.2.1), such as "GET, HEAD" or "POST".
[[nodiscard]] std::string allowed_methods(const Route& route, Operations api = {});

// The operation for `method` at an API path; nullptr if the method is not allowed there. HEAD counts as GET.
[[nodiscard]] const Operation* find_operation(Operations api, std::string_view method,
                                              std::string_view api_path);

// The route's name in metrics and logs: "page", "file", "upload", …
[[nodiscard]] std::string_view name_of(RouteKind kind);
inline constexpr std::size_t route_kinds = static_cast<std::size_t>(RouteKind::redirect) + 1;

}  // namespace wheelyard::http
