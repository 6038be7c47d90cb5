#include "lib/inspect/elf/elf.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>

#include "lib/base/limits.hpp"
#include "lib/base/text/byte_cursor.hpp"
#include "lib/base/text/text.hpp"
#include "lib/inspect/elf/elf_identity.hpp"
#include "lib/inspect/elf/elf_sections.hpp"

namespace wheelyard::inspect {
namespace {

constexpr std::uint64_t max_elf_segments = 4096;
constexpr std::uint64_t max_dynamic_entries = 65'536;
constexpr std::uint64_t max_version_needs = 4096;

constexpr std::uint64_t max_note_bytes = 64 * base::kib;       // per segment
constexpr std::uint64_t max_small_segments_bytes = base::mib;  // notes and interpreters per file
constexpr std::size_t max_elf_string = 64 * base::kib;         // jax's ROCm plugins have a RUNPATH of 8 KiB
constexpr std::uint64_t max_elf_name_bytes = base::mib;        // library and version names per file
constexpr std::size_t max_search_paths = 1'000;                // those of jax's plugins are 200

constexpr std::uint32_t segment_load = 1, segment_dynamic = 2, segment_interpreter = 3, segment_note = 4,
                        segment_stack = 0x6474e551, executable = 1;
constexpr std::uint64_t extended_segments = 0xffff;

// Tags of the dynamic section.
constexpr std::uint64_t dt_null = 0, dt_needed = 1, dt_hash = 4, dt_strtab = 5, dt_symtab = 6, dt_strsz = 10,
                        dt_soname = 14, dt_rpath = 15, dt_runpath = 29, dt_gnu_hash = 0x6ffffef5,
                        dt_verneed = 0x6ffffffe, dt_verneednum = 0x6fffffff, dt_flags_1 = 0x6ffffffb,
                        df_1_pie = 0x08000000;
// Tags for a relocation table: start, size in bytes, and the number of relocations without a symbol.
struct RelocationTags {
    std::uint64_t begin, bytes, relative;
    bool addends;
};
constexpr std::uint64_t dt_rela = 7, dt_rel = 17, dt_jmprel = 23, dt_pltrel = 20;
constexpr RelocationTags relocation_tags[] = {
    {dt_rela, 8, 0x6ffffff9, true}, {dt_rel, 18, 0x6ffffffa, false}, {dt_jmprel, 2, 0, true}};

struct Segment {
    std::uint32_t type = 0;
    std::uint64_t offset = 0, address = 0, file_bytes = 0;
};

class ElfParser {
  public:
    ElfParser(const base::Reader& bytes, const TakeSymbol& also) : bytes_(bytes), also_(also) {}

    base::Result<ElfFacts> parse() {
        WHEELYARD_TRY(read_header());
        facts_.file_bytes = bytes_.size();
        WHEELYARD_TRY(read_segments());
        WHEELYARD_TRY(tolerate_malformed(read_small_segments()));
        WHEELYARD_TRY(read_dynamic());
        WHEELYARD_TRY(tolerate_malformed(read_sections()));
        return std::move(facts_);
    }

  private:
    // For parts that the dynamic linker ignores: a file with a flaw there still loads, so keep its other
    // facts.
    base::Status tolerate_malformed(base::Status status) {
        if (status || status.error().kind != base::ErrorKind::malformed) return status;
        if (facts_.flaw.empty()) facts_.flaw = status.error().text();
        return {};
    }

    base::Result<std::string> read(std::uint64_t offset, std::uint64_t length, std::string_view what) {
        if (offset > bytes_.size() || length > bytes_.size() - offset) {
            return malformed("The file ends before its " + std::string(what) + ".", offset);
        }
        std::string text(length, '\0');
        WHEELYARD_TRY(bytes_.read_at(offset, text.data(), text.size()));
        return text;
    }

    [[nodiscard]] std::size_t word() const { return facts_.bits / 8; }
    [[nodiscard]] base::ByteCursor cursor(std::string_view text) const {
        return base::ByteCursor(text, facts_.big_endian);
    }

