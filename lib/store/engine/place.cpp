// Which texts name a PostgreSQL database.
#include "lib/store/engine/place.hpp"

namespace wheelyard::database {
namespace {

// libpq reads both (PostgreSQL manual, 34.1.1.2 and 34.1.1.1).
bool is_url(std::string_view text) {
    return text.starts_with("postgres://") || text.starts_with("postgresql://");
}

// In "postgres://USER:PASSWORD@HOST", or a parameter "password=". "passfile=" is a file.
bool has_password(std::string_view text) {
    if (text.find("password=") != std::string_view::npos) return true;
    if (!is_url(text)) return text.find("password ") != std::string_view::npos;
    text.remove_prefix(text.find("://") + 3);
    const std::string_view authority = text.substr(0, text.find_first_of("/?"));
    const std::size_t at = authority.rfind('@');
    return at != std::string_view::npos && authority.substr(0, at).find(':') != std::string_view::npos;
}

}  // namespace

std::string fault_of_url(std::string_view text) {
    if (text.empty()) return {};
    if (!is_url(text) && text.find('=') == std::string_view::npos)
        return "must be a URL like postgres://wheelyard@db.example.org/wheelyard?sslmode=verify-full, or "
               "parameters of libpq like \"service=wheelyard\"";
    if (has_password(text))
        return "must not contain a password: write it into a file of mode 0600 and name that one as "
               "database_password_file";
    return {};
}

base::Spent& spent() {
    static base::Spent of_process;
    return of_process;
}

}  // namespace wheelyard::database
