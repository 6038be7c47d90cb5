// Follows where in a log a line stands: inside a warning that quotes source or text, or inside a probe of a
// configuration. Such a line may hold the words of an error although the build goes on. And joins what CMake
// spreads over lines.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace wheelyard::builder {

class LineContext {
  public:
    // Only a line that contains one of these (lower case) can open a context.
    [[nodiscard]] static std::span<const std::string_view> openings();

    void clear() { *this = {}; }
    // Each line in turn: closes the contexts that it does not belong to.
    void pass(std::string_view line);
    // The same line in lower case, if it contains one of openings().
    void open(std::string_view line, std::string_view lower);

    [[nodiscard]] bool is_quoted() const { return is_quoted_; }    // this line, by a warning above it
    [[nodiscard]] bool is_in_probe() const { return probe_ > 0; }  // this line
    // The probes that began so far: the configuration went on after each but the last.
    [[nodiscard]] std::size_t probes() const { return probes_; }
    // This line, in what CMake keeps of a probe that failed: CMakeError.log, which many print after the
    // error.
    [[nodiscard]] bool is_in_dump() const { return probe_ > 0 && is_dump_; }

  private:
    void pass_warning(std::string_view line);

    enum class Warning { none, one_line, until_dedent, until_mark };
    Warning warning_ = Warning::none;
    bool is_quoted_ = false;
    std::size_t indent_ = 0;  // of the warning's first line
    std::size_t lines_ = 0;   // since then
    std::size_t probe_ = 0;   // lines that still may belong to the probe, this one included
    bool is_dump_ = false;
    std::size_t probes_ = 0;
};

// A probe's own file: "_configtest.c", "conftest.c", "CMakeFiles/CMakeScratch/…".
[[nodiscard]] bool names_a_probe(std::string_view lower);

// CMake's error with its text, which stands on the lines after its header, wrapped at 77 columns.
//
//     CMake Error at cmake/FindCUDNN.cmake:19 (find_library):
//       Could not find cudnn_LIBRARY using the following names: cudnn,
//       libcudnn.so.
//     Call Stack (most recent call first):
class CMakeMessage {
  public:
    struct Whole {
        std::uint64_t line = 0;  // of the header
        std::string text;        // header and text in one line
    };
    void clear() { *this = {}; }
    // Each line in turn. A message, if this line is the first after it.
    [[nodiscard]] std::optional<Whole> pass(std::string_view line, std::uint64_t number);
    // The message that the end of the log ends.
    [[nodiscard]] std::optional<Whole> finish();

  private:
    Whole whole_;
    std::size_t indent_ = 0;  // of the header
    std::size_t lines_ = 0;   // of text so far
    bool is_open_ = false;
};

}  // namespace wheelyard::builder
