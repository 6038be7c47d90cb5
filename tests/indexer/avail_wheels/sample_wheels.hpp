// Builds candidates from file names, for tests of pure code.
#pragma once

#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "indexer/avail_wheels/query/candidate.hpp"
#include "indexer/avail_wheels/query/query.hpp"

namespace wheelyard::avail_wheels {

inline Candidate make_candidate(const std::string& filename, const std::string& arch = {}) {
    auto name = WheelNames().parse(filename);
    REQUIRE_MESSAGE(name.has_value(), filename);
    simple::FileLink link;
    link.filename = filename;
    link.url = "https://host/files/" + filename;
    return make_candidate(std::move(*name), std::move(link), arch);
}

inline std::vector<Candidate> make_candidates(const std::vector<std::string>& filenames) {
    std::vector<Candidate> candidates;
    for (const auto& filename : filenames)
        candidates.push_back(make_candidate(filename));
    return candidates;
}

inline std::vector<Wanted> make_wanted(const std::vector<std::string>& texts) {
    std::vector<Wanted> wanted;
    for (const auto& text : texts) {
        auto one = parse_wanted(text);
        REQUIRE_MESSAGE(one.has_value(), text);
        wanted.push_back(std::move(*one));
    }
    return wanted;
}

inline std::vector<Python> make_pythons(const std::vector<std::string>& texts) {
    std::vector<Python> pythons;
    for (const auto& text : texts)
        pythons.push_back(*parse_python(text));
    return pythons;
}

inline std::vector<std::string> filenames_of(const Answer& answer) {
    std::vector<std::string> filenames;
    for (const auto& candidate : answer.wheels)
        filenames.push_back(candidate.link.filename);
    return filenames;
}

}  // namespace wheelyard::avail_wheels
