#include "lib/inspect/contents.hpp"

#include <algorithm>
#include <mutex>

#include "lib/inspect/member_stream.hpp"
#include "lib/inspect/parallel.hpp"

namespace wheelyard::inspect {
namespace {

class Pass {
  public:
    Pass(const base::Reader& bytes, const Frame& frame, const RecordCheck* record,
         const InspectOptions& options, Findings& findings)
        : bytes_(bytes), frame_(frame), record_(record), options_(options), findings_(findings) {}

    base::Status take(const Member& member) {
        base::Digest digest(record_ != nullptr ? record_->digest_kind(member) : base::DigestKind::sha256);
        if (auto unpacked = unpack(member, digest); !unpacked) {
            if (find_rule(unpacked.error().code) == nullptr) return unpacked;  // could not be read at all
            const std::string declared = std::to_string(member.unpacked_bytes) + " bytes";
            findings_.add_final(unpacked.error().code, member.name, declared, unpacked.error().value);
            return {};
        }
        if (record_ != nullptr) record_->check_digest(member, digest.finish(), findings_);
        return {};
    }

  private:
    base::Status unpack(const Member& member, base::Digest& digest) {
        MemberStream stream(bytes_, member);
        while (true) {
            WHEELYARD_ASSIGN(const std::string_view piece, stream.next());
            if (piece.empty()) return {};
            digest.update(piece);
            report(piece.size());
        }
    }

    void report(std::uint64_t more_bytes) {
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
    std::mutex mutex_;
    std::uint64_t done_bytes_ = 0;
};

}  // namespace

base::Status check_contents(const base::Reader& bytes, const Frame& frame, const RecordCheck* record,
                            const InspectOptions& options, Findings& findings) {
    std::vector<const Member*> largest_first;
    for (const Member& member : frame.members) {
        if (member.readable && !member.is_directory()) largest_first.push_back(&member);
    }
    std::stable_sort(largest_first.begin(), largest_first.end(),
                     [](const Member* a, const Member* b) { return a->unpacked_bytes > b->unpacked_bytes; });
    Pass pass(bytes, frame, record, options, findings);
    return for_each_parallel(largest_first.size(), options.threads,
                             [&](std::size_t i) { return pass.take(*largest_first[i]); });
}

}  // namespace wheelyard::inspect
