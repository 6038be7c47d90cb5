#include "lib/inspect/elf/elf_sections.hpp"

#include <algorithm>
#include <cstdint>
#include <string_view>

#include "lib/base/limits.hpp"
#include "lib/base/text/byte_cursor.hpp"

namespace wheelyard::inspect {
namespace {

constexpr std::uint64_t max_elf_sections = 65'536;

constexpr std::uint64_t section_nobits = 8, extended_section_index = 0xffff;
constexpr std::uint64_t max_names_bytes = base::mib * 4;

struct SectionHeader {
    std::uint64_t name = 0, type = 0, offset = 0, size = 0, link = 0;
};

class SectionReader {
  public:
    SectionReader(const base::Reader& bytes, const SectionTable& table) : bytes_(bytes), table_(table) {}

    base::Result<std::vector<SectionHeader>> read_headers() {
        const std::uint64_t entry_bytes = table_.bits == 64 ? 64 : 40;
        if (table_.entry_bytes != entry_bytes)
            return malformed("The section headers have the wrong size.", table_.entry_bytes);
        std::uint64_t count = table_.count;
        if (count == 0) {  // more than 65,279 sections
            WHEELYARD_ASSIGN(const std::string first, read(table_.offset, entry_bytes, "section headers"));
            count = parse(first).size;
        }
        if (count > max_elf_sections)
            return malformed("The file has more sections than any real library.", count);
        WHEELYARD_ASSIGN(const std::string text, read(table_.offset, count * entry_bytes, "section headers"));
        std::vector<SectionHeader> headers;
        for (std::uint64_t i = 0; i < count; ++i)
            headers.push_back(parse(std::string_view(text).substr(i * entry_bytes, entry_bytes)));
        return headers;
    }

    base::Result<std::string> read_names(const std::vector<SectionHeader>& headers) {
        const std::uint64_t index = table_.names_index == extended_section_index && !headers.empty()
                                        ? headers[0].link
                                        : table_.names_index;
        if (index >= headers.size())
            return malformed("The section with the section names does not exist.", index);
        if (index == 0 || headers[index].type == section_nobits) return std::string();
        return read(headers[index].offset, std::min(headers[index].size, max_names_bytes), "section names");
    }

  private:
    base::Result<std::string> read(std::uint64_t offset, std::uint64_t length, std::string_view what) {
        if (offset > bytes_.size() || length > bytes_.size() - offset)
            return malformed("The file ends before its " + std::string(what) + ".", offset);
        std::string text(length, '\0');
        WHEELYARD_TRY(bytes_.read_at(offset, text.data(), text.size()));
        return text;
    }

    [[nodiscard]] SectionHeader parse(std::string_view text) const {
        const std::size_t word = table_.bits / 8;
        base::ByteCursor at(text, table_.big_endian);
        SectionHeader header;
        header.name = at.u32();
        header.type = at.u32();
        at.skip(2 * word);  // flags, address
        header.offset = at.take(word);
        header.size = at.take(word);
        header.link = at.u32();
        return header;
    }

    const base::Reader& bytes_;
    const SectionTable& table_;
};

}  // namespace

base::Result<std::vector<ElfSection>> list_sections(const base::Reader& bytes, const SectionTable& table) {
    std::vector<ElfSection> sections;
    if (table.offset == 0) return sections;
    SectionReader reader(bytes, table);
    WHEELYARD_ASSIGN(const auto headers, reader.read_headers());
    if (headers.empty()) return sections;
    WHEELYARD_ASSIGN(const std::string names, reader.read_names(headers));
    for (const SectionHeader& header : headers) {
        const std::uint64_t size = header.type == section_nobits ? 0 : header.size;
        if (size != 0 && (header.offset > bytes.size() || size > bytes.size() - header.offset))
            return malformed("A section is outside the file.", header.offset);
        // Many headers may share one long name: store only the prefix that rules look at.
        std::string_view name;
        if (header.name < names.size())
            name = std::string_view(names).substr(header.name, max_section_name_bytes);
        sections.push_back({std::string(name.substr(0, name.find('\0'))), header.offset, size});
    }
    return sections;
}

}  // namespace wheelyard::inspect
