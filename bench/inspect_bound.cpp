// The lower bound for a wheel's check: unpacks every member and hashes the result, and nothing else. Prints CPU
// seconds of unpacking and hashing (without reading), measured while all cores work, as in the check:
//
//     {"cores":2,"members":2345,"unpacked_bytes":1600000000,"all_s":3.1,"max_member_s":1.7}
//
// The bound in wall seconds is the larger of all_s / cores and max_member_s. bench/inspect_speed.py runs it.
#include <time.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <mutex>
#include <thread>
#include <vector>

#include "lib/base/digest/digest.hpp"
#include "lib/base/files/file.hpp"
#include "lib/inspect/zip/inflate.hpp"
#include "lib/inspect/zip/member_stream.hpp"
#include "lib/inspect/zip/zip.hpp"

using namespace wheelyard;

namespace {

constexpr std::size_t piece_bytes = 256u << 10;

double thread_cpu_s() {
    timespec now{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) / 1e9;
}

// Returns the CPU seconds of one member.
base::Result<double> unpack_and_hash(const base::Reader& bytes, const inspect::Member& member) {
    const bool packed = member.method == inspect::Method::deflate;
    inspect::Inflater inflater;
    base::Digest digest(base::DigestKind::sha256);
    std::vector<char> in(piece_bytes);
    std::vector<char> out(inspect::Inflater::window_bytes + piece_bytes);
    char* const piece = out.data() + inspect::Inflater::window_bytes;
    std::size_t behind = 0;
    std::uint64_t unpacked = 0;
    double spent_s = 0;
    for (std::uint64_t at = 0; at < member.packed_bytes;) {
        const auto length =
            static_cast<std::size_t>(std::min<std::uint64_t>(piece_bytes, member.packed_bytes - at));
        WHEELYARD_TRY(bytes.read_at(member.data_offset + at, in.data(), length));
        at += length;
        const double begun_s = thread_cpu_s();
        std::string_view left(in.data(), length);
        if (!packed) {
            digest.update(left);
            unpacked += length;
        }
        for (bool more = packed; more;) {
            const auto step = inflater.step(left, piece, piece_bytes, behind);
            digest.update({piece, step.produced});
            unpacked += step.produced;
            left.remove_prefix(step.consumed);
            // The stream may still refer to these bytes, so they precede the next piece.
            behind = std::min(inspect::Inflater::window_bytes, behind + step.produced);
            std::memmove(piece - behind, piece + step.produced - behind, behind);
            more = !step.finished && !step.damaged && step.produced != 0;
        }
        // The inflater reads ahead; the rest is read again with the following bytes.
        if (packed && at < member.packed_bytes && left.size() < length) at -= left.size();
        spent_s += thread_cpu_s() - begun_s;
    }
    if (unpacked != member.unpacked_bytes)
        return base::fail("bench.unpacked", "The bound did not unpack the whole member", member.name);
    const double begun_s = thread_cpu_s();
    if (digest.finish().empty()) return base::fail("bench.digest", "No digest.", member.name);
    return spent_s + thread_cpu_s() - begun_s;
}

int measure(const char* path) {
    const auto reader = base::FileReader::open(path);
    if (!reader) return std::fprintf(stderr, "%s\n", reader.error().text().c_str()), 2;
    inspect::Findings findings{inspect::Policy{}};
    const auto frame = inspect::read_frame(*reader, findings);
    if (!frame || !*frame) return std::fprintf(stderr, "%s: no frame of a wheel\n", path), 2;
    std::vector<const inspect::Member*> by_size;
    for (const auto& member : (*frame)->members) {
        if (member.readable) by_size.push_back(&member);
    }
    std::stable_sort(by_size.begin(), by_size.end(),
                     [](const auto* a, const auto* b) { return a->unpacked_bytes > b->unpacked_bytes; });
    const unsigned cores = std::max(1u, std::thread::hardware_concurrency());
    std::mutex mutex;
    double all_s = 0;
    double max_s = 0;
    const auto done = inspect::for_each_parallel(by_size.size(), cores, [&](std::size_t i) -> base::Status {
        WHEELYARD_ASSIGN(const double spent_s, unpack_and_hash(*reader, *by_size[i]));
        const std::scoped_lock lock(mutex);
        all_s += spent_s;
        max_s = std::max(max_s, spent_s);
        return {};
    });
    if (!done) return std::fprintf(stderr, "%s\n", done.error().text().c_str()), 2;
    std::printf(R"({"cores":%u,"members":%zu,"unpacked_bytes":%llu,"all_s":%.4f,"max_member_s":%.4f})"
                "\n",
                cores, by_size.size(), static_cast<unsigned long long>((*frame)->unpacked_bytes), all_s,
                max_s);
    return 0;
}

}  // namespace

int main(int count, char** arguments) {
    if (count != 2) return std::fprintf(stderr, "usage: inspect_bound FILE.whl\n"), 2;
    return measure(arguments[1]);
}
