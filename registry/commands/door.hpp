// Where a command runs an operation: at a registry anywhere (--url and --token-file), or in this process on a data folder,
// beside its server or without one. Both give the same answers, since both run the operation's row.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <string_view>

#include "lib/base/clock.hpp"
#include "lib/base/result.hpp"
#include "lib/io/json.hpp"
#include "registry/access/person.hpp"
#include "registry/store/opened_store.hpp"

namespace wheelyard::registry {

// What add_target() fills: a local data folder, or a remote registry.
struct DoorTarget {
    std::filesystem::path config;
    std::string url;
    std::filesystem::path token_file;        // with url
    NewStore new_store = NewStore::refused;  // whether a data folder that is not there is made
};

// As errors of commands are printed: a detail of a problem is a whole sentence.
[[nodiscard]] std::string without_full_stop(std::string sentence);

class Door {
  public:
    virtual ~Door() = default;
    // Errors: those of the configuration and the store; "lifecycle.token_file".
    [[nodiscard]] static base::Result<std::unique_ptr<Door>> open(const DoorTarget& target,
                                                                  const OpenPublisher& open_publisher,
                                                                  const base::Clock& clock);
    // The body of the answer, once pages show what it says. `arguments` by name, whether the operation has them in its path,
    // its query or its body. A refusal is an error with its code.
    [[nodiscard]] virtual base::Result<std::string> ask(std::string_view operation,
                                                        const io::Json& arguments) = 0;
    // What people are called, as far as the caller may learn it.
    [[nodiscard]] ShownNames shown_names();
};

}  // namespace wheelyard::registry
