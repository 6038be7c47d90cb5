// One pass over all members: unpacks each, verifies size and CRC-32, compares its hash with RECORD, and
// analyses ELF files.
//
// Several threads (max_threads) take the members, largest first. Memory is bounded for wheels of any size.
// Each thread holds two pieces (piece_bytes each), the inflater's window and, for an ELF member, either its
// bytes (up to kept_member_bytes) or up to max_snapshots snapshots of at most 119 KiB and its landmarks: at
// most 17 MiB per thread. In addition: one symbol table (at most 24 MiB), the central directory and RECORD.
#include "lib/inspect/inspect.hpp"

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <mutex>

#include "lib/base/limits.hpp"
#include "lib/base/text/encoding.hpp"
#include "lib/base/text/text.hpp"
#include "lib/inspect/dist_info/installed_tree.hpp"
#include "lib/inspect/gpu/gpu_code.hpp"
#include "lib/inspect/zip/member_stream.hpp"
#include "lib/inspect/zip/zip.hpp"

namespace wheelyard::inspect {
namespace {

constexpr std::uint64_t max_wheel_name_bytes = 32 * base::mib;  // of all ELF files together

// The memory that the lists in `gpu` use, including the strings.
std::uint64_t bytes_of_names(const GpuFacts& gpu) {
    std::uint64_t bytes = sizeof(GpuFacts);
    for (const auto& [fact, names] : gpu.code) {
        for (const auto& name : names)
            bytes += sizeof(std::string) + name.size();
    }
    return bytes;
}
// The same of `elf`.
std::uint64_t bytes_of_names(const ElfFacts& elf) {
    std::uint64_t bytes = sizeof(ElfFacts) + elf.flaw.size();
    for (const auto& name : elf.needed)
        bytes += sizeof(std::string) + name.size();
    for (const auto& path : elf.search_paths)
        bytes += sizeof(std::string) + path.size();
    for (const auto* names : {&elf.symbols.python.outside, &elf.symbols.python.exported}) {
        for (const auto& name : *names)
            bytes += sizeof(std::string) + name.size();
    }
    for (const auto& need : elf.version_needs)
        bytes += sizeof(need) + need.file.size() + need.version.size();
    return bytes;
}

// Says whether the file begins as a program or library of Windows (PE) or macOS (Mach-O, also for several
// machines).
bool is_foreign_program(std::string_view name, std::string_view first_bytes) {
    if (first_bytes.starts_with("MZ")) {
        const std::string lower = base::ascii_lower(name);
        return lower.ends_with(".exe") || lower.ends_with(".dll");
    }
    // Java's classes have the magic number, too, and a version of 45 or more where Mach-O counts its
    // machines.
    if (first_bytes.starts_with("\xca\xfe\xba\xbe"))
        return first_bytes.size() >= 8 && static_cast<unsigned char>(first_bytes[7]) < 45 &&
               first_bytes.substr(4, 3) == std::string_view("\0\0\0", 3);
    return first_bytes.starts_with("\xcf\xfa\xed\xfe");
}

// A compiled module whose flags after the magic number (PEP 552) say that its source's time does not count:
// 1, it is not compared at all; 3, by a hash that anybody can compute. One with the source's time is stale as
// soon as it is installed.
bool is_run_unread(std::string_view name, std::string_view first_bytes) {
    constexpr std::string_view unchecked("\1\0\0\0", 4), checked("\3\0\0\0", 4);
    constexpr std::size_t header_bytes = 16;
    if (!name.ends_with(".pyc") || first_bytes.size() < header_bytes) return false;
    const std::string_view flags = first_bytes.substr(4, 4);
    const auto folder = name.substr(0, name.size() - base::base_name(name).size());
    return folder.ends_with("__pycache__/") && (flags == unchecked || flags == checked);
}

// Installers give permission to run to what they put there.
bool is_script(std::string_view name) {
    return installed_path(name).scheme == "scripts";
}

class Pass {
  public:
    Pass(const base::Reader& bytes, const Frame& frame, const RecordCheck* record,
         const InspectOptions& options, Findings& findings)
        : bytes_(bytes), frame_(frame), record_(record), options_(options), findings_(findings) {}

