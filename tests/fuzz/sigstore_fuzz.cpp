// Attestations, trusted roots and certificates from anybody. The first byte chooses which; nobody signs what
// a fuzzer makes, so nothing is accepted that the seeds do not have, and a certificate is read with the
// authorities of the public root.
#include <cstdint>
#include <string_view>

#include "lib/attest/sigstore/attestation.hpp"
#include "lib/attest/sigstore/log_entry.hpp"
#include "lib/attest/sigstore/trusted_root.hpp"
#include "tests/fuzz/round_trip.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace wheelyard;
    if (size == 0) return 0;
    const std::string_view text(reinterpret_cast<const char*>(data) + 1, size - 1);
    const auto require_reason = [](const auto& result) {
        if (!result) fuzz::require(!result.error().code.empty() && !result.error().sentence.empty());
    };
    constexpr base::UnixMicros time = 1'760'000'000'000'000;
    switch (data[0]) {
        case 'a': {
            const auto read =
                sigstore::verify_attestations(text, "a-1.0-py3-none-any.whl", "", sigstore::public_root());
            require_reason(read);
            fuzz::require(!read || read->document.empty());  // no statement has an empty SHA-256
            break;
        }
        case 'p': {
            const auto read =
                sigstore::verify_provenance(text, "a-1.0-py3-none-any.whl", "", sigstore::public_root());
            require_reason(read);
            fuzz::require(!read);
            break;
        }
        case 'c': {
            const auto read = sigstore::verify_certificate(text, time, sigstore::public_root());
            require_reason(read);
            if (read) fuzz::require(!sigstore::publisher_of(read->identity).is_null());
            break;
        }
        case 'r': {
            const auto root = sigstore::read_trusted_root(text);
            require_reason(root);
            if (root)
                require_reason(
                    sigstore::verify_certificate(root->authorities.front().chain.front(), time, *root));
            break;
        }
        default: {
            const auto json = io::parse_json(text);
            if (!json) break;
            const auto entry = sigstore::read_log_entry(*json);
            require_reason(entry);
            if (entry) require_reason(sigstore::verify_log_entry(*entry, sigstore::public_root()));
            if (entry) require_reason(sigstore::check_logged(*entry, {"a", "b", "c"}));
        }
    }
    return 0;
}
