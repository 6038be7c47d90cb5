#include "lib/inspect/elf/elf_symbols.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "lib/base/limits.hpp"
#include "lib/base/text/byte_cursor.hpp"
#include "lib/inspect/elf/elf_sections.hpp"

namespace wheelyard::inspect {
namespace {

constexpr std::uint64_t max_elf_symbols = 2'000'000;  // torch's largest library has 46,000; 8 bytes each

// torch 2.6 has 1.1 million; 24 bytes each in the file.
constexpr std::uint64_t max_relocations = 20'000'000;
constexpr std::size_t max_symbol_name_bytes = 16 * base::kib;  // prefix that is examined

constexpr std::uint64_t buffer_bytes = 64 * base::kib;
constexpr std::uint64_t max_symbol_overlap =
    16;  // of the total length of names, in multiples of the string table's size

// A forward-moving buffer over the file, for sequential reads of `length` bytes at `offset`.
class Window {
  public:
    explicit Window(const base::Reader& bytes) : bytes_(bytes) {}

    base::Result<std::string_view> at(std::uint64_t offset, std::uint64_t length) {
        if (offset > bytes_.size() || length > bytes_.size() - offset)
            return malformed("The file ends before its symbols.", offset);
        if (offset < begin_ || offset + length > begin_ + buffer_.size()) {
            begin_ = offset;
            buffer_.resize(std::min(std::max(length, buffer_bytes), bytes_.size() - offset));
            WHEELYARD_TRY(bytes_.read_at(begin_, buffer_.data(), buffer_.size()));
        }
        return std::string_view(buffer_).substr(offset - begin_, length);
    }

    base::Result<std::uint32_t> u32(std::uint64_t offset, bool big_endian) {
        WHEELYARD_ASSIGN(const std::string_view field, at(offset, 4));
        return base::ByteCursor(field, big_endian).u32();
    }

  private:
    const base::Reader& bytes_;
    std::uint64_t begin_ = 0;
    std::string buffer_;
};

// A symbol: the offset of its name and two bits. Kept small because large libraries have hundreds of
// thousands.
struct Place {
    std::uint32_t name = 0;
    bool imported = false;
    bool weak = false;
};

base::Result<std::vector<Place>> read_places(Window& window, const SymbolTable& table) {
    const std::uint64_t entry = table.bits == 64 ? 24 : 16;
    std::vector<Place> places;
    for (std::uint64_t i = 0; i < table.count; ++i) {
        WHEELYARD_ASSIGN(const std::string_view text, window.at(table.offset + i * entry, entry));
        base::ByteCursor at(text, table.big_endian);
        Place place;
        place.name = at.u32();
        if (table.bits == 32) at.skip(8);  // value and size come first
        const std::uint8_t info = at.u8();
        at.skip(1);
        place.imported = at.u16() == 0;
        constexpr unsigned weak_binding = 2;
        place.weak = static_cast<unsigned>(info >> 4) == weak_binding;
        if (place.name == 0) continue;
        if (place.name >= table.strings_bytes)
            return malformed("A symbol's name is outside the string table.", place.name);
        places.push_back(place);
    }
    std::sort(places.begin(), places.end(), [](const Place& a, const Place& b) { return a.name < b.name; });
    return places;
}

}  // namespace

base::Result<std::uint64_t> count_in_hash(const base::Reader& bytes, std::uint64_t offset, bool big_endian) {
    Window window(bytes);
    return window.u32(offset + 4, big_endian);  // nchain
}

// Each bucket contains the first symbol of a chain; the chain with the highest symbol ends the table.
base::Result<std::uint64_t> count_in_gnu_hash(const base::Reader& bytes, std::uint64_t offset, unsigned bits,
                                              bool big_endian) {
    Window window(bytes);
    WHEELYARD_ASSIGN(const std::uint64_t buckets, window.u32(offset, big_endian));
    WHEELYARD_ASSIGN(const std::uint64_t first_hashed, window.u32(offset + 4, big_endian));
    WHEELYARD_ASSIGN(const std::uint64_t filter_words, window.u32(offset + 8, big_endian));
    if (buckets > max_elf_symbols || filter_words > max_elf_symbols)
        return malformed("The symbols' hash table is larger than that of any real library.", buckets);
    const std::uint64_t buckets_at = offset + 16 + filter_words * (bits / 8);
    std::uint64_t last = 0;
    for (std::uint64_t i = 0; i < buckets; ++i) {
        WHEELYARD_ASSIGN(const std::uint64_t symbol, window.u32(buckets_at + 4 * i, big_endian));
        last = std::max(last, symbol);
    }
    if (last < first_hashed) return first_hashed;  // nothing is exported
    const std::uint64_t chains_at = buckets_at + 4 * buckets;
    for (; last < max_elf_symbols; ++last) {
        WHEELYARD_ASSIGN(const std::uint32_t hash,
                         window.u32(chains_at + 4 * (last - first_hashed), big_endian));
        if ((hash & 1) != 0) return last + 1;
    }
    return malformed("The symbols' hash table has no end.", last);
}

base::Result<std::uint64_t> count_in_relocation_table(const base::Reader& bytes,
                                                      const RelocationTable& table) {
    const std::uint64_t word = table.bits / 8;
    const std::uint64_t entry = word * table.words;
    const std::uint64_t entries = table.bytes / entry;
    if (entries > max_relocations)
        return malformed("The file has more relocations than any real library.", entries);
    Window window(bytes);
    std::uint64_t count = 0;
    for (std::uint64_t i = std::min(table.relative, entries); i < entries; ++i) {
        WHEELYARD_ASSIGN(const std::string_view text, window.at(table.offset + i * entry, 2 * word));
        base::ByteCursor at(text, table.big_endian);
        at.skip(word);
        const std::uint64_t symbol = at.take(word) >> (table.bits == 64 ? 32 : 8);
        if (symbol != 0) count = std::max(count, symbol + 1);
    }
    return count;
}

base::Status for_each_symbol(const base::Reader& bytes, const SymbolTable& table,
                             const std::function<void(const DynamicSymbol&)>& take) {
    if (table.count > max_elf_symbols)
        return malformed("The file has more symbols than any real library.", table.count);
    Window window(bytes);
    WHEELYARD_ASSIGN(const auto places, read_places(window, table));
    std::uint64_t read_bytes = 0;
    for (const Place& place : places) {
        std::uint64_t length =
            std::min<std::uint64_t>(max_symbol_name_bytes, table.strings_bytes - place.name);
        if (table.strings_offset < bytes.size())
            length =
                std::min(length, bytes.size() - std::min(bytes.size(), table.strings_offset + place.name));
        WHEELYARD_ASSIGN(const std::string_view text, window.at(table.strings_offset + place.name, length));
        const std::string_view name = text.substr(0, text.find('\0'));
        // Linkers merge names with a common suffix; a hostile file could overlap all of them.
        read_bytes += name.size();
        if (read_bytes > max_symbol_overlap * table.strings_bytes)
            return malformed("The symbols' names overlap more than any linker makes them.",
                             table.strings_bytes);
        take({name, place.imported, place.weak});
    }
    return {};
}

}  // namespace wheelyard::inspect
