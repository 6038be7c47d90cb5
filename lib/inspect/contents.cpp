#include "lib/inspect/contents.hpp"

#include <algorithm>
#include <mutex>

#include "lib/base/limits.hpp"
#include "lib/inspect/limits.hpp"
#include "lib/inspect/zip/limits.hpp"
#include "lib/inspect/zip/member_stream.hpp"
#include "lib/inspect/zip/parallel.hpp"

namespace wheelyard::inspect {
namespace {

// The memory that the lists in `elf` and `gpu` use, including the strings.
std::uint64_t bytes_of_names(const ElfFacts& elf, const GpuFacts& gpu) {
    std::uint64_t bytes = sizeof(ElfFacts) + sizeof(GpuFacts) + elf.flaw.size();
    for (const auto& name : elf.needed)
        bytes += sizeof(std::string) + name.size();
    for (const auto& path : elf.search_paths)
        bytes += sizeof(std::string) + path.size();
    for (const auto& need : elf.version_needs)
        bytes += sizeof(need) + need.file.size() + need.version.size();
    for (const auto& [fact, names] : gpu.code) {
        for (const auto& name : names)
            bytes += sizeof(std::string) + name.size();
    }
    return bytes;
}

// Whether installers put the member into the folder of programs, with permission to run.
bool is_script(std::string_view name) {
    constexpr std::string_view folder = "/scripts/";
    const auto top = name.find('/');
    return top != std::string_view::npos && name.substr(0, top).ends_with(".data") &&
           name.substr(top).starts_with(folder);
}

class Pass {
  public:
    Pass(const base::Reader& bytes, const Frame& frame, const RecordCheck* record,
         const InspectOptions& options, Findings& findings)
        : bytes_(bytes), frame_(frame), record_(record), options_(options), findings_(findings) {}

    base::Status take(const Member& member) {
        Kept kept;
        base::Digest digest(record_ != nullptr ? record_->digest_kind(member) : base::DigestKind::sha256);
        if (auto unpacked = unpack(member, digest, kept); !unpacked) {
            // An I/O error is not a finding.
            if (unpacked.error().kind != base::ErrorKind::malformed) return unpacked;
            const std::string declared = std::to_string(member.unpacked_bytes) + " bytes";
            findings_.add_final(unpacked.error().code, member.name, declared, unpacked.error().value);
            return {};
        }
        if (record_ != nullptr) record_->check_digest(member, digest.finish(), findings_);
        return kept.is_elf ? analyse(member, std::move(kept)) : base::Status();
    }

    // Call after all members were taken.
    [[nodiscard]] Contents finish() {
        std::sort(contents_.elves.begin(), contents_.elves.end(),
                  [](const ElfMember& a, const ElfMember& b) { return a.name < b.name; });
        return std::move(contents_);
    }

  private:
    // The data of a member that random access needs.
    struct Kept {
        bool is_elf = false;
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
            if (first) kept.is_elf = piece.starts_with(elf_magic);
            first = false;
            digest.update(piece);
            report_progress(piece.size());
            if (!kept.is_elf || member.method == Method::stored) continue;
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

    base::Status analyse(const Member& member, Kept kept) {
        const MemberReader reader(bytes_, member, std::move(kept.bytes), std::move(kept.snapshots),
                                  std::move(kept.landmarks));
        auto elf = parse_one(reader);
        if (!elf) {
            if (elf.error().kind != base::ErrorKind::malformed) return base::fail(std::move(elf.error()));
            findings_.add(elf.error().code, member.name, {}, elf.error().text());
            return {};
        }
        if (!elf->flaw.empty()) findings_.add("elf.malformed", member.name, {}, elf->flaw);
        GpuFacts gpu;
        if (auto read = read_gpu_code(reader, *elf, gpu); !read) {
            if (read.error().kind != base::ErrorKind::malformed) return read;
            findings_.add(read.error().code, member.name, {}, read.error().text());
        }
        if (!gpu.hip_unread.empty()) findings_.add("gpu.compressed", member.name, {}, gpu.hip_unread);
        const std::uint64_t named_bytes = bytes_of_names(*elf, gpu);
        elf->sections.clear();  // no longer needed; only names and version needs are compared later
        const std::scoped_lock lock(mutex_);
        named_bytes_ += named_bytes;
        if (named_bytes_ > max_wheel_name_bytes) {
            findings_.add_final("elf.malformed", member.name, "fewer required libraries and versions",
                                "more than any real wheel has");
            return {};
        }
        for (const auto& [fact, names] : gpu.code)
            contents_.gpu.code[fact].insert(names.begin(), names.end());
        contents_.gpu.not_read.insert(gpu.not_read.begin(), gpu.not_read.end());
        contents_.elves.push_back(
            {member.name, std::move(*elf), std::move(gpu), member.may_run || is_script(member.name)});
        return {};
    }

    // Parses one file at a time, so that at most one (possibly hostile) symbol table is in memory. For real
    // files this takes a negligible part of the time.
    base::Result<ElfFacts> parse_one(const MemberReader& reader) {
        const std::scoped_lock lock(parsing_);
        return parse_elf(reader);
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
