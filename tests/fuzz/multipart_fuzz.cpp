// Upload forms: the first two bytes select boundary and piece size, the rest is the body. Parsing the whole
// and parsing pieces must agree, and no field may exceed its limit.
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "registry/intake/multipart.hpp"

using namespace wheelyard;

namespace {

class Recorder final : public registry::MultipartHandler {
  public:
    std::string seen;
    wire::Answered<void> field(std::string_view name, std::string_view value) override {
        if (value.size() > registry::max_field_bytes) std::abort();
        seen += "F" + std::to_string(name.size()) + ":" + std::string(name) + std::to_string(value.size()) +
                ":" + std::string(value);
        return {};
    }
    wire::Answered<void> file_begin(std::string_view name, std::string_view filename) override {
        seen += "B" + std::string(name) + "/" + std::string(filename) + ":";
        return {};
    }
    wire::Answered<void> file_bytes(std::string_view bytes) override {
        if (bytes.empty()) std::abort();
        seen += bytes;
        return {};
    }
    wire::Answered<void> file_end() override {
        seen += "E";
        return {};
    }
};

std::string parse(std::string_view body, std::string_view boundary, std::size_t piece) {
    Recorder recorder;
    registry::MultipartParser parser(boundary, recorder);
    wire::Answered<void> result;
    for (std::size_t i = 0; i < body.size() && result; i += piece)
        result = parser.feed(body.substr(i, piece));
    if (result) result = parser.finish();
    return recorder.seen + (result ? "|ok" : "|" + result.error().code);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    if (size < 2) return 0;
    const std::string_view body(reinterpret_cast<const char*>(data) + 2, size - 2);
    const std::string_view boundary = data[0] % 2 == 0 ? "BB" : "-";
    const std::size_t piece = data[1] % 64 + 1;
    if (parse(body, boundary, piece) != parse(body, boundary, body.size() + 1)) std::abort();
    static_cast<void>(registry::parse_boundary(body));
    return 0;
}
