// Keeps parts of a large member while it streams by, so that finding its device code needs no second
// unpacking
#include "lib/inspect/zip/member_stream.hpp"

#include <doctest/doctest.h>

#include <random>

#include "lib/inspect/zip/zip.hpp"

using namespace wheelyard;

namespace {

std::string little_endian(std::uint64_t value, std::size_t bytes) {
    std::string text;
    for (std::size_t i = 0; i < bytes; ++i)
        text += static_cast<char>(value >> (8 * i));
    return text;
}

std::string noise(std::size_t size, unsigned seed) {
    std::mt19937 random(seed);
    std::string text(size, '\0');
    for (char& c : text)
        c = static_cast<char>(random());
    return text;
}

struct Sample {
    std::string bytes;
    std::vector<std::size_t> fatbins;
    std::vector<std::size_t> entries;
    std::vector<std::size_t> payloads;
    std::vector<std::size_t> bundles;
};

// Twelve fatbins in two sections, and two page-aligned HIP bundles.
Sample make_sample() {
    Sample sample;
    sample.bytes = noise(100'000, 1);
    for (unsigned fatbin = 0; fatbin < 12; ++fatbin) {
        if (fatbin == 5) sample.bytes += noise(33'000, 2);
        sample.bytes.resize((sample.bytes.size() + 7) / 8 * 8);
        std::string body;
        const std::size_t begin = sample.bytes.size();
        sample.fatbins.push_back(begin);
        for (unsigned entry = 0; entry <= fatbin; ++entry) {
            const std::string payload = noise(8 * (1 + 97 * entry * fatbin), entry);
            sample.entries.push_back(begin + 16 + body.size());
            body += little_endian(2, 4) + little_endian(64, 4) + little_endian(payload.size(), 8) +
                    noise(48, fatbin);
            sample.payloads.push_back(begin + 16 + body.size());
            body += payload;
        }
        sample.bytes += little_endian(0xba55ed50, 4) + little_endian(1, 2) + little_endian(16, 2) +
                        little_endian(body.size(), 8) + body;
    }
    for (const std::string_view magic : {"__CLANG_OFFLOAD_BUNDLE__", "CCOB"}) {
        sample.bytes.resize((sample.bytes.size() + 4095) / 4096 * 4096);
        sample.bundles.push_back(sample.bytes.size());
        sample.bytes += magic;
        sample.bytes += noise(9'000, 3);
    }
    return sample;
}

inspect::Landmarks pass_in_pieces(std::string_view bytes, std::size_t piece_bytes) {
    inspect::Landmarks landmarks;
    for (std::size_t at = 0; at < bytes.size(); at += piece_bytes)
        landmarks.pass(at, bytes.substr(at, piece_bytes));
    return landmarks;
}

bool keeps(const inspect::Landmarks& landmarks, std::string_view bytes, std::size_t offset,
           std::size_t size) {
    std::string part(size, '\0');
    if (!landmarks.read_at(offset, part.data(), size)) return false;
    CHECK(part == bytes.substr(offset, size));
    return true;
}

}  // namespace

TEST_CASE("the headers of device code are kept while it streams by, in pieces of any size") {
    const Sample sample = make_sample();
    for (const std::size_t piece_bytes :
         {sample.bytes.size(), std::size_t{4096}, std::size_t{24}, std::size_t{8}}) {
        CAPTURE(piece_bytes);
        const auto landmarks = pass_in_pieces(sample.bytes, piece_bytes);
        for (const std::size_t at : sample.fatbins)
            CHECK(keeps(landmarks, sample.bytes, at, 16));
        for (const std::size_t at : sample.entries)
            CHECK(keeps(landmarks, sample.bytes, at, 48));
        for (const std::size_t at : sample.payloads)
            CHECK_FALSE(keeps(landmarks, sample.bytes, at, 48));
        for (const std::size_t at : piece_bytes < 4096 ? std::vector<std::size_t>() : sample.bundles)
            CHECK(keeps(landmarks, sample.bytes, at, 4096));
        CHECK_FALSE(keeps(landmarks, sample.bytes, 0, 4));
        CHECK_FALSE(keeps(landmarks, sample.bytes, sample.bytes.size(), 1));
    }
}

TEST_CASE("accidental and hostile magics keep the memory bounded and never return wrong bytes") {
    std::string bytes;
    std::mt19937 random(7);
    while (bytes.size() < 3 * inspect::max_landmark_bytes) {
        bytes +=
            little_endian(0xba55ed50, 4) + little_endian(random(), 2) + little_endian(16 + random() % 3, 2);
        bytes += little_endian(random() % 5 == 0 ? random() : 48 + random() % 200, 8);
        bytes += little_endian(random() % 200, 8);
    }
    const auto landmarks = pass_in_pieces(bytes, inspect::piece_bytes);
    std::size_t kept = 0;
    for (std::size_t at = 0; at + 16 <= bytes.size(); at += 8) {
        std::string part(16, '\0');
        if (!landmarks.read_at(at, part.data(), part.size())) continue;
        kept += 8;
        REQUIRE(part == bytes.substr(at, 16));
    }
    CHECK(kept > 0);
    CHECK(kept <= inspect::max_landmark_bytes + 4096);
    CHECK_FALSE(keeps(landmarks, bytes, bytes.size() - 32, 16));
}
