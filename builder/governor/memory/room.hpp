// How much memory compiles may use, in bytes.
#pragma once

namespace wheelyard::governor {

struct Room {
    double shared = 0;  // for all running compiles together
    double alone = 0;   // for a compile that runs alone; larger where the tightest limit only throttles
};

}  // namespace wheelyard::governor
