// Reads the tree that the indexer writes and answers with its pages and files. Not thread-safe: each I/O
// thread has its own.
//
// open(2) and fstat(2) run on the I/O thread: on the local file systems that hold a published tree they cost
// microseconds. Small pages are kept in memory; each use compares the file's identity (device, inode, size,
// time), which suffices because the indexer replaces files and never writes into one.
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
    explicit PublishedTree(std::filesystem::path root) : root_(std::move(root)) {}
    // A root or project page, negotiated where the route names no form: 200, 304, 404, 406.
    [[nodiscard]] Reply page(const Route& route, const RequestHead& head);
    // A file or its metadata: 200, 206, 304, 404, 416.
    [[nodiscard]] Reply file(const Route& route, const RequestHead& head) const;
    // Is there a tree to serve from?
    [[nodiscard]] bool is_there() const;

  private:
    struct Page {
        std::uint64_t device = 0;
        std::uint64_t inode = 0;
        std::uint64_t size = 0;
        std::int64_t modified_ns = 0;
        SharedText text;  // null: too large to keep
        std::string etag;
        std::string last_modified;
        [[nodiscard]] bool is_still(const struct stat& now) const;
    };
    // A page that is too large to keep comes with its open file.
    [[nodiscard]] const Page* find_page(const std::string& path, base::Fd& large);
    void forget(const std::string& path);
    std::filesystem::path root_;
    std::map<std::string, Page> pages_;
    std::size_t cached_bytes_ = 0;
};

}  // namespace wheelyard::http
