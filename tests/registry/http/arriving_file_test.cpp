// Readers see what is written, but never the end of a file that nobody said is good.
#include "registry/http/arriving_file.hpp"

#include <doctest/doctest.h>

#include "registry/http/limits.hpp"

namespace wheelyard::http {
namespace {

using State = ArrivingFile::State;
constexpr std::uint64_t size = 4 * min_arriving_bytes;

}  // namespace

TEST_CASE("the last bytes are readable only once the file is known to be good") {
    for (const bool is_good : {true, false}) {
        CAPTURE(is_good);
        ArrivingFile file(base::Fd(), size);
        CHECK(file.progress().readable_bytes == 0);
        file.note_written(size);
        CHECK(file.progress().readable_bytes == size - held_back_bytes);
        CHECK(file.progress().state == State::arriving);
        file.end(is_good);
        file.end(!is_good);  // the first end counts
        CHECK(file.progress().readable_bytes == (is_good ? size : size - held_back_bytes));
        CHECK(file.progress().state == (is_good ? State::complete : State::broken));
    }
}

TEST_CASE("a file that is not larger than what is held back shows nothing before its end") {
    ArrivingFile file(base::Fd(), held_back_bytes);
    file.note_written(held_back_bytes);
    CHECK(file.progress().readable_bytes == 0);
}

TEST_CASE("each reader wakes up once, for more bytes or for the end") {
    ArrivingFile file(base::Fd(), size);
    int wakes = 0;
    const auto wake = [&] { ++wakes; };
    file.note_written(arriving_step_bytes);
    file.call_when_past(0, wake);
    CHECK(wakes == 1);  // at once
    file.call_when_past(arriving_step_bytes, wake);
    CHECK(wakes == 1);
    file.note_written(arriving_step_bytes);  // nothing new
    CHECK(wakes == 1);
    file.note_written(2 * arriving_step_bytes);
    file.note_written(3 * arriving_step_bytes);
    CHECK(wakes == 2);
    file.call_when_past(3 * arriving_step_bytes, wake);
    file.end(false);
    CHECK(wakes == 3);
    file.call_when_past(size, wake);
    CHECK(wakes == 4);
}

}  // namespace wheelyard::http
