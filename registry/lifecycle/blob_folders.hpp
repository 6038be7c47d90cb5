// The 256 folders of blobs, one after the other: what runs over all blobs needs the memory of one folder.
#pragma once

#include <string>
#include <string_view>

#include "lib/base/result.hpp"

namespace wheelyard::lifecycle {

// Calls `use` with the first two digits of the hashes, "00" to "ff", until it returns an error.
template <typename Use>
base::Status for_each_blob_folder(Use use) {
    constexpr std::string_view digits = "0123456789abcdef";
    for (const char first : digits) {
        for (const char second : digits)
            WHEELYARD_TRY(use(std::string{first, second}));
    }
    return {};
}

}  // namespace wheelyard::lifecycle
