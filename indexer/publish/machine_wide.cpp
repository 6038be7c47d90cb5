#include "indexer/publish/machine_wide.hpp"

#include <cerrno>

namespace wheelyard::indexer {

bool is_blob_error(const base::Error& error) {
    return error.recovery == base::Recovery::person;
}

bool is_machine_wide(const base::Error& error) {
    if (error.os_error == 0) return !is_blob_error(error);
    return error.os_error == ENOSPC || error.os_error == EDQUOT || error.os_error == EROFS;
}

}  // namespace wheelyard::indexer
