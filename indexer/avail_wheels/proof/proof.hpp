// The proof of a wheel at hand. Each step says what holds, what does not, and what there is nothing of.
#pragma once

#include <algorithm>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "lib/base/clock.hpp"
#include "lib/base/result.hpp"
#include "lib/io/json.hpp"
#include "lib/simple/client.hpp"

namespace wheelyard::avail_wheels {

// Who is believed, and who is asked.
struct ProofQuestion {
    std::string sha256;                    // as the reader knows it; empty: not at all
    std::string index_url;                 // …/simple/; empty: no request is sent
    std::filesystem::path root;            // the registry's root document; empty: none
    std::filesystem::path key;             // or its public key (PEM); empty: none
    std::vector<std::string> uploaded_to;  // the indexes where it may have been uploaded; empty: any
    std::vector<std::string> publishers;   // as sigstore::publisher_address() has them; empty: none counts
    std::filesystem::path sigstore_root;   // of another instance than Sigstore's public one; empty: that one
};

enum class Proved { yes, no, nothing };

struct ProofStep {
    std::string name;  // "sha256", "index", "statement" or "attestation"
    Proved proved = Proved::nothing;
    std::string text;
};

struct Proof {
    std::string filename;
    std::string sha256;
    std::vector<ProofStep> steps;
    std::vector<std::pair<std::string, std::string>> told;  // further lines for people: name and text
    std::vector<std::string> warnings;
    io::Json statement = io::Json::object();  // `keyid`, `time`, `said`, `proved` of a verified one
    io::Json attested = io::Json::array();    // sigstore::record_of() of each

    // Something proves it and nothing speaks against it.
    [[nodiscard]] bool holds() const {
        const auto is = [](Proved proved) {
            return [proved](const ProofStep& step) { return step.proved == proved; };
        };
        return std::any_of(steps.begin(), steps.end(), is(Proved::yes)) &&
               std::none_of(steps.begin(), steps.end(), is(Proved::no));
    }
};

// Reads FILE, and FILE.prov and FILE.pep740 beside it; what is not there is asked of the index, at the
// address of the wheel. An index that does not answer is a step. Errors: of FILE and its name, the roots and
// the key.
[[nodiscard]] base::Result<Proof> prove_wheel(const std::filesystem::path& file, const ProofQuestion& asked,
                                              const simple::GetPage& get, base::UnixMicros now);

}  // namespace wheelyard::avail_wheels
