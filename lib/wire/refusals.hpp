// Every refusal of the registry's HTTP interface: its code, its status, what is refused with it, and when.
// The tables of codes in docs/reference are generated from these rows (tests/wire/refusals_test.cpp).
//
//     return wire::refuse("upload.no_offset", "Upload-Offset is required", …);    // an answer
//     return wire::fail("task.cancelled", "The task was cancelled", …);           // an error, for the API and commands
//
// A code without a row does not compile.
#pragma once

#include <string>
#include <string_view>

namespace wheelyard::wire {

// What is refused, one bit each: a table of docs/reference has the rows of one.
enum class Refused : unsigned {
    any = 1,  // any request
    page = 2,
    upload = 4,
    change = 8,  // of files and projects
    token = 16,
    index = 32,
    task = 64,
    report = 128,  // of a site
};
constexpr Refused operator|(Refused a, Refused b) {
    return static_cast<Refused>(static_cast<unsigned>(a) | static_cast<unsigned>(b));
}
constexpr bool has(Refused all, Refused one) {
    return (static_cast<unsigned>(all) & static_cast<unsigned>(one)) != 0;
}

struct RefusalRow {
    Refused refused;
    int status;
    std::string_view code;
    std::string_view when;  // Markdown, and what to do where a client can do something
};

namespace refused {
inline constexpr Refused any = Refused::any;
inline constexpr Refused page = Refused::page;
inline constexpr Refused upload = Refused::upload;
inline constexpr Refused change = Refused::change;
inline constexpr Refused token = Refused::token;
inline constexpr Refused index = Refused::index;
inline constexpr Refused task = Refused::task;
inline constexpr Refused report = Refused::report;
inline constexpr Refused api = change | token | index | task | report;

// In the order of the documents. A code has several rows where it has several statuses.
// clang-format off
inline constexpr RefusalRow rows[] = {
    {any, 400, "request.malformed", "no HTTP/1.1, or a head that breaks RFC 9112"},
    {any, 400, "request.target", "the address has characters or an encoding that no URL has"},
    {any | upload, 400, "request.chunk", "a chunked body breaks RFC 9112"},
    {api, 400, "request.arguments", "an argument in the address is none"},
    {any, 403, "request.other_site", "a page of another site made the browser send this change"},
    {any, 404, "request.not_found", "no such address"},
    {any, 404, "api.absent", "the server has no API"},
    {any, 405, "request.method", "the address does not support the method"},
    {any, 501, "request.method", "HTTP has no such method"},
    {any | upload, 408, "request.timeout", "the head or the body stopped arriving"},
    {any | report, 413, "api.body_too_large", "the body is larger than the operation takes; of a report: more than 256 KiB"},
    {any, 414, "request.target_too_long", "the address is longer than any of the server"},
    {any, 417, "request.expectation", "only `100-continue`"},
    {any, 431, "request.head_too_large", "the head is too large"},
    {any, 500, "server.internal", "internal error; see the server log for this request ID"},
    {any, 501, "request.transfer_encoding", "only `chunked`"},
    {any, 501, "request.operation", "an operation that only newer servers have"},
    {any, 503, "server.connections", "too many connections; try again shortly"},
    {any, 503, "server.busy", "too many open files; try again shortly"},
    {any, 503, "api.busy", "too many requests to the API; try again shortly"},
    {any | upload, 503, "node.reads_only", "of several nodes the database answers none, and they only read (`read_without_database_s`); try again in a few seconds"},
    {any | upload, 503, "node.no_writer", "of several nodes none accepts changes now, or the one that does cannot be reached; try again in a few seconds"},
    {any | upload, 503, "node.busy", "too many requests that another node answers; try again shortly"},
    {any, 505, "request.version", "neither HTTP/1.0 nor HTTP/1.1"},

    {page, 404, "file.not_found", "the index has no such project or file"},
    {page, 404, "index.no_pages", "the index has no web UI (`pages = false`)"},
    {page, 406, "page.format", "pages have no such `?format=`"},
    {page, 406, "page.not_acceptable", "pages are HTML or `application/vnd.pypi.simple.v1+json`"},
    {page, 416, "file.range", "the range begins after the end of the file"},
    {page, 503, "file.store", "the store that has the file's bytes does not answer; try again shortly"},
    {page, 503, "node.no_lease", "of several nodes this one may have old pages; try again in a few seconds, or at another node"},
    {page, 503, "server.files", "too many downloads; try again shortly"},
    {page, 503, "index.moving", "who may read the index has changed, and its pages are being published; try again shortly"},
    {page, 404, "upstream.denied", "the configuration of the index does not permit the project"},
    {page, 404, "upstream.kept", "the upstream that supplied the project no longer has it, and no other one may supply it"},
    {page, 404, "upstream.quarantined", "the file of the upstream is in quarantine"},
    {page, 404, "upstream.attestations", "the upstream's attestations of the file do not hold, or it has none; `value` begins with the [reason](attestations.md#reasons)"},
    {page, 404, "upstream.missing", "the upstream's page lists the file, but the upstream answers 404 or 410 for it, for its METADATA, or for what its title names; the URL is in `detail` unless it is one of the site's network"},
    {page, 502, "upstream.status", "the upstream denies what it was asked for: 401, 403 or another status that asking again does not change; likewise with the URL"},
    {page, 502, "upstream.hash", "the upstream sent bytes with another hash than its page states"},
    {page, 502, "upstream.size", "the upstream sent another number of bytes than its page states"},
    {page, 502, "upstream.too_large", "the file is larger than `max_file_mib` of the index"},
    {page, 502, "upstream.redirect", "the upstream redirects to a host that the index does not permit"},
    {page, 502, "upstream.refused", "the index's policy refuses the upstream's file; `detail` has the findings"},
    {page, 503, "upstream.busy", "too many requests wait for upstreams; try again shortly"},
    {page, 508, "upstream.loop", "the registry from which the request comes would have to be asked for it"},
    {page, 503, "upstream.late", "the upstream has not sent this yet; try again shortly"},
    {page, 503, "upstream.unavailable", "the upstream does not answer, and no older page is kept; try again shortly"},

    {page | upload | api, 401, "auth.missing", "no credentials, or none that can be read; with `WWW-Authenticate`"},
    {upload | api, 403, "auth.token_refused", "unknown, expired or revoked token"},
    {page, 401, "auth.token_refused", "unknown, expired or revoked token; with `WWW-Authenticate`"},
    {page | upload | api, 401, "auth.login_ended", "the token is that of a person's [log-in](../how-to/log-in.md), which has ended: log in again"},
    {change | token | index | task | report, 403, "auth.scope_refused", "the token does not permit this operation, index or project"},
    {upload, 403, "auth.index_refused", "the token is not for uploads to this index"},
    {upload, 403, "auth.project_refused", "the token is not for this project; refused before the file's bytes are read"},
    {upload | task, 403, "auth.version_refused", "the [task](task.md#the-upload) that the form names is for another project, version or Python; refused before the file's bytes are read"},
    {page | upload | change | index | task | report, 404, "index.unknown", "no such index, or a private one that the token may not read"},
    {page | upload | api, 503, "auth.unavailable", "the catalog cannot be read; try again in a minute"},
    {page, 503, "auth.busy", "only below private indexes: too many tokens are checked at once; try again"},

    {upload, 403, "index.archived", "the index takes no new files"},
    {change | task, 409, "index.archived", "the index keeps its files and takes no new ones by `promote`, `import` or tasks"},

    {upload, 411, "upload.length_required", "neither Content-Length nor chunks"},
    {upload, 413, "upload.too_large", "over the index's `max_file_mib`; by the declared length, or as soon as it is exceeded"},
    {upload, 413, "upload.form_too_large", "fields over 4 MiB each or 8 MiB together, more than 5,000 parts, a part's headers over 8 KiB, other files over 1 MiB"},
    {upload, 415, "upload.bad_form", "no `multipart/form-data`"},
    {upload, 400, "upload.bad_form", "no boundary; a form that breaks RFC 7578"},
    {upload, 400, "upload.body_cut", "the body ended before its closing boundary"},
    {upload, 400, "upload.no_action", "no `:action`"},
    {upload, 400, "upload.unknown_action", "the only `:action` is `file_upload`"},
    {upload, 410, "upload.action_retired", "`submit`, `submit_pkg_info`, `doc_upload`"},
    {upload, 400, "upload.unknown_protocol", "`protocol_version` is not 1"},
    {upload, 400, "upload.field_missing", "`name`, `version` or `filetype`"},
    {upload, 400, "upload.field_twice", "one of the fields of the form, with two values"},
    {upload, 400, "upload.sdist", "a source distribution, and the index has not `sdists = true`"},
    {upload, 400, "upload.sdist_archive", "a source distribution that is not a `.tar.gz`: `.zip`, `.tgz`, `.tar.bz2`, `.tar.xz`"},
    {upload, 400, "upload.filetype_differs", "`filetype` is not that of the file name"},
    {upload, 400, "upload.unknown_filetype", "neither wheel nor sdist"},
    {upload, 400, "upload.unknown_metadata_version", "1.0, 1.1, 1.2 and 2.0 to 2.6 are known"},
    {upload, 400, "upload.no_digest", "no digest at all"},
    {upload, 400, "upload.bad_digest", "not hex digits of the right length"},
    {upload, 400, "upload.digest_mismatch", "one of the digests differs from that of the bytes"},
    {upload, 400, "upload.no_content", "no file"},
    {upload, 400, "upload.content_twice", "two files"},
    {upload, 400, "upload.content_without_name", "the file has no file name"},
    {upload, 400, "upload.bad_filename", "not the file name of a wheel or a source distribution; control characters, spaces, `/`, `\\`, other than ASCII; over 246 bytes, since `.metadata` is appended for its METADATA"},
    {upload, 400, "upload.not_a_wheel", "the name does not end in `.whl`, nor in `.tar.gz` where the index takes source distributions"},
    {upload, 400, "upload.name_not_normalized", "the version in the file name is not in normal form (`filename.version_not_normalized`), or the policy refuses every other spelling (`filename.not_normalized`); the answer contains the correct name"},
    {upload, 400, "upload.name_differs", "the form's name is not that of the file name"},
    {upload, 400, "upload.version_differs", "the form's version is not that of the file name"},
    {upload, 400, "upload.attestations", "an [attestation](attestations.md) (PEP 740) does not hold; `value` begins with the reason"},
    {upload, 409, "upload.attestations_late", "the index has the file already, without attestations or with others: they come with the first upload only"},
    {upload | change, 403, "upload.not_attested", "the index takes the project's files from [other origins](attestations.md#what-an-index-may-require) only"},
    {upload, 400, "upload.provenance", "the provenance cannot be read, or is too large"},
    {upload, 400, "upload.provenance_of_another", "the provenance names another file or digest"},
    {upload, 403, "upload.provenance_site", "the token is that of an agent that [enrolled](../how-to/enrol-an-agent.md), and the provenance names another site than the agent's"},
    {upload, 405, "upload.wrong_url", "a POST to `/`, `/<index>/` or a page; the reason phrase names the right URL"},
    {upload, 422, "upload.quarantined", "stored, but kept in quarantine"},
    {upload, 400, "upload.name_was_deleted", "a deleted name is never used again"},
    {upload, 409, "upload.variants_differ", "a [variant wheel](../explanation/wheel-variants.md) that contradicts another one of the version: its variant.json, or the text of the version"},
    {upload, 409, "upload.name_taken", "the name has other bytes, or the index has the same project, version, build and tags in another spelling"},
    {upload, 403, "upload.quota", "the file does not fit into the [quota](registry-config.md#index) of the index or of the token; refused before the file's bytes are read where the quota is used up"},
    {upload, 403, "upload.project_closed", "the project's status in this index (archived, quarantined) takes no files"},
    {upload, 507, "upload.disk_full", "the disk has reached `min_free_mib`; before the body or during it"},
    {upload, 400, "upload.no_length", "a resumable upload without `Upload-Length`"},
    {upload, 400, "upload.no_offset", "a part without `Upload-Offset`"},
    {upload, 404, "upload.unknown", "no such resumable upload, or another token's"},
    {upload, 404, "upload.not_resumable", "the server supports no resumable uploads"},
    {upload, 409, "upload.wrong_offset", "the part has another offset than the server: ask with HEAD"},
    {upload, 409, "upload.in_progress", "another part is being received: ask with HEAD"},
    {upload, 429, "upload.too_many", "the token has 16 unfinished resumable uploads: finish some, or `DELETE` them"},
    {upload, 413, "upload.past_length", "the part goes past `Upload-Length`"},
    {upload, 503, "upload.busy", "too many uploads at once; try again"},
    {upload, 503, "upload.no_database", "the registry's database does not answer; nothing was published; try again"},
    {upload, 503, "upload.outcome_unknown", "the registry's database did not say whether it kept the file; send it again: the answer says whether it is there"},
    {upload, 503, "upload.token_busy", "too many uploads of this token at once; try again when one has ended"},
    {upload, 503, "upload.page_lags", "stored and committed, but the page is not written yet: send it again until the answer is 200"},
    {upload, 500, "upload.failed", "internal error; see the server log for this request ID"},

    {change, 400, "lifecycle.body", "not the format of the change, or a member has the wrong type"},
    {change, 400, "lifecycle.set", "more than 100 files in one promotion"},
    {change, 400, "lifecycle.reason", "not one line of at most 500 bytes"},
    {change, 400, "lifecycle.reason_missing", "the change needs a reason"},
    {change, 400, "lifecycle.to", "a promotion names another index than the file's"},
    {change, 400, "lifecycle.keep", "a retention rule keeps at least one version of a series"},
    {change, 400, "lifecycle.grace", "shorter than an hour, or too long"},
    {change, 400, "lifecycle.newest", "`newest` is not a number of events, at most 1000"},
    {change, 400, "audit.query", "a part of the audit log's filter is over 200 bytes, or no time or serial"},
    {change, 400, "contains.component", "`component` is missing, or it or `version` has more than 200 bytes"},
    {change, 400, "files.state", "`state` is `quarantined` or `active`"},
    {change, 400, "explain.name", "not the name of a project"},
    {change, 400, "torch_fit.names", "`torch` is no file name of a wheel of torch, or the file is no wheel"},
    {change, 403, "lifecycle.own_file", "the token that uploaded a file must not promote it"},
    {change, 404, "lifecycle.no_such_file", "the index has no such file"},
    {change, 404, "lifecycle.no_such_project", "the index has no such project"},
    {change, 404, "file.unknown", "the index has no such file, whose provenance or bill of materials was asked for"},
    {change, 404, "provenance.none", "the file was uploaded without provenance"},
    {change, 409, "lifecycle.pinned", "the file is pinned: unpin it first"},
    {change, 409, "lifecycle.quarantined", "the file is in quarantine: release it first"},
    {change, 409, "lifecycle.name_taken", "the other index has other bytes under this name, or another spelling of it"},
    {change, 409, "lifecycle.name_was_deleted", "a deleted name is never used again"},
    {change, 409, "lifecycle.project_closed", "the project's status there takes no files"},
    {change, 409, "lifecycle.sdist", "the other index takes no source distributions"},
    {change, 409, "lifecycle.variant", "the other index takes no variant wheels"},
    {change, 409, "lifecycle.variants_differ", "variant.json, or the text of the version, contradicts another wheel that the version has in the other index"},
    {change, 409, "lifecycle.too_many_marks", "this upstream has as many marks as there may be"},
    {change, 409, "lifecycle.said_of_another", "this was said of another name: of the version, or of a file alone"},
    {change, 409, "lifecycle.cannot_load", "the other index has [`torch.cannot_load`](facts.md#with-the-torch-of-an-index) in its policy, and none of its torches can load the wheel"},
    {change, 409, "lifecycle.would_publish", "the file's index is private, and the other one is not"},
    {change, 409, "lifecycle.owned_name", "the other index owns the name, the file came from an upstream, and `from_upstream` is not given"},
    {change, 409, "lifecycle.blob_damaged", "the file's stored bytes are missing or damaged"},
    {change, 409, "store.of_another", "`gc`: the store of the wheels is [another registry's](../how-to/look-after-the-store.md#a-store-that-is-anothers)"},
    {change, 409, "store.document_gone", "`gc`: the store of the wheels has lost its `registry.json`, as a folder whose file system is not mounted"},
    {change, 409, "store.other_history", "`gc`: another copy of the catalog has used the store since, as above"},
    {change, 500, "lifecycle.failed", "internal error; see the server log for this request ID"},
    {change | index, 503, "lifecycle.page_lags", "the change is done; the same request again waits for its page"},
    {change, 503, "lifecycle.busy", "the registry is busy; try again"},
    {change, 503, "lifecycle.no_database", "the registry's database does not answer; nothing was changed; try again"},
    {change, 503, "lifecycle.outcome_unknown", "the registry's database did not say whether it kept the change; the same request again is no error"},
    {change, 507, "lifecycle.disk_full", "the disk is full"},

    {token, 400, "token.body", "not the format of the request; an empty list is refused, since a missing one means all"},
    {token, 400, "token.name", "missing, over 120 characters, or one that the audit log uses: `local:`, `upstream:`, `public:`, `login:`, `publisher:`, `agent:`, `verify`"},
    {token, 400, "token.no_index", "no index"},
    {token, 400, "token.unknown_index", "no such index"},
    {token, 400, "token.unknown_action", "no such action"},
    {token, 400, "token.project", "not the name of a project"},
    {token, 400, "token.lifetime", "not a number and a unit"},
    {token, 403, "token.scope", "an index, project, action or lifetime beyond the caller's; `*` needs `*`"},
    {token, 404, "token.unknown", "no such token, or one beyond the caller's scope"},
    {token, 409, "token.name_taken", "a token beyond the caller's scope has this name: names are identities in the audit log"},
    {token, 429, "token.too_many", "1,000 tokens are active, or 2,000 log-ins of people"},

    {token, 400, "login.body", "not the format of a log-in, or a member that is no text or too long"},
    {token, 400, "login.state", "the log-in is unknown, was finished, or took longer than ten minutes"},
    {token, 403, "login.another_browser", "another browser or program began the log-in"},
    {token, 403, "login.issuer", "the answer comes from another provider than the log-in began with"},
    {token, 403, "login.refused", "the provider refuses, or its token does not say what it must; the sentence names the check"},
    {token, 403, "login.no_rights", "no rule of the [[identity]](registry-config.md#identity) fits the person's groups"},
    {token, 404, "login.unknown", "no `[[identity]]` of this name"},
    {token, 404, "login.no_device", "the provider has no log-in by device code"},
    {token, 429, "login.busy", "too many log-ins are being finished, or were begun by device code from this address"},
    {token, 503, "login.provider", "the provider does not answer as it should, or has a new key that is not fetched yet; the server's log has the reason"},

    {token, 404, "publisher.none", "the configuration has no `[[publisher]]`"},
    {token, 422, "publisher.body", "not `{\"token\":…}`"},
    {token, 422, "publisher.token", "the identity token does not say what it must, is not signed by its issuer, is for another audience, or has expired; the sentence names the check"},
    {token, 422, "publisher.issuer", "no `[[publisher]]` has this issuer"},
    {token, 422, "publisher.claims", "no `[[publisher]]` fits; the sentence names each claim that does not match the nearest one, and the server's log what it should be"},
    {token, 422, "publisher.pull_request", "a job of a pull request or merge request, which the `[[publisher]]` does not permit, or one that may follow it"},
    {token, 422, "publisher.index", "the `[[publisher]]` that fits names an index that the registry does not have"},
    {token, 422, "publisher.used", "the identity token was exchanged before: each works once"},
    {token, 429, "publisher.too_many", "1,000 tokens of this `[[publisher]]` are active, or ended within the last day"},
    {token, 503, "publisher.provider", "the issuer's keys, or the new one of the token, have not been fetched yet; the server's log has the reason"},

    {token, 400, "agent.body", "not the format of the request, or `credential` or `next` is no text of the form of a token"},
    {token, 403, "agent.unknown", "no such code or renewal: ask an administrator for a code"},
    {token, 403, "agent.site", "the code or renewal is for another site"},
    {token, 403, "agent.ended", "it expired, or was revoked: ask an administrator for a code"},
    {token, 403, "agent.code_used", "somebody has used the code: revoke the agent if it was not you"},
    {token, 403, "agent.reused", "the renewal was replaced before, so two have it: the agent is revoked"},
    {token, 409, "agent.next_taken", "`next` is not new: make another one"},
    {token, 429, "agent.too_many", "500 tokens and renewals of the agent are kept: it renews too often"},

    {index, 400, "index.body", "the body has another form or an unknown member"},
    {index, 400, "config.invalid", "all problems of the keys, each with its path: `index.archer2.quota_mb: unknown key …`"},
    {index, 409, "index.changed", "the indexes in force are others than those that `apply` has shown"},
    {index, 409, "index.opened", "commands of an earlier version made an index private, and the file opens it: write `read = \"token\"` and apply that first"},
    {index, 409, "index.was_private", "a former index of this name was private: it comes back with `read = \"token\"` only"},
    {index, 409, "config.needs_restart", "a running server keeps its store"},
    {index, 413, "config.too_large", "all tables are larger than 1 MiB"},

    {task, 400, "task.body", "not the format of the document"},
    {task, 400, "task.wish", "the task names no valid index, project, version, Python, accelerator or source"},
    {task, 400, "task.query", "a parameter of the address is not valid"},
    {task, 403, "task.own_request", "another identity must approve what this one asked for"},
    {task, 403, "task.other_site", "an agent that enrolled claims as another site's"},
    {task, 404, "task.no_such_task", "no such task"},
    {task, 404, "task.no_such_source", "the index has no such source distribution"},
    {upload | task, 409, "task.lost", "the site does not have the [task](task.md#the-upload): it was late, and the task is free again or another site's"},
    {upload | task, 409, "task.other_wheel", "another file was uploaded for the [task](task.md#the-upload)"},
    {task, 409, "task.ended", "the task has ended"},
    {task, 409, "task.cancelled", "the task was cancelled"},
    {task, 409, "task.not_queued", "the task is not queued"},
    {task, 409, "task.awaits_nothing", "the task awaits no approval"},
    {task, 409, "task.no_such_wheel", "the index does not have the wheel of the outcome"},
    {task, 409, "task.would_publish", "the source is of a private index, the wheel of a public one"},
    {task, 429, "task.too_many", "too many tasks are queued"},
    {task, 500, "task.failed", "internal error; see the server log for this request ID"},
    {task, 503, "task.busy", "the registry is busy; try again"},
    {task, 503, "task.no_database", "the registry's database does not answer; nothing was changed; try again"},
    {task, 503, "task.outcome_unknown", "the registry's database did not say whether it kept the change; the same request again is no error"},
    {task, 507, "task.disk_full", "the disk is full"},

    {report, 403, "site.scope", "the token may neither upload to this index nor build for it, or is the token of a job"},
    {report, 404, "site.unknown", "no site of this name reports to the index"},
    {report, 400, "site.package", "a `package` in the report is not a normalised name"},
    {report, 409, "site.other", "the report names another site or index than its address"},
    {report, 409, "site.time", "the report is more than 10 minutes in the future"},
    {report, 409, "site.too_many", "the index has 64 sites"},
    {report, 404, "build.unknown", "no report of this site names the build, or it was removed"},
    {report, 400, "build.query", "a parameter of the address is not valid"},
    {report, 409, "build.log_gap", "the piece begins after the end of the log"},
    {report, 413, "build.log_full", "the log of a build has at most 16 MiB"},
    {report, 400, "site_report.format", "not a `wheelyard.site/1`; the sentence names the member"},
    {report, 413, "site_report.too_large", "more than 256 KiB"},
};
// clang-format on

// Is called only for a code without a row: no function that a constant may call.
void there_is_no_row_of_this_code();
void this_code_has_several_statuses();
void no_kind_of_error_has_this_status();
}  // namespace refused

// The row of a code. A conversion of a literal, which the compiler looks up.
class Refusal {
  public:
    consteval Refusal(const char* code) : Refusal(row_of(code)) {}  // NOLINT(google-explicit-constructor)
    // The row of a code that has several statuses.
    consteval Refusal(int status, std::string_view code) : Refusal(row_of(status, code)) {}
    // A code that is data: of a rule for files (docs/reference/rules.md), or of an error that was made with
    // its row.
    [[nodiscard]] static constexpr Refusal coded(int status, std::string_view code) {
        return Refusal(RefusalRow{Refused::any, status, code, {}});
    }

    [[nodiscard]] constexpr int status() const { return status_; }
    [[nodiscard]] constexpr std::string_view code() const { return code_; }

  private:
    explicit constexpr Refusal(const RefusalRow& row) : status_(row.status), code_(row.code) {}
    static consteval RefusalRow row_of(std::string_view code) {
        RefusalRow found{};
        for (const RefusalRow& row : refused::rows) {
            if (row.code != code) continue;
            if (found.status != 0) refused::this_code_has_several_statuses();
            found = row;
        }
        if (found.status == 0) refused::there_is_no_row_of_this_code();
        return found;
    }
    static consteval RefusalRow row_of(int status, std::string_view code) {
        for (const RefusalRow& row : refused::rows) {
            if (row.code == code && row.status == status) return row;
        }
        refused::there_is_no_row_of_this_code();
        return {};
    }
    int status_;
    std::string_view code_;
};

[[nodiscard]] bool is_refusal(int status, std::string_view code);  // whether there is such a row
// The rows of one of Refused as a table in Markdown: status, code, when.
[[nodiscard]] std::string render_refusals(Refused one);

}  // namespace wheelyard::wire
