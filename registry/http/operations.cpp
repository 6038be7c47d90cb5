// The table of operations: every route of this server, in the order of docs/reference/openapi.json.
#include <array>

#include "registry/http/api.hpp"

namespace wheelyard::http {

namespace {

constexpr std::string_view any_page = "text/html";
constexpr std::string_view bytes = "application/octet-stream";
constexpr std::string_view json = "application/json";
constexpr std::string_view text = "text/plain";

constexpr std::array rows{
    Operation{"GET", "/", "listIndexes", "Lists the indexes of this registry as HTML", any_page},
    Operation{"GET", "/healthz", "isAlive", "Returns 200 while the process responds", text},
    Operation{"GET", "/readyz", "isReady",
              "Returns 200 while uploads become installable, otherwise 503 with the reason", text},
    Operation{"GET", "/metrics", "readMetrics", "Counters and gauges in the Prometheus text format", text},
    Operation{"GET", "/api/v1/openapi.json", "readOpenApi", "This document", json},
    Operation{"POST", "/api/v1/indexes/{index}/files/{filename}/yank", "yankFile", "Yanks a file (PEP 592)",
              json, true, true},
    Operation{"POST", "/api/v1/indexes/{index}/files/{filename}/unyank", "unyankFile",
              "Removes the yank of a file", json, true, true},
    Operation{"POST", "/api/v1/indexes/{index}/files/{filename}/delete", "deleteFile",
              "Deletes a file; its name is never used again", json, true, true},
    Operation{"POST", "/api/v1/indexes/{index}/files/{filename}/quarantine", "quarantineFile",
              "Stops listing and serving a file but keeps it", json, true, true},
    Operation{"POST", "/api/v1/indexes/{index}/files/{filename}/release", "releaseFile",
              "Lists and serves a quarantined file again", json, true, true},
    Operation{"POST", "/api/v1/indexes/{index}/files/{filename}/pin", "pinFile",
              "Protects a file from deletion", json, true, true},
    Operation{"POST", "/api/v1/indexes/{index}/files/{filename}/unpin", "unpinFile",
              "Permits the deletion of a file again", json, true, true},
    Operation{"POST", "/api/v1/indexes/{index}/files/{filename}/promote", "promoteFile",
              "Adds a file to another index", json, true, true},
    Operation{"GET", "/api/v1/indexes/{index}/files/{filename}/provenance", "readProvenance",
              "Returns what made a wheel, as its uploader stated it", json, false, true},
    Operation{"POST", "/api/v1/indexes/{index}/projects/{project}/status", "setProjectStatus",
              "Sets a project's status (PEP 792)", json, true, true},
    Operation{"GET", "/api/v1/indexes/{index}/projects/{project}/explain", "explainProject",
              "Explains which index or upstream supplies a project, and why", json, false, true},
    Operation{"POST", "/api/v1/indexes/{index}/retain", "applyRetention",
              "Deletes all but the newest versions of each series", json, true, true},
    Operation{"POST", "/api/v1/gc", "collectBlobs", "Removes stored bytes that no file refers to", json, true,
              true},
    Operation{"GET", "/api/v1/indexes/{index}/access", "showAccess",
              "Returns what the token of the request may do in an index", json, false, true},
    Operation{"GET", "/api/v1/audit", "readAudit", "Lists changes after a serial: who, what, when and why",
              json, false, true},
    Operation{"POST", "/api/v1/tokens", "createToken",
              "Creates a token with at most the scope of the caller's, and returns its text once", json, true,
              true},
    Operation{"GET", "/api/v1/tokens", "listTokens",
              "Lists the tokens within the scope of the caller's, without secrets", json, false, true},
    Operation{"POST", "/api/v1/tokens/{token}/revoke", "revokeToken",
              "Revokes a token within the scope of the caller's, or the caller's own", json, true, true},
    Operation{"GET", "/api/v1/sites", "listSites", "Lists the sites that report, and which of them are late",
              json, false, true},
    Operation{"GET", "/api/v1/indexes/{index}/sites/{site}", "showSite",
              "Returns the last report of a site: what it wants, has, builds and lacks", json, false, true},
    Operation{"PUT", "/api/v1/indexes/{index}/sites/{site}", "reportSite",
              "Keeps the report of a site's agent and shows it in the status of the index", json, true, true,
              max_report_body_bytes},
    Operation{"POST", "/api/v1/tasks", "addTask",
              "Requests the build of a wheel; returns the existing task if there is one", json, true, true},
    Operation{"GET", "/api/v1/tasks", "listTasks",
              "Lists tasks in the order of their requests, without outcomes", json, false, true},
    Operation{"POST", "/api/v1/tasks/claim", "claimTask",
              "Assigns a matching task to an agent, with a lease and a grant; idempotent for one claim id",
              json, true, true},
    Operation{"GET", "/api/v1/tasks/{task}", "showTask", "Returns a task, with its outcome once it has one",
              json, false, true},
    Operation{"POST", "/api/v1/tasks/{task}/cancel", "cancelTask", "Cancels a task; its lease ends", json,
              true, true},
    Operation{"POST", "/api/v1/tasks/{task}/heartbeat", "renewLease", "Renews the lease of a claimed task",
              json, true, true},
    Operation{"POST", "/api/v1/tasks/{task}/log", "appendTaskLog",
              "Appends to the log of a claimed task (?claim=…&offset=…)", json, true, true},
    Operation{"GET", "/api/v1/tasks/{task}/log", "readTaskLog",
              "Returns a task's log (?offset=…; ?attempt=… for another attempt than the latest)", text, false,
              true},
    Operation{"POST", "/api/v1/tasks/{task}/outcome", "endTask", "Ends a claimed task with its outcome", json,
              true, true},
    Operation{"GET", "/{index}/", "showIndex", "Explains how to use an index, as HTML", any_page},
    Operation{"GET", "/{index}/simple/", "listProjects", "The root page (PEP 503, PEP 691)", any_page},
    Operation{"GET", "/{index}/simple/{project}/", "listFiles", "A project's page (PEP 503, PEP 691)",
              any_page},
    Operation{
        "GET", "/{index}/files/{prefix}/{sha256}/{filename}", "readFile",
        "Returns a wheel; its METADATA if the name ends in .metadata (PEP 658), its provenance if in .prov",
        bytes},
    Operation{"GET", "/packages/{index}/{prefix}/{sha256}/{filename}", "readPackage",
              "The same as readFile, under the path that bandersnatch expects", bytes},
    Operation{"GET", "/{index}/pypi/{project}/json", "showProject",
              "A project and its newest version in the form of PyPI's JSON API", json},
    Operation{"GET", "/{index}/pypi/{project}/{version}/json", "showVersion", "The same for one version",
              json},
    Operation{"GET", "/{index}/events/{file}", "readEvents",
              "The published event log of an index: tail.tsv and the files that it names", text},
    Operation{"GET", "/{index}/simple/catalogue.txt", "readCatalogue",
              "All wheels of an index with their compatibility data, for avail_wheels", text},
    Operation{"GET", "/{index}/status.json", "readStatus",
              "The last report of each site of an index (status.json of the published tree)", json},
    Operation{"POST", "/{index}/legacy/", "upload", "Uploads a wheel with the form that twine sends", json,
              true, true},
    Operation{"POST", "/{index}/uploads/", "createUpload",
              "Starts a resumable upload of a form with Upload-Length bytes", text, false, true},
    Operation{"HEAD", "/{index}/uploads/{upload}", "findUpload",
              "Returns how many bytes of a resumable upload are durable (Upload-Offset)", text, false, true},
    Operation{"PATCH", "/{index}/uploads/{upload}", "appendUpload",
              "Appends at Upload-Offset; the last part gets the response of a normal upload", json, true,
              true},
    Operation{"DELETE", "/{index}/uploads/{upload}", "dropUpload", "Deletes an unfinished resumable upload",
              text, false, true},
};

}  // namespace

std::span<const Operation> operations() {
    return rows;
}

}  // namespace wheelyard::http
