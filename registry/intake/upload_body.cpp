#include "registry/intake/upload_body.hpp"

#include <utility>

#include "registry/intake/upload_steps.hpp"

namespace wheelyard::registry {

using wire::refuse;

wire::Answered<void> UploadBody::field(std::string_view name, std::string_view value) {
    if (name == "content")
        return refuse("upload.content_without_name", "The field content must be a file with a name",
                      "`content` has no file name.");
    std::optional<std::string>* known = upload_.form.field(name);
    if (known == nullptr) return {};
    if (*known && **known != value) {
        return refuse("upload.field_twice", "A form field was sent twice: " + std::string(name),
                      "The field `" + std::string(name) + "` has two different values.");
    }
    *known = std::string(value);
    return {};
}

wire::Answered<void> UploadBody::file_begin(std::string_view name, std::string_view filename) {
    in_content_ = name == "content";
    if (!in_content_) return {};  // gpg_signature and the like
    // An archive of documentation is refused for what it is, not for its name.
    if (upload_.form.action) {
        if (auto action = check_action(upload_.form); !action) return action;
    }
    if (upload_.staged)
        return refuse("upload.content_twice", "The form has two files",
                      "The field `content` was sent twice.");
    upload_.filename_text = wire::one_line_title(filename);  // shortened and sanitized for the log
    auto parsed = check_filename(filename, upload_.index.policy, accepted_files(upload_.index));
    if (!parsed) return tl::unexpected(std::move(parsed.error()));
    upload_.filename_text = std::string(filename);
    upload_.filename = std::move(*parsed);
    // Checked before the bytes, so that a refused client does not send gigabytes first.
    if (auto permitted = check_permitted(); !permitted) return permitted;
    if (auto room = check_upload_quota(upload_, parts_, 0); !room) return room;
    auto staged = parts_.blobs.stage();
    if (!staged) return failed(upload_, staged.error());
    upload_.staged.emplace(std::move(*staged));
    return {};
}

// By the token's own right, or because its site has the task that the form names.
wire::Answered<void> UploadBody::check_permitted() {
    if (upload_.form.task) return check_task(upload_, parts_);
    const std::string& project = upload_.filename->project;
    if (allows(upload_.token, upload_.index.name, project, upload_action)) return {};
    return refuse("auth.project_refused", "This token does not permit uploads of " + project,
                  "The token's scope does not include the project `" + project + "`.", project,
                  "ask an administrator for a token with this project");
}

wire::Answered<void> UploadBody::file_bytes(std::string_view bytes) {
    if (!in_content_) {
        other_file_bytes_ += bytes.size();
        if (other_file_bytes_ <= max_other_file_bytes) return {};
        return refuse("upload.form_too_large", "The upload form is too large",
                      "A file other than `content` is too large.");
    }
    if (auto fits = check_size(upload_.staged->size() + bytes.size(), upload_.index.max_file_bytes); !fits) {
        upload_.staged.reset();
        return fits;
    }
    auto written = parts_.room.check(bytes.size());
    if (written) written = upload_.staged->write(bytes);
    if (!written) {
        upload_.staged.reset();  // frees the disk space at once
        return failed(upload_, written.error());
    }
    return {};
}

}  // namespace wheelyard::registry
