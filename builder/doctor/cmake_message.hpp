// Joins CMake's error with its text, which stands on the lines after its header, wrapped at 77 columns.
//
//     CMake Error at cmake/FindCUDNN.cmake:19 (find_library):
//       Could not find cudnn_LIBRARY using the following names: cudnn,
//       libcudnn.so.
//     Call Stack (most recent call first):
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace wheelyard::builder {

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