    base::Status read_header() {
        WHEELYARD_ASSIGN(const std::string ident, read(0, 16, "identification"));
        if (!ident.starts_with(elf_magic)) return malformed("Not an ELF file.", 0);
        const int elf_class = static_cast<unsigned char>(ident[4]);
        const int data = static_cast<unsigned char>(ident[5]);
        if (elf_class != 1 && elf_class != 2)
            return malformed("The ELF class is neither 32 nor 64 bits.",
                             static_cast<std::uint64_t>(elf_class));
        if (data != 1 && data != 2)
            return malformed("The byte order is unknown.", static_cast<std::uint64_t>(data));
        facts_.os_abi = static_cast<std::uint8_t>(ident[7]);
        facts_.abi_version = static_cast<std::uint8_t>(ident[8]);
        facts_.bits = elf_class == 1 ? 32 : 64;
        facts_.big_endian = data == 2;
        WHEELYARD_ASSIGN(const std::string text, read(16, facts_.bits == 64 ? 48 : 36, "header"));
        base::ByteCursor header = cursor(text);
        const std::uint16_t type = header.u16();
        facts_.kind = type >= 1 && type <= 4 ? static_cast<ElfKind>(type - 1) : ElfKind::other;
        facts_.machine_number = header.u16();
        const MachineIdentity machine =
            machine_identity(facts_.machine_number, facts_.bits, facts_.big_endian);
        facts_.machine = machine.name;
        facts_.is_device = machine.is_device;
        header.skip(4);       // version
        header.skip(word());  // entry
        segment_offset_ = header.take(word());
        section_offset_ = header.take(word());
        facts_.flags = header.u32();
        header.skip(2);  // size of this header
        segment_entry_ = header.u16();
        segment_count_ = header.u16();
        section_entry_ = header.u16();
        section_count_ = header.u16();
        names_index_ = header.u16();
        return {};
    }

    base::Status read_segments() {
        if (segment_offset_ == 0 || segment_count_ == 0) return {};
        const std::uint64_t bytes = facts_.bits == 64 ? 56 : 32;
        if (segment_entry_ != bytes)
            return malformed("The program headers have the wrong size.", segment_entry_);
        if (segment_count_ == extended_segments || segment_count_ > max_elf_segments) {
            return malformed("The file has more program headers than any real library.", segment_count_);
        }
        WHEELYARD_ASSIGN(const std::string table,
                         read(segment_offset_, segment_count_ * segment_entry_, "program headers"));
        for (std::uint64_t i = 0; i < segment_count_; ++i) {
            base::ByteCursor at = cursor(std::string_view(table).substr(i * segment_entry_, bytes));
            Segment segment;
            segment.type = at.u32();
            const std::uint32_t flags = facts_.bits == 64 ? at.u32() : 0;  // elsewhere in 32-bit files
            if (segment.type == segment_stack && (flags & executable) != 0)
                facts_.has_executable_stack = true;
            segment.offset = at.take(word());
            segment.address = at.take(word());
            at.skip(word());  // physical address
            segment.file_bytes = at.take(word());
            segments_.push_back(segment);
        }
        return {};
    }

    // The file offset of the byte that is loaded at `address`.
    [[nodiscard]] std::optional<std::uint64_t> offset_of(std::uint64_t address) const {
        for (const Segment& segment : segments_) {
            if (segment.type == segment_load && address >= segment.address &&
                address - segment.address < segment.file_bytes) {
                return segment.offset + (address - segment.address);
            }
        }
        return std::nullopt;
    }

