// The rows of a search in files of a bounded number of rows, so that a reader loads those of the first
// letters, and an upload writes those of one project. Rows lie below roots, each a space of keys:
//
//     name=             torch                    every project
//     word=             tensor torch             each further word of its name, summary and keywords, with the project
//     needs=            torch                    each project that needs others, with their names
//     needed=           numpy torch              each project that another one needs, with that one
//     python=3.12·      torch                    each value of a facet, likewise machine=, gpu= and uses=; "·" is a space
//
// A root is a tree over the characters of keys. A node with up to max_shard_rows rows is a leaf, any other
// names the next characters; a key ends in a space. So the files follow from the rows alone, whatever the
// order of changes. A node's file is named by its root and characters:
// TREE/<index>/project/search.name=to.json
//
//     {"format":"wheelyard.search/2","count":2,"rows":{"torch":[…],"torchvision":[…]}}
//     {"format":"wheelyard.search/2","count":845,"next":{"o":512,"_20":1,"r":332}}
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "lib/base/result.hpp"

namespace wheelyard::indexer {

// Where the files lie: the publisher's folder, or a map.
class ShardFiles {
  public:
    virtual ~ShardFiles() = default;
    // Empty: there is none.
    [[nodiscard]] virtual base::Result<std::string> read(const std::string& file) = 0;
    [[nodiscard]] virtual base::Status write(const std::string& file, std::string bytes) = 0;
    [[nodiscard]] virtual base::Status remove(const std::string& file) = 0;
};

// A row as its JSON; several keys share it.
using ShardRow = std::shared_ptr<const std::string>;
using ShardRows = std::map<std::string, ShardRow>;
// The new row of a key; nullptr: it has none any more.
using ShardChanges = std::map<std::string, ShardRow>;

class SearchShards {
  public:
    // `is_new`: what there is does not count, and is not read.
    explicit SearchShards(ShardFiles& files, bool is_new = false) : files_(files), is_new_(is_new) {}

    // Writes the files that differ, each after those that it names, and returns the number of rows that the
    // root then has. Error "search.format": a file is not one of these; all have to be made again.
    [[nodiscard]] base::Result<std::size_t> apply(const std::string& root, const ShardChanges& changes);
    // nullptr: there is none.
    [[nodiscard]] base::Result<ShardRow> find(const std::string& root, const std::string& key);
    // In the order of keys, until it returns false.
    using Visit = std::function<bool(const std::string& key, const ShardRow& row)>;
    [[nodiscard]] base::Status visit(const std::string& root, const Visit& visit);

  private:
    struct Node {
        std::string before;  // as it was read
        bool is_leaf = true;
        ShardRows rows;                    // of a leaf
        std::map<char, std::size_t> next;  // of any other, with the number of rows
    };
    using Changes = std::vector<const ShardChanges::value_type*>;
    // Named by another node, it has to be there.
    [[nodiscard]] base::Result<Node> read(const std::string& node, bool is_named);
    [[nodiscard]] base::Status write(const std::string& node, const Node& made);
    [[nodiscard]] base::Result<std::size_t> apply_at(const std::string& node, std::size_t depth, Node found,
                                                     const Changes& changes);
    [[nodiscard]] base::Result<std::size_t> split(const std::string& node, std::size_t depth, Node found);
    [[nodiscard]] base::Result<bool> visit_at(const std::string& node, const Node& found, const Visit& visit);

    ShardFiles& files_;
    bool is_new_;
};

// "search.python=3.12_20to.json": letters, digits, "-", "." and "=" as they are, other bytes as "_" and two
// hexadecimal digits.
[[nodiscard]] std::string shard_file(std::string_view node);

}  // namespace wheelyard::indexer
