// Iterates over the dynamic symbols of an ELF file; memory use is independent of their names. Sources: System
// V ABI chapters 4 (symbol table) and 5 (hash table); GNU hash table: glibc's dynamic linker.
#pragma once

#include <cstdint>
#include <functional>
#include <string_view>

#include "lib/base/files/file.hpp"
#include "lib/base/result.hpp"

namespace wheelyard::inspect {

// The tables' location in the file; all zero if there are none.
struct SymbolTable {
    unsigned bits = 64;
    bool big_endian = false;
    std::uint64_t offset = 0;
    std::uint64_t count = 0;
    std::uint64_t strings_offset = 0;
    std::uint64_t strings_bytes = 0;
};

struct DynamicSymbol {
    std::string_view name;  // cut to max_symbol_name_bytes
    bool imported = false;  // undefined here; another library must define it
    bool weak = false;
};

// The number of symbols is not stored. DT_HASH contains it but may be fake: glibc ignores it if DT_GNU_HASH
// exists. DT_GNU_HASH ends with the last exported symbol; relocations refer to the imported ones.
[[nodiscard]] base::Result<std::uint64_t> count_in_hash(const base::Reader& bytes, std::uint64_t offset,
                                                        bool big_endian);
[[nodiscard]] base::Result<std::uint64_t> count_in_gnu_hash(const base::Reader& bytes, std::uint64_t offset,
                                                            unsigned bits, bool big_endian);

// Relocations: an offset, a word with the symbol's index in its upper part, and an addend if `words` is 3.
struct RelocationTable {
    unsigned bits = 64;
    bool big_endian = false;
    std::uint64_t offset = 0;
    std::uint64_t bytes = 0;
    unsigned words = 3;
    std::uint64_t relative =
        0;  // the number of leading relocations that the dynamic linker treats as symbol-free
};
// One more than the highest symbol index in the table.
[[nodiscard]] base::Result<std::uint64_t> count_in_relocation_table(const base::Reader& bytes,
                                                                    const RelocationTable& table);

// Calls `take` for every named symbol, in the order of the string table. Error "elf.malformed".
[[nodiscard]] base::Status for_each_symbol(const base::Reader& bytes, const SymbolTable& table,
                                           const std::function<void(const DynamicSymbol&)>& take);

}  // namespace wheelyard::inspect
