// Chooses between two jobs of the same name.
#include "builder/schedule/scheduler.hpp"

namespace wheelyard::builder {
namespace {

int rank(const JobView& view) {
    switch (view.state) {
        case JobState::running:
            return 4;
        case JobState::queued:
            return 3;
        case JobState::unknown:
            return 2;
        case JobState::vanished:
            return view.end && view.end->cause != EndCause::unexplained ? 1 : 0;
        case JobState::unclaimed:
            return -1;
    }
    return -1;
}

}  // namespace

bool is_better_view(const JobView& one, const JobView& other) {
    return rank(one) >= rank(other);
}

}  // namespace wheelyard::builder
