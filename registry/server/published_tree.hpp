// Serves pages and files of the tree that the indexer writes. Not thread-safe: each I/O thread has its own.
//
// Links are never followed: the indexer creates none, and a foreign one could lead anywhere. open(2) and
// fstat(2) run on the I/O thread; on the local file systems that hold a published tree they take
// microseconds. Small pages are cached; each use compares the file's identity (device, inode, size, time),
// which suffices because the indexer replaces files and never modifies them.
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "lib/io/json.hpp"
#include "lib/page/farm.hpp"
#include "registry/http/front_pages.hpp"
#include "registry/http/negotiation.hpp"
#include "registry/http/pypi_json.hpp"
#include "registry/http/reply.hpp"
#include "registry/http/request_head.hpp"
#include "registry/http/routes.hpp"

struct stat;

namespace wheelyard::http {

class PublishedTree {
  public:
    // `accel_prefix`: the proxy sends the files, by X-Accel-Redirect to this prefix; empty: this server does.
    // `farm`: on the pages that are not there.
    explicit PublishedTree(std::filesystem::path root, std::string accel_prefix = {}, page::Farm farm = {})
        : root_(std::move(root)), accel_prefix_(std::move(accel_prefix)), farm_(std::move(farm)) {}
    // A root or project page; negotiated if the route has no form. 200, 304, 404 or 406.
    [[nodiscard]] Reply page(const Route& route, const RequestHead& head);
    // A file or its METADATA. 200, 206, 304, 404 or 416. The body of one that the tree has a stand-in for is
    // a RemoteFile. `may_redirect`: the client is a proxy, which reads X-Accel-Redirect.
    [[nodiscard]] Reply file(const Route& route, const RequestHead& head, bool may_redirect);
    // A text file of the tree, unchanged. 200, 304 or 404. Clients revalidate it as they do pages.
    [[nodiscard]] Reply listing(const Route& route, const RequestHead& head);
    // A page of the web UI or its data. 200, 304 or 404, which names those of `indexes` that have the
    // project.
    [[nodiscard]] Reply web_page(const Route& route, const RequestHead& head,
                                 const std::vector<IndexEntry>& indexes);
    // The front page; nullopt: the tree has no web UI.
    [[nodiscard]] std::optional<Reply> front(const RequestHead& head);
    // A project in PyPI's JSON form. 200 or 404.
    [[nodiscard]] Reply pypi_json(const Route& route, const PypiIndex& place);
    // The same of a page that may not be in the tree. `metadata`: of the project's wheel; null: the tree's.
    [[nodiscard]] Reply pypi_json(const base::Result<PypiProject>& project, SharedText metadata,
                                  PypiIndex place);
    // The attestations of a file that the project's page lists. 200, 304 or 404.
    [[nodiscard]] Reply integrity(const Route& route, const RequestHead& head);
    // Says whether the tree's root folder exists.
    [[nodiscard]] bool is_there() const;

  private:
    struct Packed {
        SharedText text;  // null: not requested yet, or not smaller
        bool tried = false;
    };
    struct Page {
        std::uint64_t device = 0;
        std::uint64_t inode = 0;
        std::uint64_t size = 0;
        std::int64_t modified_ns = 0;
        SharedText text;  // null: too large to cache
        Packed gzip;
        Packed zstd;
        std::string tag;  // identifies the file; part of the ETag of each form and coding
        std::string last_modified;
        std::int64_t serial = 0;  // that a JSON root page was sent with
        [[nodiscard]] bool is_still(const struct stat& now) const;
    };
    [[nodiscard]] std::vector<IndexEntry> indexes_with(const Route& route,
                                                       const std::vector<IndexEntry>& indexes);
    // For a page that is too large to cache, also opens its file into `large`.
    [[nodiscard]] Page* find_page(const std::string& path, base::Fd& large);
    // Of a project, as JSON; the reply says why it cannot be read.
    [[nodiscard]] tl::expected<SharedText, Reply> page_text(const Route& route);
    // METADATA of the project's wheel; empty: the tree has none.
    [[nodiscard]] std::string metadata_of(const std::string& index, const PypiProject& project);
    void forget(const std::string& path);
    // Of the index's last event that the tree shows, by the tree's record; 0: it has none.
    [[nodiscard]] std::int64_t serial_of(const std::string& index);
    struct KnownSerials {
        std::uint64_t inode = 0;
        std::int64_t modified_ns = 0;
        io::Json of_indexes = {};
    };
    KnownSerials serials_;
    void make_room(const Page& page);
    // Null: send the page uncompressed.
    [[nodiscard]] SharedText packed(Page& page, Coding coding);
    [[nodiscard]] bool is_root_still() const;
    // How a text of the tree is sent.
    struct Sent {
        std::string_view content_type;
        std::string_view form_tag = {};  // part of the ETag: one file can be sent as two media types
        std::string_view vary = "Accept-Encoding";
    };
    // A text of the tree, compressed if the client takes that: 200 or 304. nullopt: there is none.
    [[nodiscard]] std::optional<Reply> reply_text(const std::string& path, const Sent& sent,
                                                  const RequestHead& head);
    [[nodiscard]] Reply reply_text_file(const std::string& path, std::string_view content_type,
                                        const RequestHead& head);
    // Opens a regular file below the root; on failure errno holds the reason. A stand-in is opened, but not
    // to be read.
    [[nodiscard]] base::Fd open(const std::string& path, struct stat& info);
    std::filesystem::path root_;
    std::string accel_prefix_;
    page::Farm farm_;
    base::Fd root_folder_;
    std::map<std::string, Page> pages_;
    std::size_t cached_bytes_ = 0;
};

}  // namespace wheelyard::http
