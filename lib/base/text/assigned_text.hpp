// What a Python source gives a name, of its plain lines alone: torch/version.py.
//
//     __all__ = ['__version__', 'cuda']
//     __version__ = '2.15.0+cu132'          "__version__" → "2.15.0+cu132"
//     cuda: Optional[str] = '13.2'          "cuda" → "13.2"
#pragma once

#include <string>
#include <string_view>

namespace wheelyard::base {

// Of a line that begins with the name. Empty: there is none, or it gives no text.
[[nodiscard]] std::string assigned_text(std::string_view source, std::string_view name);

}  // namespace wheelyard::base
