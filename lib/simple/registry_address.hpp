// Says whether a registry of ours answers at a URL, by the document of its API. What answers below another
// URL, such as that of an index, is no answer of a registry.
#pragma once

#include <string>

#include "lib/base/result.hpp"
#include "lib/simple/client.hpp"

namespace wheelyard::simple {

// The URL of a folder, which ends in '/', without its last folder; empty: it has none.
[[nodiscard]] std::string folder_above(const std::string& url);

// Error "registry.address", which says what to leave off where a registry answers above `url`; and those of
// no answer.
[[nodiscard]] base::Status check_registry(const GetPage& get, const std::string& url);
// The same if `answer`, to another request below `url`, may be that of a wrong address.
[[nodiscard]] base::Status check_registry(const GetPage& get, const std::string& url,
                                          const io::HttpAnswer& answer);

}  // namespace wheelyard::simple
