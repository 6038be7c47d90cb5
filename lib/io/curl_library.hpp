// Loads libcurl at the first request. libcurl depends on some 26 libraries, and most program starts (`check`,
// `--help`, an idle cron tick) send no request. Decision 9.
#pragma once

#include <curl/curl.h>

#include <filesystem>
#include <string>

#include "lib/base/result.hpp"

namespace wheelyard::io {

// One pointer per function that the clients call, with the same name.
struct CurlLibrary {
    decltype(&curl_global_init) global_init = nullptr;
    decltype(&curl_easy_init) easy_init = nullptr;
    decltype(&curl_easy_cleanup) easy_cleanup = nullptr;
    decltype(&curl_easy_reset) easy_reset = nullptr;
    decltype(&curl_easy_setopt) easy_setopt = nullptr;
    decltype(&curl_easy_perform) easy_perform = nullptr;
    decltype(&curl_easy_getinfo) easy_getinfo = nullptr;
    decltype(&curl_easy_strerror) easy_strerror = nullptr;
    decltype(&curl_slist_append) slist_append = nullptr;
    decltype(&curl_slist_free_all) slist_free_all = nullptr;
    decltype(&curl_mime_init) mime_init = nullptr;
    decltype(&curl_mime_free) mime_free = nullptr;
    decltype(&curl_mime_addpart) mime_addpart = nullptr;
    decltype(&curl_mime_name) mime_name = nullptr;
    decltype(&curl_mime_data) mime_data = nullptr;
    decltype(&curl_mime_filedata) mime_filedata = nullptr;
    decltype(&curl_mime_filename) mime_filename = nullptr;
    decltype(&curl_mime_type) mime_type = nullptr;
    decltype(&curl_easy_pause) easy_pause = nullptr;
    decltype(&curl_multi_init) multi_init = nullptr;
    decltype(&curl_multi_cleanup) multi_cleanup = nullptr;
    decltype(&curl_multi_add_handle) multi_add_handle = nullptr;
    decltype(&curl_multi_remove_handle) multi_remove_handle = nullptr;
    decltype(&curl_multi_perform) multi_perform = nullptr;
    decltype(&curl_multi_wait) multi_wait = nullptr;
    decltype(&curl_multi_info_read) multi_info_read = nullptr;
};

// Loads the functions from the library `file` ("libcurl.so.4"), which stays loaded. Error "http.library".
[[nodiscard]] base::Result<CurlLibrary> load_curl(const char* file);

// The process-wide library, from the folder where the build found it or else the system's search path. The
// first call that finds it initialises it. Thread-safe. Null while no libcurl is found.
[[nodiscard]] const CurlLibrary* curl_library();

// The CA bundle to name when nobody named one: "" where libcurl came with the system, which knows the
// system's.
[[nodiscard]] std::string default_ca_bundle();

// The first file with the certificates of trusted authorities that exists below `root`, or "". Distributions
// have different names for it.
[[nodiscard]] std::string find_ca_bundle(const std::filesystem::path& root = "/");

// Maps libcurl's error numbers to our errors: code, sentence, URL without its secrets, advice.

[[nodiscard]] std::string shown_url(const std::string& url);

// `detail` is libcurl's own message, or empty; `verify_result` is CURLINFO_SSL_VERIFYRESULT.
[[nodiscard]] tl::unexpected<base::Error> fail_curl(CURLcode number, const char* detail,
                                                    const std::string& url, long verify_result = 0);

}  // namespace wheelyard::io