    base::Status read_dynamic() {
        // The dynamic linker takes the last of several, and reads it where it is loaded.
        const auto dynamic = std::find_if(segments_.rbegin(), segments_.rend(), [](const Segment& segment) {
            return segment.type == segment_dynamic && segment.file_bytes != 0;
        });
        if (dynamic == segments_.rend()) return {};
        if (const auto loaded = offset_of(dynamic->address); loaded && *loaded != dynamic->offset)
            return malformed("The dynamic section is loaded from another place than the file names.",
                             dynamic->offset);
        if (dynamic->file_bytes / (2 * word()) > max_dynamic_entries) {
            return malformed("The dynamic section is larger than that of any real library.",
                             dynamic->file_bytes);
        }
        // Split debug files keep the header but not the bytes.
        if (dynamic->offset >= bytes_.size()) return {};
        WHEELYARD_ASSIGN(const std::string text,
                         read(dynamic->offset, dynamic->file_bytes, "dynamic section"));
        base::ByteCursor at = cursor(text);
        while (at.left() >= 2 * word()) {
            const std::uint64_t tag = at.take(word());
            const std::uint64_t value = at.take(word());
            if (tag == dt_null) break;
            if (tag == dt_needed || tag == dt_soname || tag == dt_rpath || tag == dt_runpath)
                dynamic_names_.emplace_back(tag, value);
            else
                dynamic_values_[tag] = value;
        }
        facts_.is_pie = (dynamic_value(dt_flags_1).value_or(0) & df_1_pie) != 0;
        return read_dynamic_tables();
    }

    [[nodiscard]] std::optional<std::uint64_t> dynamic_value(std::uint64_t tag) const {
        const auto found = dynamic_values_.find(tag);
        return found == dynamic_values_.end() || found->second == 0 ? std::nullopt
                                                                    : std::optional(found->second);
    }

    base::Status read_dynamic_tables() {
        const auto verneed = dynamic_value(dt_verneed);
        const auto symbols = dynamic_value(dt_symtab);
        if (dynamic_names_.empty() && !verneed && !symbols) return {};
        const std::uint64_t strings = dynamic_value(dt_strtab).value_or(0);
        const auto strings_offset = offset_of(strings);
        if (!strings_offset) return malformed("The string table is outside the loaded segments.", strings);
        strings_offset_ = *strings_offset;
        // Limits are multiples of this size, so cap the declared size at the end of the file.
        strings_bytes_ = std::min(dynamic_value(dt_strsz).value_or(0),
                                  bytes_.size() - std::min(bytes_.size(), strings_offset_));
        for (const auto& [tag, offset] : dynamic_names_) {
            WHEELYARD_ASSIGN(std::string name, read_string(offset));
            if (tag == dt_needed) {
                facts_.needed.push_back(std::move(name));
            } else if (tag == dt_soname) {
                facts_.soname = std::move(name);
            } else {
                // Beside a RUNPATH no linker reads an RPATH.
                if (tag == dt_runpath && !facts_.has_runpath) facts_.search_paths.clear();
                facts_.has_runpath = facts_.has_runpath || tag == dt_runpath;
                // An empty text is no search path; an empty element of one is.
                if (name.empty() || (facts_.has_runpath && tag != dt_runpath)) continue;
                for (const auto path : base::split(name, ':'))
                    facts_.search_paths.emplace_back(path);
                if (facts_.search_paths.size() > max_search_paths)
                    return malformed("It has more folders to search than any linker is given.", offset);
            }
        }
        if (verneed) WHEELYARD_TRY(read_version_needs(*verneed, dynamic_value(dt_verneednum).value_or(0)));
        if (!symbols) return {};
        base::Status read = read_symbols(*symbols);
        facts_.has_all_symbols = read.has_value();
        return tolerate_malformed(std::move(read));
    }

    // The dynamic linker finds exported symbols through hash tables and imported ones through relocations;
    // the table extends to the highest index that any of them refers to.
    base::Status read_symbols(std::uint64_t address) {
        const auto symbols_offset = offset_of(address);
        if (!symbols_offset) return malformed("The symbol table is outside the loaded segments.", address);
        SymbolTable table;
        table.bits = facts_.bits;
        table.big_endian = facts_.big_endian;
        table.offset = *symbols_offset;
        table.strings_offset = strings_offset_;
        table.strings_bytes = strings_bytes_;
        if (const auto hash = dynamic_value(dt_hash)) {
            // On 64-bit s390 the words of DT_HASH have eight bytes (s390x ELF ABI supplement), so the low
            // half of the second word is eight bytes further.
            constexpr std::uint16_t machine_s390 = 22;
            const bool wide_words = facts_.machine_number == machine_s390 && facts_.bits == 64;
            const auto at = offset_of(*hash);
            if (!at) return malformed("A hash table is outside the loaded segments.", *hash);
            WHEELYARD_ASSIGN(const std::uint64_t count,
                             count_in_hash(bytes_, *at + (wide_words ? 8 : 0), facts_.big_endian));
            table.count = std::max(table.count, count);
        }
        if (const auto hash = dynamic_value(dt_gnu_hash)) {
            const auto at = offset_of(*hash);
            if (!at) return malformed("A hash table is outside the loaded segments.", *hash);
            WHEELYARD_ASSIGN(const std::uint64_t count,
                             count_in_gnu_hash(bytes_, *at, facts_.bits, facts_.big_endian));
            table.count = std::max(table.count, count);
        }
        WHEELYARD_ASSIGN(const std::uint64_t count, count_in_relocations());
        table.count = std::max(table.count, count);
        WHEELYARD_ASSIGN(facts_.symbols, read_symbol_facts(bytes_, table, also_));
        return {};
    }

