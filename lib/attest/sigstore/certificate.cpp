// Certificates with OpenSSL, whose headers this file alone of the module includes.
#include "lib/attest/sigstore/trusted_root.hpp"

#include <openssl/ct.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>

#include "lib/attest/sigstore/limits.hpp"
#include "lib/base/check.hpp"
#include "lib/base/digest/digest.hpp"
#include "lib/base/text/encoding.hpp"

namespace wheelyard::sigstore {
namespace {

constexpr std::size_t max_certificate_bytes = 16 * base::kib;
constexpr std::size_t max_identity_bytes = 1'024;  // of one claim of a certificate

template <auto function>
struct Free {
    template <typename T>
    void operator()(T* object) const {
        function(object);
    }
};
void free_names(GENERAL_NAMES* names) {
    GENERAL_NAMES_free(names);
}
void free_certificates(STACK_OF(X509) * stack) {
    sk_X509_free(stack);  // not what it refers to
}
void free_bytes(unsigned char* bytes) {
    OPENSSL_free(bytes);
}
void free_scts(STACK_OF(SCT) * scts) {
    SCT_LIST_free(scts);
}
using X509Ptr = std::unique_ptr<X509, Free<X509_free>>;
using Store = std::unique_ptr<X509_STORE, Free<X509_STORE_free>>;
using StoreContext = std::unique_ptr<X509_STORE_CTX, Free<X509_STORE_CTX_free>>;
using Certificates = std::unique_ptr<STACK_OF(X509), Free<free_certificates>>;
using Scts = std::unique_ptr<STACK_OF(SCT), Free<free_scts>>;
using Names = std::unique_ptr<GENERAL_NAMES, Free<free_names>>;
using Bytes = std::unique_ptr<unsigned char, Free<free_bytes>>;
using Object = std::unique_ptr<ASN1_OBJECT, Free<ASN1_OBJECT_free>>;
using Utf8 = std::unique_ptr<ASN1_UTF8STRING, Free<ASN1_UTF8STRING_free>>;
using Memory = std::unique_ptr<BIO, Free<BIO_free>>;

constexpr std::string_view no_trust =
    "sign again with a Sigstore instance that this registry trusts, or upload without the attestation";

tl::unexpected<base::Error> refuse_certificate(std::string code, std::string sentence, std::string value = {},
                                               std::string advice = std::string(no_trust)) {
    ERR_clear_error();
    return base::fail_as(base::ErrorKind::refused, base::Recovery::never,
                         {std::move(code), std::move(sentence), std::move(value), std::move(advice)});
}

std::string text_of(const unsigned char* bytes, int size) {
    return size <= 0 ? std::string()
                     : std::string(reinterpret_cast<const char*>(bytes), static_cast<std::size_t>(size));
}

// Nothing may follow it.
X509Ptr parse_certificate(std::string_view der) {
    if (der.empty() || der.size() > max_certificate_bytes) return nullptr;
    const auto* at = reinterpret_cast<const unsigned char*>(der.data());
    X509Ptr certificate(d2i_X509(nullptr, &at, static_cast<long>(der.size())));
    if (at != reinterpret_cast<const unsigned char*>(der.data()) + der.size()) return nullptr;
    return certificate;
}

// A copy of the issuer's certificate if the chain of `authority` is one at that time; empty: it is none.
X509Ptr issuer_under(X509* leaf, const Authority& authority, base::UnixMicros time, std::string& why) {
    const Store store(X509_STORE_new());
    const Certificates between(sk_X509_new_null());
    const StoreContext context(X509_STORE_CTX_new());
    WHEELYARD_CHECK(store != nullptr && between != nullptr && context != nullptr);
    std::vector<X509Ptr> owned;
    for (const std::string& der : authority.chain) {
        X509* one = owned.emplace_back(parse_certificate(der)).get();
        if (one == nullptr) return nullptr;
        if (&der == &authority.chain.back())
            WHEELYARD_CHECK(X509_STORE_add_cert(store.get(), one) == 1);
        else
            WHEELYARD_CHECK(sk_X509_push(between.get(), one) > 0);
    }
    WHEELYARD_CHECK(X509_STORE_CTX_init(context.get(), store.get(), leaf, between.get()) == 1);
    X509_STORE_CTX_set_time(context.get(), 0, static_cast<time_t>(time / 1'000'000));
    X509_STORE_CTX_set_depth(context.get(), static_cast<int>(authority.chain.size()));
    if (X509_verify_cert(context.get()) != 1) {
        why = X509_verify_cert_error_string(X509_STORE_CTX_get_error(context.get()));
        return nullptr;
    }
    const STACK_OF(X509)* chain = X509_STORE_CTX_get0_chain(context.get());
    return sk_X509_num(chain) < 2 ? nullptr : X509Ptr(X509_dup(sk_X509_value(chain, 1)));
}

base::Result<X509Ptr> find_issuer(X509* leaf, base::UnixMicros time, const TrustedRoot& root) {
    std::string why = "no authority of the root was valid then";
    for (const Authority& authority : root.authorities) {
        if (!authority.validity.has(time)) continue;
        if (X509Ptr issuer = issuer_under(leaf, authority, time, why)) {
            ERR_clear_error();
            return issuer;
        }
    }
    return refuse_certificate("attestation.chain",
                              "No trusted authority issued the certificate for the time of the log entry",
                              why);
}

// OpenSSL 3.0 has no purpose for code signing.
base::Status check_usage(X509* leaf) {
    // Without the extension every usage is set.
    constexpr std::uint32_t both = EXFLAG_KUSAGE | EXFLAG_XKUSAGE;
    const bool signs_code = (X509_get_extension_flags(leaf) & both) == both &&
                            (X509_get_key_usage(leaf) & KU_DIGITAL_SIGNATURE) != 0 &&
                            (X509_get_extended_key_usage(leaf) & XKU_CODE_SIGN) != 0;
    if (signs_code && X509_check_ca(leaf) == 0) return {};
    return refuse_certificate("attestation.usage", "The certificate is not for signing code");
}

// A number, as many bytes.
std::string big_endian(std::uint64_t value, unsigned size) {
    std::string bytes;
    for (unsigned at = size; at-- > 0;)
        bytes.push_back(static_cast<char>(value >> (8 * at) & 0xff));
    return bytes;
}

std::string public_key_of(X509* certificate) {
    unsigned char* key = nullptr;
    const int size = i2d_X509_PUBKEY(X509_get_X509_PUBKEY(certificate), &key);
    const Bytes owned(key);
    return text_of(key, size);
}

// RFC 6962, 3.2: what is signed is the certificate without the promises.
base::Status check_scts(X509* leaf, X509* issuer, const TrustedRoot& root) {
    const auto fail_sct = [](std::string value) {
        return refuse_certificate("attestation.sct",
                                  "The certificate has no promise of a trusted log of certificates",
                                  std::move(value));
    };
    const Scts scts(
        static_cast<STACK_OF(SCT)*>(X509_get_ext_d2i(leaf, NID_ct_precert_scts, nullptr, nullptr)));
    if (scts == nullptr || sk_SCT_num(scts.get()) != 1) return fail_sct("not one promise");
    const SCT* sct = sk_SCT_value(scts.get(), 0);
    const X509Ptr unpromised(X509_dup(leaf));
    WHEELYARD_CHECK(unpromised != nullptr);
    const int at = X509_get_ext_by_NID(unpromised.get(), NID_ct_precert_scts, -1);
    X509_EXTENSION_free(X509_delete_ext(unpromised.get(), at));
    unsigned char* signed_part = nullptr;
    const int size = i2d_re_X509_tbs(unpromised.get(), &signed_part);
    const Bytes owned(signed_part);
    if (size <= 0) return fail_sct("it cannot be written without the promise");

    unsigned char* bytes = nullptr;
    const std::size_t id_size = SCT_get0_log_id(sct, &bytes);
    const std::string id = base::encode_hex(text_of(bytes, static_cast<int>(id_size)));
    const std::size_t signature_size = SCT_get0_signature(sct, &bytes);
    const std::string signature = text_of(bytes, static_cast<int>(signature_size));
    const std::uint64_t time_ms = SCT_get_timestamp(sct);
    constexpr auto max_time_ms = static_cast<std::uint64_t>(max_time_s) * 1'000;
    const Log* log = time_ms > max_time_ms ? nullptr
                                           : find_log(root.certificate_logs, id,
                                                      static_cast<base::UnixMicros>(time_ms * 1'000));
    if (log == nullptr) return fail_sct("log " + id);
    base::Digest key(base::DigestKind::sha256);
    key.update(public_key_of(issuer));
    const std::string text = big_endian(0, 2) + big_endian(time_ms, 8) + big_endian(1, 2) + key.finish() +
                             big_endian(static_cast<std::uint64_t>(size), 3) + text_of(signed_part, size) +
                             big_endian(0, 2);
    if (SCT_get_version(sct) != SCT_VERSION_V1 || !log->key.verifies(text, signature))
        return fail_sct("its signature");
    return {};
}

// Empty: the certificate does not have it, or not as one UTF8String of a sensible length.
std::string claim(X509* certificate, int number) {
    const Object name(OBJ_txt2obj(("1.3.6.1.4.1.57264.1." + std::to_string(number)).c_str(), 1));
    const int at = X509_get_ext_by_OBJ(certificate, name.get(), -1);
    if (at < 0) return {};
    const ASN1_OCTET_STRING* value = X509_EXTENSION_get_data(X509_get_ext(certificate, at));
    const unsigned char* begin = ASN1_STRING_get0_data(value);
    const unsigned char* end = begin + ASN1_STRING_length(value);
    const Utf8 text(d2i_ASN1_UTF8STRING(nullptr, &begin, ASN1_STRING_length(value)));
    if (text == nullptr || begin != end) return {};
    return text_of(ASN1_STRING_get0_data(text.get()), ASN1_STRING_length(text.get()));
}

std::string subject_of(X509* certificate) {
    const Names names(
        static_cast<GENERAL_NAMES*>(X509_get_ext_d2i(certificate, NID_subject_alt_name, nullptr, nullptr)));
    if (names == nullptr || sk_GENERAL_NAME_num(names.get()) != 1) return {};
    const GENERAL_NAME* name = sk_GENERAL_NAME_value(names.get(), 0);
    if (name->type != GEN_URI && name->type != GEN_EMAIL) return {};
    return text_of(ASN1_STRING_get0_data(name->d.ia5), ASN1_STRING_length(name->d.ia5));
}

bool is_printable(std::string_view text) {
    return text.size() <= max_identity_bytes &&
           std::all_of(text.begin(), text.end(), [](char c) { return c >= ' ' && c <= '~'; });
}

base::Result<Identity> identity_of(X509* certificate) {
    Identity identity;
    identity.subject = subject_of(certificate);
    bool is_good = is_printable(identity.subject);
    for (const Claim& one : claims) {
        identity.*one.member = claim(certificate, one.number);
        is_good = is_good && is_printable(identity.*one.member);
    }
    ERR_clear_error();
    if (is_good && !identity.subject.empty() && !identity.issuer.empty()) return identity;
    return refuse_certificate("attestation.identity",
                              "The certificate does not name one signer and its provider");
}

std::string pem_of(X509* certificate) {
    const Memory memory(BIO_new(BIO_s_mem()));
    WHEELYARD_CHECK(memory != nullptr && PEM_write_bio_X509(memory.get(), certificate) == 1);
    char* begin = nullptr;
    const long size = BIO_get_mem_data(memory.get(), &begin);
    return {begin, static_cast<std::size_t>(size)};
}

}  // namespace

bool is_certificate(std::string_view der) {
    const bool is_one = parse_certificate(der) != nullptr;
    ERR_clear_error();
    return is_one;
}

base::Result<Certificate> verify_certificate(std::string_view der, base::UnixMicros time,
                                             const TrustedRoot& root) {
    const X509Ptr leaf = parse_certificate(der);
    if (leaf == nullptr)
        return refuse_certificate("attestation.certificate", "The attestation's certificate cannot be read");
    auto key = attest::PublicKey::from_der(public_key_of(leaf.get()));
    if (!key)
        return refuse_certificate("attestation.certificate", "The attestation's key is not one over P-256");
    WHEELYARD_ASSIGN(const X509Ptr issuer, find_issuer(leaf.get(), time, root));
    WHEELYARD_TRY(check_usage(leaf.get()));
    WHEELYARD_TRY(check_scts(leaf.get(), issuer.get(), root));
    WHEELYARD_ASSIGN(Identity identity, identity_of(leaf.get()));
    return Certificate{*std::move(key), pem_of(leaf.get()), std::move(identity)};
}

}  // namespace wheelyard::sigstore
