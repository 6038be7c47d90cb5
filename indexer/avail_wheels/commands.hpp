// What avail_wheels answers: one function and one file for each kind of question.
#pragma once

#include <iosfwd>
#include <string>
#include <vector>

#include "indexer/avail_wheels/run.hpp"

namespace wheelyard::avail_wheels {

// Each returns the exit status; `options` as the command line gives them, the second argument is their mode.
int answer_list(Options options, const ListMode& mode, const World& world, std::ostream& out,
                std::ostream& err);
int answer_lock(Options options, const LockMode& mode, const World& world, std::ostream& out,
                std::ostream& err);
int answer_status(const Options& options, const World& world, std::ostream& out, std::ostream& err);
int answer_requests(const Options& options, const RequestMode& mode, const World& world, std::ostream& out,
                    std::ostream& err);
int answer_completion(const Options& options, const CompletionMode& mode, const World& world,
                      std::ostream& out);

// Asks the farm for one requirement, without a look at what is there.
int ask_farm(const Options& options, const World& world, const std::string& requirement, std::ostream& out,
             std::ostream& err);

}  // namespace wheelyard::avail_wheels
