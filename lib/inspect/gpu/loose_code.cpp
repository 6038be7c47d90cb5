// Device code in files of its own that are no ELF files (those: device_object.cpp). By their first bytes:
// fatbins, clang's offload bundles, compressed or not, as rocBLAS and hipBLASLt ship them in `.co`. By their
// names: PTX, and what is named as device code but is in no known form, so that its GPUs are unknown:
// encrypted or compressed files, pointers of Git LFS, MIOpen's and AOTriton's collections of kernels (`.kdb`,
// `.aks2`). Archives are not opened, and SPIR-V names no GPU.
#include "lib/inspect/gpu/gpu_code.hpp"

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <string>

#include "lib/base/limits.hpp"
#include "lib/base/text/byte_cursor.hpp"
#include "lib/base/text/text.hpp"
#include "lib/inspect/elf/section_walk.hpp"

namespace wheelyard::inspect {
namespace {

constexpr std::uint64_t max_ptx_head = 64 * base::kib;  // `.target` follows the comments at the beginning

// --- by the first bytes ---

bool is_packed_bundle(std::string_view begin) {
    base::ByteCursor cursor(begin);
    constexpr std::uint16_t most = 255;  // no text has such bytes there
    return cursor.text(4) == "CCOB" && cursor.u16() <= most && cursor.u16() <= most && cursor.ok();
}

bool is_fatbin(std::string_view begin) {
    return begin.starts_with("\x50\xed\x55\xba");
}

bool is_plain_bundle(std::string_view begin) {
    return begin.starts_with("__CLANG_OFFLOAD_BUNDLE__");
}

struct Form {
    bool (*begins)(std::string_view begin);
    std::string_view kind;
    base::Status (*read)(SectionWalk, GpuFacts&);
};
constexpr Form forms[] = {{is_fatbin, "cuda", read_fatbins},
                          {is_plain_bundle, "rocm", read_hip_bundles},
                          {is_packed_bundle, "rocm", read_hip_bundles}};

const Form* form_of(std::string_view begin) {
    const auto* const form = std::find_if(std::begin(forms), std::end(forms),
                                          [begin](const Form& row) { return row.begins(begin); });
    return form == std::end(forms) ? nullptr : form;
}

// --- by the name ---

struct Extension {
    std::string_view text;
    std::string_view kind;
    bool is_extra = false;  // collections beside code that is read: the library compiles what they lack
};
constexpr Extension extensions[] = {{".cubin", "cuda"},
                                    {".fatbin", "cuda"},
                                    {".hsaco", "rocm"},
                                    {".kdb", "rocm", true},
                                    {".aks2", "rocm", true}};
constexpr std::string_view ptx_extension = ".ptx";
constexpr std::string_view compressions[] = {".gz", ".xz", ".zst", ".bz2", ".lz4"};

const Extension* extension_of(std::string_view name) {
    for (const std::string_view compression : compressions) {
        if (name.ends_with(compression)) name.remove_suffix(compression.size());
    }
    const auto* const found = std::find_if(std::begin(extensions), std::end(extensions),
                                           [name](const Extension& row) { return name.ends_with(row.text); });
    return found == std::end(extensions) ? nullptr : found;
}

// PTX ISA, ".target": "sm_90a" of the first; empty: there is none.
std::string_view target_of_ptx(std::string_view text) {
    constexpr std::string_view directive = ".target", prefix = "sm_";
    for (std::string_view line : base::split_lines(text)) {
        line = base::trim(line);
        if (!line.starts_with(directive)) continue;
        line = base::trim(line.substr(directive.size()));
        if (!line.starts_with(prefix)) continue;
        const auto* const end =
            std::find_if_not(line.begin() + prefix.size(), line.end(), base::is_ascii_alnum);
        return line.substr(prefix.size(), static_cast<std::size_t>(end - line.begin()) - prefix.size());
    }
    return {};
}

base::Status read_ptx(const base::Reader& bytes, GpuFacts& facts) {
    std::string text(std::min(bytes.size(), max_ptx_head), '\0');
    WHEELYARD_TRY(bytes.read_at(0, text.data(), text.size()));
    constexpr std::size_t most = 8;  // "1000a" is longer than any
    const std::string_view target = target_of_ptx(text);
    if (!target.empty() && target.size() <= most) {
        facts.code["cuda_ptx"].insert("compute_" + std::string(target));
    } else if (text.find('\0') != std::string::npos) {  // text without a target is something else
        facts.add_unread("cuda", "a .ptx file that is no text");
    }
    return {};
}

}  // namespace

bool is_loose_code(std::string_view name, std::string_view begin) {
    return form_of(begin) != nullptr || extension_of(name) != nullptr || name.ends_with(ptx_extension);
}

base::Status read_loose_code(const base::Reader& bytes, std::string_view name, GpuFacts& facts) {
    std::string begin(std::min<std::uint64_t>(bytes.size(), 32), '\0');
    WHEELYARD_TRY(bytes.read_at(0, begin.data(), begin.size()));
    if (const Form* form = form_of(begin)) {
        auto read = form->read(SectionWalk(bytes, 0, bytes.size()), facts);
        if (!read) facts.not_read.emplace(form->kind);
        return read;
    }
    if (name.ends_with(ptx_extension)) return read_ptx(bytes, facts);
    if (const Extension* extension = extension_of(name)) {
        facts.not_read.emplace(extension->kind);
        if (!extension->is_extra) facts.unread = "named as device code, but in no form that is known";
    }
    return {};
}

}  // namespace wheelyard::inspect
