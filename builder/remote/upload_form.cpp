#include "builder/remote/upload_form.hpp"

#include <algorithm>

#include "lib/base/digest/digest.hpp"

namespace wheelyard::builder {

base::Result<UploadForm> UploadForm::open(const std::vector<io::MultipartField>& fields,
                                          const std::filesystem::path& file, const std::string& sha256) {
    WHEELYARD_ASSIGN(auto reader, base::FileReader::open(file));
    UploadForm form(std::move(reader));
    const std::string& boundary = sha256;  // 64 characters, of at most 70 (RFC 2046 §5.1.1)
    const std::string delimiter = "--" + boundary;
    for (const auto& field : fields) {
        form.before_ += delimiter + "\r\nContent-Disposition: form-data; name=\"" + field.name +
                        "\"\r\n\r\n" + field.value + "\r\n";
    }
    // The file name contains no quotes: the inspection has validated it.
    form.before_ += delimiter + "\r\nContent-Disposition: form-data; name=\"content\"; filename=\"" +
                    file.filename().string() + "\"\r\nContent-Type: application/octet-stream\r\n\r\n";
    form.after_ = "\r\n" + delimiter + "--\r\n";
    form.content_type_ = "multipart/form-data; boundary=" + boundary;
    form.digest_ = base::sha256_hex(form.before_ + std::to_string(form.file_.size()) + form.after_);
    return form;
}

base::Status UploadForm::read_at(std::uint64_t offset, char* into, std::size_t length) const {
    const base::MemoryReader before(before_);
    const base::MemoryReader after(after_);
    std::uint64_t begin = 0;
    for (const base::Reader* part :
         {static_cast<const base::Reader*>(&before), static_cast<const base::Reader*>(&file_),
          static_cast<const base::Reader*>(&after)}) {
        const std::uint64_t end = begin + part->size();
        if (offset < end && length > 0) {
            const auto here = static_cast<std::size_t>(std::min<std::uint64_t>(length, end - offset));
            WHEELYARD_TRY(part->read_at(offset - begin, into, here));
            offset += here;
            into += here;
            length -= here;
        }
        begin = end;
    }
    if (length == 0) return {};
    return base::fail("file.truncated", "The form ends at byte " + std::to_string(begin));
}

}  // namespace wheelyard::builder
