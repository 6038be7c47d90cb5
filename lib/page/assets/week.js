// What happened in an index in the last seven days: a server knows it, a copy of the pages does not.
"use strict";
(() => {
  const part = document.getElementById("week");
  if (!part) return;
  const {element} = yard, {index} = part.dataset, max_shown = 50, since = Date.now() - 7 * 86400e3;
  const ask = name => yard.get("../api/v1/indexes/" + encodeURIComponent(index) + "/" + name);
  const kinds = {new: ["have", "new"], gone: ["excluded", "gone"], yanked: ["yanked", "yanked"], failed: ["failed", "failed"]};
  Promise.all([ask("changes"), ask("builds")]).then(([{changes, cut}, {builds}]) => {
    const failed = builds.filter(build => build.state === "failed" && Date.parse(build.ended) > since).map(build => ({kind: "failed", time: build.ended, reason: build.cause,
      filename: [build.package, build.version, "Python " + build.python, build.accelerator].filter(Boolean).join(" "), url: "builds/build.html?" + new URLSearchParams({site: build.site, id: build.id})}));
    // A file that is yanked again and again is one.
    const once = changes.filter((one, at) => changes.findIndex(other => other.kind === one.kind && other.filename === one.filename) === at);
    const all = [...once, ...failed].sort((one, other) => Date.parse(other.time) - Date.parse(one.time));
    const count = kind => all.filter(one => one.kind === kind).length;
    part.querySelector("p").textContent = (all.length ? Object.entries(kinds).map(([kind, [, word]]) => count(kind) && count(kind) + " " + word).filter(Boolean).join(", ") : "Nothing has changed") +
      (all.length > max_shown || cut ? "; the newest " + Math.min(max_shown, all.length) + " are shown." : ".");
    part.querySelector("ul").append(...all.slice(0, max_shown).map(one => {
      const item = element("li", "", "row"), title = element("strong"), link = element("a", one.filename), state = element("span"), [colour, word] = kinds[one.kind];
      link.href = one.url ?? "project/" + encodeURIComponent(one.project) + "/";
      title.append(link);
      state.append(element("span", word, "state " + colour), ...(one.reason ? [element("span", one.reason, "why")] : []));
      item.append(title, yard.time(one.time), state);
      return item;
    }));
    part.hidden = false;
  }).catch(() => {});
})();