    base::Result<std::uint64_t> count_in_relocations() {
        std::uint64_t count = 0;
        constexpr std::uint16_t machine_mips =
            8;  // uses another layout for the info word; no platform tag exists for it
        if (facts_.machine_number == machine_mips) return count;
        for (const RelocationTags& tags : relocation_tags) {
            const auto begin = dynamic_value(tags.begin);
            const std::uint64_t size = dynamic_value(tags.bytes).value_or(0);
            if (!begin || size == 0) continue;
            const auto offset = offset_of(*begin);
            if (!offset) return malformed("Relocations are outside the loaded segments.", *begin);
            const bool addends =
                tags.begin == dt_jmprel ? dynamic_value(dt_pltrel).value_or(0) == dt_rela : tags.addends;
            RelocationTable table{facts_.bits, facts_.big_endian, *offset, size, addends ? 3U : 2U, 0};
            if (tags.relative != 0) table.relative = dynamic_value(tags.relative).value_or(0);
            WHEELYARD_ASSIGN(const std::uint64_t reached, count_in_relocation_table(bytes_, table));
            count = std::max(count, reached);
        }
        return count;
    }

    // Reads the interpreter's path and the notes.
    base::Status read_small_segments() {
        std::uint64_t small_segments_bytes = 0;
        for (const Segment& segment : segments_) {
            if (segment.offset >= bytes_.size() || segment.file_bytes == 0) continue;
            const bool interpreter =
                segment.type == segment_interpreter && segment.file_bytes <= max_elf_string;
            const bool note = segment.type == segment_note && segment.file_bytes <= max_note_bytes;
            if (!interpreter && !note) continue;
            // Thousands of segments may refer to the same range.
            small_segments_bytes += segment.file_bytes;
            if (small_segments_bytes > max_small_segments_bytes)
                return malformed("The file has more notes than any real library.", small_segments_bytes);
            if (interpreter) {
                WHEELYARD_ASSIGN(const std::string path,
                                 read(segment.offset, segment.file_bytes, "interpreter's name"));
                facts_.interpreter = path.substr(0, path.find('\0'));
            } else {
                WHEELYARD_ASSIGN(const std::string text, read(segment.offset, segment.file_bytes, "notes"));
                read_feature_notes(text, facts_.bits, facts_.big_endian, facts_.machine_number, facts_.notes);
            }
        }
        return {};
    }

    // A string of the dynamic string table, up to its NUL.
    base::Result<std::string> read_string(std::uint64_t offset) {
        if (offset >= strings_bytes_) return malformed("A name is outside the string table.", offset);
        constexpr std::uint64_t at_a_time = 64;
        std::string text;
        while (text.size() < max_elf_string) {
            const std::uint64_t left = strings_bytes_ - offset - text.size();
            WHEELYARD_ASSIGN(const std::string more, read(strings_offset_ + offset + text.size(),
                                                          std::min(left, at_a_time), "string table"));
            names_bytes_ += more.size();
            if (names_bytes_ > max_elf_name_bytes)
                return malformed("The file has more names than any real library.", offset);
            if (const auto end = more.find('\0'); end != std::string::npos) return text + more.substr(0, end);
            if (more.empty()) break;
            text += more;
        }
        return malformed("A name in the string table has no terminating NUL.", offset);
    }

