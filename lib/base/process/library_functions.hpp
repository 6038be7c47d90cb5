// Functions of a library that is loaded while the program runs, by name (dlopen(3), dlsym(3)).
#pragma once

#include <dlfcn.h>

#include <string>

namespace wheelyard::base {

// Never closed: what the library depends on registers exit handlers. nullptr: dlerror(3) says why.
inline void* load_library(const char* file) {
    return ::dlopen(file, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
}

// Looks functions up by name; remembers the first missing one.
class LibraryFunctions {
  public:
    explicit LibraryFunctions(void* library) : library_(library) {}
    template <typename Function>
    void take(const char* name, Function& function) {
        function = reinterpret_cast<Function>(::dlsym(library_, name));
        if (function == nullptr && missing_.empty()) missing_ = name;
    }
    [[nodiscard]] const std::string& missing() const { return missing_; }

  private:
    void* library_;
    std::string missing_;
};

}  // namespace wheelyard::base
