#include "tests/support/elf_writer.hpp"

#include <algorithm>
#include <string_view>

namespace wheelyard::test_support {
namespace {

class Bytes {
  public:
    explicit Bytes(bool big_endian) : big_endian_(big_endian) {}
    void put(std::uint64_t value, std::size_t count) {
        std::string field;
        for (std::size_t i = 0; i < count; ++i)
            field += static_cast<char>(i < 8 ? value >> (8 * i) & 0xff : 0);
        if (big_endian_) std::reverse(field.begin(), field.end());
        text_ += field;
    }
    void add(std::string_view bytes) { text_ += bytes; }
    void align(std::size_t to) { text_.resize((text_.size() + to - 1) / to * to, '\0'); }
    [[nodiscard]] std::size_t size() const { return text_.size(); }
    [[nodiscard]] const std::string& text() const { return text_; }

  private:
    std::string text_;
    bool big_endian_;
};

class Strings {
  public:
    std::uint64_t add(const std::string& text) {
        const std::uint64_t at = table_.size();
        table_ += text + '\0';
        return at;
    }
    [[nodiscard]] const std::string& table() const { return table_; }

  private:
    std::string table_ = std::string(1, '\0');
};

struct Part {
    std::string name;
    std::string bytes;
    std::uint64_t offset = 0;
};

std::string version_needs(const ElfImage& image, Strings& strings) {
    Bytes out(image.big_endian);
    std::size_t left = image.versions.size();
    for (const auto& [file, versions] : image.versions) {
        --left;
        out.put(1, 2);
        out.put(versions.size(), 2);
        out.put(strings.add(file), 4);
        out.put(16, 4);
        out.put(left == 0 ? 0 : 16 + 16 * versions.size(), 4);
        for (std::size_t i = 0; i < versions.size(); ++i) {
            out.put(0, 4);
            out.put(0, 4);
            out.put(strings.add(versions[i]), 4);
            out.put(i + 1 == versions.size() ? 0 : 16, 4);
        }
    }
    return out.text();
}

// Imports come first and are not hashed, as linkers write them.
std::string symbol_table(const ElfImage& image, Strings& strings) {
    Bytes out(image.big_endian);
    const auto add = [&](std::uint64_t name, std::uint64_t binding, std::uint64_t section) {
        out.put(name, 4);
        if (image.bits == 32) out.put(0, 8);
        out.put(binding << 4 | 2, 1);
        out.put(0, 1);
        out.put(section, 2);
        if (image.bits == 64) out.put(0, 16);
    };
    add(0, 0, 0);
    for (const auto& name : image.imports)
        add(strings.add(name), 1, 0);
    for (const auto& name : image.weak_imports)
        add(strings.add(name), 2, 0);
    for (const auto& name : image.exports)
        add(strings.add(name), 1, 1);
    return out.text();
}

// One bucket. The hash values do not matter, only where the chain ends.
std::string hash_table(const ElfImage& image, bool gnu_hash) {
    const std::size_t first = 1 + image.imports.size() + image.weak_imports.size();
    const std::size_t count = first + image.exports.size();
    Bytes out(image.big_endian);
    if (!gnu_hash) {
        const std::size_t word = image.machine == 22 && image.bits == 64 ? 8 : 4;  // s390x
        out.put(1, word);
        out.put(image.hashed_symbols == 0 ? count : image.hashed_symbols, word);
        out.put(0, word + word * count);
        return out.text();
    }
    for (const std::size_t value : {std::size_t{1}, first, std::size_t{1}, std::size_t{0}})
        out.put(value, 4);
    out.put(0, image.bits / 8);  // the filter
    out.put(image.exports.empty() ? 0 : first, 4);
    for (std::size_t i = 0; i < image.exports.size(); ++i)
        out.put(i + 1 == image.exports.size() ? 1 : 2, 4);
    return out.text();
}

// Per entry: offset, symbol index above the type, and in 64-bit files an addend.
std::string relocation_table(const ElfImage& image) {
    Bytes out(image.big_endian);
    const std::size_t word = image.bits / 8;
    for (std::uint64_t symbol = 1; symbol <= image.imports.size(); ++symbol) {
        out.put(0, word);
        out.put(symbol << (image.bits == 64 ? 32 : 8) | 7, word);
        if (image.bits == 64) out.put(0, word);
    }
    return out.text();
}

}  // namespace

std::string write_property_note(const std::vector<std::pair<std::uint32_t, std::uint32_t>>& properties,
                                bool big_endian) {
    Bytes out(big_endian);
    out.put(4, 4);
    out.put(16 * properties.size(), 4);
    out.put(5, 4);
    out.add(std::string_view("GNU", 4));
    for (const auto& [type, value] : properties) {
        out.put(type, 4);
        out.put(4, 4);
        out.put(value, 4);
        out.put(0, 4);
    }
    return out.text();
}

std::string write_elf(const ElfImage& image) {
    const std::size_t word = image.bits / 8;
    const std::size_t header_bytes = image.bits == 64 ? 64 : 52;
    const std::size_t segment_bytes = image.bits == 64 ? 56 : 32;
    const std::size_t section_bytes = image.sizeless_sections ? 0 : image.bits == 64 ? 64 : 40;

    Strings strings;
    std::vector<std::pair<std::uint64_t, std::uint64_t>> dynamic;
    for (const auto& library : image.needed)
        dynamic.emplace_back(1, strings.add(library));
    if (!image.soname.empty()) dynamic.emplace_back(14, strings.add(image.soname));
    if (!image.rpath.empty()) dynamic.emplace_back(15, strings.add(image.rpath));
    if (!image.runpath.empty()) dynamic.emplace_back(29, strings.add(image.runpath));
    if (image.pie) dynamic.emplace_back(0x6ffffffb, 0x08000000);
    const std::string needs = version_needs(image, strings);
    const bool has_symbols = !image.imports.empty() || !image.weak_imports.empty() || !image.exports.empty();
    const std::string symbols = has_symbols ? symbol_table(image, strings) : std::string();
    const std::string hash = has_symbols ? hash_table(image, image.gnu_hash) : std::string();
    const std::string other_hash =
        has_symbols && image.both_hashes ? hash_table(image, false) : std::string();
    const std::string relocations = image.relocated ? relocation_table(image) : std::string();

    // Layout: header, program headers, strings, version needs, symbols, hash tables, relocations, notes,
    // interpreter, dynamic section, other sections, names, section headers.
    const auto aligned = [](std::uint64_t at) { return (at + 7) / 8 * 8; };
    const std::size_t segments = 2 + (image.notes.empty() ? 0u : 1u) + (image.interpreter.empty() ? 0u : 1u) +
                                 (image.executable_stack ? 1u : 0u);
    const std::uint64_t strings_at = header_bytes + segments * segment_bytes;
    const std::uint64_t needs_at = aligned(strings_at + strings.table().size());
    const std::uint64_t symbols_at = aligned(needs_at + needs.size());
    const std::uint64_t hash_at = aligned(symbols_at + symbols.size());
    const std::uint64_t other_hash_at = aligned(hash_at + hash.size());
    const std::uint64_t relocations_at = aligned(other_hash_at + other_hash.size());
    const std::uint64_t notes_at = aligned(relocations_at + relocations.size());
    const std::uint64_t interpreter_at = aligned(notes_at + image.notes.size());
    const std::uint64_t dynamic_at = aligned(interpreter_at + image.interpreter.size() + 1);
    if (has_symbols) {
        dynamic.emplace_back(6, symbols_at);
        dynamic.emplace_back(image.gnu_hash ? 0x6ffffef5 : 4, hash_at);
    }
    if (!other_hash.empty()) dynamic.emplace_back(4, other_hash_at);
    if (!relocations.empty()) {
        dynamic.emplace_back(23, relocations_at);
        dynamic.emplace_back(2, relocations.size());
        dynamic.emplace_back(20, image.bits == 64 ? 7 : 17);
    }
    dynamic.emplace_back(5, strings_at);
    dynamic.emplace_back(10, strings.table().size());
    if (!needs.empty()) {
        dynamic.emplace_back(0x6ffffffe, needs_at);
        dynamic.emplace_back(0x6fffffff, image.versions.size());
    }
    dynamic.emplace_back(0, 0);
    const std::uint64_t dynamic_bytes = dynamic.size() * 2 * word;
    const std::uint64_t loaded_bytes = dynamic_at + dynamic_bytes;

    std::vector<Part> parts = {{"", "", 0}};
    Strings names;
    std::uint64_t at = aligned(loaded_bytes);
    for (const auto& [name, bytes] : image.sections) {
        parts.push_back({name, bytes, at});
        at = aligned(at + bytes.size());
    }
    std::vector<std::uint64_t> name_offsets = {0};
    for (std::size_t i = 1; i < parts.size(); ++i)
        name_offsets.push_back(names.add(parts[i].name));
    name_offsets.push_back(names.add(".shstrtab"));
    parts.push_back({".shstrtab", names.table(), at});
    const std::uint64_t sections_at = aligned(at + names.table().size());

    Bytes out(image.big_endian);
    out.add(
        std::string_view("\x7f"
                         "ELF",
                         4));
    out.put(image.bits == 64 ? 2 : 1, 1);
    out.put(image.big_endian ? 2 : 1, 1);
    out.put(1, 1);
    out.put(image.os_abi, 1);
    out.put(image.abi_version, 1);
    out.align(16);
    out.put(image.type, 2);
    out.put(image.machine, 2);
    out.put(1, 4);
    out.put(0, word);
    out.put(header_bytes, word);
    out.put(sections_at, word);
    out.put(image.flags, 4);
    for (const std::uint64_t value :
         {header_bytes, segment_bytes, segments, section_bytes, parts.size(), parts.size() - 1}) {
        out.put(value, 2);
    }
    const auto segment = [&](std::uint32_t type, std::uint64_t offset, std::uint64_t size,
                             unsigned flags = 4) {
        out.put(type, 4);
        if (image.bits == 64) out.put(flags, 4);
        for (int i = 0; i < 3; ++i)
            out.put(offset, word);
        out.put(size, word);
        out.put(size, word);
        if (image.bits == 32) out.put(4, 4);
        out.put(8, word);
    };
    segment(1, 0, loaded_bytes);
    segment(2, dynamic_at, dynamic_bytes);
    if (!image.notes.empty()) segment(4, notes_at, image.notes.size());
    if (!image.interpreter.empty()) segment(3, interpreter_at, image.interpreter.size() + 1);
    if (image.executable_stack) segment(0x6474e551, 0, 0, 7);
    for (const std::string& part :
         {strings.table(), needs, symbols, hash, other_hash, relocations, image.notes}) {
        out.add(part);
        out.align(8);
    }
    out.add(image.interpreter);
    out.add(std::string_view("", 1));
    out.align(8);
    for (const auto& [tag, value] : dynamic) {
        out.put(tag, word);
        out.put(value, word);
    }
    for (std::size_t i = 1; i < parts.size(); ++i) {
        out.align(8);
        out.add(parts[i].bytes);
    }
    out.align(8);
    for (std::size_t i = 0; i < parts.size(); ++i) {
        out.put(name_offsets[i], 4);
        out.put(i == 0 ? 0 : 1, 4);
        out.put(0, word);
        out.put(0, word);
        out.put(parts[i].offset, word);
        out.put(parts[i].bytes.size(), word);
        out.put(0, 4);
        out.put(0, 4);
        out.put(1, word);
        out.put(0, word);
    }
    return out.text();
}

std::string write_fatbin(const std::vector<FatbinEntry>& entries) {
    Bytes body(false);
    for (const FatbinEntry& entry : entries) {
        body.put(entry.kind, 2);
        body.put(0x0101, 2);
        body.put(64, 4);
        body.put(entry.payload.size(), 8);
        body.put(0, 4);
        body.put(0, 4);
        body.put(0, 4);
        body.put(entry.arch, 4);
        body.put(0, 8);
        body.put(entry.flags, 8);
        body.put(0, 8);
        body.put(0, 8);
        body.add(entry.payload);
    }
    Bytes out(false);
    out.put(0xba55ed50, 4);
    out.put(1, 2);
    out.put(16, 2);
    out.put(body.size(), 8);
    out.add(body.text());
    return out.text();
}

std::string write_hip_bundle(const std::vector<std::string>& ids) {
    std::size_t header = 32;
    for (const auto& id : ids)
        header += 24 + id.size();
    Bytes out(false);
    out.add("__CLANG_OFFLOAD_BUNDLE__");
    out.put(ids.size(), 8);
    const std::size_t code_bytes = 64;
    std::uint64_t at = (header + 4095) / 4096 * 4096;
    for (const auto& id : ids) {
        const bool host = id.starts_with("host");
        out.put(at, 8);
        out.put(host ? 0 : code_bytes, 8);
        out.put(id.size(), 8);
        out.add(id);
        if (!host) at += code_bytes;
    }
    out.align(4096);
    out.add(std::string(at - out.size(), 'g'));
    return out.text();
}

}  // namespace wheelyard::test_support
