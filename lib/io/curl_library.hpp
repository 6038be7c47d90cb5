// libcurl's functions, loaded when the first request is made: libcurl brings some 26 libraries along, and
// most starts of most programs (`check`, `--help`, a cron tick with nothing to do) send nothing. Decision 9.
#pragma once

#include <curl/curl.h>

#include "lib/base/result.hpp"

namespace wheelyard::io {

// One pointer for each function that http_client.cpp calls, named like it.
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
};

// The functions of the library `file` ("libcurl.so.4"), which stays loaded for good. Error "http.library".
[[nodiscard]] base::Result<CurlLibrary> load_curl(const char* file);

// The one that the program uses: of the place where the build found it, else where the system looks.
// Initialised, by the first call that finds it; from any thread. Null as long as there is none.
[[nodiscard]] const CurlLibrary* curl_library();

}  // namespace wheelyard::io
