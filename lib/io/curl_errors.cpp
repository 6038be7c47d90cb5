#include "lib/io/curl_errors.hpp"

#include "lib/base/text/url.hpp"

namespace wheelyard::io {
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
