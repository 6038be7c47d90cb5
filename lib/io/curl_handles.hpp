// What libcurl allocates, as owning handles. Used by the clients of this folder only.
#pragma once

#include <memory>

#include "lib/base/result.hpp"
#include "lib/io/curl_library.hpp"
#include "lib/io/http_client.hpp"

namespace wheelyard::io {

struct FreeCurl {
    void operator()(CURL* handle) const { curl_library()->easy_cleanup(handle); }
    void operator()(curl_slist* list) const { curl_library()->slist_free_all(list); }
    void operator()(curl_mime* mime) const { curl_library()->mime_free(mime); }
};
using HeaderList = std::unique_ptr<curl_slist, FreeCurl>;

// "http.header": a value has a line break.
[[nodiscard]] base::Result<HeaderList> header_list(const HttpHeaders& headers);
// The CA bundle from the settings; or, in the order that other clients use, from the environment (pip reads
// REQUESTS_CA_BUNDLE); or the system's.
[[nodiscard]] std::string ca_bundle_of(const HttpSettings& settings);
// "http.library"
[[nodiscard]] base::Result<const CurlLibrary*> loaded_curl();

}  // namespace wheelyard::io
