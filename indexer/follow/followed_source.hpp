// The other side of a tree that follows: an index reached over HTTP, a registry's or a tree's behind any web
// server. Errors "follow.*" are of one project; others end the round.
#pragma once

#include <cstdint>
#include <filesystem>
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

// A file as its server tells it apart from what it was before (RFC 9110, section 8.8.3).
struct TaggedFile {
    bool is_unchanged = false;  // then without bytes
    std::string bytes = {};
    std::string etag = {};  // empty: the server says none
};

struct FollowedPages {
    std::string html;
    std::string json;
    std::vector<Promised> files;
};

class FollowedSource {
  public:
    // `from` ends in '/'. `meanwhile` is called now and then while the other side is waited for.
    FollowedSource(io::HttpClient& http, std::string from, Meanwhile meanwhile)
        : http_(http), from_(std::move(from)), meanwhile_(std::move(meanwhile)) {}

    [[nodiscard]] const std::string& from() const { return from_; }
    // An absent tail is an empty segment: no event yet.
    [[nodiscard]] base::Result<EventSegment> segment(const std::string& name);
    [[nodiscard]] base::Result<std::vector<std::string>> projects();
    // nullopt: there is no such project.
    [[nodiscard]] base::Result<std::optional<FollowedPages>> pages(const std::string& project);
    // One of the two files of the catalogue, unless it still is the one of `known_etag` (empty: none is
    // known). nullopt: there is none.
    [[nodiscard]] base::Result<std::optional<TaggedFile>> catalogue(std::string_view name,
                                                                    const std::string& known_etag);
    // Into a new file `to`, with these bytes and no others, durable; its size. "follow.file_gone": it went
    // after its page was read.
    [[nodiscard]] base::Result<std::uint64_t> fetch(const std::string& path, const std::filesystem::path& to,
                                                    const std::string& sha256);

  private:
    [[nodiscard]] std::string url(const std::string& path) const { return from_ + path; }
    [[nodiscard]] tl::unexpected<base::Error> unexpected_status(const std::string& path, int status) const;
    // A request of the client's, which is stopped where `meanwhile` fails.
    template <typename Request>
    [[nodiscard]] base::Result<io::HttpAnswer> ask(Request request) const;
    // nullopt: 404.
    [[nodiscard]] base::Result<std::optional<std::string>> get(const std::string& path, std::uint64_t limit);

    io::HttpClient& http_;
    std::string from_;
    Meanwhile meanwhile_;
};

}  // namespace wheelyard::indexer
