// A key set, a line break and a token: what is accepted is of the expected issuer, audience and nonce, has a subject, and
// names the client where another one asks for it.
#include <cstdint>
#include <string>
#include <string_view>

#include "lib/base/check.hpp"
#include "lib/base/text/text.hpp"
#include "registry/identity/limits.hpp"
#include "registry/identity/token.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace wheelyard;
    const std::string_view text(reinterpret_cast<const char*>(data), size);
    const std::size_t line = text.find('\n');
    if (line == std::string_view::npos) return 0;
    const std::string_view token = text.substr(line + 1);
    const auto claimed = identity::claimed_by(token);
    const auto keys = identity::KeySet::parse(text.substr(0, line));
    if (!keys) return 0;
    const identity::Expected expected{"https://idp.example/realms/farm", "wheelyard", "n-1"};
    identity::Expected of_service = expected;
    of_service.party = "ci";
    if (const auto others = identity::verify_token(token, *keys, of_service, 1'795'700'000))
        WHEELYARD_CHECK(others->all.string_or("azp", "") == "ci");
    const auto claims = identity::verify_token(token, *keys, expected, 1'795'700'000);
    if (!claims) return 0;
    WHEELYARD_CHECK(claimed && claimed->issuer == expected.issuer);
    WHEELYARD_CHECK(!claims->subject.empty() && claims->subject.size() <= identity::max_subject_bytes);
    WHEELYARD_CHECK(claims->all.string_or("nonce", "") == "n-1");
    const std::string name = claims->shown_name();
    WHEELYARD_CHECK(name.size() <= identity::max_shown_name_bytes && base::is_utf8(name));
    return 0;
}
