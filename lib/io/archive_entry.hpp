// What archive.cpp and tar_gz.cpp share of libarchive's entries. Internal to this folder.
#pragma once

#include <archive.h>
#include <archive_entry.h>
#include <locale.h>

#include <cstddef>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

namespace wheelyard::io {

struct FreeArchive {
    void operator()(archive* handle) const { archive_free(handle); }
};
using Archive = std::unique_ptr<archive, FreeArchive>;

// The entry's name without empty and "." parts; nullopt when it is absolute or has a "..".
[[nodiscard]] std::optional<std::vector<std::string_view>> safe_parts(std::string_view name);

// Says whether a link `depth` folders below the top leads to a place below the top. A target may start with
// ".." parts up to the top and then descend. A ".." after another part is rejected: that part may be a link
// to anywhere.
[[nodiscard]] bool stays_inside(std::string_view target, std::size_t depth);

// As bytes, from whichever form libarchive provides; empty if it can provide none. Valid as long as the
// entry.
[[nodiscard]] std::string_view name_of(archive_entry* entry);
[[nodiscard]] std::string_view symlink_of(archive_entry* entry);
[[nodiscard]] std::string_view hardlink_of(archive_entry* entry);

// libarchive drops names marked as UTF-8 unless the thread's locale is UTF-8; daemons run in the C locale.
class Utf8Locale {
  public:
    Utf8Locale() : own_(::newlocale(LC_CTYPE_MASK, "C.UTF-8", nullptr)) {
        if (own_) before_ = ::uselocale(own_);
    }
    Utf8Locale(const Utf8Locale&) = delete;
    Utf8Locale& operator=(const Utf8Locale&) = delete;
    ~Utf8Locale() {
        if (!own_) return;
        ::uselocale(before_);
        ::freelocale(own_);
    }

  private:
    locale_t own_;
    locale_t before_ = nullptr;
};

}  // namespace wheelyard::io
