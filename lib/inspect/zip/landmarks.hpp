// Keeps parts of a large member while it streams by, so that finding its device code needs no second
// unpacking: the headers of CUDA fatbins and of their entries, and the pages where HIP bundles begin. Purely
// a cache: results are the same without it, only slower. Layouts: fatbin.hpp, hip_bundle.hpp.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace wheelyard::inspect {

class Landmarks {
  public:
    // Call for every piece of the member, in order.
    void pass(std::uint64_t offset, std::string_view piece);
    // Returns false if any of the bytes is not kept.
    [[nodiscard]] bool read_at(std::uint64_t offset, char* into, std::size_t length) const;

  private:
    enum class Awaited { magic, fatbin, entry };
    struct Block {
        std::uint64_t offset;
        std::size_t at;  // in kept_
        std::size_t size;
    };
    void look_for_magic(std::uint64_t offset, std::string_view piece);
    void await(Awaited what, std::uint64_t offset, std::size_t size);
    void await_magic(std::uint64_t from);
    void follow();
    void keep(std::uint64_t offset, std::string_view bytes);

    Awaited awaited_ = Awaited::magic;
    std::uint64_t awaited_at_ = 0;  // its offset; for a magic: where to search from
    std::size_t awaited_bytes_ = 0;
    std::string arrived_;  // the part received so far
    std::uint64_t fatbin_end_ = 0;
    std::string kept_;
    std::vector<Block> blocks_;  // sorted by offset, without overlap
};

}  // namespace wheelyard::inspect
