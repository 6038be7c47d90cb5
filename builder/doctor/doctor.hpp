// Reads a build log once, from its beginning, and says why the build failed: the rules that match
// (doctor_rules.hpp) and the first error, whether a rule knows it or not. Memory stays bounded whatever the
// log holds.
//
//     @@wheelyard phase=build at=2026-…   what stood before this line does not count: that phase ended well
//     [2/9] Building CXX object a.o       kept for a moment, as what an error comes after
//     a.cpp:3:10: fatal error: mpi.h: No such file or directory
//     @@wheelyard exit=1 phase=build …
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "builder/doctor/doctor_rules.hpp"
#include "builder/doctor/error_line.hpp"
#include "builder/doctor/limits.hpp"
#include "lib/base/result.hpp"

namespace wheelyard::builder {

struct Finding {
    const DoctorRule* rule = nullptr;
    std::uint64_t line = 0;   // of the log, from 1: the first one
    std::string text;         // as shorten_line
    std::uint64_t count = 0;  // of lines
};

struct FirstError {
    std::uint64_t line = 0;  // of the log, from 1
    std::string text;
    SourceLine source;
    std::vector<std::string> before;  // lines of the log
    std::vector<std::string> after;
};

struct Examination {
    std::uint64_t lines = 0;
    std::uint64_t bytes = 0;
    std::string phase;              // of a log of ours: the last one
    std::optional<int> exit_code;   // of a log of ours that has its end
    std::vector<Finding> findings;  // the likeliest cause first
    std::optional<FirstError> first_error;
    [[nodiscard]] const Finding* likeliest() const { return findings.empty() ? nullptr : &findings.front(); }
};

class Doctor {
  public:
    Doctor();
    void feed(std::string_view piece);
    [[nodiscard]] Examination finish();

  private:
    void look_at(std::string_view line);
    void look_at_marker(std::string_view line);
    void begin_phase(std::string_view name);
    void match(std::string_view line);
    void note_rule(std::size_t rule, std::string_view line);
    void note_first_error(std::string_view line);
    void keep(std::string_view line);

    std::vector<std::uint16_t> found_;

    Examination seen_;
    std::vector<std::size_t> finding_of_;  // of each rule, from 1; 0: none yet
    SourceLine traceback_;                 // the last `File "…", line N` of Python
    std::array<std::string, context_lines> last_;
    std::uint64_t kept_ = 0;
    std::string rest_;  // of a line whose end is not here yet
    bool cut_ = false;  // its end is not looked at
};

// Error: the file cannot be read.
[[nodiscard]] base::Result<Examination> examine_log(const std::filesystem::path& log);

}  // namespace wheelyard::builder
