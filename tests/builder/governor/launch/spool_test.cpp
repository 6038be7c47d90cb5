// What a compiler writes comes back complete and in order, whatever its length.
#include "builder/governor/launch/compiler_process.hpp"

#include <doctest/doctest.h>
#include <unistd.h>

#include "lib/base/files/file.hpp"
#include "lib/base/files/temp_dir.hpp"

namespace wheelyard::governor {
namespace {

std::string shown(const SpooledStream& stream) {
    const auto folder = base::TempDir::make("spool").value();
    {
        const auto fd = base::create_new(folder.path() / "shown").value();
        stream.show(fd.get());
    }
    return base::read_file(folder.path() / "shown", 64 * mib).value();
}

// Text of this size whose every part is different.
std::string text_of(std::size_t size) {
    std::string text;
    for (std::size_t line = 0; text.size() < size; ++line)
        text += std::to_string(line) + "\n";
    text.resize(size);
    return text;
}

TEST_CASE("a stream is shown as it was written, and its tail is its end") {
    for (const std::size_t size :
         {std::size_t{0}, std::size_t{10}, clue_tail_bytes, max_spool_bytes - 1, max_spool_bytes,
          max_spool_bytes + 1, max_spool_bytes + 10 * clue_tail_bytes, 3 * max_spool_bytes}) {
        CAPTURE(size);
        const std::string text = text_of(size);
        SpooledStream stream("/var/tmp");
        for (std::size_t at = 0; at < size; at += 10'000)
            stream.append(std::string_view(text).substr(at, 10'000));
        const bool is_same = shown(stream) == text;
        CHECK(is_same);
        const bool ends_alike = stream.tail() == text.substr(size - std::min(size, clue_tail_bytes));
        CHECK(ends_alike);
    }
}

TEST_CASE("a stream is complete although its folder, on no memory, takes no file") {
    const std::string text = text_of(max_spool_bytes + 10);
    SpooledStream stream("/proc");
    stream.append(text);
    const bool is_same = shown(stream) == text;
    CHECK(is_same);
}

TEST_CASE("both pipes are read to what they hold, and end with their writer") {
    Spool spool("/var/tmp");
    REQUIRE(spool.out() >= 0);
    REQUIRE(base::write_all(spool.err(), "an error"));
    spool.take();
    CHECK(spool.tail() == "an error");
    CHECK(spool.readers()[0].fd >= 0);
    spool.close_writers();
    spool.take();
    spool.take();
    CHECK(spool.readers()[0].fd == -1);
    CHECK(spool.readers()[1].fd == -1);
}

}  // namespace
}  // namespace wheelyard::governor
