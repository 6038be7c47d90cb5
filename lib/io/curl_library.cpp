#include "lib/io/curl_library.hpp"

#include <dlfcn.h>

#include <mutex>
#include <optional>
#include <string>

#include "lib/base/check.hpp"
#include "lib/base/process/library_functions.hpp"

namespace wheelyard::io {
namespace {

#ifdef WHEELYARD_CURL_FOLDER

// The soname has been the same since libcurl 7.16; Debian's GnuTLS build has its own name.
constexpr const char* files[] = {WHEELYARD_CURL_FOLDER "/libcurl.so.4", "libcurl.so.4",
                                 "libcurl-gnutls.so.4"};

std::optional<CurlLibrary> find_curl() {
    for (const char* file : files) {
        if (auto library = load_curl(file)) return *library;
    }
    return std::nullopt;
}

constexpr bool has_ca_bundle = true;

#else  // libcurl is linked statically

std::optional<CurlLibrary> find_curl() {
    return CurlLibrary{.global_init = curl_global_init,
                       .easy_init = curl_easy_init,
                       .easy_cleanup = curl_easy_cleanup,
                       .easy_reset = curl_easy_reset,
                       .easy_setopt = curl_easy_setopt,
                       .easy_perform = curl_easy_perform,
                       .easy_getinfo = curl_easy_getinfo,
                       .easy_strerror = curl_easy_strerror,
                       .slist_append = curl_slist_append,
                       .slist_free_all = curl_slist_free_all,
                       .mime_init = curl_mime_init,
                       .mime_free = curl_mime_free,
                       .mime_addpart = curl_mime_addpart,
                       .mime_name = curl_mime_name,
                       .mime_data = curl_mime_data,
                       .mime_filedata = curl_mime_filedata,
                       .mime_filename = curl_mime_filename,
                       .mime_type = curl_mime_type,
                       .easy_pause = curl_easy_pause,
                       .multi_init = curl_multi_init,
                       .multi_cleanup = curl_multi_cleanup,
                       .multi_add_handle = curl_multi_add_handle,
                       .multi_remove_handle = curl_multi_remove_handle,
                       .multi_perform = curl_multi_perform,
                       .multi_wait = curl_multi_wait,
                       .multi_info_read = curl_multi_info_read};
}

constexpr bool has_ca_bundle = false;

#endif

}  // namespace

base::Result<CurlLibrary> load_curl(const char* file) {
    void* opened = base::load_library(file);
    if (opened == nullptr) {
        const char* reason = ::dlerror();
        return base::fail("http.library", "libcurl cannot be loaded", file, reason != nullptr ? reason : "");
    }
    base::LibraryFunctions symbols(opened);
    CurlLibrary library;
    symbols.take("curl_global_init", library.global_init);
    symbols.take("curl_easy_init", library.easy_init);
    symbols.take("curl_easy_cleanup", library.easy_cleanup);
    symbols.take("curl_easy_reset", library.easy_reset);
    symbols.take("curl_easy_setopt", library.easy_setopt);
    symbols.take("curl_easy_perform", library.easy_perform);
    symbols.take("curl_easy_getinfo", library.easy_getinfo);
    symbols.take("curl_easy_strerror", library.easy_strerror);
    symbols.take("curl_slist_append", library.slist_append);
    symbols.take("curl_slist_free_all", library.slist_free_all);
    symbols.take("curl_mime_init", library.mime_init);
    symbols.take("curl_mime_free", library.mime_free);
    symbols.take("curl_mime_addpart", library.mime_addpart);
    symbols.take("curl_mime_name", library.mime_name);
    symbols.take("curl_mime_data", library.mime_data);
    symbols.take("curl_mime_filedata", library.mime_filedata);
    symbols.take("curl_mime_filename", library.mime_filename);
    symbols.take("curl_mime_type", library.mime_type);
    symbols.take("curl_easy_pause", library.easy_pause);
    symbols.take("curl_multi_init", library.multi_init);
    symbols.take("curl_multi_cleanup", library.multi_cleanup);
    symbols.take("curl_multi_add_handle", library.multi_add_handle);
    symbols.take("curl_multi_remove_handle", library.multi_remove_handle);
    symbols.take("curl_multi_perform", library.multi_perform);
    symbols.take("curl_multi_wait", library.multi_wait);
    symbols.take("curl_multi_info_read", library.multi_info_read);
    if (!symbols.missing().empty())
        return base::fail("http.library", "This libcurl lacks a function", symbols.missing(),
                          std::string("install libcurl 7.60 or newer in place of ") + file);
    return library;
}

const CurlLibrary* curl_library() {
    static std::mutex mutex;
    static std::optional<CurlLibrary> found;
    const std::scoped_lock lock(mutex);
    if (!found) {
        found = find_curl();
        if (found) WHEELYARD_CHECK(found->global_init(CURL_GLOBAL_DEFAULT) == CURLE_OK);
    }
    return found ? &*found : nullptr;
}

std::string default_ca_bundle() {
    return has_ca_bundle ? std::string() : find_ca_bundle();
}

}  // namespace wheelyard::io
