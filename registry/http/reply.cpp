// Renders replies as HTTP/1.1.
#include "registry/http/reply.hpp"

#include <algorithm>
#include <array>
#include <cstdint>

#include "lib/io/record.hpp"
#include "lib/page/assets.hpp"
#include "lib/page/frame.hpp"
#include "registry/http/front_pages.hpp"

namespace wheelyard::http {

namespace {

constexpr std::int64_t retry_after_s = 5;        // Retry-After of every 503
constexpr std::int64_t redirect_max_age_s = 60;  // cache lifetime of redirects to normalized names

constexpr auto uploaded_record = io::record<UploadDone>({
    io::field<&UploadDone::filename>("filename", "the file"),
    io::field<&UploadDone::serial>("serial", "that of the event that published it"),
    io::field<&UploadDone::already_there>("already_there", "`true`: the index had the same bytes"),
});

struct Phrase {
    int status;
    std::string_view text;
};

// RFC 9110 §15, RFC 6585.
constexpr std::array phrases{
    Phrase{200, "OK"},
    Phrase{201, "Created"},
    Phrase{202, "Accepted"},
    Phrase{204, "No Content"},
    Phrase{206, "Partial Content"},
    Phrase{301, "Moved Permanently"},
    Phrase{304, "Not Modified"},
    Phrase{307, "Temporary Redirect"},
    Phrase{400, "Bad Request"},
    Phrase{401, "Unauthorized"},
    Phrase{403, "Forbidden"},
    Phrase{404, "Not Found"},
    Phrase{405, "Method Not Allowed"},
    Phrase{406, "Not Acceptable"},
    Phrase{408, "Request Timeout"},
    Phrase{409, "Conflict"},
    Phrase{410, "Gone"},
    Phrase{411, "Length Required"},
    Phrase{413, "Content Too Large"},
    Phrase{414, "URI Too Long"},
    Phrase{415, "Unsupported Media Type"},
    Phrase{416, "Range Not Satisfiable"},
    Phrase{417, "Expectation Failed"},
    Phrase{422, "Unprocessable Content"},
    Phrase{431, "Request Header Fields Too Large"},
    Phrase{500, "Internal Server Error"},
    Phrase{501, "Not Implemented"},
    Phrase{507, "Insufficient Storage"},
    Phrase{503, "Service Unavailable"},
    Phrase{505, "HTTP Version Not Supported"},
};

std::string_view default_phrase(int status) {
    const auto found =
        std::find_if(phrases.begin(), phrases.end(), [&](const Phrase& p) { return p.status == status; });
    return found == phrases.end() ? "Unknown" : found->text;
}

// A reason phrase is one line of ASCII: other characters of a title, such as a client's file name, become
// '?'.
std::string sanitize_phrase(std::string_view title) {
    constexpr std::size_t max_phrase_bytes = 200;
    std::string phrase(title.substr(0, max_phrase_bytes));
    std::replace_if(
        phrase.begin(), phrase.end(), [](char c) { return c < ' ' || c >= '\x7f'; }, '?');
    return phrase;
}

// A 304 describes a body that it does not contain (RFC 9112 §6.3).
bool has_no_body(int status) {
    return status == 304 || status == 204;
}

bool has_name(const HeaderField& field, std::string_view name) {
    constexpr auto lower = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; };
    return std::equal(field.name.begin(), field.name.end(), name.begin(), name.end(),
                      [&](char a, char b) { return lower(a) == lower(b); });
}

}  // namespace

void Reply::add(std::string_view name, std::string_view value) {
    fields.push_back({std::string(name), std::string(value)});
}

void Reply::replace(std::string_view name, std::string_view value) {
    std::erase_if(fields, [&](const HeaderField& field) { return has_name(field, name); });
    add(name, value);
}

