// An S3 store in memory, on loopback, that fails on purpose: what no real store does when a test wants it. It checks payload
// hashes, as stores do; real ones check the signatures (tests/system/s3_test.py).
#pragma once

#include <algorithm>
#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "lib/base/clock.hpp"
#include "lib/base/digest/digest.hpp"
#include "lib/base/text/encoding.hpp"
#include "lib/base/text/text.hpp"
#include "lib/store/blobs/s3/s3_blobs.hpp"
#include "tests/support/loopback_server.hpp"

namespace wheelyard::testing {

class S3Double {
  public:
    struct Object {
        std::string bytes;
        base::UnixMicros stored = 0;
    };
    struct Upload {
        std::string key;
        base::UnixMicros begun = 0;
        std::map<int, std::string> parts = {};
    };
    using Fault = std::function<std::optional<LoopbackAnswer>(const LoopbackRequest&)>;

    S3Double() : server_([this](const LoopbackRequest& request) { return begin(request); }) {}

    [[nodiscard]] blobs::Place place(const std::filesystem::path& folder) const {
        blobs::Place place(folder, "s3://wheels/some/prefix");
        place.endpoint = "http://127.0.0.1:" + std::to_string(server_.port());
        place.path_style = true;
        return place;
    }
    [[nodiscard]] std::unique_ptr<blobs::S3Blobs> open(const std::filesystem::path& folder,
                                                       std::int64_t timeout_ms = 30'000) const {
        return std::make_unique<blobs::S3Blobs>(
            blobs::Staging::open(folder).value(),
            std::make_unique<blobs::S3Client>(blobs::S3Address::of(place(folder)).value(),
                                              blobs::fixed_credentials({"key", "secret"}),
                                              blobs::S3Limits{.tries = 3,
                                                              .first_wait_ms = 1,
                                                              .stall_timeout_ms = timeout_ms,
                                                              .answer_timeout_ms = timeout_ms}),
            blobs::S3BlobLimits{.max_single_bytes = 1000, .part_bytes = 400, .removal_wait_ms = 1});
    }

    // Answers instead of the store, where it returns an answer. Set between requests.
    void fail(Fault fault) {
        const std::lock_guard lock(mutex_);
        fault_ = std::move(fault);
    }
    // All objects, uploads and times; for as long as no request runs.
    std::map<std::string, Object>& objects() { return objects_; }
    std::map<std::string, Upload>& uploads() { return uploads_; }
    std::size_t page_size = 2;  // of lists
    [[nodiscard]] std::size_t count(std::string_view method, std::string_view part) const {
        const auto all = server_.requests();
        return static_cast<std::size_t>(std::count_if(all.begin(), all.end(), [&](const auto& request) {
            return request.method == method && request.target.find(part) != std::string::npos;
        }));
    }
    [[nodiscard]] std::vector<LoopbackRequest> requests() const { return server_.requests(); }
    [[nodiscard]] int connections() const { return server_.connections(); }

    static LoopbackAnswer refusal(int status, const std::string& code) {
        return {.status = status,
                .body = "<?xml version='1.0'?><Error><Code>" + code + "</Code><Message>no</Message></Error>"};
    }

