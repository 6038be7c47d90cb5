// wheelyard-governor: the command line. Wiring only.
#include <string>
#include <vector>
#include "builder/governor/simulate_command.hpp"
int main(int argc, char** argv) {
    std::vector<std::string> a(argv + 2, argv + argc);
    return wheelyard::governor::run_simulate(a);
}
