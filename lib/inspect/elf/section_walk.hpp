// Walks through device code: one part of a file, from its begin to its end, nothing beyond.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <set>
#include <string>

#include "lib/base/file.hpp"
#include "lib/base/result.hpp"
#include "lib/inspect/elf/limits.hpp"

namespace wheelyard::inspect {

inline tl::unexpected<base::Error> malformed_gpu_code(std::string sentence, std::uint64_t offset) {
    return base::fail_malformed("gpu.malformed", std::move(sentence), "offset " + std::to_string(offset));
}

class SectionWalk {
  public:
    // Offsets are those of `bytes`; the part must lie within it.
    SectionWalk(const base::Reader& bytes, std::uint64_t offset, std::uint64_t size)
        : bytes_(&bytes), begin_(offset), at_(offset), end_(offset + size) {}
    // A walk through another part of the same ELF file, or through what was unpacked from it: their work
    // counts together.
    [[nodiscard]] SectionWalk part(const base::Reader& bytes, std::uint64_t offset,
                                   std::uint64_t size) const {
        SectionWalk other(bytes, offset, size);
        other.work_ = work_;
        return other;
    }

    [[nodiscard]] base::Result<std::string> read(std::uint64_t offset, std::uint64_t length) const {
        if (offset > end_ || length > end_ - offset)
            return malformed_gpu_code("Device code ends beyond its section.", offset);
        std::string text(length, '\0');
        WHEELYARD_TRY(bytes_->read_at(offset, text.data(), text.size()));
        return text;
    }
    // Moves to the next byte that is not zero: linkers fill up to the next alignment. False at the end.
    [[nodiscard]] base::Result<bool> skip_zeros() {
        std::uint64_t at_a_time =
            16;  // most fatbins follow each other without a gap: their headers are kept, see landmarks.hpp
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
    // To be called for every header and entry: a file of nothing else takes no longer than max_gpu_entries.
    [[nodiscard]] base::Status count_entry() {
        if (++work_->entries > max_gpu_entries)
            return malformed_gpu_code("There is more device code than in any real library.", at_);
        return {};
    }
    // To be called with what was unpacked of each compressed bundle.
    [[nodiscard]] base::Status count_unpacked(std::uint64_t bytes) {
        work_->unpacked_bytes += bytes;
        if (work_->unpacked_bytes > max_bundle_tables_bytes)
            return malformed_gpu_code("The compressed bundles' tables are longer than in any real library.",
                                      at_);
        return {};
    }
    // Adds to one of the sets of a GpuFacts, which are shown and kept for every file.
    [[nodiscard]] base::Status keep(std::set<std::string>& names, std::string name) const {
        names.insert(std::move(name));
        if (names.size() > max_gpu_names)
            return malformed_gpu_code("There is code for more kinds of GPU than exist.", at_);
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
