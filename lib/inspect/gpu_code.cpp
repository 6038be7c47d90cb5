#include "lib/inspect/gpu_code.hpp"

#include <algorithm>

#include "lib/inspect/bytes.hpp"
#include "lib/inspect/limits.hpp"

namespace wheelyard::inspect {
namespace {

constexpr std::uint32_t fatbin_magic = 0xba55ed50;
constexpr std::uint64_t fatbin_header_bytes = 16;
constexpr std::uint64_t fatbin_entry_bytes = 48;  // as much of an entry's header as is read
constexpr std::uint64_t flag_arch_specific = 1u << 20, flag_family_specific = 1u << 21;
constexpr std::uint16_t kind_ptx = 1, kind_machine_code = 2;
constexpr std::string_view bundle_magic = "__CLANG_OFFLOAD_BUNDLE__";
constexpr std::string_view compressed_bundle_magic = "CCOB";
constexpr std::string_view gpu_id_prefix = "amdgcn-amd-amdhsa-";
constexpr std::uint64_t longest_target_id = 1024;
constexpr std::uint64_t most_bundle_targets = 4096;

tl::unexpected<base::Error> malformed(std::string sentence, std::uint64_t offset) {
    return base::fail("gpu.malformed", std::move(sentence), "offset " + std::to_string(offset));
}

// Reads within one section; offsets are of the file.
class SectionWalk {
  public:
    SectionWalk(const base::Reader& bytes, const ElfSection& section)
        : bytes_(bytes), at_(section.offset), end_(section.offset + section.size) {}

    base::Result<std::string> read(std::uint64_t offset, std::uint64_t length) const {
        if (offset > end_ || length > end_ - offset)
            return malformed("Device code ends beyond its section.", offset);
        std::string text(length, '\0');
        WHEELYARD_TRY(bytes_.read_at(offset, text.data(), text.size()));
        return text;
    }
    // Moves to the next byte that is not zero: linkers fill up to the next alignment. False at the end of the
    // section.
    base::Result<bool> skip_zeros() {
        constexpr std::uint64_t at_a_time = 4096;
        while (at_ < end_) {
            WHEELYARD_ASSIGN(const std::string text, read(at_, std::min(end_ - at_, at_a_time)));
            const auto found = text.find_first_not_of('\0');
            if (found != std::string::npos) {
                at_ += found;
                return true;
            }
            at_ += text.size();
        }
        return false;
    }
    [[nodiscard]] std::uint64_t at() const { return at_; }
    [[nodiscard]] std::uint64_t left() const { return end_ - at_; }
    void move_to(std::uint64_t offset) { at_ = offset; }
    base::Status count_entry() {
        if (++entries_ > most_gpu_entries)
            return malformed("There is more device code than in any real library.", at_);
        return {};
    }

