// CPU time of the check of an ID token, and of its signature alone. Prints a line "ALGORITHM WHOLE SIGNATURE" in microseconds
// for each round and each algorithm. TOKENS is tests/registry/identity/data/tokens.json:
//
//     token_verify TOKENS ROUNDS
//
// bench/token_verify.py runs it.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <string>
#include <utility>
#include <vector>

#include "lib/base/files/file.hpp"
#include "lib/base/text/encoding.hpp"
#include "registry/identity/token.hpp"

namespace {

using namespace wheelyard;

constexpr int calls = 200;
constexpr std::size_t max_bytes = 1u << 20;

template <typename Call>
double microseconds(const Call& call) {
    const std::clock_t began = std::clock();
    for (int i = 0; i < calls; ++i) {
        if (!call()) {
            std::fputs("token_verify: a good token was refused\n", stderr);
            std::exit(EXIT_FAILURE);
        }
    }
    return 1e6 * static_cast<double>(std::clock() - began) / CLOCKS_PER_SEC / calls;
}

// RS256, ES256 and EdDSA, whose samples are named so.
const std::vector<std::pair<std::string, identity::Algorithm>> algorithms = {
    {"RS256", identity::Algorithm::rs256},
    {"ES256", identity::Algorithm::es256},
    {"EdDSA", identity::Algorithm::eddsa}};

base::Status measure(const io::Json& samples, const std::string& name, identity::Algorithm algorithm) {
    const auto& good = samples.items("good");
    const auto sample = std::find_if(good.begin(), good.end(),
                                     [&](const io::Json& one) { return one.string_or("name", "") == name; });
    if (sample == good.end()) return base::fail("bench.sample", "The file lacks a good token", name);
    WHEELYARD_ASSIGN(const auto keys, identity::KeySet::parse(samples.string_or("keys", "")));
    WHEELYARD_ASSIGN(const std::int64_t now_s, samples.int_at("now"));
    const identity::Expected expected{samples.string_or("issuer", ""), samples.string_or("client_id", ""),
                                      samples.string_or("nonce", "")};
    const std::string token = sample->string_or("token", "");
    const std::size_t end = token.rfind('.');
    WHEELYARD_ASSIGN(const auto header_text, base::decode_base64url(token.substr(0, token.find('.'))));
    WHEELYARD_ASSIGN(const auto header, io::parse_json(header_text));
    WHEELYARD_ASSIGN(const auto key, keys.find(algorithm, header.string_or("kid", "")));
    WHEELYARD_ASSIGN(const auto signature, base::decode_base64url(token.substr(end + 1)));
    const double whole =
        microseconds([&] { return identity::verify_token(token, keys, expected, now_s).has_value(); });
    const double bare =
        microseconds([&] { return identity::is_signed_by(key, token.substr(0, end), signature); });
    std::printf("%s %.2f %.2f\n", name.c_str(), whole, bare);
    return {};
}

}  // namespace

int main(int argc, char** argv) {
    const auto text = base::read_file(argc == 3 ? argv[1] : "", max_bytes);
    const auto samples = text ? io::parse_json(*text) : tl::unexpected(text.error());
    if (!samples) {
        std::fprintf(stderr, "usage: token_verify TOKENS ROUNDS: %s\n", samples.error().text().c_str());
        return EXIT_FAILURE;
    }
    for (int round = std::atoi(argv[2]); round > 0; --round) {
        for (const auto& [name, algorithm] : algorithms) {
            if (const auto done = measure(*samples, name, algorithm); !done) {
                std::fprintf(stderr, "token_verify: %s\n", done.error().text().c_str());
                return EXIT_FAILURE;
            }
        }
    }
    return EXIT_SUCCESS;
}
