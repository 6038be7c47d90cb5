// The routes beside the API, in the order of the OpenAPI document.
#include <array>

#include "lib/status/documents.hpp"
#include "registry/http/api.hpp"
#include "registry/http/reply.hpp"

namespace wheelyard::http {

namespace {

constexpr std::string_view any_page = "text/html";
constexpr std::string_view bytes = "application/octet-stream";
constexpr std::string_view json = "application/json";
constexpr std::string_view text = "text/plain";

constexpr Argument page_form{{.name = "format", .meaning = "The form of the page (PEP 691)"}, In::query};
constexpr std::array page_arguments{page_form};

// Documents of others; PyPI's have no version.
io::Document pypi_provenance() {
    return {.name = "pypi.provenance"};
}
io::Document pypi_project() {
    return {.name = "pypi.project"};
}
io::Document openapi() {
    return {.name = "openapi.document"};
}

constexpr Operation answered(io::Document (*answer)(), Operation operation) {
    operation.answer = answer;
    return operation;
}

constexpr std::array rows{
    Operation{"GET", "/", "listIndexes", "Lists the indexes of this registry as HTML", any_page},
    Operation{"GET", "/healthz", "isAlive", "Returns 200 while the process responds", text},
    Operation{"GET", "/readyz", "isReady",
              "Returns 200 while uploads become installable, otherwise 503 with the reason", text},
    Operation{"GET", "/metrics", "readMetrics", "Counters and gauges in the Prometheus text format", text},
    Operation{"GET", "/api/v1/", "showOperatorsPage",
              "The page for operators: nodes, files in quarantine, tokens, the last changes", any_page},
    answered(openapi, Operation{"GET", "/api/v1/openapi.json", "readOpenApi", "This document", json}),
    Operation{"GET", "/api/v1/login/", "showLoginPage", "The page on which people log in", any_page},
    Operation{"GET", "/api/v1/login/{identity}/", "showLoginReturn",
              "The page to which a provider sends a browser back", any_page},
    Operation{"GET", "/{index}/", "showIndex", "Explains how to use an index, as HTML", any_page},
    Operation{"GET", "/{index}/simple/", "listProjects", "The root page (PEP 503, PEP 691)", any_page,
              BodyKind::none, false, page_arguments},
    Operation{"GET", "/{index}/simple/{project}/", "listFiles", "A project's page (PEP 503, PEP 691)",
              any_page, BodyKind::none, false, page_arguments},
    Operation{"GET", "/{index}/find-links/", "listAllFiles",
              "Every file that an index has, as one page of links for --find-links", any_page},
    Operation{"GET", "/{index}/files/{prefix}/{sha256}/{filename}", "readFile",
              "Returns a wheel; its METADATA if the name ends in .metadata (PEP 658), its provenance if in "
              ".prov, its attestations if in .pep740",
              bytes},
    Operation{"GET", "/packages/{index}/{prefix}/{sha256}/{filename}", "readPackage",
              "The same as readFile, under the path that bandersnatch expects", bytes},
    answered(pypi_provenance, Operation{"GET", "/{index}/integrity/{project}/{version}/{filename}/provenance",
                                        "readAttestations",
                                        "The attestations of a file, as PyPI serves them (PEP 740)", json}),
    answered(pypi_project,
             Operation{"GET", "/{index}/pypi/{project}/json", "showProject",
                       "A project and its newest version in the form of PyPI's JSON API", json}),
    answered(pypi_project, Operation{"GET", "/{index}/pypi/{project}/{version}/json", "showVersion",
                                     "The same for one version", json}),
    Operation{"GET", "/{index}/simple/catalogue.txt", "readCatalogue",
              "All wheels of an index with their compatibility data, for avail_wheels", text},
    answered(status::index_status_document,
             Operation{"GET", "/{index}/status.json", "readStatus",
                       "The last report of each site of an index (status.json of the published tree)", json}),
    answered(uploaded_document,
             Operation{"POST", "/{index}/legacy/", "upload", "Uploads a wheel with the form that twine sends",
                       json, BodyKind::form, true}),
    Operation{"POST", "/{index}/uploads/", "createUpload",
              "Starts a resumable upload of a form with Upload-Length bytes", text, BodyKind::none, true},
    Operation{"HEAD", "/{index}/uploads/{upload}", "findUpload",
              "Returns how many bytes of a resumable upload are durable (Upload-Offset)", text,
              BodyKind::none, true},
    answered(uploaded_document,
             Operation{"PATCH", "/{index}/uploads/{upload}", "appendUpload",
                       "Appends at Upload-Offset; the last part gets the response of a normal upload", json,
                       BodyKind::bytes, true}),
    Operation{"DELETE", "/{index}/uploads/{upload}", "dropUpload", "Deletes an unfinished resumable upload",
              text, BodyKind::none, true},
};

}  // namespace

Operations page_operations() {
    return rows;
}

}  // namespace wheelyard::http
