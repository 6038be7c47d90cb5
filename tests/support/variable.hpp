// An environment variable of this process, changed until the end of a scope.
#pragma once

#include <cstdlib>
#include <optional>
#include <string>

namespace wheelyard::test_support {

// Sets the variable, or unsets it for nullptr.
class Variable {
  public:
    Variable(const char* name, const char* value) : name_(name) {
        if (const char* before = std::getenv(name)) before_ = before;
        set(value);
    }
    Variable(const Variable&) = delete;
    Variable& operator=(const Variable&) = delete;
    ~Variable() { set(before_ ? before_->c_str() : nullptr); }

  private:
    void set(const char* value) const { value != nullptr ? ::setenv(name_, value, 1) : ::unsetenv(name_); }
    const char* name_;
    std::optional<std::string> before_;
};

}  // namespace wheelyard::test_support
