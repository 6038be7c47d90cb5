// A button that copies a text, and "Copied" once it has.
"use strict";
yard.copy_button = text => {
  const copy = yard.element("button", "Copy");
  copy.type = "button";
  copy.addEventListener("click", () => navigator.clipboard.writeText(text).then(() => { copy.textContent = "Copied"; }, () => {}));
  return copy;
};
for (const part of document.querySelectorAll(".copied")) part.append(yard.copy_button(part.querySelector("code").textContent));