    base::Status take(const Member& member) {
        Kept kept;
        const base::DigestKind kind =
            record_ != nullptr ? record_->digest_kind(member) : base::DigestKind::sha256;
        base::Digest digest(kind);
        if (auto unpacked = unpack(member, digest, kept); !unpacked) {
            // An I/O error is not a finding.
            if (unpacked.error().kind != base::ErrorKind::malformed) return unpacked;
            const std::string declared = std::to_string(member.unpacked_bytes) + " bytes";
            findings_.add_final(unpacked.error().code, member.name, declared, unpacked.error().value);
            return {};
        }
        const std::string found = digest.finish();
        if (record_ != nullptr) record_->check_digest(member, found, findings_);
        if (kept.form == Form::other) return {};
        const Form form = kept.form;
        const MemberReader reader(bytes_, member, std::move(kept.bytes), std::move(kept.snapshots),
                                  std::move(kept.landmarks));
        if (form == Form::loose_code) return analyse_loose_code(member, reader);
        return analyse_elf(member, reader,
                           kind == base::DigestKind::sha256 ? base::encode_hex(found) : std::string());
    }

    // Call after all members were taken.
    [[nodiscard]] Contents finish() {
        std::sort(contents_.elves.begin(), contents_.elves.end(),
                  [](const ElfMember& a, const ElfMember& b) { return a.name < b.name; });
        contents_.has_foreign_programs = has_foreign_programs_;
        return std::move(contents_);
    }

  private:
    enum class Form { other, elf, loose_code };
    // The data of a member that random access needs.
    struct Kept {
        Form form = Form::other;
        std::string bytes;
        std::vector<MemberStream::Place> snapshots;
        Landmarks landmarks;
    };

    base::Status unpack(const Member& member, base::Digest& digest, Kept& kept) {
        MemberStream stream(bytes_, member);
        const std::uint64_t interval = MemberReader::snapshot_interval(member);
        std::uint64_t next_snapshot = interval;
        bool first = true;
        while (true) {
            WHEELYARD_ASSIGN(const std::string_view piece, stream.next());
            if (piece.empty()) return {};
            if (first && piece.starts_with(elf_magic)) {
                kept.form = Form::elf;
            } else if (first && is_loose_code(member.name, piece)) {
                kept.form = Form::loose_code;
            }
            if (first && is_foreign_program(member.name, piece)) has_foreign_programs_ = true;
            if (first && is_run_unread(member.name, piece)) findings_.add("installed.bytecode", member.name);
            first = false;
            digest.update(piece);
            report_progress(piece.size());
            if (kept.form == Form::other || member.method == Method::stored) continue;
            if (member.unpacked_bytes <= kept_member_bytes) {
                kept.bytes.reserve(member.unpacked_bytes);
                kept.bytes += piece;
                continue;
            }
            kept.landmarks.pass(stream.position() - piece.size(), piece);
            if (stream.position() >= next_snapshot) {
                kept.snapshots.push_back(stream.place());
                next_snapshot += interval;
            }
        }
    }

    base::Status analyse_elf(const Member& member, const MemberReader& reader, std::string sha256) {
        TorchNames torch;
        auto elf = parse_one(reader, torch);
        if (!elf) {
            if (elf.error().kind != base::ErrorKind::malformed) return base::fail(std::move(elf.error()));
            findings_.add(elf.error().code, member.name, {}, elf.error().text());
            return {};
        }
        if (!elf->flaw.empty()) findings_.add("elf.malformed", member.name, {}, elf->flaw);
        GpuFacts gpu;
        WHEELYARD_TRY(report_gpu_code(member, read_gpu_code(reader, *elf, gpu), gpu));
        const std::uint64_t named_bytes = bytes_of_names(*elf) + torch.bytes();
        elf->sections.clear();  // no longer needed; only names and version needs are compared later
        const std::scoped_lock lock(mutex_);
        if (keep_gpu_code(member, named_bytes, gpu))
            contents_.elves.push_back({member.name, std::move(*elf), std::move(gpu),
                                       member.may_run || is_script(member.name), std::move(torch),
                                       std::move(sha256)});
        return {};
    }

