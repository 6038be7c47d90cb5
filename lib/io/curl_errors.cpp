#include "lib/io/curl_errors.hpp"

#include "lib/base/url.hpp"

namespace wheelyard::io {
namespace {

struct CodeRow {
    CURLcode number;
    const char* code;
    const char* sentence;
    const char* advice;
    base::ErrorKind kind = base::ErrorKind::unreachable;  // other: no waiting changes it
};
using base::ErrorKind;

constexpr CodeRow code_rows[] = {
    {CURLE_UNSUPPORTED_PROTOCOL, "http.url",
     "only http and https addresses are fetched, and https may lead only to https", "", ErrorKind::other},
    {CURLE_URL_MALFORMAT, "http.url", "this is not an http address", "", ErrorKind::other},
    {CURLE_COULDNT_RESOLVE_PROXY, "http.resolve", "the proxy's name is unknown",
     "check http_proxy and https_proxy"},
    {CURLE_COULDNT_RESOLVE_HOST, "http.resolve", "the host's name is unknown",
     "check the address, the network and the proxy settings"},
    {CURLE_COULDNT_CONNECT, "http.connect", "nothing accepts connections there",
     "check that the server runs and that no firewall stands between"},
    {CURLE_OPERATION_TIMEDOUT, "http.timeout", "the server did not answer in time", "try again later",
     ErrorKind::cut},
    {CURLE_SSL_CONNECT_ERROR, "http.tls", "no secure connection came about", ""},
    {CURLE_PEER_FAILED_VERIFICATION, "http.tls", "the server's certificate is not trusted",
     "set SSL_CERT_FILE to the bundle of the authority that signed it"},
    {CURLE_SSL_CACERT_BADFILE, "http.tls", "the bundle of certificates cannot be read",
     "check SSL_CERT_FILE and the setting ca_bundle"},
    {CURLE_SSL_CERTPROBLEM, "http.tls", "the client's certificate does not work", ""},
    {CURLE_SSL_CIPHER, "http.tls", "client and server share no cipher", ""},
    {CURLE_GOT_NOTHING, "http.cut", "the server closed the connection without an answer", "try again",
     ErrorKind::cut},
    {CURLE_PARTIAL_FILE, "http.cut", "the answer ended too early", "try again", ErrorKind::cut},
    {CURLE_RECV_ERROR, "http.cut", "the connection broke while receiving", "try again", ErrorKind::cut},
    {CURLE_SEND_ERROR, "http.cut", "the connection broke while sending", "try again", ErrorKind::cut},
    {CURLE_HTTP2, "http.cut", "the connection broke", "try again", ErrorKind::cut},
    {CURLE_HTTP2_STREAM, "http.cut", "the connection broke", "try again", ErrorKind::cut},
    {CURLE_TOO_MANY_REDIRECTS, "http.redirects", "the server redirects without end", "",
     ErrorKind::unavailable},
    {CURLE_ABORTED_BY_CALLBACK, "http.stopped", "the transfer was stopped", "", ErrorKind::cut},
    {CURLE_READ_ERROR, "http.file", "the file to send cannot be read", "", ErrorKind::cut},
    {CURLE_BAD_CONTENT_ENCODING, "http.cut", "the answer's compression is broken", "try again",
     ErrorKind::cut},
};

}  // namespace

std::string shown_url(const std::string& url) {
    const auto parsed = base::parse_url(url);
    return parsed ? parsed->text_without_secrets() : parsed.error().value;
}

tl::unexpected<base::Error> fail_curl(CURLcode number, const char* detail, const std::string& url) {
    base::Error error{"http.failed", "the request failed", shown_url(url)};
    error.recovery = base::Recovery::retry;
    error.kind = base::ErrorKind::unreachable;
    for (const auto& row : code_rows) {
        if (row.number != number) continue;
        error = {row.code, row.sentence, shown_url(url), row.advice};
        error.kind = row.kind;
        error.recovery = row.kind == base::ErrorKind::other ? base::Recovery::never : base::Recovery::retry;
    }
    if (number != CURLE_ABORTED_BY_CALLBACK) {
        error.sentence +=
            std::string(" (") + (*detail ? detail : curl_library()->easy_strerror(number)) + ")";
    }
    return base::fail(std::move(error));
}

}  // namespace wheelyard::io
