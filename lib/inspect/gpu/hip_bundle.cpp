// HIP device code: clang offload bundles, each at a page boundary of its section. All integers are
// little-endian:
//
//     bundle      `__CLANG_OFFLOAD_BUNDLE__`, u64 count; entries: u64 offset, u64 size, u64 id length, id
//                 ("host-x86_64-unknown-linux--", "hipv4-amdgcn-amd-amdhsa--gfx90a:xnack-");
//                 offsets are relative to the start of the bundle
//     compressed  `CCOB`, u16 version, u16 method (0 zlib, 1 zstd), then by version
//                   1  u32 unpacked size                        (clang 18)
//                   2  u32 total size, u32 unpacked size        (clang 19 to 21)
//                   3  u64 total size, u64 unpacked size        (clang 22)
//                 then an 8-byte hash, then one compressed stream with a bundle
//
// A compressed bundle is unpacked only up to the end of its table of entries, so large declared sizes cost
// nothing. Version 1 does not store its end: the next bundle is searched page by page. Sources: clang's
// documentation of the offload bundler, and objects of clang 17 to 22 (tests/support/gpu_objects).
#include "lib/inspect/gpu/gpu_code.hpp"

#include <algorithm>
#include <optional>

#include "lib/base/text/byte_cursor.hpp"
#include "lib/base/text/text.hpp"

