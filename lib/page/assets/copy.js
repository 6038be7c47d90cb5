// The texts of a page that are copied.
"use strict";
for (const part of document.querySelectorAll(".copied")) part.append(yard.copy_button(part.querySelector("code").textContent));
