#include "lib/io/curl_handles.hpp"

#include <cstdlib>
#include <filesystem>
#include <string>
#include <system_error>

#include "lib/base/check.hpp"

namespace wheelyard::io {

namespace fs = std::filesystem;
using base::fail;
using base::Result;

std::string ca_bundle_of(const HttpSettings& settings) {
    if (!settings.ca_bundle.empty()) return settings.ca_bundle;
    for (const char* name : {"SSL_CERT_FILE", "CURL_CA_BUNDLE", "REQUESTS_CA_BUNDLE"}) {
        const char* value = std::getenv(name);
        std::error_code ignored;
        if (value && fs::is_regular_file(value, ignored)) return value;
    }
    return default_ca_bundle();
}

Result<HeaderList> header_list(const HttpHeaders& headers) {
    HeaderList list;
    for (const auto& [name, value] : headers) {
        const auto line = name + ": " + value;
        if (line.find_first_of(std::string_view("\r\n\0", 3)) != std::string::npos) {
            return fail("http.header", "A header value contains a line break", name);
        }
        auto* longer = curl_library()->slist_append(list.get(), line.c_str());
        WHEELYARD_CHECK(longer != nullptr);
        static_cast<void>(list.release());
        list.reset(longer);
    }
    return list;
}

Result<const CurlLibrary*> loaded_curl() {
    const CurlLibrary* const library = curl_library();
    if (library != nullptr) return library;
    return base::fail_as(base::ErrorKind::other, base::Recovery::person,
                         {"http.library", "libcurl is not installed", "libcurl.so.4",
                          "install the package libcurl4, or add its folder to LD_LIBRARY_PATH"});
}

}  // namespace wheelyard::io