    // Walks the chains first and then reads the names in file order: alternating between the two would unpack
    // compressed bytes repeatedly.
    base::Status read_version_needs(std::uint64_t address, std::uint64_t count) {
        const auto begin = offset_of(address);
        if (!begin) return malformed("The version needs are outside the loaded segments.", address);
        std::vector<std::pair<std::uint32_t, std::uint32_t>>
            found;  // offsets of the file's and the version's name
        std::uint64_t offset = *begin;
        for (std::uint64_t i = 0; i < count; ++i) {
            WHEELYARD_ASSIGN(const std::string text, read(offset, 16, "version needs"));
            base::ByteCursor need = cursor(text);
            need.skip(2);  // structure version
            const std::uint16_t entries = need.u16();
            const std::uint32_t file = need.u32();
            const std::uint32_t first = need.u32();
            const std::uint32_t next = need.u32();
            std::uint64_t entry = offset + first;
            for (std::uint16_t j = 0; j < entries; ++j) {
                WHEELYARD_ASSIGN(const std::string entry_text, read(entry, 16, "version needs"));
                base::ByteCursor version = cursor(entry_text);
                version.skip(8);  // hash, flags, index
                found.emplace_back(file, version.u32());
                if (found.size() > max_version_needs)
                    return malformed("The file has too many version needs.", found.size());
                const std::uint32_t next_entry = version.u32();
                if (next_entry == 0) break;
                entry += next_entry;
            }
            if (next == 0) break;
            if (i > max_version_needs) return malformed("The file has too many version needs.", i);
            offset += next;
        }
        std::map<std::uint32_t, std::string> names;
        for (const auto& [file, version] : found)
            names[file], names[version];
        for (auto& [at, name] : names) {
            WHEELYARD_ASSIGN(name, read_string(at));
        }
        for (const auto& [file, version] : found) {
            // Every need stores a copy of both names; bound the total even if many needs share a long name.
            const std::string &file_name = names[file], &version_name = names[version];
            names_bytes_ += file_name.size() + version_name.size();
            if (names_bytes_ > max_elf_name_bytes)
                return malformed("The version needs have longer names than those of any real library.",
                                 names_bytes_);
            facts_.version_needs.push_back({file_name, version_name});
        }
        return {};
    }

    // Sections are not loaded, so the caller tolerates flaws in them.
    base::Status read_sections() {
        SectionTable table{facts_.bits,    facts_.big_endian, section_offset_,
                           section_entry_, section_count_,    names_index_};
        WHEELYARD_ASSIGN(auto sections, list_sections(bytes_, table));
        for (const ElfSection& section : sections) {
            if (section.name.starts_with(".debug_") || section.name.starts_with(".zdebug_"))
                facts_.debug_bytes += section.size;
        }
        facts_.sections = std::move(sections);
        return {};
    }

    const base::Reader& bytes_;
    const TakeSymbol& also_;
    ElfFacts facts_;
    std::uint64_t segment_offset_ = 0, segment_entry_ = 0, segment_count_ = 0;
    std::uint64_t section_offset_ = 0, section_entry_ = 0, section_count_ = 0, names_index_ = 0;
    std::uint64_t strings_offset_ = 0, strings_bytes_ = 0, names_bytes_ = 0;
    std::vector<std::pair<std::uint64_t, std::uint64_t>> dynamic_names_;  // tag, offset in the string table
    std::map<std::uint64_t, std::uint64_t> dynamic_values_;               // by tag; the last entry wins
    std::vector<Segment> segments_;
};

}  // namespace

base::Result<ElfFacts> parse_elf(const base::Reader& bytes, const TakeSymbol& also) {
    auto facts = ElfParser(bytes, also).parse();
    if (facts && facts->machine == "x86_64") facts->vector_level = vector_level(bytes, facts->sections);
    if (facts && facts->machine == "aarch64" && !facts->symbols.asks_processor)
        facts->has_plain_sve = has_plain_sve(bytes, facts->sections);
    return facts;
}

}  // namespace wheelyard::inspect
