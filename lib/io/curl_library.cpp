#include "lib/io/curl_library.hpp"

#include <dlfcn.h>

#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>

#include "lib/base/check.hpp"
#include "lib/base/process/library_functions.hpp"
#include "lib/base/text/url.hpp"

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

// The CA bundle's names.
namespace {

// Each is the file that the distribution's own tool generates (update-ca-certificates, update-ca-trust), so
// that it includes what the site added.
constexpr std::string_view known_files[] = {
    "etc/ssl/certs/ca-certificates.crt",                 // Debian, Ubuntu, Alpine, Arch
    "etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem",  // RHEL 7 and later, Fedora, Amazon Linux
    "etc/pki/tls/certs/ca-bundle.crt",                   // RHEL 6; a link to the former on later ones
    "var/lib/ca-certificates/ca-bundle.pem",             // SLES and openSUSE since 12
    "etc/ssl/ca-bundle.pem",                             // SLES 11; a link to the former on later ones
    "etc/ssl/cert.pem",                                  // OpenSSL's own name
};

}  // namespace

std::string find_ca_bundle(const std::filesystem::path& root) {
    for (const auto file : known_files) {
        const auto path = root / file;
        std::error_code ignored;
        if (std::filesystem::is_regular_file(path, ignored)) return path.native();
    }
    return {};
}

namespace {

constexpr base::ErrorKind other = base::ErrorKind::other;
constexpr base::ErrorKind cut = base::ErrorKind::cut;
constexpr base::ErrorKind unavailable = base::ErrorKind::unavailable;
constexpr base::ErrorKind unreachable = base::ErrorKind::unreachable;
constexpr base::Recovery never = base::Recovery::never;
constexpr base::Recovery retry = base::Recovery::retry;

struct CodeRow {
    CURLcode number;
    const char* code;
    base::ErrorKind kind;
    base::Recovery recovery;
    const char* sentence;
    const char* advice;
};

constexpr CodeRow code_rows[] = {
    {CURLE_UNSUPPORTED_PROTOCOL, "http.url", other, never,
     "Only http and https URLs are supported, and https may redirect only to https", ""},
    {CURLE_URL_MALFORMAT, "http.url", other, never, "This is not an HTTP URL", ""},
    {CURLE_COULDNT_RESOLVE_PROXY, "http.resolve", unreachable, retry,
     "The proxy's host name does not resolve", "check http_proxy and https_proxy"},
    {CURLE_COULDNT_RESOLVE_HOST, "http.resolve", unreachable, retry, "The host name does not resolve",
     "check the URL, the network and the proxy settings"},
    {CURLE_COULDNT_CONNECT, "http.connect", unreachable, retry, "The server refuses connections",
     "check that the server is running and that no firewall blocks it"},
    {CURLE_OPERATION_TIMEDOUT, "http.timeout", cut, retry, "The server did not answer in time",
     "try again later"},
    {CURLE_SSL_CONNECT_ERROR, "http.tls", unreachable, retry, "The TLS handshake failed", ""},
    {CURLE_PEER_FAILED_VERIFICATION, "http.tls", unreachable, retry,
     "The server's certificate is not accepted", ""},
    {CURLE_SSL_CACERT_BADFILE, "http.tls", unreachable, retry, "The CA bundle cannot be read",
     "check SSL_CERT_FILE and ca_bundle"},
    {CURLE_SSL_CERTPROBLEM, "http.tls", unreachable, retry, "The client certificate cannot be used", ""},
    {CURLE_SSL_CIPHER, "http.tls", unreachable, retry, "Client and server have no common cipher", ""},
    {CURLE_GOT_NOTHING, "http.cut", cut, retry, "The server closed the connection without an answer",
     "try again"},
    {CURLE_PARTIAL_FILE, "http.cut", cut, retry, "The answer ended too early", "try again"},
    {CURLE_RECV_ERROR, "http.cut", cut, retry, "The connection broke while receiving", "try again"},
    {CURLE_SEND_ERROR, "http.cut", cut, retry, "The connection broke while sending", "try again"},
    {CURLE_HTTP2, "http.cut", cut, retry, "The connection broke", "try again"},
    {CURLE_HTTP2_STREAM, "http.cut", cut, retry, "The connection broke", "try again"},
    {CURLE_TOO_MANY_REDIRECTS, "http.redirects", unavailable, retry, "Too many redirects", ""},
    {CURLE_ABORTED_BY_CALLBACK, "http.stopped", cut, retry, "The transfer was stopped", ""},
    {CURLE_READ_ERROR, "http.file", cut, retry, "The file to send cannot be read", ""},
    {CURLE_BAD_CONTENT_ENCODING, "http.cut", cut, retry, "The answer's compression is broken", "try again"},
};

// What OpenSSL finds wrong with a certificate, by its X509_V_ERR_ numbers.
struct CertificateRow {
    long verify_result;
    const char* sentence;
    const char* advice;
};

constexpr const char* unknown_issuer = "The server's certificate is of an authority that is not trusted here";
constexpr const char* name_bundle = "set SSL_CERT_FILE to the CA bundle of the authority that signed it";
constexpr CertificateRow certificate_rows[] = {
    // libcurl compares the names itself, and leaves the result as it was: "unspecified".
    {1, "The server's certificate is for another host name",
     "use a name that the certificate has, or ask the server's operator for one with this name"},
    {9, "The server's certificate is not valid yet", "check this machine's clock"},
    {10, "The server's certificate has expired",
     "ask the server's operator to renew it; check this machine's clock"},
    {2, unknown_issuer, name_bundle},
    {18, unknown_issuer, name_bundle},  // self-signed
    {19, unknown_issuer, name_bundle},  // a self-signed one in its chain
    {20, unknown_issuer, name_bundle},
    {21, unknown_issuer, name_bundle},
};

}  // namespace

std::string shown_url(const std::string& url) {
    const auto parsed = base::parse_url(url);
    return parsed ? parsed->text_without_secrets() : parsed.error().value;
}

tl::unexpected<base::Error> fail_curl(CURLcode number, const char* detail, const std::string& url,
                                      long verify_result) {
    base::Error error{"http.failed", "The request failed", shown_url(url), {}, retry, unreachable};
    for (const auto& row : code_rows) {
        if (row.number == number)
            error = {row.code, row.sentence, shown_url(url), row.advice, row.recovery, row.kind};
    }
    for (const auto& row : certificate_rows) {
        if (number != CURLE_PEER_FAILED_VERIFICATION || row.verify_result != verify_result) continue;
        error.sentence = row.sentence;
        error.advice = row.advice;
    }
    if (number != CURLE_ABORTED_BY_CALLBACK) {
        error.sentence +=
            std::string(" (") + (*detail ? detail : curl_library()->easy_strerror(number)) + ")";
    }
    return base::fail(std::move(error));
}

}  // namespace wheelyard::io
