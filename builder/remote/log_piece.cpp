#include "builder/remote/log_piece.hpp"

#include <algorithm>

#include "builder/remote/secrets.hpp"
#include "lib/base/files/file.hpp"

namespace wheelyard::builder {

// What lies around the piece is read, too: a secret may begin in one piece and end in the next.
base::Result<std::string> read_log_piece(const std::filesystem::path& file, std::uint64_t from,
                                         std::size_t max_bytes, bool is_over,
                                         const std::vector<std::string>& secrets) {
    WHEELYARD_ASSIGN(const auto reader, base::FileReader::open(file));
    const std::uint64_t size = reader.size();
    if (from >= size) return std::string();
    const std::uint64_t begin = from - std::min<std::uint64_t>(from, max_secret_bytes);
    const std::uint64_t end = std::min<std::uint64_t>(size, from + max_bytes + max_secret_bytes);
    std::string window(static_cast<std::size_t>(end - begin), '\0');
    WHEELYARD_TRY(reader.read_at(begin, window.data(), window.size()));
    const auto skipped = static_cast<std::size_t>(from - begin);
    std::size_t length = window.size() - skipped;
    if (!is_over) {
        const std::size_t line = window.rfind('\n');
        const std::size_t whole = line == std::string::npos || line < skipped ? 0 : line + 1 - skipped;
        length = whole > 0 ? whole : length - std::min(length, max_secret_bytes);
    }
    return mask_secrets(std::move(window), secrets).substr(skipped, std::min(length, max_bytes));
}

}  // namespace wheelyard::builder
