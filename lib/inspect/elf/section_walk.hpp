// Bounded sequential access to device code: one range of a file, from start to end.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <set>
#include <string>

#include "lib/base/files/file.hpp"
#include "lib/base/limits.hpp"
#include "lib/base/result.hpp"

namespace wheelyard::inspect {

inline constexpr std::uint64_t max_gpu_entries = 4'000'000;  // per ELF file, including unpacked tables
inline constexpr std::size_t max_gpu_names = 256;            // per ELF file; torch has 12
inline constexpr std::uint64_t max_bundle_tables_bytes = 256 * base::mib;  // per ELF file

inline tl::unexpected<base::Error> malformed_gpu_code(std::string sentence, std::uint64_t offset) {
    return base::fail_malformed("gpu.malformed", std::move(sentence), "offset " + std::to_string(offset));
}

class SectionWalk {
  public:
    // `offset` and all later offsets are absolute in `bytes`; the range must be inside it.
    SectionWalk(const base::Reader& bytes, std::uint64_t offset, std::uint64_t size)
        : bytes_(&bytes), begin_(offset), at_(offset), end_(offset + size) {}
    // A walk over another range of the same ELF file, or over bytes unpacked from it. Both share the work
    // limits.
    [[nodiscard]] SectionWalk part(const base::Reader& bytes, std::uint64_t offset,
                                   std::uint64_t size) const {
        SectionWalk other(bytes, offset, size);
        other.work_ = work_;
        return other;
    }

    [[nodiscard]] base::Result<std::string> read(std::uint64_t offset, std::uint64_t length) const {
        if (offset > end_ || length > end_ - offset)
            return malformed_gpu_code("Device code extends beyond its section.", offset);
        std::string text(length, '\0');
        WHEELYARD_TRY(bytes_->read_at(offset, text.data(), text.size()));
        return text;
    }
    // Skips zero bytes (linkers pad to the next alignment). Returns false at the end.
    [[nodiscard]] base::Result<bool> skip_zeros() {
        // Most fatbins follow each other without a gap, and member_stream.hpp keeps their headers: start
        // small.
        std::uint64_t at_a_time = 16;
        for (; at_ < end_; at_a_time = 4096) {
            WHEELYARD_ASSIGN(const std::string text, read(at_, std::min(end_ - at_, at_a_time)));
            const auto found = text.find_first_not_of('\0');
            if (found != std::string::npos) {
                at_ += found;
                return true;
            }
            at_ += text.size();
        }
        return false;
    }
    [[nodiscard]] const base::Reader& bytes() const { return *bytes_; }
    [[nodiscard]] std::uint64_t at() const { return at_; }
    [[nodiscard]] std::uint64_t left() const { return end_ - at_; }
    [[nodiscard]] std::uint64_t size() const { return end_ - begin_; }
    void move_to(std::uint64_t offset) { at_ = offset; }
    // Call for every header and entry: bounds the work on a file of nothing else.
    [[nodiscard]] base::Status count_entry() {
        if (++work_->entries > max_gpu_entries)
            return malformed_gpu_code("The file has more device code than any real library.", at_);
        return {};
    }
    // Call with the number of bytes unpacked from each compressed bundle.
    [[nodiscard]] base::Status count_unpacked(std::uint64_t bytes) {
        work_->unpacked_bytes += bytes;
        if (work_->unpacked_bytes > max_bundle_tables_bytes)
            return malformed_gpu_code(
                "The compressed bundles' tables are larger than those of any real library.", at_);
        return {};
    }
    // Adds `name` to one of the sets of a GpuFacts; their size is bounded per file.
    [[nodiscard]] base::Status keep(std::set<std::string>& names, std::string name) const {
        names.insert(std::move(name));
        if (names.size() > max_gpu_names)
            return malformed_gpu_code("The file has code for more kinds of GPU than exist.", at_);
        return {};
    }

  private:
    struct Work {
        std::uint64_t entries = 0;
        std::uint64_t unpacked_bytes = 0;
    };

    const base::Reader* bytes_;
    std::uint64_t begin_;
    std::uint64_t at_;
    std::uint64_t end_;
    std::shared_ptr<Work> work_ = std::make_shared<Work>();
};

}  // namespace wheelyard::inspect