std::string_view Reply::field(std::string_view name) const {
    const auto found = std::find_if(fields.begin(), fields.end(),
                                    [&](const HeaderField& field) { return has_name(field, name); });
    return found == fields.end() ? std::string_view() : std::string_view(found->value);
}

std::uint64_t Reply::body_size() const {
    if (const auto* text = std::get_if<std::string>(&body)) return text->size();
    if (const auto* page = std::get_if<SharedText>(&body)) return (*page)->size();
    if (const auto* file = std::get_if<SharedArrivingFile>(&body)) return (*file)->size_bytes();
    if (const auto* remote = std::get_if<RemoteFile>(&body)) return remote->length;
    return std::get<FileSlice>(body).length;
}

std::string render_reply_head(const Reply& reply, const ReplyFrame& frame) {
    std::string head;
    head.reserve(1024);
    head.append("HTTP/1.1 ").append(std::to_string(reply.status)).append(" ");
    head.append(reply.reason.empty() ? default_phrase(reply.status) : std::string_view(reply.reason));
    head.append("\r\nDate: ").append(frame.date);
    if (!frame.request_id.empty()) head.append("\r\nX-Request-Id: ").append(frame.request_id);
    if (!frame.reading_only.empty())
        head.append("\r\n").append(reading_only_field).append(": ").append(frame.reading_only);
    if (!has_no_body(reply.status))
        head.append("\r\nContent-Length: ").append(std::to_string(reply.body_size()));
    if (!frame.keep_alive)
        head.append("\r\nConnection: close");
    else if (!frame.http_1_1)
        head.append("\r\nConnection: keep-alive");
    for (const HeaderField& field : reply.fields)
        head.append("\r\n").append(field.name).append(": ").append(field.value);
    head.append("\r\n\r\n");
    return head;
}

namespace {

// twine, hatch and pdm show nothing but the reason phrase, so it carries the first offending value, too.
std::string phrase_of(const wire::Problem& problem) {
    if (problem.value.empty() || problem.title.find(problem.value) != std::string::npos)
        return sanitize_phrase(problem.title);
    return sanitize_phrase(problem.title + ": " + problem.value);
}

}  // namespace

Reply reply_problem(const wire::Problem& problem) {
    Reply reply{problem.status, phrase_of(problem)};
    reply.add("Content-Type", wire::problem_content_type);
    reply.add("Cache-Control", "no-store");
    if (problem.status == 401) reply.add("WWW-Authenticate", "Basic realm=\"wheelyard\"");
    if (problem.status == 503) reply.add("Retry-After", std::to_string(retry_after_s));
    reply.body = wire::render_problem(problem);
    reply.problem = problem;
    return reply;
}

void keep_private(Reply& reply) {
    constexpr std::string_view for_everyone = "public, ";
    std::string value(reply.field("Cache-Control"));
    if (value.starts_with("private")) return;  // by the node that answered
    if (value.starts_with(for_everyone)) value.erase(0, for_everyone.size());
    if (value.empty()) value = "no-store";
    reply.replace("Cache-Control", "private, " + value);
    reply.add("Vary", "Authorization, Cookie");
}

void ask_no_browser(Reply& reply) {
    if (reply.status == 401) reply.replace("WWW-Authenticate", "Bearer realm=\"wheelyard\"");
}

bool is_for_browsers(std::string_view accept) {
    return accept.find("text/html") != std::string_view::npos &&
           accept.find("json") == std::string_view::npos;
}

void show_page(Reply& reply, std::string page) {
    reply.replace("Content-Type", "text/html; charset=utf-8");
    reply.add("X-Content-Type-Options", "nosniff");
    reply.add("Content-Security-Policy", web_ui_policy());
    reply.add("Vary", "Accept");
    reply.body = std::move(page);
    reply.problem.reset();
}

void show_in_browser(const page::Farm& farm, std::string_view root, Reply& reply, bool takes_cookie) {
    if (reply.problem) show_page(reply, render_problem_page(farm, root, *reply.problem, takes_cookie));
}

