#include "lib/wire/named_texts.hpp"

namespace wheelyard::wire {

io::Json render_named_texts(const NamedTexts& texts) {
    io::Json json = io::Json::object();
    for (const auto& [name, text] : texts)
        json.set(name, text);
    return json;
}

NamedTexts named_texts_in(const io::Json& json, std::string_view name) {
    NamedTexts texts;
    const io::Json* found = json.find(name);
    const auto* members = found == nullptr ? nullptr : found->as_object();
    if (members == nullptr) return texts;
    for (const auto& [key, value] : *members) {
        if (value.as_string() != nullptr) texts.emplace_back(key, *value.as_string());
    }
    return texts;
}

}  // namespace wheelyard::wire
