#include "lib/store/blobs/s3/client.hpp"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <ctime>
#include <limits>
#include <thread>
#include <utility>

#include "lib/base/digest/digest.hpp"
#include "lib/base/limits.hpp"
#include "lib/base/text/encoding.hpp"
#include "lib/base/text/http_date.hpp"
#include "lib/base/text/text.hpp"
#include "lib/base/text/url.hpp"

namespace wheelyard::blobs {
namespace {

constexpr std::chrono::seconds silence_at_stop{5};
constexpr std::size_t max_idle_clients = 16;
constexpr std::uint64_t max_answer_bytes = 16 * base::mib;  // a list of 1,000 objects has some 300 KiB
constexpr int max_list_pages = 100'000;
constexpr int max_silences = 2;  // of one request: each takes as long as the longest answer may
constexpr std::int64_t removal_timeout_ms = 20'000;
constexpr std::string_view default_region = "us-east-1";

// What a store's code means for the person who runs the registry.
struct Advice {
    std::string_view code;
    std::string_view what_to_do;
};
constexpr Advice advices[] = {
    {"InvalidAccessKeyId", "the store does not know the access key: check blobs_credentials_file"},
    {"SignatureDoesNotMatch", "the secret key is wrong: check blobs_credentials_file"},
    {"AccessDenied", "allow this access key to read, write, list and delete objects of the bucket"},
    {"ExpiredToken", "the temporary credentials have ended: renew them"},
    {"RequestTimeTooSkewed", "set this machine's clock: it differs from the store's by more than 15 minutes"},
    {"NoSuchBucket", "create the bucket, or correct `blobs` in [stores]"},
    {"AuthorizationHeaderMalformed", "set blobs_region in [stores] to the region that the store names"},
    {"PermanentRedirect", "set blobs_endpoint and blobs_region in [stores] to those of the bucket"},
    {"SlowDown", "the store is busy: try again later"},
};

std::string_view advice_for(std::string_view code, int status) {
    for (const auto& row : advices) {
        if (row.code == code) return row.what_to_do;
    }
    if (status == 403) return "check the credentials and the rights of the access key on the bucket";
    if (status >= 500 || status == 429) return "the store fails or is busy: see its log, and try again later";
    return "see the log of the store";
}

base::UnixMicros system_now() {
    return std::chrono::duration_cast<std::chrono::microseconds>(
               std::chrono::system_clock::now().time_since_epoch())
        .count();
}

// "2026-11-26T17:54:31.123Z": HEAD answers with whole seconds, lists with fractions of any length.
std::optional<base::UnixMicros> time_of(std::string_view text) {
    constexpr std::size_t to_seconds = 19;
    if (!text.ends_with('Z')) return std::nullopt;
    const auto time = base::parse_rfc3339(std::string(text.substr(0, to_seconds)) + "Z");
    return time ? std::optional(*time) : std::nullopt;
}

// Such as 403 and 503. An object may be absent (404), or shorter than the range that is asked for (416).
bool says_nothing_of_object(int status) {
    return status >= 300 && status != 404 && status != 416;
}

std::string joined_host(const base::Url& url) {
    return url.port.empty() ? url.host : url.host + ":" + url.port;
}

}  // namespace

base::Result<S3Address> S3Address::of(const Place& place) {
    const auto wrong = [](std::string sentence, const std::string& value) {
        return base::fail_as(base::ErrorKind::invalid, base::Recovery::person,
                             {"s3.address", std::move(sentence), value,
                              "blobs = \"s3://BUCKET/PREFIX\", blobs_endpoint = \"https://HOST\""});
    };
    constexpr std::string_view scheme = "s3://";
    if (!place.url.starts_with(scheme))
        return wrong("The address of the blob store has another form", place.url);
    std::string_view rest = std::string_view(place.url).substr(scheme.size());
    while (rest.ends_with('/'))
        rest.remove_suffix(1);
    const auto slash = rest.find('/');
    const std::string bucket(rest.substr(0, slash));
    const std::string prefix(slash == std::string_view::npos ? std::string_view() : rest.substr(slash + 1));
    const auto is_key_char = [](char c) {
        return base::is_ascii_alnum(c) || std::string_view("-_./").find(c) != std::string_view::npos;
    };
    if (bucket.empty() || !std::all_of(rest.begin(), rest.end(), is_key_char))
        return wrong("A bucket and its prefix have letters, digits, `-`, `_`, `.` and `/`", place.url);
    for (const std::string_view segment : base::split(prefix, '/')) {
        if ((segment.empty() && !prefix.empty()) || segment == "." || segment == "..")
            return wrong("The prefix has a segment that no store keeps", place.url);
    }
    S3Address address;
    address.region = place.region.empty() ? std::string(default_region) : place.region;
    const std::string endpoint =
        place.endpoint.empty() ? "https://s3." + address.region + ".amazonaws.com" : place.endpoint;
    const auto host_of = [&](const std::string& text) -> base::Result<base::Url> {
        auto url = base::parse_url(text);
        const bool is_plain = url && (url->scheme == "http" || url->scheme == "https") && url->path == "/" &&
                              url->query.empty() && url->userinfo.empty();
        if (!is_plain) return wrong("The endpoint of the blob store is no URL of a host", text);
        if (!place.path_style) url->host = bucket + "." + url->host;
        return url;
    };
    WHEELYARD_ASSIGN(const base::Url inner, host_of(endpoint));
    address.scheme = inner.scheme;
    address.host = joined_host(inner);
    if (!place.public_endpoint.empty()) {
        WHEELYARD_ASSIGN(const base::Url outer, host_of(place.public_endpoint));
        address.public_host = joined_host(outer);
        address.public_base = outer.scheme + "://" + address.public_host;
    }
    address.prefix = prefix.empty() ? "" : prefix + "/";
    address.bucket_path = place.path_style ? "/" + bucket : "/";
    address.folder = (place.path_style ? "/" + bucket + "/" : "/") + address.prefix;
    address.name = place.url + " at " + endpoint;
    return address;
}

// Borrows a client that keeps its connection, or has one of its own.
class S3Client::Lease {
  public:
    Lease(const S3Client& owner, Connection connection) : owner_(owner), connection_(connection) {
        const std::lock_guard lock(owner_.mutex_);
        if (connection == Connection::fresh || owner_.idle_.empty()) return;
        client_ = std::move(owner_.idle_.back());
        owner_.idle_.pop_back();
    }
    ~Lease() {
        if (!client_ || connection_ == Connection::fresh) return;
        const std::lock_guard lock(owner_.mutex_);
        if (owner_.idle_.size() < max_idle_clients) owner_.idle_.push_back(std::move(client_));
    }
    Lease(const Lease&) = delete;
    Lease& operator=(const Lease&) = delete;
    io::HttpClient& client() {
        if (!client_) {
            io::HttpSettings settings;
            settings.follows_redirects = false;
            settings.connect_timeout_ms = 5'000;
            settings.stall_timeout_ms = owner_.limits_.stall_timeout_ms;
            settings.answer_timeout_ms = owner_.limits_.answer_timeout_ms;
            settings.total_timeout_ms = removal_timeout_ms;  // of head()
            client_ = std::make_unique<io::HttpClient>(std::move(settings));
        }
        return *client_;
    }

