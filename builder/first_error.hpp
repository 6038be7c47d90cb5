// Finds the line of a log that most likely names the cause, however long the log is.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

namespace wheelyard::builder {

// Fed piece by piece, in any cut. What stands after the marker of `phase` ("@@wheelyard phase=build …") wins
// over what stands before it; without such a marker the whole log counts.
class FirstError {
  public:
    explicit FirstError(std::string_view phase);
    void feed(std::string_view piece);
    // The line, shortened and without control characters, or empty.
    [[nodiscard]] std::string finish();
    [[nodiscard]] bool is_certain() const { return in_phase_ && !found_.empty(); }

  private:
    void look_at(std::string_view line);
    std::string marker_;
    bool in_phase_;
    std::string rest_;  // of a line whose end has not come; cut at longest_log_line
    std::string found_;
};

[[nodiscard]] std::string find_first_error(std::string_view log, std::string_view phase);
// Of a file; empty when it cannot be read. Of more than log_scan_bytes only the end is looked at.
[[nodiscard]] std::string find_first_error_in(const std::filesystem::path& log, std::string_view phase);

}  // namespace wheelyard::builder