  private:
    const base::Reader& bytes_;
    std::uint64_t at_;
    std::uint64_t end_;
    std::uint64_t entries_ = 0;
};

// "90", "90a" (runs on this arch only), "103f" (runs on its family).
std::string arch_name(std::uint32_t arch, std::uint64_t flags) {
    std::string name = std::to_string(arch);
    if ((flags & flag_arch_specific) != 0) return name + "a";
    if ((flags & flag_family_specific) != 0) return name + "f";
    return name;
}

base::Status read_fatbin_entries(SectionWalk& walk, std::uint64_t at, std::uint64_t end, GpuFacts& facts) {
    while (end - at >= fatbin_entry_bytes) {
        WHEELYARD_TRY(walk.count_entry());
        WHEELYARD_ASSIGN(const std::string text, walk.read(at, fatbin_entry_bytes));
        ByteCursor entry(text);
        const std::uint16_t kind = entry.u16();
        entry.skip(2);
        const std::uint32_t header_bytes = entry.u32();
        const std::uint64_t payload_bytes = entry.u64();
        entry.skip(12);
        const std::uint32_t arch = entry.u32();
        entry.skip(8);
        const std::string name = arch_name(arch, entry.u64());
        if (header_bytes < fatbin_entry_bytes || header_bytes > end - at ||
            payload_bytes > end - at - header_bytes) {
            return malformed("An entry of a CUDA fatbin ends beyond it.", at);
        }
        if (kind == kind_ptx) facts.cuda_ptx.insert("compute_" + name);
        if (kind == kind_machine_code) facts.cuda_sm.insert("sm_" + name);
        at += header_bytes + payload_bytes;
    }
    return {};
}

base::Status read_cuda(SectionWalk walk, GpuFacts& facts) {
    while (true) {
        WHEELYARD_ASSIGN(const bool more, walk.skip_zeros());
        if (!more || walk.left() < fatbin_header_bytes) return {};
        WHEELYARD_ASSIGN(const std::string text, walk.read(walk.at(), fatbin_header_bytes));
        ByteCursor header(text);
        if (header.u32() != fatbin_magic) return malformed("A CUDA fatbin was expected.", walk.at());
        header.skip(2);
        const std::uint16_t header_bytes = header.u16();
        const std::uint64_t body_bytes = header.u64();
        if (header_bytes < fatbin_header_bytes || header_bytes > walk.left() ||
            body_bytes > walk.left() - header_bytes) {
            return malformed("A CUDA fatbin ends beyond its section.", walk.at());
        }
        const std::uint64_t body = walk.at() + header_bytes;
        WHEELYARD_TRY(walk.count_entry());
        WHEELYARD_TRY(read_fatbin_entries(walk, body, body + body_bytes, facts));
        walk.move_to(body + body_bytes);
    }
}

// "hipv4-amdgcn-amd-amdhsa--gfx90a:xnack-" → "gfx90a:xnack-"; nothing for the host's entry.
std::string gfx_of(std::string_view id) {
    const auto at = id.find(gpu_id_prefix);
    if (at == std::string_view::npos) return {};
    id.remove_prefix(at + gpu_id_prefix.size());
    while (id.starts_with('-'))
        id.remove_prefix(1);
    return id.starts_with("gfx") ? std::string(id) : std::string();
}

base::Result<std::uint64_t> read_bundle(SectionWalk& walk, GpuFacts& facts) {
    const std::uint64_t begin = walk.at();
    std::uint64_t at = begin + bundle_magic.size();
    WHEELYARD_ASSIGN(const std::string count_text, walk.read(at, 8));
    const std::uint64_t count = ByteCursor(count_text).u64();
    if (count > most_bundle_targets) return malformed("An offload bundle has too many targets.", begin);
    at += 8;
    std::uint64_t end = at;
    for (std::uint64_t i = 0; i < count; ++i) {
        WHEELYARD_TRY(walk.count_entry());
        WHEELYARD_ASSIGN(const std::string text, walk.read(at, 24));
        ByteCursor entry(text);
        const std::uint64_t offset = entry.u64();
        const std::uint64_t size = entry.u64();
        const std::uint64_t id_bytes = entry.u64();
        if (id_bytes == 0 || id_bytes > longest_target_id)
            return malformed("A target of an offload bundle has no usable name.", at);
        WHEELYARD_ASSIGN(const std::string id, walk.read(at + 24, id_bytes));
        at += 24 + id_bytes;
        const std::uint64_t room = walk.left();
        if (offset > room || size > room - offset)
            return malformed("An offload bundle ends beyond its section.", begin);
        if (const std::string gfx = gfx_of(id); !gfx.empty() && size != 0) facts.hip_gfx.insert(gfx);
        end = std::max({end, at, begin + offset + size});
    }
    return end;
}

base::Status read_hip(SectionWalk walk, GpuFacts& facts) {
    while (true) {
        WHEELYARD_ASSIGN(const bool more, walk.skip_zeros());
        if (!more || walk.left() < bundle_magic.size()) return {};
        WHEELYARD_ASSIGN(const std::string magic, walk.read(walk.at(), bundle_magic.size()));
        if (magic.starts_with(compressed_bundle_magic)) {
            facts.hip_compressed = true;
            return {};
        }
        if (magic != bundle_magic) return malformed("A clang offload bundle was expected.", walk.at());
        WHEELYARD_ASSIGN(const std::uint64_t end, read_bundle(walk, facts));
        walk.move_to(end);
    }
}

struct DeviceSection {
    std::string_view name;
    base::Status (*read)(SectionWalk, GpuFacts&);
};
constexpr DeviceSection device_sections[] = {
    {".nv_fatbin", read_cuda}, {"__nv_relfatbin", read_cuda}, {".hip_fatbin", read_hip}};

}  // namespace

base::Status read_gpu_code(const base::Reader& bytes, const ElfFacts& elf, GpuFacts& facts) {
    for (const ElfSection& section : elf.sections) {
        for (const DeviceSection& kind : device_sections) {
            if (section.name == kind.name && section.size != 0) {
                WHEELYARD_TRY(kind.read(SectionWalk(bytes, section), facts));
            }
        }
    }
    return {};
}

}  // namespace wheelyard::inspect
