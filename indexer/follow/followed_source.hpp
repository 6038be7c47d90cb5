// The source of a followed tree: an index over HTTP, from a registry or from a tree behind any web server.
// Errors "follow.*" concern one project; all others end the round.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "indexer/follow/followed_page.hpp"
#include "indexer/tree/disk.hpp"
#include "indexer/tree/event_log.hpp"
#include "lib/base/result.hpp"
#include "lib/io/http_client.hpp"

namespace wheelyard::indexer {

// What became of a file with its validator (RFC 9110, section 8.8.3).
struct TaggedFile {
    bool is_unchanged = false;
    std::string etag = {};  // empty: the server sends none
};

class FollowedSource {
  public:
    // `from` ends in '/'. `keep_alive` is called now and then during requests. `may_be_private`: nobody else can read
    // the tree; otherwise what the source marks as private is refused ("follow.private_source").
    FollowedSource(io::HttpClient& http, std::string from, base::KeepAlive keep_alive,
                   bool may_be_private = false)
        : http_(http),
          from_(std::move(from)),
          keep_alive_(std::move(keep_alive)),
          may_be_private_(may_be_private) {}

    [[nodiscard]] const std::string& from() const { return from_; }
    // An absent tail returns an empty segment: there are no events yet.
    [[nodiscard]] base::Result<EventSegment> segment(const std::string& name);
    [[nodiscard]] base::Result<std::vector<std::string>> projects();
    // nullopt: no such project. `check` sees the bytes first, and may refuse them.
    using CheckPage = std::function<base::Status(const std::string& json)>;
    [[nodiscard]] base::Result<std::optional<FollowedPage>> page(const std::string& project,
                                                                 const CheckPage& check);
    // The signed state or a list of pages; nullopt: the source has no such file.
    [[nodiscard]] base::Result<std::optional<std::string>> signed_file(const std::string& path);
    // Replaces `file` by one of the two wheel list files, with a conditional request for `known_etag` (empty: none).
    // nullopt: the source has no such file, or one that cannot be read.
    [[nodiscard]] base::Result<std::optional<TaggedFile>> wheel_list(std::string_view name,
                                                                     const std::string& known_etag,
                                                                     const std::filesystem::path& file);
    // status.json as it is; nullopt: the source has none.
    [[nodiscard]] base::Result<std::optional<std::string>> status();
    // Downloads into a new file `to`, verifies the hash, syncs it, and returns its size. "follow.file_gone":
    // it was removed after its page was fetched. A file of more than `limit_bytes` is cut off there: an error.
    [[nodiscard]] base::Result<std::uint64_t> fetch(const std::string& path, const std::filesystem::path& to,
                                                    const std::string& sha256, std::uint64_t limit_bytes);

  private:
    [[nodiscard]] std::string url(const std::string& path) const { return from_ + path; }
    [[nodiscard]] tl::unexpected<base::Error> unexpected_status(const std::string& path,
                                                                const io::HttpAnswer& answer) const;
    // Runs a request of the HTTP client and aborts it if `keep_alive` fails.
    template <typename Request>
    [[nodiscard]] base::Result<io::HttpAnswer> ask(Request request) const;
    // nullopt: 404.
    [[nodiscard]] base::Result<std::optional<std::string>> get(const std::string& path, std::uint64_t limit);

    io::HttpClient& http_;
    std::string from_;
    base::KeepAlive keep_alive_;
    bool may_be_private_;
};

}  // namespace wheelyard::indexer
