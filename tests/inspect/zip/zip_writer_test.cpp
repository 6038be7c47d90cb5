// What the writer writes, read by the reader of wheels: also where values need ZIP64 (APPNOTE 4.3.14 to 4.3.16, 4.5.3).
#include "lib/inspect/zip/zip_writer.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstring>
#include <map>

#include "lib/inspect/zip/zip.hpp"

using namespace wheelyard;
using inspect::Member;
using inspect::ZipWriter;

namespace {

// A file of which only pieces below the writer's are kept; the others are zeros, as the member that they are copied from.
class SparseFile final : public base::Reader {
  public:
    [[nodiscard]] std::uint64_t size() const override { return size_; }
    [[nodiscard]] base::Status read_at(std::uint64_t offset, char* into, std::size_t length) const override {
        std::memset(into, 0, length);
        auto piece = pieces_.upper_bound(offset);
        if (piece != pieces_.begin()) --piece;
        for (; piece != pieces_.end() && piece->first < offset + length; ++piece) {
            const auto& [at, bytes] = *piece;
            const std::uint64_t first = std::max(at, offset);
            const std::uint64_t end = std::min(at + bytes.size(), offset + length);
            if (first < end) std::memcpy(into + (first - offset), bytes.data() + (first - at), end - first);
        }
        return {};
    }
    [[nodiscard]] ZipWriter::Write write() {
        return [this](std::string_view piece) -> base::Status {
            if (!piece.empty() && piece.size() != inspect::piece_bytes) pieces_.emplace(size_, piece);
            size_ += piece.size();
            return {};
        };
    }
    [[nodiscard]] std::uint16_t u16(std::uint64_t offset) const {
        unsigned char bytes[2];
        REQUIRE(read_at(offset, reinterpret_cast<char*>(bytes), sizeof bytes));
        return static_cast<std::uint16_t>(bytes[0] | bytes[1] << 8U);
    }

  private:
    std::map<std::uint64_t, std::string> pieces_;  // by offset
    std::uint64_t size_ = 0;
};

Member zeros(std::string name, std::uint64_t size) {
    Member member;
    member.name = std::move(name);
    member.packed_bytes = member.unpacked_bytes = size;
    return member;
}

// The frame of a file without findings.
inspect::Frame frame_of(const base::Reader& file) {
    const inspect::Policy policy;
    inspect::Findings findings(policy);
    auto frame = inspect::read_frame(file, findings);
    for (const auto& verdict : findings.take())
        CHECK_MESSAGE(false, verdict.text());
    REQUIRE(frame);
    REQUIRE(*frame);
    return **std::move(frame);
}

bool has_zip64_end(const SparseFile& file) {
    constexpr std::uint64_t end_bytes = 22, locator_bytes = 20;
    return file.size() > end_bytes + locator_bytes &&
           file.u16(file.size() - end_bytes - locator_bytes) == 0x4b50 &&
           file.u16(file.size() - end_bytes - locator_bytes + 2) == 0x0706;
}

}  // namespace

TEST_CASE(
    "a member of 4 GiB, and what follows it, is read as it was written, by ZIP64 only where it is needed") {
    constexpr std::uint64_t all_ones = 0xffffffff;
    struct Row {
        std::uint64_t size;
        bool is_wide;
    };
    for (const Row& row : {Row{all_ones - 200, false}, Row{all_ones, true}}) {
        CAPTURE(row.size);
        SparseFile file;
        ZipWriter zip(file.write());
        REQUIRE(zip.copy(SparseFile(), zeros("large.bin", row.size)));
        REQUIRE(zip.store("after.txt", "after", {}));
        REQUIRE(zip.finish());
        const inspect::Frame frame = frame_of(file);
        REQUIRE(frame.members.size() == 2);
        CHECK(frame.members[0].unpacked_bytes == row.size);
        CHECK(frame.members[0].packed_bytes == row.size);
        CHECK(frame.members[1].header_offset == frame.members[0].data_offset + row.size);
        std::string text(5, '\0');
        REQUIRE(file.read_at(frame.members[1].data_offset, text.data(), text.size()));
        CHECK(text == "after");
        CHECK(has_zip64_end(file) == row.is_wide);
        constexpr std::uint64_t version_offset = 4;
        CHECK(file.u16(version_offset) == (row.is_wide ? 45 : 20));
        CHECK(frame.members[0].data_offset ==
              30 + std::string_view("large.bin").size() + (row.is_wide ? 20 : 0));
    }
}

TEST_CASE("65,535 members and more are counted in a ZIP64 end record") {
    for (const std::size_t count : {std::size_t{65'534}, std::size_t{65'535}, std::size_t{70'000}}) {
        CAPTURE(count);
        SparseFile file;
        ZipWriter zip(file.write());
        for (std::size_t i = 0; i < count; ++i)
            REQUIRE(zip.store(std::to_string(i), "", {}));
        REQUIRE(zip.finish());
        CHECK(frame_of(file).members.size() == count);
        CHECK(has_zip64_end(file) == (count >= 65'535));
    }
}
