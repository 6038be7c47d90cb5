// A reply as a value: status, header fields, and a body (text, a cached page, a slice of an open file, a file
// that still arrives, or one of a blob store).
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "lib/base/files/fd.hpp"
#include "lib/io/record.hpp"
#include "lib/page/farm.hpp"
#include "lib/wire/problem.hpp"
#include "registry/http/arriving_file.hpp"
#include "registry/http/upload.hpp"

namespace wheelyard::http {

struct FileSlice {
    base::Fd file;
    std::uint64_t offset = 0;
    std::uint64_t length = 0;
};

using SharedText = std::shared_ptr<const std::string>;

// Bytes of a file that are in a blob store, not on this machine: the connection asks remote_files.hpp for
// them.
struct RemoteFile {
    std::string sha256;
    std::string filename;
    std::uint64_t offset = 0;
    std::uint64_t length = 0;
};

struct HeaderField {
    std::string name;
    std::string value;
};

struct Reply {
    int status = 200;
    std::string reason = {};               // empty: the standard phrase of the status
    std::vector<HeaderField> fields = {};  // as they are sent; without framing, Date and the request id
    std::variant<std::string, SharedText, FileSlice, SharedArrivingFile, RemoteFile> body = std::string();
    std::optional<wire::Problem> problem = {};  // that the body renders
    bool close = false;                         // close the connection after this reply

    void add(std::string_view name, std::string_view value);
    // In place of the field of this name, if there is one.
    void replace(std::string_view name, std::string_view value);
    // Its value; empty: there is none. Names compare without case (RFC 9110 §5.1): another node's are
    // lower-case.
    [[nodiscard]] std::string_view field(std::string_view name) const;
    [[nodiscard]] std::uint64_t body_size() const;
};

// What a node adds to each answer while it reads without the database: since when, and until when at most
// ("2026-11-28T19:33:00.000000Z until 2026-11-28T20:33:00.000000Z"). An answer with it may lack what was
// uploaded after that.
inline constexpr std::string_view reading_only_field = "X-Wheelyard-Reading-Only";

// What the connection adds to a reply.
struct ReplyFrame {
    std::string_view date;  // the value of Date
    std::string_view request_id;
    bool http_1_1 = true;
    bool keep_alive = true;
    std::string_view reading_only = {};  // of reading_only_field; empty: none
};

// Renders the status line and all fields, including the final empty line.
[[nodiscard]] std::string render_reply_head(const Reply& reply, const ReplyFrame& frame);

// RFC 9457 body; the title with the offending value is also the reason phrase. Adds WWW-Authenticate to 401
// and Retry-After to 503.
[[nodiscard]] Reply reply_problem(const wire::Problem& problem);
// What only the log explains. `advice`: whether the request may be repeated.
[[nodiscard]] inline wire::Problem internal_problem(std::string_view advice) {
    return wire::make_problem("server.internal", "Internal server error",
                              "Internal error; see the server log for this request ID.", {},
                              std::string(advice));
}
[[nodiscard]] Reply reply_method_not_allowed(std::string_view method, std::string_view allowed);
[[nodiscard]] Reply reply_redirect(std::string_view location);
[[nodiscard]] Reply reply_text(int status, std::string text);
[[nodiscard]] Reply reply_html(std::string html);
[[nodiscard]] Reply reply_json(int status, std::string json);
// For an upload that was sent to `url`'s neighbour: 405 whose reason phrase names the right URL.
[[nodiscard]] Reply reply_uploads_go_to(std::string_view method, std::string_view url);
// For what only some callers may read: no shared cache keeps it (RFC 9111 §5.2.2.7).
void keep_private(Reply& reply);
// To Basic a browser opens a dialog, over pages that lead to the log-in instead.
void ask_no_browser(Reply& reply);
// Says whether the client reads HTML and no JSON: a browser, not an installer.
[[nodiscard]] bool is_for_browsers(std::string_view accept);
// Makes the reply a page of the web UI; its status stays.
void show_page(Reply& reply, std::string page);
// Replaces the body of a problem by an HTML page; `root`: from there to the front page (front_pages.hpp).
void show_in_browser(const page::Farm& farm, std::string_view root, Reply& reply, bool takes_cookie = true);
// Adds `message` and `errors` to a problem: what clients that publish from continuous integration read.
void tell_publisher(Reply& reply);
[[nodiscard]] io::Document uploaded_document();
// {"filename":…,"serial":…,"already_there":…}; for an incomplete resumable upload 204 with its offset; for a
// quarantined file 422 "upload.quarantined".
[[nodiscard]] Reply reply_uploaded(const UploadDone& done);

// The policy of Simple pages: no scripts, no frames, no resources at all.
inline constexpr std::string_view simple_page_policy =
    "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";
// The policy of the web UI: the style sheet and the scripts of this server, none from other hosts, none
// inline.
[[nodiscard]] std::string web_ui_policy();
// A file whose name contains its hash: may be cached permanently.
[[nodiscard]] Reply reply_asset(std::string_view content_type, std::string bytes);

}  // namespace wheelyard::http
