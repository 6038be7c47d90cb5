// Unpacking: verified sizes, all digest kinds, progress, random access, and I/O errors.
#include "lib/inspect/inspect.hpp"

#include <doctest/doctest.h>

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <random>
#include <set>
#include <thread>

#include "lib/base/check.hpp"
#include "lib/base/limits.hpp"
#include "lib/inspect/zip/member_stream.hpp"
#include "lib/inspect/zip/zip.hpp"
#include "tests/support/wheel_writer.hpp"

using namespace wheelyard;
using test_support::WheelWriter;

namespace {

// Text that compresses about 2:1, so that packed and unpacked offsets differ.
std::string noise(std::size_t size) {
    std::mt19937 random(7);
    std::string text(size, '\0');
    for (char& c : text)
        c = static_cast<char>('a' + random() % 16);
    return text;
}

// A disk whose reads fail from offset `limit` on.
class FailingReader final : public base::Reader {
  public:
    FailingReader(std::string_view bytes, std::uint64_t limit) : inner_(bytes), limit_(limit) {}
    std::uint64_t size() const override { return inner_.size(); }
    base::Status read_at(std::uint64_t offset, char* into, std::size_t length) const override {
        if (offset < limit_ && offset + length > limit_) return base::fail("os.EIO", "read failed");
        return inner_.read_at(offset, into, length);
    }

  private:
    base::MemoryReader inner_;
    std::uint64_t limit_;
};

// A disk that delays reads of the noise until two threads wait, or for a minute.
class MeetingReader final : public base::Reader {
  public:
    MeetingReader(std::string_view bytes, std::uint64_t noise_begin, std::uint64_t noise_end)
        : inner_(bytes), begin_(noise_begin), end_(noise_end) {}
    std::uint64_t size() const override { return inner_.size(); }
    base::Status read_at(std::uint64_t offset, char* into, std::size_t length) const override {
        constexpr std::size_t max_header = 1000;  // the headers between the noise of two members
        if (offset >= begin_ && offset + length <= end_ && length > max_header) {
            std::unique_lock lock(mutex_);
            threads_.insert(std::this_thread::get_id());
            met_.notify_all();
            gave_up_ = gave_up_ || !met_.wait_for(lock, std::chrono::seconds(60),
                                                  [&] { return gave_up_ || threads_.size() > 1; });
        }
        return inner_.read_at(offset, into, length);
    }
    [[nodiscard]] std::size_t threads() const {
        const std::scoped_lock lock(mutex_);
        return threads_.size();
    }

  private:
    base::MemoryReader inner_;
    std::uint64_t begin_, end_;
    mutable std::mutex mutex_;
    mutable std::condition_variable met_;
    mutable std::set<std::thread::id> threads_;
    mutable bool gave_up_ = false;
};

}  // namespace

TEST_CASE("sha384 and sha512 hashes are verified like sha256") {
    for (const std::string algorithm : {"sha256", "sha384", "sha512"}) {
        WheelWriter wheel("six", "1.16.0");
        wheel.add("six.py", "1").record_algorithm("six.py", algorithm);
        const std::string bytes = wheel.bytes();
        const auto inspection = inspect::inspect_wheel(base::MemoryReader(bytes), wheel.filename());
        REQUIRE(inspection);
        CHECK(inspection->verdicts.empty());
    }
}

TEST_CASE("progress increases to the total, from several threads") {
    WheelWriter wheel("six", "1.16.0");
    const std::string data = noise(4 * base::mib);
    for (const std::string name : {"one.txt", "two.txt"}) {
        test_support::ZipEntry member;
        member.name = name;
        member.data = data;
        member.deflate = false;
        wheel.add_entry(std::move(member));
    }
    std::uint64_t last = 0;
    std::uint64_t all = 0;
    inspect::InspectOptions options;
    options.threads = 3;
    options.progress = [&](std::uint64_t done, std::uint64_t total) {
        CHECK(done > last);
        last = done;
        all = total;
    };
    const std::string bytes = wheel.bytes();
    const MeetingReader reader(bytes, bytes.find(data), bytes.rfind(data) + data.size());
    const auto inspection = inspect::inspect_wheel(reader, wheel.filename(), options);
    REQUIRE(inspection);
    CHECK(reader.threads() > 1);
    CHECK(last == all);
    CHECK(all == inspection->facts.unpacked_bytes);
}

