// Parts of a large member that are kept while it streams by, so that finding its device code later needs no
// second unpacking: the headers of CUDA fatbins and of their entries, and the pages on which HIP bundles
// begin. Only a memory of bytes: whoever reads the member finds the same with it and without it, in less
// time. Layouts: fatbin.hpp, hip_bundle.hpp.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace wheelyard::inspect {

class Landmarks {
  public:
    // The member's bytes at `offset`: its pieces in order, none left out.
    void pass(std::uint64_t offset, std::string_view piece);
    // False: not all of it is kept.
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
    std::uint64_t awaited_at_ = 0;  // where it begins; of a magic: where to look from
    std::size_t awaited_bytes_ = 0;
    std::string arrived_;  // of what is awaited
    std::uint64_t fatbin_end_ = 0;
    std::string kept_;
    std::vector<Block> blocks_;  // by offset, none overlaps another
};

}  // namespace wheelyard::inspect
