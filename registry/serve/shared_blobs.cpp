#include "registry/serve/shared_blobs.hpp"

#include <algorithm>

#include "lib/base/digest/digest.hpp"
#include "lib/base/text/encoding.hpp"
#include "lib/io/log.hpp"

namespace wheelyard::registry {
namespace {

constexpr std::size_t mark_bytes = 8;

// A server starts, and shows its pages, while the store is away.
std::string unproved(const std::string& mark, const base::Error& error) {
    io::log_warn("node.blobs_not_proved", {{"error", error.text()}});
    return mark;
}

}  // namespace

std::string place_of(const RegistryConfig& config) {
    return name_of_machine() + ":" + config.store.string();
}

std::string name_of_mark(const std::string& mark) {
    return mark.substr(0, mark.find(' '));
}

base::Result<std::string> prove_blobs(nodes::NodeBoard& board, const blobs::BlobStore& blobs,
                                      const RegistryConfig& config) {
    const std::string here = config.blob_place().text();
    while (true) {
        WHEELYARD_ASSIGN(const std::string mark, board.blob_mark());
        const base::Result<bool> is_marked = mark.empty() ? false : blobs.has_mark(name_of_mark(mark));
        if (!is_marked) return unproved(mark, is_marked.error());
        if (*is_marked) return mark;
        WHEELYARD_ASSIGN(const auto seen, board.nodes());
        const auto other = std::find_if(seen.begin(), seen.end(), [&](const nodes::SeenNode& node) {
            return node.row.place != place_of(config);
        });
        if (!mark.empty() && other != seen.end())
            return base::fail("node.differs",
                              "This node keeps the wheels elsewhere than node " + other->row.name,
                              "here " + here + ", there " + mark.substr(mark.find(' ') + 1),
                              "give both the same [stores] blobs, or one shared folder; to change it, stop "
                              "all nodes first");
        const std::string own = base::encode_hex(base::random_bytes(mark_bytes)) + " " + here;
        if (const auto left = blobs.leave_mark(name_of_mark(own)); !left) return unproved(mark, left.error());
        WHEELYARD_ASSIGN(const bool is_kept, board.replace_blob_mark(mark, own));
        if (is_kept) return own;
    }
}

}  // namespace wheelyard::registry
