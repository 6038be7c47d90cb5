// A key set is refused or small, and no signature of zeros is that of one of its keys.
#include <cstdint>
#include <string>
#include <string_view>

#include "lib/base/check.hpp"
#include "registry/identity/key_set.hpp"
#include "registry/identity/limits.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace wheelyard;
    using identity::Algorithm;
    const auto keys = identity::KeySet::parse({reinterpret_cast<const char*>(data), size});
    if (!keys) return 0;
    WHEELYARD_CHECK(keys->size() <= identity::max_keys);
    for (const Algorithm algorithm : {Algorithm::rs256, Algorithm::es256}) {
        for (const auto& id : {std::optional<std::string>(), std::optional<std::string>("r")}) {
            if (const auto key = keys->find(algorithm, id))
                WHEELYARD_CHECK(!identity::is_signed_by(*key, "x", std::string(64, '\0')));
        }
    }
    return 0;
}