  private:
    static base::UnixMicros now() {
        return std::chrono::duration_cast<std::chrono::microseconds>(
                   std::chrono::system_clock::now().time_since_epoch())
            .count();
    }
    LoopbackAnswer begin(const LoopbackRequest& request) {
        const std::lock_guard lock(mutex_);
        if (fault_) {
            if (auto answer = fault_(request)) return *std::move(answer);
        }
        return {.after_body = [this](const LoopbackRequest& whole) {
            const std::lock_guard again(mutex_);
            return answer(whole);
        }};
    }
    LoopbackAnswer answer(const LoopbackRequest& request) {
        if (!request.header("authorization").starts_with("AWS4-HMAC-SHA256 Credential=key/"))
            return refusal(403, "InvalidAccessKeyId");
        if (request.header("x-amz-content-sha256") != base::sha256_hex(request.body))
            return refusal(400, "XAmzContentSHA256Mismatch");
        const auto question = request.target.find('?');
        const std::string path = base::decode_percent(request.target.substr(0, question)).value();
        std::map<std::string, std::string> query;
        if (question != std::string::npos) {
            const std::string rest = request.target.substr(question + 1);
            for (const std::string_view item : base::split(rest, '&'))
                query[std::string(item.substr(0, item.find('=')))] =
                    base::decode_percent(item.substr(item.find('=') + 1)).value();
        }
        if (!path.starts_with("/wheels")) return refusal(404, "NoSuchBucket");
        if (path == "/wheels") return query.contains("uploads") ? list_uploads() : list(query);
        const std::string key = path.substr(8);
        if (request.method == "PUT" && query.contains("uploadId")) return put_part(query, request.body);
        if (request.method == "POST" && query.contains("uploads")) {
            uploads_["u" + std::to_string(++last_upload_)] = {key, now()};
            return {.body = "<R><UploadId>u" + std::to_string(last_upload_) + "</UploadId></R>"};
        }
        if (request.method == "POST") return complete(key, query);
        if (request.method == "DELETE" && query.contains("uploadId")) {
            return uploads_.erase(query["uploadId"]) > 0 ? LoopbackAnswer{.status = 204}
                                                         : refusal(404, "NoSuchUpload");
        }
        if (request.method == "PUT") {
            objects_[key] = {request.body, now()};
            return {.headers = {{"ETag", "\"1\""}}};
        }
        if (request.method == "DELETE") {
            objects_.erase(key);
            return {.status = 204};
        }
        return get(key, request.header("range"));
    }
    LoopbackAnswer put_part(std::map<std::string, std::string>& query, const std::string& bytes) {
        const auto upload = uploads_.find(query["uploadId"]);
        if (upload == uploads_.end()) return refusal(404, "NoSuchUpload");
        upload->second.parts[std::stoi(query["partNumber"])] = bytes;
        return {.headers = {{"ETag", "\"" + query["partNumber"] + "\""}}};
    }
    LoopbackAnswer complete(const std::string& key, std::map<std::string, std::string>& query) {
        const auto upload = uploads_.find(query["uploadId"]);
        if (upload == uploads_.end()) return refusal(404, "NoSuchUpload");
        std::string whole;
        for (const auto& [number, bytes] : upload->second.parts)
            whole += bytes;
        objects_[key] = {std::move(whole), now()};
        uploads_.erase(upload);
        return {.body = "<CompleteMultipartUploadResult/>"};
    }
    LoopbackAnswer get(const std::string& key, const std::string& range) {
        const auto object = objects_.find(key);
        if (object == objects_.end()) return refusal(404, "NoSuchKey");
        const std::string& bytes = object->second.bytes;
        LoopbackAnswer found{.body = bytes,
                             .headers = {{"Last-Modified", base::render_http_date(object->second.stored)}}};
        if (!range.starts_with("bytes=")) return found;
        const auto dash = range.find('-');
        const std::size_t first = std::stoul(range.substr(6, dash - 6));
        if (first >= bytes.size()) return refusal(416, "InvalidRange");
        const std::size_t last = std::min<std::size_t>(std::stoul(range.substr(dash + 1)), bytes.size() - 1);
        found.status = 206;
        found.body = bytes.substr(first, last - first + 1);
        found.headers.emplace_back("Content-Range", "bytes " + std::to_string(first) + "-" +
                                                        std::to_string(last) + "/" +
                                                        std::to_string(bytes.size()));
        return found;
    }
    LoopbackAnswer list(std::map<std::string, std::string>& query) {
        std::string text = "<ListBucketResult xmlns=\"http://s3.amazonaws.com/doc/2006-03-01/\">";
        std::size_t listed = 0;
        std::string last;
        for (const auto& [key, object] : objects_) {
            if (!key.starts_with(query["prefix"]) || key <= query["continuation-token"]) continue;
            if (listed++ == page_size) {
                text += "<NextContinuationToken>" + last +
                        "</NextContinuationToken><IsTruncated>true</IsTruncated>";
                break;
            }
            text += "<Contents><Key>" + base::escape_html(key) + "</Key><Size>" +
                    std::to_string(object.bytes.size()) + "</Size><LastModified>" +
                    base::render_rfc3339(object.stored) + "</LastModified></Contents>";
            last = key;
        }
        return {.body = text + "</ListBucketResult>"};
    }
    LoopbackAnswer list_uploads() {
        std::string text = "<ListMultipartUploadsResult>";
        for (const auto& [id, upload] : uploads_)
            text += "<Upload><Key>" + upload.key + "</Key><UploadId>" + id + "</UploadId><Initiated>" +
                    base::render_rfc3339(upload.begun) + "</Initiated></Upload>";
        return {.body = text + "</ListMultipartUploadsResult>"};
    }

    std::mutex mutex_;
    Fault fault_;
    std::map<std::string, Object> objects_;
    std::map<std::string, Upload> uploads_;
    int last_upload_ = 0;
    LoopbackServer server_;  // last: its thread uses the others
};

}  // namespace wheelyard::testing
