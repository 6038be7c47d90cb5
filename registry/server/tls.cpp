// Wraps OpenSSL in two small classes.
#include "registry/server/tls.hpp"

#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>

#include <ctime>
#include <string>

#include "lib/base/files/file.hpp"

namespace wheelyard::http {

namespace {

struct FreeContext {
    void operator()(SSL_CTX* context) const { SSL_CTX_free(context); }
};
struct FreeSession {
    void operator()(SSL* session) const { SSL_free(session); }
};

std::string newest_reason() {
    const unsigned long error = ERR_peek_last_error();
    ERR_clear_error();
    const char* reason = error == 0 ? nullptr : ERR_reason_error_string(error);
    return reason == nullptr ? "unknown reason" : reason;
}

// The server supports only HTTP/1.1; clients that offer nothing known are served anyway.
int choose_protocol(SSL* /*session*/, const unsigned char** out, unsigned char* out_size,
                    const unsigned char* in, unsigned in_size, void* /*unused*/) {
    static constexpr unsigned char ours[] = "\x08http/1.1";
    unsigned char* chosen = nullptr;
    if (SSL_select_next_proto(&chosen, out_size, ours, sizeof ours - 1, in, in_size) !=
        OPENSSL_NPN_NEGOTIATED)
        return SSL_TLSEXT_ERR_NOACK;
    *out = chosen;
    return SSL_TLSEXT_ERR_OK;
}

}  // namespace

struct TlsContext::State {
    std::unique_ptr<SSL_CTX, FreeContext> context;
};

struct TlsSession::State {
    std::unique_ptr<SSL, FreeSession> session;

    // The outcome of an SSL call that returned `result`.
    [[nodiscard]] Outcome outcome_of(int result) const {
        if (result > 0) return Outcome::done;
        switch (SSL_get_error(session.get(), result)) {
            case SSL_ERROR_WANT_READ:
                return Outcome::want_read;
            case SSL_ERROR_WANT_WRITE:
                return Outcome::want_write;
            default:
                ERR_clear_error();
                return Outcome::ended;
        }
    }
};

TlsContext::TlsContext(std::unique_ptr<State> state) : state_(std::move(state)) {}
TlsContext::~TlsContext() = default;

base::Result<std::shared_ptr<const TlsContext>> TlsContext::load(
    const std::filesystem::path& certificate_file, const std::filesystem::path& key_file) {
    ERR_clear_error();
    std::unique_ptr<SSL_CTX, FreeContext> context(SSL_CTX_new(TLS_server_method()));
    // OpenSSL reports a file that it cannot open as "system lib".
    for (const auto& file : {certificate_file, key_file}) {
        if (const auto opened = base::FileReader::open(file); !opened)
            return base::fail(
                file == key_file ? "tls.key" : "tls.certificate",
                (file == key_file ? "the certificate's key cannot be read: "
                                  : "the certificate cannot be read: ") +
                    opened.error().sentence,
                file.string(),
                "check certificate_file and certificate_key_file of [server], and who may read them");
    }
    if (!context) return base::fail("tls.unavailable", "TLS cannot be initialized: " + newest_reason());
    SSL_CTX_set_min_proto_version(context.get(), TLS1_2_VERSION);
    SSL_CTX_set_options(context.get(), SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_COMPRESSION);
    SSL_CTX_set_mode(context.get(), SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER |
                                        SSL_MODE_RELEASE_BUFFERS);
    SSL_CTX_set_alpn_select_cb(context.get(), choose_protocol, nullptr);
    if (SSL_CTX_use_certificate_chain_file(context.get(), certificate_file.c_str()) != 1)
        return base::fail("tls.certificate", "The certificate is not usable: " + newest_reason(),
                          certificate_file.string(),
                          "provide a PEM file with the certificate first, then its chain");
    if (SSL_CTX_use_PrivateKey_file(context.get(), key_file.c_str(), SSL_FILETYPE_PEM) != 1 ||
        SSL_CTX_check_private_key(context.get()) != 1)
        return base::fail("tls.key", "The certificate's key is not usable: " + newest_reason(),
                          key_file.string(),
                          "provide the PEM file of the key that belongs to the certificate");
    return std::shared_ptr<const TlsContext>(
        new TlsContext(std::unique_ptr<State>(new State{std::move(context)})));
}

TlsSession::TlsSession(std::unique_ptr<State> state) : state_(std::move(state)) {}
TlsSession::~TlsSession() = default;

std::unique_ptr<TlsSession> TlsSession::accept(const TlsContext& context, int descriptor) {
    std::unique_ptr<SSL, FreeSession> session(SSL_new(context.state_->context.get()));
    if (!session || SSL_set_fd(session.get(), descriptor) != 1) return nullptr;
    SSL_set_accept_state(session.get());
    return std::unique_ptr<TlsSession>(new TlsSession(std::unique_ptr<State>(new State{std::move(session)})));
}

TlsSession::Outcome TlsSession::handshake() {
    ERR_clear_error();
    return state_->outcome_of(SSL_do_handshake(state_->session.get()));
}

TlsSession::Outcome TlsSession::read(char* into, std::size_t size, std::size_t& got) {
    ERR_clear_error();
    got = 0;
    return state_->outcome_of(SSL_read_ex(state_->session.get(), into, size, &got));
}

TlsSession::Outcome TlsSession::write(const char* from, std::size_t size, std::size_t& sent) {
    ERR_clear_error();
    sent = 0;
    return state_->outcome_of(SSL_write_ex(state_->session.get(), from, size, &sent));
}

void TlsSession::close() {
    ERR_clear_error();
    if (SSL_is_init_finished(state_->session.get()) != 0) SSL_shutdown(state_->session.get());
    ERR_clear_error();
}

base::Result<base::UnixMicros> certificate_end(const std::filesystem::path& certificate_file) {
    constexpr std::uint64_t max_bytes = 1u << 20;
    WHEELYARD_ASSIGN(const std::string pem, base::read_file(certificate_file, max_bytes));
    const std::unique_ptr<BIO, decltype(&BIO_free)> bytes(
        BIO_new_mem_buf(pem.data(), static_cast<int>(pem.size())), &BIO_free);
    const std::unique_ptr<X509, decltype(&X509_free)> certificate(
        PEM_read_bio_X509(bytes.get(), nullptr, nullptr, nullptr), &X509_free);
    std::tm end{};
    if (!certificate || ASN1_TIME_to_tm(X509_get0_notAfter(certificate.get()), &end) != 1)
        return base::fail("tls.certificate", "The certificate is not usable: " + newest_reason(),
                          certificate_file.string());
    return base::UnixMicros{::timegm(&end)} * 1'000'000;
}

}  // namespace wheelyard::http
