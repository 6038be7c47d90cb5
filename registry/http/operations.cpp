// The table of operations: every address that this server answers, in the order of docs/openapi.json.
#include <array>

#include "registry/http/api.hpp"

namespace wheelyard::http {

namespace {

constexpr std::string_view any_page = "text/html";
constexpr std::string_view bytes = "application/octet-stream";
constexpr std::string_view json = "application/json";
constexpr std::string_view text = "text/plain";

constexpr std::array rows{
    Operation{"GET", "/", "listIndexes", "The indexes of this registry, for people", any_page},
    Operation{"GET", "/healthz", "isAlive", "200 while the process answers", text},
    Operation{"GET", "/readyz", "isReady", "200 while uploads become installable, else 503 and why", text},
    Operation{"GET", "/metrics", "readMetrics", "Counters and gauges in Prometheus' text form", text},
    Operation{"GET", "/api/v1/openapi.json", "readOpenApi", "This document", json},
    Operation{"GET", "/{index}/", "showIndex", "What to type to use an index, for people", any_page},
    Operation{"GET", "/{index}/simple/", "listProjects", "The root page (PEP 503, PEP 691)", any_page},
    Operation{"GET", "/{index}/simple/{project}/", "listFiles", "A project's page (PEP 503, PEP 691)",
              any_page},
    Operation{"GET", "/{index}/files/{prefix}/{sha256}/{filename}", "readFile",
              "A wheel, or its METADATA where the name ends in .metadata (PEP 658)", bytes},
    Operation{"POST", "/{index}/legacy/", "upload", "Uploads a wheel by the form that twine sends", json,
              true, true},
};

}  // namespace

std::span<const Operation> operations() {
    return rows;
}

}  // namespace wheelyard::http
