// TLS 1.2 and 1.3 on a non-blocking socket. OpenSSL uses the descriptor itself, so that a call either moves
// bytes or returns what to wait for, as recv(2) and send(2) do; connections treat both alike.
#pragma once

#include <cstddef>
#include <filesystem>
#include <memory>

#include "lib/base/clock.hpp"
#include "lib/base/result.hpp"

namespace wheelyard::http {

// A loaded certificate with its key. Immutable: a reload creates another one, and sessions keep theirs.
class TlsContext {
  public:
    // Both are PEM files; the chain follows the certificate. Errors "tls.certificate", "tls.key".
    [[nodiscard]] static base::Result<std::shared_ptr<const TlsContext>> load(
        const std::filesystem::path& certificate_file, const std::filesystem::path& key_file);
    TlsContext(const TlsContext&) = delete;
    TlsContext& operator=(const TlsContext&) = delete;
    ~TlsContext();

  private:
    friend class TlsSession;
    struct State;
    explicit TlsContext(std::unique_ptr<State> state);
    std::unique_ptr<State> state_;
};

// When the first certificate of a PEM file ends. Error "tls.certificate".
[[nodiscard]] base::Result<base::UnixMicros> certificate_end(const std::filesystem::path& certificate_file);

class TlsSession {
  public:
    enum class Outcome { done, want_read, want_write, ended };

    // nullptr: out of memory. Borrows `descriptor`, which must be non-blocking.
    [[nodiscard]] static std::unique_ptr<TlsSession> accept(const TlsContext& context, int descriptor);
    TlsSession(const TlsSession&) = delete;
    TlsSession& operator=(const TlsSession&) = delete;
    ~TlsSession();

    [[nodiscard]] Outcome handshake();
    [[nodiscard]] Outcome read(char* into, std::size_t size, std::size_t& got);
    // After a call that has to wait, repeat it with the same bytes, optionally followed by more.
    [[nodiscard]] Outcome write(const char* from, std::size_t size, std::size_t& sent);
    void close();  // sends close_notify without waiting for the peer's

  private:
    struct State;
    explicit TlsSession(std::unique_ptr<State> state);
    std::unique_ptr<State> state_;
};

}  // namespace wheelyard::http
