// Results go to standard output, errors to standard error.
#include "builder/commands/commands.hpp"

#include <cstdio>

#include "builder/show/report.hpp"
#include "lib/base/process/terminal.hpp"

namespace wheelyard::builder {

void print(const std::string& text) {
    base::print(stdout, text);
}

void tell(const std::string& text) {
    base::print_message(stdout, text);
}

int complain(const base::Error& error, int status) {
    base::print_message(stderr, "wheelyard-builder: " + error.text() + "\n");
    return status;
}

}  // namespace wheelyard::builder
