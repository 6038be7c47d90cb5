#include "tests/support/sdist_writer.hpp"

#include <zlib.h>

#include <algorithm>
#include <cstdio>
#include <numeric>
#include <stdexcept>
#include <utility>

namespace wheelyard::test_support {
namespace {

constexpr std::size_t block_bytes = 512;

void put(std::string& header, std::size_t at, const std::string& text) {
    header.replace(at, text.size(), text);
}

std::string octal(std::uint64_t number, int digits) {
    char text[32];
    std::snprintf(text, sizeof text, "%0*llo", digits, static_cast<unsigned long long>(number));
    return text;
}

std::string header_of(const TarEntry& entry) {
    std::string header(block_bytes, '\0');
    constexpr std::size_t max_name = 100;
    if (entry.name.size() > max_name) throw std::invalid_argument("a name of ustar has at most 100 bytes");
    put(header, 0, entry.name);
    put(header, 100, octal(entry.type == '5' ? 0755 : 0644, 7));
    put(header, 124, octal(entry.said_size_bytes.value_or(entry.data.size()), 11));
    put(header, 136, octal(1'000'000'000, 11));
    put(header, 148, "        ");
    header[156] = entry.type;
    put(header, 157, entry.link);
    put(header, 257,
        std::string("ustar\0"
                    "00",
                    8));
    const std::uint64_t sum =
        std::accumulate(header.begin(), header.end(), std::uint64_t{0},
                        [](auto total, char c) { return total + static_cast<unsigned char>(c); });
    put(header, 148, octal(sum, 6) + std::string("\0 ", 2));
    return header;
}

}  // namespace

std::string tar_of(const std::vector<TarEntry>& entries) {
    std::string tar;
    for (const TarEntry& entry : entries) {
        tar += header_of(entry) + entry.data;
        tar.resize((tar.size() + block_bytes - 1) / block_bytes * block_bytes, '\0');
    }
    return tar.append(2 * block_bytes, '\0');
}

std::string gzip_of(const std::string& bytes) {
    z_stream stream{};
    constexpr int gzip_window = 15 + 16;
    if (deflateInit2(&stream, Z_BEST_COMPRESSION, Z_DEFLATED, gzip_window, 8, Z_DEFAULT_STRATEGY) != Z_OK)
        throw std::runtime_error("deflateInit2");
    std::string packed(deflateBound(&stream, bytes.size()), '\0');
    stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
    stream.avail_in = static_cast<uInt>(bytes.size());
    stream.next_out = reinterpret_cast<Bytef*>(packed.data());
    stream.avail_out = static_cast<uInt>(packed.size());
    const int done = deflate(&stream, Z_FINISH);
    packed.resize(stream.total_out);
    deflateEnd(&stream);
    if (done != Z_STREAM_END) throw std::runtime_error("deflate");
    return packed;
}

SdistWriter::SdistWriter(const std::string& name, const std::string& version)
    : folder_(name + "-" + version) {
    add({.name = folder_ + "/", .type = '5'});
    add({.name = folder_ + "/PKG-INFO",
         .data = "Metadata-Version: 2.2\nName: " + name + "\nVersion: " + version +
                 "\nRequires-Python: >=3.8\n"});
    add({.name = folder_ + "/pyproject.toml", .data = "[build-system]\nrequires = []\n"});
}

SdistWriter& SdistWriter::add(TarEntry entry) {
    entries_.push_back(std::move(entry));
    return *this;
}

SdistWriter& SdistWriter::replace(const std::string& name, const std::string& data) {
    const auto found = std::find_if(entries_.begin(), entries_.end(), [&](const TarEntry& entry) {
        return entry.name == folder_ + "/" + name;
    });
    if (found == entries_.end()) throw std::invalid_argument(name);
    if (data.empty())
        entries_.erase(found);
    else
        found->data = data;
    return *this;
}

std::string SdistWriter::bytes() const {
    return gzip_of(tar_of(entries_));
}

}  // namespace wheelyard::test_support
