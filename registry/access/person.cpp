#include "registry/access/person.hpp"

#include "lib/base/digest/digest.hpp"
#include "registry/access/limits.hpp"

namespace wheelyard::registry {
namespace {

std::string_view who(std::string_view name) {
    return is_person(name) ? name.substr(0, name.find(' ')) : name;
}

}  // namespace

std::string person_name(std::string_view identity, std::string_view issuer, std::string_view subject,
                        std::string_view shown) {
    std::string both(issuer);
    both.append(1, '\0').append(subject);
    std::string name(person_prefix);
    name.append(identity).append(":").append(base::sha256_hex(both).substr(0, person_digits));
    if (!shown.empty()) name.append(" ").append(shown);
    return name;
}

bool is_person(std::string_view name) {
    return name.starts_with(person_prefix);
}

bool is_same_actor(std::string_view a, std::string_view b) {
    return who(a) == who(b);
}

}  // namespace wheelyard::registry