    base::Status analyse_loose_code(const Member& member, const MemberReader& reader) {
        GpuFacts gpu;
        WHEELYARD_TRY(report_gpu_code(member, read_loose_code(reader, member.name, gpu), gpu));
        const std::scoped_lock lock(mutex_);
        (void)keep_gpu_code(member, 0, gpu);
        return {};
    }

    // Reports what could not be read of the device code in the member; an I/O error is no finding.
    base::Status report_gpu_code(const Member& member, base::Status read, const GpuFacts& gpu) {
        if (!read) {
            if (read.error().kind != base::ErrorKind::malformed) return read;
            findings_.add(read.error().code, member.name, {}, read.error().text());
        }
        if (!gpu.hip_unread.empty()) findings_.add("gpu.compressed", member.name, {}, gpu.hip_unread);
        if (!gpu.unread.empty()) findings_.add("gpu.not_read", member.name, {}, gpu.unread);
        return {};
    }

    // Adds `gpu` to the contents; false if the wheel has more names than any real one. Call with mutex_ held.
    bool keep_gpu_code(const Member& member, std::uint64_t other_named_bytes, const GpuFacts& gpu) {
        named_bytes_ += other_named_bytes + bytes_of_names(gpu);
        if (named_bytes_ > max_wheel_name_bytes) {
            findings_.add_final("elf.malformed", member.name, "fewer required libraries and versions",
                                "more than any real wheel has");
            return false;
        }
        for (const auto& [fact, names] : gpu.code)
            contents_.gpu.code[fact].insert(names.begin(), names.end());
        contents_.gpu.not_read.insert(gpu.not_read.begin(), gpu.not_read.end());
        return true;
    }

    // Parses one file at a time, so that at most one (possibly hostile) symbol table is in memory. For real
    // files this takes a negligible part of the time.
    base::Result<ElfFacts> parse_one(const MemberReader& reader, TorchNames& torch) {
        const std::scoped_lock lock(parsing_);
        if (!options_.torch_names && !options_.torches_for) return parse_elf(reader);
        return parse_elf(reader, [&torch](const DynamicSymbol& symbol) { torch.take(symbol); });
    }

    void report_progress(std::uint64_t more_bytes) {
        if (!options_.progress) return;
        const std::scoped_lock lock(mutex_);
        done_bytes_ += more_bytes;
        options_.progress(done_bytes_, frame_.unpacked_bytes);
    }

    const base::Reader& bytes_;
    const Frame& frame_;
    const RecordCheck* record_;
    const InspectOptions& options_;
    Findings& findings_;
    std::mutex parsing_;
    std::mutex mutex_;
    std::atomic<bool> has_foreign_programs_ = false;
    std::uint64_t done_bytes_ = 0;
    std::uint64_t named_bytes_ = 0;  // kept in contents_
    Contents contents_;
};

}  // namespace

base::Result<Contents> check_contents(const base::Reader& bytes, const Frame& frame,
                                      const RecordCheck* record, const InspectOptions& options,
                                      Findings& findings) {
    std::vector<const Member*> by_size;
    for (const Member& member : frame.members) {
        if (member.readable && !member.is_directory()) by_size.push_back(&member);
    }
    std::stable_sort(by_size.begin(), by_size.end(),
                     [](const Member* a, const Member* b) { return a->unpacked_bytes > b->unpacked_bytes; });
    Pass pass(bytes, frame, record, options, findings);
    constexpr std::uint64_t bytes_worth_a_thread = base::mib;  // less work does not pay for starting a thread
    const auto worthwhile = static_cast<unsigned>(
        std::min<std::uint64_t>(max_threads, 1 + frame.unpacked_bytes / bytes_worth_a_thread));
    WHEELYARD_TRY(for_each_parallel(by_size.size(), std::min(options.threads, worthwhile),
                                    [&](std::size_t i) { return pass.take(*by_size[i]); }));
    return pass.finish();
}

}  // namespace wheelyard::inspect
