// avail_wheels: the process around run().
#include <cerrno>
#include <csignal>
#include <exception>
#include <iostream>
#include <string>
#include <vector>

#include "indexer/avail_wheels/run.hpp"
#include "lib/base/process.hpp"

int main(int argc, char** argv) try {
    // A reader that goes away (`avail_wheels | head`) is no error worth a word: the write then fails with
    // EPIPE.
    std::signal(SIGPIPE, SIG_IGN);
    const int status =
        wheelyard::avail_wheels::run(std::vector<std::string>(argv + 1, argv + argc),
                                     wheelyard::base::current_environment(), std::cout, std::cerr);
    errno = 0;
    std::cout.flush();
    if (std::cout) return status;
    if (errno != 0 && errno != EPIPE) std::cerr << "avail_wheels: the output could not be written\n";
    return 1;
} catch (const std::exception& error) {
    std::cerr << "avail_wheels: a bug or a broken environment: " << error.what() << '\n';
    return 1;
}