namespace wheelyard::inspect {
namespace {

constexpr std::string_view plain_magic = "__CLANG_OFFLOAD_BUNDLE__";
constexpr std::string_view packed_magic = "CCOB";
constexpr std::uint64_t page_bytes = 4096;  // every bundle is page-aligned
constexpr std::uint64_t max_target_id = 1024;
constexpr std::uint64_t max_bundle_targets = 4096;

// The parts of a device code id: a triple, an environment (usually empty) and the processor.
struct DeviceTriple {
    std::string_view triple;
    std::string_view processor;  // prefix of its name
};
constexpr DeviceTriple device_triples[] = {
    {"amdgcn-amd-amdhsa-", "gfx"},          // gfx90a:xnack-, gfx9-4-generic
    {"spirv64-amd-amdhsa-", "amdgcnspirv"}  // JIT-compiled for the GPU
};

// "hipv4-amdgcn-amd-amdhsa--gfx90a:xnack-" → "gfx90a:xnack-"; empty for the host's entry.
std::string processor_of(std::string_view id) {
    for (const DeviceTriple& device : device_triples) {
        const auto at = id.find(device.triple);
        if (at == std::string_view::npos) continue;
        std::string_view rest = id.substr(at + device.triple.size());
        constexpr std::string_view no_environment = "unknown-";
        if (rest.starts_with(no_environment)) rest.remove_prefix(no_environment.size());
        while (rest.starts_with('-'))
            rest.remove_prefix(1);
        if (rest.starts_with(device.processor)) return std::string(rest);
    }
    return {};
}

bool is_target_text(std::string_view id) {
    return std::all_of(id.begin(), id.end(), [](char c) { return c > ' ' && c < '\x7f'; });
}

// Reads the table of the plain bundle at `walk`; returns the end of the bundle.
base::Result<std::uint64_t> read_table(SectionWalk& walk, GpuFacts& facts) {
    const std::uint64_t begin = walk.at();
    std::uint64_t at = begin + plain_magic.size();
    WHEELYARD_ASSIGN(const std::string count_text, walk.read(at, 8));
    const std::uint64_t count = base::ByteCursor(count_text).u64();
    if (count > max_bundle_targets)
        return malformed_gpu_code("An offload bundle has too many targets.", begin);
    at += 8;
    std::uint64_t end = at;
    for (std::uint64_t i = 0; i < count; ++i) {
        WHEELYARD_TRY(walk.count_entry());
        WHEELYARD_ASSIGN(const std::string text, walk.read(at, 24));
        base::ByteCursor entry(text);
        const std::uint64_t offset = entry.u64();
        const std::uint64_t size = entry.u64();
        const std::uint64_t id_bytes = entry.u64();
        if (id_bytes == 0 || id_bytes > max_target_id)
            return malformed_gpu_code("A target of an offload bundle has an invalid name.", at);
        WHEELYARD_ASSIGN(const std::string id, walk.read(at + 24, id_bytes));
        if (!is_target_text(id))
            return malformed_gpu_code("A target of an offload bundle has an invalid name.", at);
        at += 24 + id_bytes;
        const std::uint64_t room = walk.left();
        if (offset > room || size > room - offset)
            return malformed_gpu_code("An offload bundle ends beyond its section.", begin);
        if (const std::string processor = processor_of(id); !processor.empty() && size != 0)
            WHEELYARD_TRY(walk.keep(facts.code["hip_gfx"], processor));
        end = std::max({end, at, begin + offset + size});
    }
    return end;
}

struct HeaderLayout {
    std::uint16_t version;
    std::size_t whole_width;  // of the size field, in bytes
    std::size_t unpacked_width;
};
constexpr HeaderLayout header_layouts[] = {{1, 0, 4}, {2, 4, 4}, {3, 8, 8}};
constexpr std::uint64_t hash_bytes = 8;

// The start of the next bundle at a page boundary after walk.at(), or the end of the section.
base::Result<std::uint64_t> find_next_bundle(SectionWalk& walk) {
    const std::uint64_t end = walk.at() + walk.left();
    for (std::uint64_t at = walk.at(); end - at > page_bytes;) {
        at += page_bytes;
        const std::uint64_t length = std::min<std::uint64_t>(end - at, plain_magic.size());
        WHEELYARD_ASSIGN(const std::string text, walk.read(at, length));
        if (text.starts_with(packed_magic) || text == plain_magic) return at;
    }
    return end;
}

// Reads the compressed bundle at `walk`; returns its end.
base::Result<std::uint64_t> read_packed(SectionWalk& walk, GpuFacts& facts) {
    const std::uint64_t begin = walk.at();
    WHEELYARD_ASSIGN(const std::string common, walk.read(begin, packed_magic.size() + 4));
    base::ByteCursor cursor(common);
    cursor.skip(packed_magic.size());
    const std::uint16_t version = cursor.u16();
    const std::uint16_t method = cursor.u16();
    const auto* const layout = std::find_if(std::begin(header_layouts), std::end(header_layouts),
                                            [&](const HeaderLayout& row) { return row.version == version; });
    if (layout == std::end(header_layouts)) {
        facts.not_read.emplace("rocm");
        facts.hip_unread = "unknown version " + std::to_string(version) + " of the compressed bundle";
        return find_next_bundle(walk);
    }
    const std::uint64_t sizes_at = begin + common.size();
    WHEELYARD_ASSIGN(const std::string sizes,
                     walk.read(sizes_at, layout->whole_width + layout->unpacked_width + hash_bytes));
    base::ByteCursor fields(sizes);
    const std::uint64_t whole_bytes = fields.take(layout->whole_width);
    const std::uint64_t unpacked_bytes = fields.take(layout->unpacked_width);
    const std::uint64_t payload = sizes_at + sizes.size();
    std::uint64_t end = begin + whole_bytes;
    if (layout->whole_width == 0) {
        WHEELYARD_ASSIGN(end, find_next_bundle(walk));
    } else if (whole_bytes > walk.left()) {
        return malformed_gpu_code("A compressed offload bundle ends beyond its section.", begin);
    }
    if (end < payload)
        return malformed_gpu_code("A compressed offload bundle ends within its header.", begin);

    const PackedBundle unpacked(walk.bytes(), payload, end - payload, method, unpacked_bytes);
    if (const std::string why = unpacked.why_unreadable(); !why.empty()) {
        facts.not_read.emplace("rocm");
        facts.hip_unread = why;
        return end;
    }
    SectionWalk table = walk.part(unpacked, 0, unpacked_bytes);
    WHEELYARD_ASSIGN(const std::string magic, table.read(0, plain_magic.size()));
    if (magic != plain_magic)
        return malformed_gpu_code("A compressed offload bundle does not contain a bundle.", begin);
    WHEELYARD_TRY(read_table(table, facts));
    WHEELYARD_TRY(walk.count_unpacked(unpacked.unpacked_so_far()));
    return end;
}

}  // namespace

base::Status read_hip_bundles(SectionWalk walk, GpuFacts& facts) {
    std::uint64_t packed_bundles = 0;
    while (true) {
        WHEELYARD_ASSIGN(const bool more, walk.skip_zeros());
        if (!more) return {};
        const std::uint64_t length = std::min<std::uint64_t>(walk.left(), plain_magic.size());
        WHEELYARD_ASSIGN(const std::string magic, walk.read(walk.at(), length));
        WHEELYARD_TRY(walk.count_entry());
        if (magic.starts_with(packed_magic)) {
            // Unpacking costs up to a page of work even for a bundle of a few bytes.
            if (++packed_bundles > 1 + walk.size() / page_bytes)
                return malformed_gpu_code("The section has more compressed bundles than pages.", walk.at());
            WHEELYARD_ASSIGN(const std::uint64_t end, read_packed(walk, facts));
            walk.move_to(end);
            continue;
        }
        if (magic != plain_magic) return malformed_gpu_code("Expected a clang offload bundle.", walk.at());
        WHEELYARD_ASSIGN(const std::uint64_t end, read_table(walk, facts));
        walk.move_to(end);
    }
}

}  // namespace wheelyard::inspect
