#include "lib/base/process/terminal_columns.hpp"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>

namespace wheelyard::base {

std::size_t terminal_columns(int descriptor) {
    if (::isatty(descriptor) == 0) return 0;
    winsize size{};
    if (::ioctl(descriptor, TIOCGWINSZ, &size) != 0 || size.ws_col == 0) return default_columns;
    return size.ws_col;
}

std::size_t help_columns_of(int descriptor, std::size_t most) {
    const std::size_t known = terminal_columns(descriptor);
    return known == 0 ? most : std::min(known, most);
}

bool allows_colour(const std::map<std::string, std::string>& environment) {
    const auto no_color = environment.find("NO_COLOR");
    if (no_color != environment.end() && !no_color->second.empty()) return false;
    const auto term = environment.find("TERM");
    return term == environment.end() || term->second != "dumb";
}

}  // namespace wheelyard::base
