// The table of operations: every address that this server answers, in the order of
// docs/reference/openapi.json.
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
    Operation{"POST", "/api/v1/indexes/{index}/files/{filename}/yank", "yankFile", "Yanks a file (PEP 592)",
              json, true, true},
    Operation{"POST", "/api/v1/indexes/{index}/files/{filename}/unyank", "unyankFile", "Takes a yank back",
              json, true, true},
    Operation{"POST", "/api/v1/indexes/{index}/files/{filename}/delete", "deleteFile",
              "Deletes a file; its name is never used again", json, true, true},
    Operation{"POST", "/api/v1/indexes/{index}/files/{filename}/quarantine", "quarantineFile",
              "Stops showing and serving a file, and keeps it", json, true, true},
    Operation{"POST", "/api/v1/indexes/{index}/files/{filename}/release", "releaseFile",
              "Shows and serves a quarantined file again", json, true, true},
    Operation{"POST", "/api/v1/indexes/{index}/files/{filename}/pin", "pinFile", "Lets nobody delete a file",
              json, true, true},
    Operation{"POST", "/api/v1/indexes/{index}/files/{filename}/unpin", "unpinFile",
              "Lets a file be deleted again", json, true, true},
    Operation{"POST", "/api/v1/indexes/{index}/files/{filename}/promote", "promoteFile",
              "Lets a file appear in another index too", json, true, true},
    Operation{"POST", "/api/v1/indexes/{index}/projects/{project}/status", "setProjectStatus",
              "Sets a project's status (PEP 792)", json, true, true},
    Operation{"POST", "/api/v1/indexes/{index}/retain", "applyRetention",
              "Deletes all but the newest versions of each series", json, true, true},
    Operation{"POST", "/api/v1/gc", "collectBlobs", "Removes stored bytes that no file refers to", json, true,
              true},
    Operation{"GET", "/api/v1/audit", "readAudit", "Who changed what, when and why, after a serial", json,
              false, true},
    Operation{"POST", "/api/v1/tasks", "addTask",
              "Asks for a wheel to be built; asked for already: that task", json, true, true},
    Operation{"GET", "/api/v1/tasks", "listTasks",
              "Tasks in the order in which they were asked for, without their outcomes", json, false, true},
    Operation{
        "POST", "/api/v1/tasks/claim", "claimTask",
        "Gives an agent a task that fits it, with a lease and a grant; the same claim again is the same",
        json, true, true},
    Operation{"GET", "/api/v1/tasks/{task}", "showTask", "A task, and its outcome once it has one", json,
              false, true},
    Operation{"POST", "/api/v1/tasks/{task}/cancel", "cancelTask", "Cancels a task; its lease ends", json,
              true, true},
    Operation{"POST", "/api/v1/tasks/{task}/heartbeat", "renewLease", "Renews the lease of a claimed task",
              json, true, true},
    Operation{"POST", "/api/v1/tasks/{task}/log", "appendTaskLog",
              "Appends to the log of a claimed task: ?claim=…&offset=…", json, true, true},
    Operation{"GET", "/api/v1/tasks/{task}/log", "readTaskLog",
              "A task's log: ?offset=…, and ?attempt=… for another than the latest", text, false, true},
    Operation{"POST", "/api/v1/tasks/{task}/outcome", "endTask", "Ends a claimed task with its outcome", json,
              true, true},
    Operation{"GET", "/{index}/", "showIndex", "What to type to use an index, for people", any_page},
    Operation{"GET", "/{index}/simple/", "listProjects", "The root page (PEP 503, PEP 691)", any_page},
    Operation{"GET", "/{index}/simple/{project}/", "listFiles", "A project's page (PEP 503, PEP 691)",
              any_page},
    Operation{"GET", "/{index}/files/{prefix}/{sha256}/{filename}", "readFile",
              "A wheel, or its METADATA where the name ends in .metadata (PEP 658)", bytes},
    Operation{"GET", "/{index}/events/{file}", "readEvents",
              "The published event log of an index, tail.tsv and what it names: for followers", text},
    Operation{"GET", "/{index}/simple/catalogue.txt", "readCatalogue",
              "All wheels of an index with what decides where they run: for avail_wheels", text},
    Operation{"POST", "/{index}/legacy/", "upload", "Uploads a wheel by the form that twine sends", json,
              true, true},
    Operation{"POST", "/{index}/uploads/", "createUpload",
              "Begins a resumable upload of Upload-Length bytes of the form", text, false, true},
    Operation{"HEAD", "/{index}/uploads/{upload}", "findUpload",
              "How much of a resumable upload is durable: Upload-Offset", text, false, true},
    Operation{"PATCH", "/{index}/uploads/{upload}", "appendUpload",
              "Appends at Upload-Offset; the last part is answered as an upload at once", json, true, true},
    Operation{"DELETE", "/{index}/uploads/{upload}", "dropUpload", "Gives a resumable upload up", text, false,
              true},
};

}  // namespace

std::span<const Operation> operations() {
    return rows;
}

}  // namespace wheelyard::http
