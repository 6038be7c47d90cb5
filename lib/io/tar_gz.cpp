#include "lib/io/tar_gz.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <utility>

#include "lib/base/limits.hpp"
#include "lib/base/text/text.hpp"
#include "lib/io/archive_entry.hpp"

namespace wheelyard::io {
namespace {

constexpr std::size_t block_bytes = 16 * base::kib;

TarKind kind_of(archive_entry* entry) {
    if (!hardlink_of(entry).empty()) return TarKind::link;
    // Their names and sizes are not those of the header: readers see different archives.
    if (archive_entry_sparse_count(entry) > 0) return TarKind::other;
    switch (archive_entry_filetype(entry)) {
        case AE_IFREG:
            return TarKind::file;
        case AE_IFDIR:
            return TarKind::folder;
        case AE_IFLNK:
            return TarKind::link;
        default:
            return TarKind::other;
    }
}

bool leads_inside(archive_entry* entry, std::size_t depth) {
    if (const auto target = hardlink_of(entry); !target.empty()) {
        const auto parts = safe_parts(target);
        return parts && !parts->empty();
    }
    return archive_entry_filetype(entry) != AE_IFLNK || stays_inside(symlink_of(entry), depth);
}

base::Error too_large(std::uint64_t limit_bytes) {
    return {.code = "archive.too_large",
            .sentence = "The archive, or a member of it, unpacks to more than its limit",
            .value = base::render_bytes(limit_bytes),
            .kind = base::ErrorKind::too_large};
}

}  // namespace

struct TarGzReader::State {
    const base::Reader& bytes;
    const std::uint64_t max_unpacked_bytes;
    std::uint64_t offset = 0;
    std::array<char, block_bytes> block{};
    std::optional<base::Error> unread;  // what libarchive only knows as "cannot be read"
    Archive reader{archive_read_new()};

    State(const base::Reader& from, std::uint64_t max_bytes) : bytes(from), max_unpacked_bytes(max_bytes) {}

    static la_ssize_t read_block(archive* reader, void* self, const void** block) {
        State& state = *static_cast<State*>(self);
        // What headers declare is no bound: a sparse member may have more data than its size.
        if (archive_filter_bytes(reader, 0) > static_cast<la_int64_t>(state.max_unpacked_bytes)) {
            state.unread = too_large(state.max_unpacked_bytes);
            return ARCHIVE_FATAL;
        }
        const auto length =
            static_cast<std::size_t>(std::min<std::uint64_t>(block_bytes, state.bytes.size() - state.offset));
        auto done = state.bytes.read_at(state.offset, state.block.data(), length);
        if (!done) {
            state.unread = std::move(done.error());
            return ARCHIVE_FATAL;
        }
        state.offset += length;
        *block = state.block.data();
        return static_cast<la_ssize_t>(length);
    }

    [[nodiscard]] tl::unexpected<base::Error> fail() const {
        if (unread) return base::fail(*unread);
        const char* why = archive_error_string(reader.get());
        return base::fail_malformed("archive.broken", "This is not a complete tar.gz archive",
                                    why ? why : "unknown reason");
    }
};

TarGzReader::TarGzReader(std::unique_ptr<State> state) : state_(std::move(state)) {}
TarGzReader::TarGzReader(TarGzReader&&) noexcept = default;
TarGzReader& TarGzReader::operator=(TarGzReader&&) noexcept = default;
TarGzReader::~TarGzReader() = default;

base::Result<TarGzReader> TarGzReader::open(const base::Reader& bytes, std::uint64_t max_unpacked_bytes) {
    auto state = std::make_unique<State>(bytes, max_unpacked_bytes);
    archive* reader = state->reader.get();
    archive_read_support_format_tar(reader);
    archive_read_support_filter_gzip(reader);
    if (archive_read_open(reader, state.get(), nullptr, State::read_block, nullptr) != ARCHIVE_OK)
        return state->fail();
    if (archive_filter_code(reader, 0) != ARCHIVE_FILTER_GZIP)
        return base::fail_malformed("archive.broken", "This is not a complete tar.gz archive",
                                    "it is not compressed with gzip");
    return TarGzReader(std::move(state));
}

base::Result<std::optional<TarMember>> TarGzReader::next() {
    const Utf8Locale locale;
    archive_entry* entry = nullptr;
    const int result = archive_read_next_header(state_->reader.get(), &entry);
    if (result == ARCHIVE_EOF) return std::optional<TarMember>();
    if (result != ARCHIVE_OK && result != ARCHIVE_WARN) return state_->fail();
    TarMember member;
    member.name = name_of(entry);
    member.kind = kind_of(entry);
    if (archive_entry_size_is_set(entry) != 0)
        member.size_bytes = static_cast<std::uint64_t>(std::max<la_int64_t>(0, archive_entry_size(entry)));
    const auto parts = safe_parts(member.name);
    constexpr std::size_t own = 2;  // the member itself, and the archive's folder
    member.is_inside = parts && leads_inside(entry, parts->size() < own ? 0 : parts->size() - own);
    member.hard_link = hardlink_of(entry);
    return std::optional(std::move(member));
}

base::Result<std::string> TarGzReader::read(std::uint64_t max_bytes) {
    std::string content;
    for (;;) {
        const void* bytes = nullptr;
        std::size_t length = 0;
        la_int64_t offset = 0;
        const int result = archive_read_data_block(state_->reader.get(), &bytes, &length, &offset);
        if (result == ARCHIVE_EOF) return content;
        if (result != ARCHIVE_OK && result != ARCHIVE_WARN) return state_->fail();
        // A sparse file may name an offset far beyond the data in the archive.
        const auto at = static_cast<std::uint64_t>(std::max<la_int64_t>(0, offset));
        if (at > max_bytes || length > max_bytes - at) return tl::unexpected(too_large(max_bytes));
        content.resize(static_cast<std::size_t>(at));
        content.append(static_cast<const char*>(bytes), length);
    }
}

}  // namespace wheelyard::io
