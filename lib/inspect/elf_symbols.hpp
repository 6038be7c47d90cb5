// The dynamic symbols of an ELF file, one after the other, in memory that does not grow with their names.
// System V ABI chapter 4 (symbol table) and 5 (hash table); the GNU hash table as glibc's dynamic linker
// reads it.
#pragma once

#include <cstdint>
#include <functional>
#include <string_view>

#include "lib/base/file.hpp"
#include "lib/base/result.hpp"

namespace wheelyard::inspect {

// Where they lie in the file; all zero where there are none.
struct SymbolTable {
    unsigned bits = 64;
    bool big_endian = false;
    std::uint64_t offset = 0;
    std::uint64_t count = 0;
    std::uint64_t strings_offset = 0;
    std::uint64_t strings_bytes = 0;
};

struct DynamicSymbol {
    std::string_view name;  // cut at max_symbol_name_bytes
    bool imported = false;  // undefined here: another library must have it
    bool weak = false;
};

// How many symbols there are stands nowhere. DT_HASH says it, but a liar's may be there for nobody: glibc
// looks at DT_GNU_HASH where both are. That ends with the last symbol that is offered. Relocations name those
// imported.
[[nodiscard]] base::Result<std::uint64_t> count_in_hash(const base::Reader& bytes, std::uint64_t offset,
                                                        bool big_endian);
[[nodiscard]] base::Result<std::uint64_t> count_in_gnu_hash(const base::Reader& bytes, std::uint64_t offset,
                                                            unsigned bits, bool big_endian);

// Relocations: an offset, a word with a symbol's number in its upper part, and an addend where there are
// three words.
struct RelocationTable {
    unsigned bits = 64;
    bool big_endian = false;
    std::uint64_t offset = 0;
    std::uint64_t bytes = 0;
    unsigned words = 3;
    std::uint64_t relative =
        0;  // how many stand first that the dynamic linker takes for ones without a symbol
};
// One more than the highest number of a symbol in it.
[[nodiscard]] base::Result<std::uint64_t> count_in_relocation_table(const base::Reader& bytes,
                                                                    const RelocationTable& table);

// Calls `take` for every symbol that has a name, in the order of the string table. Error "elf.malformed".
[[nodiscard]] base::Status for_each_symbol(const base::Reader& bytes, const SymbolTable& table,
                                           const std::function<void(const DynamicSymbol&)>& take);

}  // namespace wheelyard::inspect