  private:
    const S3Client& owner_;
    const Connection connection_;
    std::unique_ptr<io::HttpClient> client_;
};

S3Client::S3Client(S3Address address, std::shared_ptr<S3CredentialSource> credentials, S3Limits limits)
    : address_(std::move(address)), credentials_(std::move(credentials)), limits_(limits) {}
S3Client::~S3Client() = default;

base::UnixMicros S3Client::now() const {
    return system_now() + offset_us_.load();
}

S3Request S3Client::request_of(const Call& call) const {
    return {.method = call.method,
            .host = address_.host,
            .path = call.of_bucket ? address_.bucket_path : address_.folder + call.key,
            .query = call.query,
            .headers = call.headers};
}

std::string S3Client::url_of(const S3Request& request) const {
    const std::string query = s3_query(request.query);
    return address_.scheme + "://" + address_.host + s3_path(request.path) +
           (query.empty() ? "" : "?" + query);
}

base::Result<io::HttpAnswer> S3Client::run_once(const Call& call, bool& has_begun, bool& is_left) const {
    static const std::string empty_sha256 = base::sha256_hex("");
    const S3Request request = request_of(call);
    WHEELYARD_ASSIGN(const S3Credentials credentials, credentials_->at(now()));
    const auto headers =
        sign_headers(request, call.payload_sha256.empty() ? empty_sha256 : call.payload_sha256, credentials,
                     address_.region, now());
    Lease lease(*this, call.connection);
    io::HttpClient& client = lease.client();
    const std::string url = url_of(request);
    // libcurl asks at least once a second.
    const io::HttpProgress goes_on = [this, last = std::uint64_t{0},
                                      since = std::chrono::steady_clock::now()](std::uint64_t done,
                                                                                std::uint64_t) mutable {
        const auto now = std::chrono::steady_clock::now();
        if (done != std::exchange(last, done)) since = now;
        return !is_stopping_ || now - since < silence_at_stop;
    };
    if (call.method == "HEAD") return client.head(url, headers);
    if (call.method != "GET") {
        const base::MemoryReader nothing{std::string_view()};
        return client.send(call.method, url, headers, call.body != nullptr ? *call.body : nothing, 0,
                           goes_on);
    }
    std::string body;
    const io::HttpSink sink = [&](std::string_view bytes) -> base::Status {
        has_begun = true;
        if (call.sink != nullptr) {
            auto taken = (*call.sink)(bytes);
            is_left = !taken;
            return taken;
        }
        body.append(bytes);
        return {};
    };
    const io::HttpHead take_parts = [](const io::HttpAnswer&) -> base::Status { return {}; };
    auto answer = client.fetch(url, headers, call.limit_bytes, sink, goes_on, take_parts);
    if (answer && (answer->status == 200 || answer->status == 206)) answer->body = std::move(body);
    return answer;
}

base::Result<io::HttpAnswer> S3Client::run(const Call& call) const {
    const int tries = call.tries > 0 ? call.tries : limits_.tries;
    bool has_set_clock = false;
    int silences = 0;
    for (int number = 1;; ++number) {
        bool has_begun = false;
        const auto asked = std::chrono::steady_clock::now();
        bool is_left = false;  // by who takes the bytes, such as a client that ends its download
        auto answer = run_once(call, has_begun, is_left);
        const auto took = std::chrono::steady_clock::now() - asked;
        spent_.add(took);
        if (answer ? says_nothing_of_object(answer->status) : !is_left) ++failed_;
        const bool was_long = took > std::chrono::milliseconds(limits_.stall_timeout_ms / 2);
        if (!answer && was_long) ++silences;
        const bool is_last = number >= tries || silences >= max_silences ||
                             (has_begun && call.sink != nullptr) || is_stopping_;
        if (answer && answer->status < 300) return answer;
        if (answer) {
            const auto theirs = base::parse_http_date(answer->header("date"));
            // A HEAD has no body to say why.
            const bool is_skewed =
                answer->status == 403 && theirs && std::abs(*theirs - now()) > 5 * 60 * 1'000'000LL;
            if (is_skewed && !has_set_clock) {
                has_set_clock = true;
                offset_us_ = *theirs - system_now();
                continue;
            }
            if (!io::is_temporary_status(answer->status) || answer->status == 501 || is_last)
                return refused(call, *answer);
        } else if (is_last || !answer.error().may_pass()) {
            base::Error error = std::move(answer.error());
            if (error.os_error == 0) error.os_error = EHOSTUNREACH;
            error.sentence = "The blob store " + address_.name + " does not answer (" + call.operation +
                             "): " + error.sentence;
            error.code = "s3.unreachable";
            error.advice = "check that the store runs and that blobs_endpoint in [stores] is right";
            return base::fail_as(base::ErrorKind::unavailable, base::Recovery::retry, std::move(error));
        }
        const std::int64_t wait_ms = limits_.first_wait_ms << (number - 1);
        std::this_thread::sleep_for(std::chrono::milliseconds(wait_ms));
    }
}

tl::unexpected<base::Error> S3Client::refused(const Call& call, const io::HttpAnswer& answer) const {
    std::string code = std::to_string(answer.status);
    std::string message = answer.reason;
    if (const auto parsed = parse_xml(answer.body); parsed && parsed->name == "Error") {
        code = parsed->child_text("Code");
        message = parsed->child_text("Message");
        if (const std::string region = parsed->child_text("Region"); !region.empty())
            message += " (region " + region + ")";
    }
    base::Error error{"s3." + std::to_string(answer.status),
                      "The blob store " + address_.name + " refuses to " + call.operation + ": " +
                          std::to_string(answer.status) + " " + code + " " + message,
                      call.key, std::string(advice_for(code, answer.status))};
    // What is written is not there yet: a store that answers so is at fault.
    const bool writes = call.method == "PUT" || call.method == "POST";
    const bool is_absent = answer.status == 404 && code != "NoSuchBucket" && !writes;
    error.os_error = is_absent              ? ENOENT
                     : answer.status == 403 ? EACCES
                     : answer.status == 416 ? ERANGE
                                            : EHOSTUNREACH;
    const bool is_temporary = io::is_temporary_status(answer.status);
    if (is_absent && code != "NoSuchUpload")
        return base::fail_as(base::ErrorKind::missing, base::Recovery::never, std::move(error));
    return base::fail_as(base::ErrorKind::unavailable,
                         is_temporary ? base::Recovery::retry : base::Recovery::person, std::move(error));
}

tl::unexpected<base::Error> S3Client::unexpected_answer(const std::string& operation,
                                                        const std::string& what) const {
    return base::fail_as(
        base::ErrorKind::unavailable, base::Recovery::retry,
        {"s3.answer", "The blob store " + address_.name + " answers wrongly (" + operation + ")", what,
         "see the log of the store", base::Recovery::retry, base::ErrorKind::unavailable, EPROTO});
}

base::Status S3Client::put(const std::string& key, const base::Reader& bytes,
                           std::string_view payload_sha256) const {
    return run({.operation = "store an object",
                .method = "PUT",
                .key = key,
                .body = &bytes,
                .payload_sha256 = std::string(payload_sha256)})
        .map([](const io::HttpAnswer&) {});
}

base::Result<S3Object> S3Client::head(const std::string& key) const {
    WHEELYARD_ASSIGN(const io::HttpAnswer answer,
                     run({.operation = "describe an object", .method = "HEAD", .key = key}));
    const auto size = base::parse_decimal(answer.header("content-length"));
    const auto modified = base::parse_http_date(answer.header("last-modified"));
    if (!size || !modified)
        return unexpected_answer("describe an object", "no Content-Length or Last-Modified");
    return S3Object{key, *size, *modified, base::parse_http_date(answer.header("date")).value_or(now())};
}

base::Result<S3Client::Part> S3Client::get(const std::string& key, std::uint64_t offset, std::uint64_t length,
                                           Connection connection) const {
    Call call{.operation = "read an object", .key = key, .limit_bytes = length, .connection = connection};
    call.headers.emplace_back("Range",
                              "bytes=" + std::to_string(offset) + "-" + std::to_string(offset + length - 1));
    auto answer = run(call);
    if (!answer &&
        answer.error().os_error == ERANGE) {  // RFC 9110, 14.1.2: no byte of an empty object is in a range
        WHEELYARD_ASSIGN(const S3Object object, head(key));
        return Part{{}, object.size_bytes};
    }
    if (!answer) return base::fail(std::move(answer.error()));
    Part part{std::move(answer->body), 0};
    if (answer->status == 200 && offset == 0) {
        part.whole_bytes = part.bytes.size();
        return part;
    }
    const std::string range = answer->header("content-range");  // "bytes 0-9/100"
    const auto whole = base::parse_decimal(std::string_view(range).substr(range.find('/') + 1));
    const std::uint64_t end = whole ? std::min(*whole, offset + length) : 0;
    const bool is_right = whole && answer->status == 206 &&
                          range.starts_with("bytes " + std::to_string(offset) + "-") &&
                          part.bytes.size() == end - std::min(offset, end);
    if (!is_right)
        return unexpected_answer("read an object", std::to_string(answer->status) + " " + range + ", " +
                                                       std::to_string(part.bytes.size()) + " bytes");
    part.whole_bytes = *whole;
    return part;
}

base::Status S3Client::stream(const std::string& key, std::uint64_t offset, std::uint64_t length,
                              const S3Sink& sink) const {
    if (length == 0) return {};
    std::uint64_t come = 0;
    const S3Sink counted = [&](std::string_view bytes) -> base::Status {
        come += bytes.size();
        return sink(bytes);
    };
    Call call{.operation = "read an object", .key = key, .sink = &counted, .limit_bytes = length};
    call.headers.emplace_back("Range",
                              "bytes=" + std::to_string(offset) + "-" + std::to_string(offset + length - 1));
    WHEELYARD_ASSIGN(const io::HttpAnswer answer, run(call));
    const bool has_range = answer.status == 206 || offset == 0;
    if (come != length || !has_range)
        return unexpected_answer("read an object",
                                 std::to_string(answer.status) + ", " + std::to_string(come) + " bytes");
    return {};
}

base::Status S3Client::remove(const std::string& key) const {
    auto removed = run({.operation = "remove an object", .method = "DELETE", .key = key});
    if (!removed && removed.error().os_error == ENOENT) return {};
    return removed.map([](const io::HttpAnswer&) {});
}

base::Status S3Client::remove_once(const std::string& key) const {
    auto removed = run({.operation = "remove an object", .method = "DELETE", .key = key, .tries = 1});
    if (!removed && removed.error().os_error == ENOENT) return {};
    return removed.map([](const io::HttpAnswer&) {});
}

base::Result<std::string> S3Client::list_page(const std::string& start, const std::string& token,
                                              std::vector<S3Object>& found) const {
    Call call{.operation = "list objects", .of_bucket = true, .limit_bytes = max_answer_bytes};
    call.query = {{"list-type", "2"}, {"prefix", address_.prefix + start}};
    if (!token.empty()) call.query.emplace_back("continuation-token", token);
    WHEELYARD_ASSIGN(const io::HttpAnswer answer, run(call));
    const auto document = parse_xml(answer.body);
    if (!document || document->name != "ListBucketResult")
        return unexpected_answer(call.operation, document ? document->name : document.error().text());
    for (const XmlElement& item : document->children) {
        if (item.name != "Contents") continue;
        const std::string key = item.child_text("Key");
        const auto size = base::parse_decimal(item.child_text("Size"));
        const auto modified = time_of(item.child_text("LastModified"));
        if (!key.starts_with(address_.prefix + start) || !size || !modified)
            return unexpected_answer(call.operation, key);
        found.push_back({key.substr(address_.prefix.size()), *size, *modified, 0});
    }
    if (document->child_text("IsTruncated") != "true") return std::string();
    std::string next = document->child_text("NextContinuationToken");
    if (next.empty() || next == token) return unexpected_answer(call.operation, "a list without an end");
    return next;
}

base::Result<std::vector<S3Object>> S3Client::list(const std::string& start) const {
    std::vector<S3Object> found;
    std::string token;
    for (int page = 0; page < max_list_pages; ++page) {
        WHEELYARD_ASSIGN(token, list_page(start, token, found));
        if (token.empty()) return found;
    }
    return unexpected_answer("list objects", "too many pages");
}

base::Result<std::optional<std::vector<S3Object>>> S3Client::list_if_few(const std::string& start) const {
    std::vector<S3Object> found;
    WHEELYARD_ASSIGN(const std::string next, list_page(start, {}, found));
    if (!next.empty()) return std::nullopt;
    return found;
}

base::Result<std::string> S3Client::begin_upload(const std::string& key) const {
    const std::string operation = "begin an upload of parts";
    WHEELYARD_ASSIGN(const io::HttpAnswer answer,
                     run({.operation = operation, .method = "POST", .key = key, .query = {{"uploads", ""}}}));
    const auto document = parse_xml(answer.body);
    std::string id = document ? document->child_text("UploadId") : std::string();
    if (id.empty()) return unexpected_answer(operation, "no UploadId");
    return id;
}

base::Result<std::string> S3Client::put_part(const std::string& key, const std::string& upload, int number,
                                             const base::Reader& bytes,
                                             std::string_view payload_sha256) const {
    WHEELYARD_ASSIGN(const io::HttpAnswer answer,
                     run({.operation = "store a part",
                          .method = "PUT",
                          .key = key,
                          .query = {{"partNumber", std::to_string(number)}, {"uploadId", upload}},
                          .body = &bytes,
                          .payload_sha256 = std::string(payload_sha256)}));
    std::string etag = answer.header("etag");
    if (etag.empty()) return unexpected_answer("store a part", "no ETag");
    return etag;
}

base::Status S3Client::complete_upload(const std::string& key, const std::string& upload,
                                       const std::vector<std::string>& etags) const {
    const std::string operation = "join the parts of an object";
    std::string body = "<CompleteMultipartUpload>";
    for (std::size_t at = 0; at < etags.size(); ++at)
        body += "<Part><PartNumber>" + std::to_string(at + 1) + "</PartNumber><ETag>" +
                base::escape_html(etags[at]) + "</ETag></Part>";
    body += "</CompleteMultipartUpload>";
    const base::MemoryReader reader(body);
    WHEELYARD_ASSIGN(const io::HttpAnswer answer, run({.operation = operation,
                                                       .method = "POST",
                                                       .key = key,
                                                       .query = {{"uploadId", upload}},
                                                       .body = &reader,
                                                       .payload_sha256 = base::sha256_hex(body)}));
    // The status comes before the parts are joined: an error may follow it in the body.
    if (const auto document = parse_xml(answer.body); document && document->name == "Error")
        return unexpected_answer(operation, document->child_text("Code"));
    return {};
}

base::Status S3Client::abort_upload(const std::string& key, const std::string& upload) const {
    auto done = run({.operation = "abort an upload of parts",
                     .method = "DELETE",
                     .key = key,
                     .query = {{"uploadId", upload}}});
    if (!done && done.error().os_error == ENOENT) return {};
    return done.map([](const io::HttpAnswer&) {});
}

base::Result<std::vector<S3Upload>> S3Client::uploads() const {
    std::vector<S3Upload> found;
    Call call{.operation = "list uploads of parts", .of_bucket = true, .limit_bytes = max_answer_bytes};
    std::string key_marker;
    std::string id_marker;
    for (int page = 0; page < max_list_pages; ++page) {
        call.query = {{"uploads", ""}, {"prefix", address_.prefix}};
        if (!key_marker.empty()) {
            call.query.emplace_back("key-marker", key_marker);
            call.query.emplace_back("upload-id-marker", id_marker);
        }
        WHEELYARD_ASSIGN(const io::HttpAnswer answer, run(call));
        const auto document = parse_xml(answer.body);
        if (!document) return unexpected_answer(call.operation, document.error().text());
        for (const XmlElement& item : document->children) {
            if (item.name != "Upload") continue;
            const std::string key = item.child_text("Key");
            const auto begun = time_of(item.child_text("Initiated"));
            if (!key.starts_with(address_.prefix) || !begun) continue;
            found.push_back({key.substr(address_.prefix.size()), item.child_text("UploadId"), *begun});
        }
        if (document->child_text("IsTruncated") != "true") return found;
        const std::string next = document->child_text("NextKeyMarker");
        const std::string next_id = document->child_text("NextUploadIdMarker");
        if (next.empty() || (next == key_marker && next_id == id_marker))
            return unexpected_answer(call.operation, "a list without an end");
        key_marker = next;
        id_marker = next_id;
    }
    return found;
}

std::optional<std::string> S3Client::presigned(const std::string& key, const S3Query& query,
                                               base::UnixMicros from, int seconds) const {
    if (address_.public_base.empty()) return std::nullopt;
    const auto credentials = credentials_->for_url(now());
    if (!credentials)
        return std::nullopt;  // the request for the bytes asks for newer ones, or says why there are none
    const S3Request request{.host = address_.public_host, .path = address_.folder + key, .query = query};
    return address_.public_base + s3_path(request.path) + "?" +
           presigned_query(request, *credentials, address_.region, from, seconds);
}

}  // namespace wheelyard::blobs
