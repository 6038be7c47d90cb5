// Requests to one S3 bucket: signed, repeated where that helps, answered with values or with errors that say
// which store, which operation, the store's code and what to do.
//
// Repeated with growing waits: 5xx (503 SlowDown), 429, and connections that fail or break; after a timeout,
// once. RequestTimeTooSkewed is repeated once with the store's time. No other 4xx is repeated.
//
// Thread-safe: requests borrow one of the HTTP clients, which keep their connections.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "lib/base/clock.hpp"
#include "lib/base/files/file.hpp"
#include "lib/base/result.hpp"
#include "lib/io/http_client.hpp"
#include "lib/store/blobs/s3/credentials.hpp"
#include "lib/store/blobs/s3/signer.hpp"
#include "lib/store/blobs/store.hpp"

namespace wheelyard::blobs {

struct S3Object {
    std::string key;  // below the prefix
    std::uint64_t size_bytes = 0;
    base::UnixMicros modified = 0;  // by the store's clock, whole seconds
    base::UnixMicros asked = 0;     // of head(): when it answered, by the same clock where it says so
};

struct S3Upload {  // of several parts, not complete
    std::string key;
    std::string id;
    base::UnixMicros begun = 0;
};

// Where requests go, made of a blobs::Place. Pure.
struct S3Address {
    std::string scheme;
    std::string host;         // as the Host header names it, with the bucket where that is its style
    std::string public_base;  // "https://host" for clients; empty: none
    std::string public_host;
    std::string folder;       // "/bucket/prefix/", "/prefix/" or "/": before each key
    std::string bucket_path;  // "/bucket" or "/": the bucket itself
    std::string prefix;       // "prefix/" or empty
    std::string region;
    std::string name;  // "s3://bucket/prefix at https://…", for messages

    // Error "s3.address".
    [[nodiscard]] static base::Result<S3Address> of(const Place& place);
};

struct S3Limits {  // tests have other ones
    int tries = 6;
    std::int64_t first_wait_ms = 100;  // doubles with each try
    std::int64_t stall_timeout_ms = 20'000;
    std::int64_t answer_timeout_ms = 120'000;  // of a store that joins many parts
};

// Takes the bytes of an object in order.
using S3Sink = std::function<base::Status(std::string_view bytes)>;

// `fresh`: opened for this request, and closed after it.
enum class Connection { kept, fresh };

class S3Client {
  public:
    S3Client(S3Address address, std::shared_ptr<S3CredentialSource> credentials, S3Limits limits = {});
    ~S3Client();
    S3Client(const S3Client&) = delete;
    S3Client& operator=(const S3Client&) = delete;

    // Keys are below the prefix. Of an object that is not there, `os_error` is ENOENT.
    [[nodiscard]] base::Status put(const std::string& key, const base::Reader& bytes,
                                   std::string_view payload_sha256) const;
    [[nodiscard]] base::Result<S3Object> head(const std::string& key) const;
    struct Part {
        std::string bytes;
        std::uint64_t whole_bytes = 0;  // size of the object
    };
    // `length` bytes from `offset`, or fewer at the end of the object.
    [[nodiscard]] base::Result<Part> get(const std::string& key, std::uint64_t offset, std::uint64_t length,
                                         Connection connection) const;
    // Passes exactly `length` bytes from `offset` on to `sink`. Not repeated once the first byte has come.
    [[nodiscard]] base::Status stream(const std::string& key, std::uint64_t offset, std::uint64_t length,
                                      const S3Sink& sink) const;
    // One that is not there is no error.
    [[nodiscard]] base::Status remove(const std::string& key) const;
    // Tried once, in a bounded time: for removals that must not happen later.
    [[nodiscard]] base::Status remove_once(const std::string& key) const;
    // All whose key begins with `start`, in the order of their keys.
    [[nodiscard]] base::Result<std::vector<S3Object>> list(const std::string& start) const;
    // The result is nullopt where one answer of the store does not hold them all.
    [[nodiscard]] base::Result<std::optional<std::vector<S3Object>>> list_if_few(
        const std::string& start) const;

