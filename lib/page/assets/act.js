// What people do with a file, a request, a failed build or a token, on whatever page they look at it. A row is an operation of the
// registry with its right, its reason, its undo and the command that does the same. A button is for whom the registry gives the right:
// it asks in a dialog, and the answer has the button that undoes it.
"use strict";
yard.act = (() => {
  const {element} = yard;
  const server = document.querySelector("nav .farm").href;
  const call = (path, body) => yard.call(new URL(path, server), yard.token(), body).then(reply => reply.json());
  const folder_of = index => "api/v1/indexes/" + encodeURIComponent(index);
  const change = (verb, of, reason) => ({format: "wheelyard.change/1", ...(reason && {reason})});
  // Of what, with its address below /api/v1/ and the words of its command.
  const kinds = {
    file: {name: of => of.filename, path: (verb, of) => ["indexes", of.index, "files", of.filename, verb], words: (verb, of) => [verb, of.index, of.filename]},
    task: {name: of => of.package + " " + of.version, path: (verb, of) => ["tasks", of.id, verb], words: (verb, of) => ["task", verb, of.id]},
    token: {name: of => "the token " + of.name, path: (verb, of) => ["tokens", of.id, verb], words: (verb, of) => ["token", verb, of.id]},
  };
  // `fits`: whether it can be done now. `reason`: needed, optional, or none. `makes`: what a file is then.
  // `not_by`: who may not. `learn`: asks the registry what else the thing has.
  const is_active = file => file.state === "active";
  const rows = {
    yank: {on: "file", label: "Yank", rights: ["yank"], reason: "needed", undo: "unyank", makes: {yanked: true}, fits: file => is_active(file) && !file.yanked,
           does: "Installers then take it only for an exact pin, and its page has the reason."},
    unyank: {on: "file", label: "Unyank", rights: ["yank"], reason: "optional", undo: "yank", makes: {yanked: false}, fits: file => is_active(file) && file.yanked, does: "Installers take it again."},
    quarantine: {on: "file", label: "Quarantine", rights: ["quarantine"], reason: "needed", undo: "release", makes: {state: "quarantined"}, fits: is_active,
                 does: "It is no longer listed or served, and keeps its name and bytes."},
    release: {on: "file", label: "Release", rights: ["quarantine"], reason: "needed", undo: "quarantine", makes: {state: "active"}, fits: file => file.state === "quarantined",
              does: "It is listed and served again, if its bytes are intact."},
    pin: {on: "file", label: "Pin", rights: ["pin"], reason: "optional", undo: "unpin", makes: {pinned: true}, fits: file => is_active(file) && file.pinned !== true, does: "Nobody deletes it, nor does retention."},
    unpin: {on: "file", label: "Unpin", rights: ["pin"], reason: "optional", undo: "pin", makes: {pinned: false}, fits: file => file.pinned !== false, does: "It can be deleted again."},
    promote: {on: "file", label: "Promote", rights: ["promote"], reason: "optional", undo: "quarantine", not_by: "uploaded_by", fits: is_active, does: "Another index has it, too; no bytes are copied."},
    delete: {on: "file", label: "Delete", rights: ["delete"], reason: "needed", kind: "danger", makes: {state: "deleted"}, fits: file => file.state === "quarantined" && !file.pinned,
             does: "Its bytes go, and its name is never used again."},
    approve: {on: "task", label: "Approve", rights: ["approve"], undo: "cancel", not_by: "asked_by", fits: task => task.state === "awaits_approval",
              does: "An agent of the site builds it."},
    reject: {on: "task", label: "Refuse", rights: ["approve"], reason: "needed", kind: "danger", undo: "retry", not_by: "asked_by", fits: task => task.state === "awaits_approval",
             does: "Nobody builds it, and who asked sees the reason."},
    cancel: {on: "task", label: "Cancel", rights: ["task"], others: "approve", reason: "optional", kind: "danger", undo: "retry",
             fits: (task, rights) => ["queued", "claimed"].includes(task.state) || (task.state === "awaits_approval" && task.asked_by === rights?.name),
             does: "Nobody builds it; an agent that does ends its build at its next run."},
    retry: {on: "task", label: "Retry", rights: ["approve", "task"], undo: "cancel", learn: of => source_of(of), fits: task => !task.purpose && ["failed", "cancelled"].includes(task.state),
            does: "A request for the same wheel. Its job asks for more memory or time where the last one lacked it, as far as the site allows.", path: () => ["tasks"],
            words: (verb, of) => ["task", "add", of.index, of.package, of.version, "--python", of.python, ...(of.accelerator ? ["--accelerator", of.accelerator] : []), ...(of.source_index ? ["--source", of.source_index] : [])],
            body: (verb, of) => ({format: "wheelyard.task/1", ...Object.fromEntries(["index", "package", "version", "python", "accelerator"].map(name => [name, of[name] ?? ""])), ...(of.source_index && {source: {index: of.source_index}})})},
    revoke: {on: "token", label: "Revoke", rights: [], reason: "needed", is_silent: true, kind: "danger", fits: token => token.state === "active",
             does: "It is refused from the next request on. The reason goes to the server's log."},
  };
  const path_of = (verb, of) => (rows[verb].path ?? kinds[rows[verb].on].path)(verb, of);
  const title_of = (verb, of) => rows[verb].label + " " + kinds[rows[verb].on].name(of);
  // zsh expands a word that begins with "=".
  const quote = word => /^[\w.,:\/@%+-][\w.,:\/@%+=-]*$/.test(word) ? word : "'" + word.replaceAll("'", "'\\''") + "'";
  const command_of = (verb, of, reason, to) => ["wheelyard-registry", ...(rows[verb].words ?? kinds[rows[verb].on].words)(verb, of), ...(to ? ["--to", to] : []),
    ...(rows[verb].reason && !rows[verb].is_silent && (reason || rows[verb].reason === "needed") ? ["--reason", reason || "WHY"] : []), "--url", server, "--token-file", "TOKEN"].map(quote).join(" ");

  // The index that has the uploaded source of a request, or of a build. With a build the registry lists the
  // requests that it answers by the digest of its source; while none is known, the newest one is meant.
  const source_of = async of => {
    const ids = of.site ? (await call(folder_of(of.index) + "/builds/" + [of.site, of.id].map(encodeURIComponent).join("/"))).requests ?? [] : [of];
    const tasks = await Promise.all(ids.map(({id}) => call("api/v1/tasks/" + encodeURIComponent(id))));
    return {source_index: (of.source_sha256 ? tasks : tasks.slice(0, 1)).find(({source}) => source)?.source.index};
  };
  // What the registry says that this token may do in an index; null: nothing. Each question is answered once for a token.
  const told = new Map();
  const once = (question, ask) => {
    const key = yard.token() + " " + question;
    if (!told.has(key)) told.set(key, ask().catch(error => { told.delete(key); throw error; }));
    return told.get(key);
  };
  const rights_in = index => once(index, () => call(folder_of(index) + "/access")).catch(() => null);
  const covers = (rights, actions, of) => actions.every(action => rights?.actions.includes(action)) &&
    (!actions.length || [of.project ?? of.package, "*"].some(name => rights.projects.includes(name)));
  const targets_of = async of => {
    const {indexes} = await once("", () => call("")), names = indexes.map(index => index.name).filter(name => name !== of.index);
    const all = await Promise.all(names.map(rights_in));
    return names.filter((name, at) => covers(all[at], rows.promote.rights, of));
  };
  // A person cancels what others asked for only with a further right; nobody judges what is their own.
  const may = (verb, of, rights) => {
    const {rights: needed, others, not_by} = rows[verb], is_others = others && rights?.name.startsWith("login:") && of.asked_by !== rights.name;
    return covers(rights, is_others ? [...needed, others] : needed, of) && !(not_by && of[not_by] === rights?.name);
  };

  const ask = async (verb, thing, answer, done) => {
    const row = rows[verb], of = row.learn ? {...thing, ...await row.learn(thing)} : thing, box = element("dialog"), form = element("form"), title = element("h2", title_of(verb, of)), code = element("code"), said = element("p", "", "quiet");
    const targets = verb === "promote" ? await targets_of(of) : null, to = element("select"), reason = element("input"), act = element("button", row.label, row.kind), leave = element("button", "Leave it", "second");
    title.id = "act-title";
    box.setAttribute("aria-labelledby", title.id);
    said.setAttribute("role", "status");
    leave.type = "button";
    Object.assign(reason, {name: "reason", maxLength: 500, autocomplete: "off", required: row.reason === "needed"});
    to.append(...(targets ?? []).map(name => new Option(name, name)));
    const labelled = (text, field) => {
      const made = element("label", text, "wide");
      made.append(field);
      return made;
    };
    const show = () => { code.textContent = command_of(verb, of, reason.value.trim(), to.value); };
    const line = element("div", "", "install"), buttons = element("p"), right = element("p", "", "quiet");
    yard.say(right, (row.rights.length ? "Needs " + row.rights.map(name => "`" + name + "`").join(" and ") + " in " + of.index + ". " : "") + "The same in a shell, with a file that has the token:");
    line.append(code, yard.copy_button(() => code.textContent));
    buttons.append(act, " ", leave);
    form.append(title, element("p", row.does + " Undo: " + (row.undo ? rows[row.undo].label + (targets ? " there." : ".") : "none.")),
      ...(targets ? [labelled("To ", to)] : []), ...(row.reason ? [labelled("Reason ", reason)] : []), right, line, said, buttons);
    box.append(form);
    form.addEventListener("input", show);
    leave.addEventListener("click", () => box.close());
    box.addEventListener("close", () => box.remove());
    form.addEventListener("submit", event => {
      event.preventDefault();
      act.disabled = true;
      const body = (row.body ?? change)(verb, of, reason.value.trim());
      call("api/v1/" + path_of(verb, of).map(encodeURIComponent).join("/"), targets ? {...body, to: to.value} : body).then(async reply => {
        box.close();
        const then = row.on === "task" ? reply : {...of, ...row.makes, ...(targets && {index: to.value})};
        if (!targets) Object.assign(of, row.makes);
        yard.say(answer, title.textContent + ": done.");
        if (row.undo && may(row.undo, then, await rights_in(then.index))) answer.append(" Undo: ", button(row.undo, then, answer, done));
        answer.tabIndex = -1;
        answer.focus();
        await Promise.resolve(done(verb, reply)).catch(error => answer.append(" " + error.message));
      }).catch(error => {
        act.disabled = false;
        yard.say(box.open ? said : answer, (box.open ? "" : title.textContent + ": ") + error.message, true);
      });
    });
    show();
    document.body.append(box);
    box.showModal();
    if (row.reason) reason.focus();
  };
  let is_asking = false;  // until the dialog is there
  const button = (verb, of, answer, done) => {
    const made = element("button", rows[verb].label, rows[verb].kind ?? "second");
    made.type = "button";
    made.dataset.act = verb;
    made.setAttribute("aria-label", title_of(verb, of));
    made.addEventListener("click", () => {
      if (is_asking) return;
      is_asking = true;
      ask(verb, of, answer, done).catch(error => yard.say(answer, error.message, true)).finally(() => { is_asking = false; });
    });
    return made;
  };
  // The buttons of a thing, with spaces. `answer`: the line that says what was done; `done(verb, reply)`: shows how it is now.
  const buttons = async (kind, of, answer, done) => {
    const rights = kind === "token" ? null : await rights_in(of.index);
    const verbs = Object.keys(rows).filter(verb => rows[verb].on === kind && rows[verb].fits(of, rights) && may(verb, of, rights));
    const has_target = verbs.includes("promote") && (await targets_of(of).catch(() => [])).length > 0;
    return verbs.filter(verb => verb !== "promote" || has_target).flatMap(verb => [button(verb, of, answer, done), " "]);
  };
  return {rows, path_of, command_of, call, folder_of, rights_in, buttons};
})();
// The wheels of a project's page, and those in quarantine, which it does not offer.
(() => {
  const needed = document.getElementById("needed"), section = document.getElementById("wheels")?.parentElement;
  if (!needed || !section) return;
  const {element} = yard, {project} = needed.dataset, own = decodeURIComponent(new URL(document.body.dataset.root, location.href).pathname.split("/").at(-2));
  const draw = (file, place, badges) => {
    const line = element("p"), answer = element("p", "", "quiet");
    answer.setAttribute("role", "status");
    const show = () => yard.act.buttons("file", file, answer, show).then(buttons => {
      line.replaceChildren(...buttons);
      const word = file.state === "quarantined" ? "in quarantine" : file.state === "deleted" ? "deleted" : file.yanked ? "yanked" : "";
      badges?.querySelector(".yanked")?.remove();
      if (word) badges?.append(" ", element("span", word, "state yanked"));
    });
    place(line, answer);
    return show();
  };
  const begin = async () => {
    if (!await yard.act.rights_in(own)) return;
    const listed = await yard.act.call(yard.act.folder_of(own) + "/files?" + new URLSearchParams({name: project}))
      .then(({files}) => files.filter(file => file.project === project), () => []);
    const drawn = [];
    for (const part of document.querySelectorAll("details[data-index]")) {
      const filename = part.querySelector("summary .mono").textContent, {index} = part.dataset;
      const known = index === own && listed.find(file => file.filename === filename);
      drawn.push(draw({filename, project, state: "active", yanked: Boolean(part.querySelector("summary .yanked")), ...known, index}, (...parts) => part.querySelector("p").after(...parts), part.firstElementChild));
    }
    const list = element("ul");
    for (const file of listed.filter(file => file.state === "quarantined")) {
      const item = element("li"), name = element("span");
      name.append(element("span", file.filename, "mono"), file.state_reason && ": " + file.state_reason);
      item.append(name);
      list.append(item);
      drawn.push(draw({...file, index: own}, (...parts) => item.append(...parts), name));
    }
    await Promise.all(drawn);
    section.querySelector("h2").after(list);
  };
  begin().catch(() => {});
})();
