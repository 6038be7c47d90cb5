// Results go to standard output, errors to standard error.
#include "builder/command_output.hpp"

#include <cstdio>

#include "builder/show/report.hpp"
#include "lib/base/text/printable.hpp"

namespace wheelyard::builder {

void print(const std::string& text) {
    std::fputs(text.c_str(), stdout);
}

int complain(const base::Error& error, int status) {
    std::fputs(("wheelyard-builder: " + base::printable(error.text()) + "\n").c_str(), stderr);
    return status;
}

}  // namespace wheelyard::builder