    // An object of several parts: begin, each part with its hash, then all ETags in order.
    [[nodiscard]] base::Result<std::string> begin_upload(const std::string& key) const;
    [[nodiscard]] base::Result<std::string> put_part(const std::string& key, const std::string& upload,
                                                     int number, const base::Reader& bytes,
                                                     std::string_view payload_sha256) const;
    [[nodiscard]] base::Status complete_upload(const std::string& key, const std::string& upload,
                                               const std::vector<std::string>& etags) const;
    [[nodiscard]] base::Status abort_upload(const std::string& key, const std::string& upload) const;
    [[nodiscard]] base::Result<std::vector<S3Upload>> uploads() const;

    // A URL for clients: valid for `seconds` from `from` on; nullopt: the store has no public address.
    [[nodiscard]] std::optional<std::string> presigned(const std::string& key, const S3Query& query,
                                                       base::UnixMicros from, int seconds) const;
    // From now on a request is not repeated, and ends when nothing was sent or received for some seconds.
    void stop_waiting() const { is_stopping_ = true; }
    [[nodiscard]] BlobStore::Requests requests() const { return {spent_.sum(), failed_}; }
    [[nodiscard]] const S3Address& address() const { return address_; }
    // By the store's clock, as far as an answer has shown that it differs from ours.
    [[nodiscard]] base::UnixMicros now() const;

  private:
    class Lease;
    struct Call {
        std::string operation;  // for messages
        std::string method = "GET";
        std::string key = {};
        bool of_bucket = false;
        S3Query query = {};
        S3Headers headers = {};
        const base::Reader* body = nullptr;
        std::string payload_sha256 = {};  // of the body; empty: there is none
        const S3Sink* sink = nullptr;     // for a GET
        std::uint64_t limit_bytes = 0;    // of an answer
        int tries = 0;                    // 0: the usual number
        Connection connection = Connection::kept;
    };
    // Adds what the page after `token` has; returns the token of the next one, empty at the end.
    [[nodiscard]] base::Result<std::string> list_page(const std::string& start, const std::string& token,
                                                      std::vector<S3Object>& found) const;
    [[nodiscard]] base::Result<io::HttpAnswer> run(const Call& call) const;
    [[nodiscard]] base::Result<io::HttpAnswer> run_once(const Call& call, bool& has_begun,
                                                        bool& is_left) const;
    [[nodiscard]] tl::unexpected<base::Error> refused(const Call& call, const io::HttpAnswer& answer) const;
    [[nodiscard]] tl::unexpected<base::Error> unexpected_answer(const std::string& operation,
                                                                const std::string& what) const;
    [[nodiscard]] std::string url_of(const S3Request& request) const;
    [[nodiscard]] S3Request request_of(const Call& call) const;

    const S3Address address_;
    const std::shared_ptr<S3CredentialSource> credentials_;
    const S3Limits limits_;
    mutable base::Spent spent_;
    mutable std::atomic<std::uint64_t> failed_ = 0;  // requests
    mutable std::atomic<bool> is_stopping_ = false;
    mutable std::atomic<std::int64_t> offset_us_ = 0;  // the store's clock minus ours
    mutable std::mutex mutex_;
    mutable std::vector<std::unique_ptr<io::HttpClient>> idle_;
};

inline constexpr std::size_t max_xml_depth = 16;
inline constexpr std::size_t max_xml_elements = 50'000;  // a list of 1,000 objects has some 8,000

struct XmlElement {
    std::string name;  // without a namespace's prefix
    std::string text;  // its own, without that of its children
    std::vector<XmlElement> children = {};

    // The first child of this name; null: none.
    [[nodiscard]] const XmlElement* child(std::string_view wanted) const;
    // Its text; empty: none.
    [[nodiscard]] std::string child_text(std::string_view wanted) const;
};

// The document's one root element. Error "s3.answer" (malformed).
[[nodiscard]] base::Result<XmlElement> parse_xml(std::string_view text);

}  // namespace wheelyard::blobs
