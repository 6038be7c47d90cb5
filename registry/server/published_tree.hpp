// Reads the tree that the indexer writes and answers with its pages and files. Not thread-safe: each I/O
// thread has its own.
//
// No link is followed, at whatever depth: the indexer makes none, and one that somebody else put there could
// lead anywhere. open(2) and fstat(2) run on the I/O thread: on the local file systems that hold a published
// tree they cost microseconds. Small pages are kept in memory; each use compares the file's identity (device,
// inode, size, time), which suffices because the indexer replaces files and never writes into one.
#pragma once

#include <filesystem>
#include <map>
#include <string>

#include "registry/http/negotiation.hpp"
#include "registry/http/reply.hpp"
#include "registry/http/request_head.hpp"
#include "registry/http/routes.hpp"

struct stat;

namespace wheelyard::http {

class PublishedTree {
  public:
    // `accel_prefix`: files are left to the proxy in front, by X-Accel-Redirect below this; empty: sent from
    // here.
    explicit PublishedTree(std::filesystem::path root, std::string accel_prefix = {})
        : root_(std::move(root)), accel_prefix_(std::move(accel_prefix)) {}
    // A root or project page, negotiated where the route names no form: 200, 304, 404, 406.
    [[nodiscard]] Reply page(const Route& route, const RequestHead& head);
    // A file or its metadata: 200, 206, 304, 404, 416.
    [[nodiscard]] Reply file(const Route& route, const RequestHead& head);
    // A text file beside the pages, as it is: 200, 304, 404. Asked about each time, like a page.
    [[nodiscard]] Reply listing(const Route& route, const RequestHead& head);
    // Is there a tree to serve from?
    [[nodiscard]] bool is_there() const;

  private:
    struct Packed {
        SharedText text;  // null: not asked for yet, or no smaller
        bool tried = false;
    };
    struct Page {
        std::uint64_t device = 0;
        std::uint64_t inode = 0;
        std::uint64_t size = 0;
        std::int64_t modified_ns = 0;
        SharedText text;  // null: too large to keep
        Packed gzip;
        Packed zstd;
        std::string tag;  // of the file; each form and coding of it makes its own ETag with it
        std::string last_modified;
        [[nodiscard]] bool is_still(const struct stat& now) const;
    };
    // A page that is too large to keep comes with its open file.
    [[nodiscard]] Page* find_page(const std::string& path, base::Fd& large);
    void forget(const std::string& path);
    void make_room(const Page& page);
    // Null: the page goes as it is.
    [[nodiscard]] SharedText packed(Page& page, Coding coding);
    [[nodiscard]] bool is_root_still() const;
    // An open regular file below the root; errno when there is none.
    [[nodiscard]] base::Fd open(const std::string& path, struct stat& info);
    std::filesystem::path root_;
    std::string accel_prefix_;
    base::Fd root_folder_;
    std::map<std::string, Page> pages_;
    std::size_t cached_bytes_ = 0;
};

}  // namespace wheelyard::http
