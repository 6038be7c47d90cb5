// An owned file descriptor.
#pragma once

#include <utility>

namespace wheelyard::base {

class Fd {
  public:
    Fd() = default;
    explicit Fd(int number) : number_(number) {}
    Fd(Fd&& other) noexcept : number_(std::exchange(other.number_, -1)) {}
    Fd& operator=(Fd&& other) noexcept {
        if (this != &other) {
            reset();
            number_ = std::exchange(other.number_, -1);
        }
        return *this;
    }
    Fd(const Fd&) = delete;
    Fd& operator=(const Fd&) = delete;
    ~Fd() { reset(); }

    [[nodiscard]] int get() const { return number_; }
    explicit operator bool() const { return number_ >= 0; }
    void reset();
    // Gives up ownership: the caller closes the returned descriptor.
    [[nodiscard]] int release() { return std::exchange(number_, -1); }

  private:
    int number_ = -1;
};

}  // namespace wheelyard::base