TEST_CASE("a failing disk is an Error, not a verdict on the wheel") {
    WheelWriter wheel("six", "1.16.0");
    wheel.add("big.txt", noise(2 * inspect::piece_bytes));
    const std::string bytes = wheel.bytes();
    for (const std::uint64_t at :
         {std::uint64_t{50}, std::uint64_t{bytes.size() / 2}, std::uint64_t{bytes.size() - 10}}) {
        const auto inspection = inspect::inspect_wheel(FailingReader(bytes, at), wheel.filename());
        REQUIRE_FALSE(inspection);
        CHECK(inspection.error().code == "os.EIO");
    }
}

TEST_CASE("METADATA is returned unmodified") {
    WheelWriter wheel("six", "1.16.0");
    wheel.description("A body with \xc3\xbc and\r\nodd line ends").metadata_line("Requires-Python: >=3.8");
    const std::string bytes = wheel.bytes();
    const auto inspection = inspect::inspect_wheel(base::MemoryReader(bytes), wheel.filename());
    REQUIRE(inspection);
    CHECK(inspection->metadata_bytes ==
          "Metadata-Version: 2.1\nName: six\nVersion: 1.16.0\nRequires-Python: >=3.8\n\nA body with \xc3\xbc "
          "and\r\nodd line ends");
    CHECK(inspection->facts.requires_python == ">=3.8");
}

TEST_CASE("a large member is read again at any offset, from snapshots") {
    const std::string data = noise(9 * inspect::piece_bytes + 123);
    for (const bool deflate : {true, false}) {
        test_support::ZipEntry entry;
        entry.name = "big";
        entry.data = data;
        entry.deflate = deflate;
        const std::string bytes = test_support::write_zip({entry});
        const base::MemoryReader reader(bytes);
        const inspect::Policy policy;
        inspect::Findings findings(policy);
        const auto frame = inspect::read_frame(reader, findings);
        REQUIRE(frame);
        REQUIRE(*frame);
        const inspect::Member& member = (*frame)->members.at(0);

        std::vector<inspect::MemberStream::Place> snapshots;
        inspect::MemberStream stream(reader, member);
        while (true) {
            const auto piece = stream.next();
            REQUIRE(piece);
            if (piece->empty()) break;
            if (snapshots.size() < 3) snapshots.push_back(stream.place());
        }
        const inspect::MemberReader again(reader, member, {}, std::move(snapshots));
        for (const std::size_t offset :
             {std::size_t{0}, data.size() - 10, std::size_t{5}, inspect::piece_bytes - 3,
              4 * inspect::piece_bytes + 1, 2 * inspect::piece_bytes, std::size_t{1}}) {
            std::string part(std::min<std::size_t>(data.size() - offset, 2 * inspect::piece_bytes), '\0');
            REQUIRE(again.read_at(offset, part.data(), part.size()));
            CHECK(part == data.substr(offset, part.size()));
        }
        char byte = 0;
        CHECK_FALSE(again.read_at(data.size(), &byte, 1));

        // Random access costs repeated unpacking, which is bounded.
        bool ended = false;
        for (int i = 0; i < 1000 && !ended; ++i) {
            const auto jumped = again.read_at(i % 2 == 0 ? 0 : data.size() - 1, &byte, 1);
            ended = !jumped;
            if (ended) CHECK(jumped.error().code == "elf.malformed");
        }
        CHECK(ended == deflate);
    }
}

TEST_CASE("compiled code counts that Python runs without its source's time") {
    const auto is_held = [](const std::string& name, const std::string& flags) {
        WheelWriter wheel("six", "1.16.0");
        wheel.add(name, "\xa7\r\r\n" + flags + "abcdefghcode");
        const std::string bytes = wheel.bytes();
        const base::MemoryReader reader(bytes);
        const auto inspection = inspect::inspect_wheel(reader, wheel.filename());
        REQUIRE(inspection);
        return !inspection->accepted();
    };
    const std::string timed(4, '\0'), unchecked("\1\0\0\0", 4), checked("\3\0\0\0", 4);
    CHECK(is_held("__pycache__/six.cpython-311.pyc", unchecked));
    CHECK(is_held("six-1.16.0.data/purelib/six/__pycache__/a.cpython-313.opt-1.pyc", checked));
    CHECK_FALSE(is_held("__pycache__/six.cpython-311.pyc", timed));
    CHECK_FALSE(is_held("__pycache__/six.cpython-36.pyc", "\x21\x43\x65\x57"));  // the time, before PEP 552
    CHECK_FALSE(is_held("six.pyc", unchecked));  // instead of a source: there is none to differ from
    CHECK_FALSE(is_held("six/my__pycache__.pyc", unchecked));
}