void tell_publisher(Reply& reply) {
    if (!reply.problem) return;
    const wire::Problem& problem = *reply.problem;
    std::string said = problem.detail;
    if (!problem.value.empty()) said.append(" (").append(problem.value).append(")");
    if (!problem.advice.empty()) said.append(" ").append(problem.advice);
    io::Json document = wire::problem_to_json(problem);
    document.set("message", problem.title);
    document.set("errors", io::Json(io::Json::Array{io::Json::object(
                               {{"code", problem.code}, {"description", std::move(said)}})}));
    reply.body = document.render();
}

Reply reply_uploads_go_to(std::string_view method, std::string_view url) {
    Reply reply = reply_problem(
        wire::make_problem("upload.wrong_url", "Uploads go to " + std::string(url),
                           "This URL accepts no uploads (" + std::string(method.substr(0, 32)) + ").", {},
                           "set the repository URL of the client to " + std::string(url)));
    reply.add("Allow", "GET, HEAD");
    return reply;
}

Reply reply_method_not_allowed(std::string_view method, std::string_view allowed) {
    Reply reply = reply_problem(wire::make_problem(
        {405, "request.method"}, "Method not allowed", "This URL does not support the method.",
        std::string(method.substr(0, 32)), "use " + std::string(allowed)));
    reply.add("Allow", allowed);
    return reply;
}

Reply reply_redirect(std::string_view location) {
    Reply reply{301};
    reply.add("Location", location);
    reply.add("Cache-Control", "public, max-age=" + std::to_string(redirect_max_age_s));
    return reply;
}

namespace {

Reply reply_with(int status, std::string_view content_type, std::string body) {
    Reply reply{status};
    reply.add("Content-Type", content_type);
    reply.add("Cache-Control", "no-store");  // front pages contain the request's Host
    reply.add("X-Content-Type-Options", "nosniff");
    reply.body = std::move(body);
    return reply;
}

}  // namespace

Reply reply_text(int status, std::string text) {
    Reply reply = reply_with(status, "text/plain; charset=utf-8", std::move(text));
    if (status == 503) reply.add("Retry-After", std::to_string(retry_after_s));
    return reply;
}

Reply reply_html(std::string html) {
    Reply reply = reply_with(200, "text/html; charset=utf-8", std::move(html));
    reply.add("Content-Security-Policy", web_ui_policy());
    return reply;
}

std::string web_ui_policy() {
    return std::string(page::content_policy) + "; frame-ancestors 'none'";
}

Reply reply_asset(std::string_view content_type, std::string bytes) {
    Reply reply{200};
    reply.add("Content-Type", content_type);
    // A logo that somebody opens by itself runs nothing.
    reply.add("Content-Security-Policy", "default-src 'none'; sandbox");
    reply.add("Cache-Control", "public, max-age=31536000, immutable");
    reply.add("X-Content-Type-Options", "nosniff");
    reply.body = std::move(bytes);
    return reply;
}

Reply reply_json(int status, std::string json) {
    return reply_with(status, "application/json", std::move(json));
}

Reply reply_uploaded(const UploadDone& done) {
    if (done.offset_bytes) {
        Reply reply{204};
        reply.add("Upload-Offset", std::to_string(*done.offset_bytes));
        reply.add("Cache-Control", "no-store");
        return reply;
    }
    // No client may take a quarantined file for a published one: twine treats every 2xx as success.
    if (!done.quarantined_because.empty())
        return reply_problem(wire::make_problem(
            "upload.quarantined", "kept in quarantine: " + done.quarantined_because, done.quarantined_because,
            {}, "ask the registry's operator to release it, or fix the findings and upload a new build"));
    return reply_json(200, uploaded_record.write(done).render());
}

io::Document uploaded_document() {
    return {.name = "upload", .tables = {uploaded_record.members}};
}

}  // namespace wheelyard::http
