// The page for operators: files in quarantine, storage, indexes, tokens, the last changes, each through the API of this
// server. The token stays in this tab (sessionStorage) and is sent as Bearer; there is no cookie for another site to use.
"use strict";
(() => {
  const form = document.getElementById("operate");
  if (!form) return;
  const answer = document.getElementById("operate-answer");
  const server = new URL(document.body.dataset.root, location.href);
  const token_key = "wheelyard-token";
  const max_pages = 5, newest_changes = 50;
  const field = name => form.elements.namedItem(name);
  const element = yard.element;
  const say = (text, is_error) => yard.say(answer, text, is_error);
  const call = (path, body) => yard.call(new URL(path, server), field("token").value, body).then(reply => reply.json());
  const change = path => {
    const reason = field("reason").value.trim();
    if (!reason) {
      field("reason").focus();
      return Promise.reject(new Error("Write the reason first: it goes to the audit log."));
    }
    return call(path, {format: "wheelyard.change/1", reason});
  };
  const button = (label, title, act, kind) => {
    const made = element("button", label, kind);
    made.type = "button";
    made.setAttribute("aria-label", title);
    made.addEventListener("click", () => {
      made.disabled = true;
      act().then(() => { say(title + ": done."); return show(); })
        .catch(error => say(error.message, true)).finally(() => { made.disabled = false; });
    });
    return made;
  };
  const row = cells => {
    const made = element("tr");
    cells.forEach((cell, at) => {
      const part = element(at === 0 ? "th" : "td");
      if (at === 0) part.scope = "row";
      part.append(...[cell].flat());
      made.append(part);
    });
    return made;
  };
  // A list that may not be read says so in its own table; the others are shown. A late answer to an earlier question is not.
  const asked = {};
  const fill = (id, rows_of) => {
    const question = asked[id] = (asked[id] ?? 0) + 1;
    const body = document.getElementById(id).tBodies[0];
    const put = rows => question === asked[id] && body.replaceChildren(...rows);
    const note = text => {
      const cell = element("td", text, "quiet");
      cell.colSpan = 9;
      const line = element("tr");
      line.append(cell);
      return line;
    };
    return rows_of().then(rows => put(rows.length ? rows : [note("None.")])).catch(error => put([note(error.message)]));
  };
  const size = bytes => bytes < 2 ** 20 ? Math.ceil(bytes / 2 ** 10) + " KiB" :
    bytes < 2 ** 30 ? (bytes / 2 ** 20).toFixed(1) + " MiB" : (bytes / 2 ** 30).toFixed(1) + " GiB";
  // To a page of an index: "main", "main/project/torch".
  const link_to = (path, text) => {
    const link = element("a", text ?? path);
    link.href = new URL(path.split("/").map(encodeURIComponent).join("/") + "/", server);
    return link;
  };
  const day = text => (text ?? "").slice(0, 16).replace("T", " ");

  const quarantine = async () => {
    const folder = "api/v1/indexes/" + encodeURIComponent(field("index").value) + "/files";
    const rows = [];
    let after = "";
    for (let page = 0; page < max_pages && after !== null; ++page) {
      const part = await call(folder + "?state=quarantined&after=" + encodeURIComponent(after));
      for (const file of part.files) {
        const at = folder + "/" + encodeURIComponent(file.filename) + "/";
        rows.push(row([file.filename, size(file.size_bytes), file.uploaded_by + ", " + day(file.uploaded), file.state_reason,
          [button("Release", "Release " + file.filename, () => change(at + "release")), " ",
           button("Delete", "Delete " + file.filename, () => change(at + "delete"), "danger")]]));
      }
      after = part.next;
    }
    return rows;
  };
  // What the index keeps, in a sentence, and a row for each of its largest projects.
  const storage = async () => {
    const line = document.getElementById("storage").closest("div").previousElementSibling;
    line.hidden = true;
    const kept = await call("api/v1/indexes/" + encodeURIComponent(field("index").value) + "/storage");
    const files = count => count + (count === 1 ? " file" : " files");
    line.textContent = files(kept.files) + ", " + size(kept.bytes) + (kept.quota_bytes ? " of " + size(kept.quota_bytes) : "") +
      (kept.quota_files ? ", at most " + files(kept.quota_files) : "") +
      (kept.quarantined.files ? "; in quarantine " + files(kept.quarantined.files) + ", " + size(kept.quarantined.bytes) : "") +
      "; the disk has " + size(kept.free_bytes) + " left.";
    line.hidden = false;
    return kept.projects.map(one => {
      const bar = element("progress");
      [bar.max, bar.value] = [kept.bytes || 1, one.bytes];
      bar.setAttribute("aria-label", "Share of " + one.project);
      return row([link_to(field("index").value + "/project/" + one.project, one.project), String(one.files), size(one.bytes), bar, day(one.newest)]);
    });
  };
  // Archiving can be undone, so it needs no reason: the audit log has what changed. The revision keeps others' changes.
  const indexes = async () => (await call("api/v1/indexes")).indexes.map(({name, revision, keys}) => {
    const word = keys.archived ? "Reopen" : "Archive";
    const set = () => call("api/v1/indexes/" + encodeURIComponent(name) + "/set",
      {format: "wheelyard.index_change/1", keys: {archived: keys.archived ? null : true}, revision});
    const quota = [keys.quota_mib && size(keys.quota_mib * 2 ** 20), keys.quota_files && keys.quota_files + " files"];
    return row([link_to(name), keys.title ?? "", keys.read === "token" ? "tokens" : "everyone", keys.archived ? "archived" : "active",
      quota.filter(Boolean).join(", "), keys.sdists ? "yes" : "no", button(word, word + " the index " + name, set)]);
  });
  const tokens = async () => (await call("api/v1/tokens")).tokens.map(token => row([token.name, token.id, token.indexes.join(" "),
    token.projects.join(" "), token.actions.join(" "), token.state,
    token.state === "revoked" ? "" : button("Revoke", "Revoke the token " + token.name, () => change("api/v1/tokens/" + token.id + "/revoke"), "danger")]));
  const changes = async () => (await call("api/v1/audit?newest=" + newest_changes)).events.reverse().map(event =>
    row([day(event.time), event.kind.replaceAll("_", " "), event.index, event.filename || event.project, event.actor, event.reason]));

  const show = () => Promise.all([fill("quarantine", quarantine), fill("storage", storage), fill("indexes", indexes), fill("tokens", tokens), fill("changes", changes)])
    .then(() => { document.getElementById("lists").hidden = false; });
  const list_indexes = () => call("").then(data => {
    // An index that is not listed, such as a staging one, can be typed.
    document.getElementById("known").replaceChildren(...data.indexes.map(index => new Option(index.name, index.name)));
    field("index").value ||= data.indexes[0]?.name ?? "";
  });
  form.hidden = false;
  field("token").value = sessionStorage.getItem(token_key) ?? "";
  form.addEventListener("submit", event => {
    event.preventDefault();
    sessionStorage.setItem(token_key, field("token").value.trim());
    say("");
    list_indexes().then(show).catch(error => say(error.message, true));
  });
  field("index").addEventListener("change", () => Promise.all([fill("quarantine", quarantine), fill("storage", storage)]));
  if (field("token").value) form.requestSubmit();
})();
