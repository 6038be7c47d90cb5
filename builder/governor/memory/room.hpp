// How much memory compiles may use: an answer to two questions.
#pragma once

namespace wheelyard::governor {

struct Room {           // bytes
    double shared = 0;  // for all that run
    double alone =
        0;  // for one that runs alone: more, where something slows it down before anything kills it
};

}  // namespace wheelyard::governor
