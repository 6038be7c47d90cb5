// The page of one build or of one request, which its address names: what is known of it, and its log while it grows. A line has an address
// (#L12); what is searched is in the address, too.
"use strict";
(() => {
  const section = document.getElementById("build");
  if (!section) return;
  const {element, dotted} = yard;
  const asked = new URLSearchParams(location.search), index = section.dataset.index;
  const server = new URL(document.body.dataset.root + "../", location.href);
  const is_request = section.dataset.kind === "requests";
  const path = "api/v1/indexes/" + [index, section.dataset.kind, ...(is_request ? [] : [asked.get("site") ?? ""]), asked.get("id") ?? ""].map(encodeURIComponent).join("/");
  const token_key = "wheelyard-token", interval_ms = 5000, max_lines = 1000;
  const colours = {done: "have", failed: "failed", ended: "excluded", cancelled: "excluded"};
  // Of a request in the words of the list of requests.
  const state_of = (item, of_request = is_request) => of_request ? yard.state({state: item.state})[0] : element("span", item.state, "state " + (colours[item.state] ?? yard.colours[item.state] ?? "active"));
  // As a stranger, too, if the token of this tab is refused: it may be an old one. The API takes no cookie.
  const ask = (where, own) => fetch(new URL(where, server), {cache: "no-store", headers: own ? {Authorization: "Bearer " + own} : {}});
  let is_refused = false;
  const get = where => ask(where, yard.token()).then(reply => (is_refused = yard.token() !== "" && [401, 403].includes(reply.status)) ? ask(where, "") : reply)
    .then(async reply => {
      if (reply.ok) return reply;
      const problem = await reply.json().catch(() => ({}));
      throw Object.assign(new Error([problem.detail || "The server answers " + reply.status + ".", problem.advice].filter(Boolean).join(" – ")), {status: reply.status});
    });
  // What people are called, for those who may read the audit log. Nobody else is asked for a password because of it.
  let people = null;
  const learn_names = async ({asked_by, reason}) => {
    if ([asked_by, reason].some(text => text?.includes("login:")) && yard.token()) people ??= await yard.call(new URL("api/v1/people", server), yard.token()).then(reply => reply.json()).then(reply => reply.names).catch(() => ({}));
  };
  const me = sessionStorage.getItem("wheelyard-login-name");
  const who = name => name === me ? "you" : Object.hasOwn(people ?? {}, name) ? name + " " + people[name] : name;
  const with_names = text => text.replace(/login:[\w.-]+:[0-9a-f]{16}/g, name => who(name));
  const is_over = build => Object.hasOwn(colours, build.state);
  const seconds = build => Math.max(0, Math.floor((Date.parse(build.ended) - Date.parse(build.began)) / 1000));

  // The log: all of it in memory, some of its lines on the page.
  const log = {lines: [], rest: "", offset: 0, decoder: new TextDecoder(), top: 0, chosen: -1, found: [], is_reading: false};
  const box = element("pre", "", "log lines"), tools = element("form", "", "search"), note = element("p", "", "quiet");
  const question = element("input"), label = element("label", "Search the log "), earlier = element("button", "Earlier lines"), later = element("button", "Later lines");
  box.tabIndex = 0;
  box.setAttribute("aria-label", "Log");
  question.type = "search";
  question.autocomplete = "off";
  question.value = asked.get("log") ?? "";
  label.append(question);
  note.setAttribute("role", "status");
  const next = element("button", "Next"), download = element("button", "Download", "second");
  next.type = "submit";
  for (const button of [earlier, later, download]) button.type = "button";
  download.addEventListener("click", () => {
    const link = element("a"), url = URL.createObjectURL(new Blob([log.lines.concat(log.rest || []).join("\n") + "\n"], {type: "text/plain"}));
    Object.assign(link, {href: url, download: [asked.get("site"), asked.get("id")].filter(Boolean).join("-") + ".log"});
    link.click();
    URL.revokeObjectURL(url);
  });
  tools.append(label, next, download);
  // A line that a progress bar rewrites shows its last state; colours of terminals are left out.
  const shown = line => line.replace(/\r+$/, "").replace(/^[^]*\r/, "").replace(/\x1b\[[0-9;?]*[A-Za-z]/g, "");
  const draw = () => {
    const found = new Set(log.found), end = Math.min(log.top + max_lines, log.lines.length);
    box.replaceChildren(...log.lines.slice(log.top, end).map((text, at) => {
      const number = log.top + at + 1, line = element("span", "", "line"), link = element("a", String(number));
      line.id = "L" + number;
      link.href = "#L" + number;
      if (number - 1 === log.chosen) line.classList.add("chosen");
      if (found.has(number - 1)) line.classList.add("found");
      line.append(link, text || " ");
      return line;
    }));
    earlier.hidden = log.top === 0;
    later.hidden = end === log.lines.length;
  };
  const search = () => {
    const wanted = question.value.toLowerCase();
    log.found = wanted ? log.lines.flatMap((line, at) => line.toLowerCase().includes(wanted) ? [at] : []) : [];
    note.textContent = !wanted ? "" : log.found.length === 1 ? "1 line" : log.found.length + " lines";
    next.disabled = log.found.length === 0;
  };
  const go_to = line => {
    if (!(line >= 0 && line < log.lines.length)) return;
    log.chosen = line;
    log.top = Math.max(0, Math.min(line - max_lines / 2, log.lines.length - max_lines));
    draw();
    // In the box and on the page: a link to a line shows the line.
    document.getElementById("L" + (line + 1)).scrollIntoView({block: "center"});
  };
  const linked = () => { const match = /^#L(\d+)$/.exec(location.hash); return match ? Number(match[1]) - 1 : -1; };
  // The line of the address may come later, when the log has grown to it.
  let is_awaited = linked() >= 0;
  const go_to_linked = () => {
    if (linked() < 0 || linked() >= log.lines.length) return false;
    is_awaited = false;
    go_to(linked());
    return true;
  };
  addEventListener("hashchange", () => { is_awaited = !go_to_linked() && linked() >= 0; });
  question.addEventListener("input", () => { yard.address({log: question.value}); search(); draw(); });
  tools.addEventListener("submit", event => {
    event.preventDefault();
    const after = log.found.find(line => line > log.chosen) ?? log.found[0];
    if (after !== undefined) go_to(after);
  });
  const move = by => { log.top = Math.max(0, Math.min(log.top + by, log.lines.length - 1)); draw(); box.scrollTop = 0; };
  earlier.addEventListener("click", () => move(-max_lines));
  later.addEventListener("click", () => move(max_lines));
  const read_log = async build => {
    if (log.is_reading || !build.may_read_log) return;
    log.is_reading = true;
    const is_first = log.lines.length === 0, was_end = log.top + max_lines >= log.lines.length;
    const at_end = (is_first || box.scrollTop + box.clientHeight >= box.scrollHeight - 8) && log.chosen < 0 && !is_awaited;
    try {
      const before = log.offset;
      while (log.offset < build.log_bytes) {
        const bytes = await (await get(path + "/log?offset=" + log.offset)).arrayBuffer();
        if (bytes.byteLength === 0) break;
        log.offset += bytes.byteLength;
        const lines = (log.rest + log.decoder.decode(bytes, {stream: true})).split("\n");
        log.rest = lines.pop();
        for (const line of lines) log.lines.push(shown(line));
      }
      if (is_over(build) && log.rest) log.lines.push(shown(log.rest)), log.rest = "";
      if (before === log.offset) return;
      search();
      if (is_awaited && go_to_linked()) return;
      if (is_first && question.value && log.found.length) return go_to(log.found[0]);
      if (was_end && at_end) log.top = Math.max(0, log.lines.length - max_lines);
      draw();
      if (was_end && at_end) box.scrollTop = box.scrollHeight;
    } finally { log.is_reading = false; }
  };

  const head = element("div"), others = element("div"), log_part = element("section"), key = element("form", "", "search");
  const key_field = element("input"), key_label = element("label", "Token ");
  key_field.type = "password";
  key_field.autocomplete = "off";
  key_label.append(key_field);
  const key_note = element("span", "", "quiet");
  key_note.setAttribute("role", "status");
  key.append(element("p", "The logs of this index are for tokens with the action read. The token stays in this tab.", "quiet"), key_label, element("button", "Show"), " ", key_note);
  key.addEventListener("submit", event => {
    event.preventDefault();
    sessionStorage.setItem(token_key, key_field.value.trim());
    refresh().then(() => { key_note.textContent = key.hidden ? "" : "This token does not read them."; });
  });
  log_part.append(element("h2", "Log"), key, tools, note, earlier, box, later);
  const link_to = (page, named) => {
    const link = element("a", named.id);
    link.href = page + ".html?" + new URLSearchParams(named);
    return link;
  };
  const listed = (title, items, parts_of) => {
    if (!items?.length) return [];
    const list = element("ul", "", "builds");
    for (const item of items) {
      const row = element("li", "", "row");
      row.append(...parts_of(item));
      list.append(row);
    }
    return [element("h2", title), list];
  };
  // What the token may do with it: act.js. A retry is a request of its own, which an agent of the site takes although it has given the
  // wheel up: nothing here calls a builder.
  const answer = element("p", "", "quiet"), acts = element("p");
  answer.setAttribute("role", "status");
  const learn_acts = async build => acts.replaceChildren(...await yard.acts("task", {...build, index}, answer, (verb, reply) =>
    verb === "retry" ? location.assign("request.html?" + new URLSearchParams({id: reply.id})) : refresh()));
  // To who may not retry, or has not said who asks.
  const no_retry_of = () => {
    if (yard.token() && !is_refused) return element("p", "Retry is here for tokens that approve requests, and yours may not: ask the farm's operators.", "quiet");
    const line = element("p", "Retry is here for tokens that approve requests. ", "quiet"), link = element("a", "Log in");
    link.hidden = true;
    yard.offer_login(link, () => location.pathname + location.search + location.hash);
    line.append(link);
    return line;
  };
  // The cause is a line of the log, or ends with one in brackets, which may come later: of equal ones the last.
  const cause_link = element("a");
  const link_cause = (cause = "") => {
    const line = Math.max(0, ...[cause, / \[(.+)\]$/.exec(cause)?.[1]].filter(Boolean).map(wanted => log.lines.findLastIndex(text => text.includes(wanted)) + 1));
    cause_link.hidden = line === 0;
    cause_link.href = "#L" + line;
    cause_link.textContent = "In the log: line " + line;
  };
  let last = "";
  const show = build => {
    document.getElementById("build-needs").hidden = true;
    const name = build.package + " " + build.version, word = state_of(build);
    document.title = name + (is_request ? " · request to " : " · build of ") + index;
    document.getElementById("title").replaceChildren(name + " ", word, element("small", index));
    const text = JSON.stringify({...build, log_bytes: 0});
    if (text !== last) {
      last = text;
      learn_acts(build).catch(() => {});
      const parts = [dotted("p", yard.place(build), build.phase && (build.state === "failed" ? "failed in phase " : is_over(build) ? "last in phase " : "phase ") + build.phase, build.began && ["began ", yard.time(build.began)],
        build.asked && ["asked ", yard.time(build.asked), ...(build.asked_by ? [" by " + who(build.asked_by)] : [])], build.attempts > 1 && build.attempts + " attempts",
        build.place && "place " + build.place + " in the queue", is_request && is_over(build) && ["ended ", yard.time(build.changed)],
        build.ended && ["ended ", yard.time(build.ended)], build.began && build.ended && "took " + yard.duration(seconds(build)),
        build.expected_end && [(Date.parse(build.expected_end) < Date.now() ? "was " : "") + "expected to end ", yard.time(build.expected_end), ", as " + (build.expected_from === 1 ? "the last one" : "the last " + build.expected_from) + " did"])];
      if (build.state === "awaits_approval") parts.push(element("p", "An operator has to approve it.", "note"));
      if (build.nobody_takes) parts.push(element("p", "Waits: " + build.nobody_takes, "note"));
      if (is_request && build.reason && build.reason !== build.cause?.slice(0, build.reason.length)) parts.push(element("p", with_names(build.reason), "quiet"));
      if (build.waiting) parts.push(element("p", "Waits: " + build.waiting, "note"));
      if (build.total > 0) {
        const steps = element("p");
        steps.append(yard.bar(build), " " + build.done + " of " + build.total + " steps");
        parts.push(steps);
      }
      parts.push(yard.phases(build), yard.picture(build));
      if (build.cause) parts.push(element("h2", "Why it failed"), element("pre", build.cause), cause_link);
      if (build.remedy) {
        const remedy = element("p"), command = /wheelyard-builder [a-z]+ [^\s`;,]+( --site [^\s`;,]+)?/.exec(build.remedy);
        yard.say(remedy, "What to do: " + build.remedy + " ", true);
        if (command) remedy.append(yard.copy_button(command[0]));
        parts.push(remedy);
        if (!build.may_retry) parts.push(element("p", "This is for the staff of " + (build.site ?? "the site") + ": send them the address of this page.", "quiet"));
      }
      if (build.may_retry === false) parts.push(no_retry_of());
      // Of a Git repository also a tag and a commit: "https://code.example.org/six@v1.0 (3f2a9c8)".
      const [, address] = /^(https:\/\/\S+?)(@\S+ \(.*\))?$/.exec(build.source ?? "") ?? [], source = element(address ? "a" : "span", build.source);
      if (address) Object.assign(source, {href: address, rel: "nofollow noopener"});
      if (build.source) parts.push(dotted("p", ["Source: ", source], build.source_sha256 && ["SHA-256 ", element("code", build.source_sha256)]));
      // The wheel of a build names the build: the link opens its part of the project's page.
      const is_wheel = !is_request && build.state === "done" && !build.purpose;
      const project = element("a", (is_request && build.state === "done" ? "Install " : is_wheel ? "Its wheel on the page of " : build.state === "done" ? "The wheels of " + build.version + " of " : "All of ") + build.package);
      project.href = document.body.dataset.root + "project/" + (build.state === "done" ? encodeURIComponent(build.package) + "/" : "?" + new URLSearchParams({q: build.package})) + (is_wheel ? "#built-" + build.id : build.state === "done" && !is_request ? "#version-" + build.version : "");
      parts.push(dotted("p", [project], build.rule && "rule " + build.rule));
      head.replaceChildren(...parts.filter(Boolean));
      others.replaceChildren(...listed("Requests for this wheel", build.requests, task => [link_to("request", {id: task.id}), state_of(task, true), dotted("span", ["asked ", yard.time(task.asked)])]),
        ...listed(is_request ? "Builds" : "Other attempts at this wheel", build.others ?? build.builds, other => [link_to("build", {site: other.site, id: other.id}), state_of(other, false),
          dotted("span", other.began && [yard.time(other.began)], other.began && other.ended && yard.duration(seconds(other)), other.cause)]));
    }
    log_part.hidden = is_request;  // its builds have the logs
    key.hidden = build.may_read_log;
    box.hidden = !build.may_read_log;
    tools.hidden = note.hidden = box.hidden || build.log_bytes === 0;
    if (!build.may_read_log) earlier.hidden = later.hidden = true;
    else if (build.log_bytes === 0 && !box.hasChildNodes()) box.append(element("span", is_over(build) ? "No log was kept." : "Nothing yet.", "line"));
    link_cause(build.cause);
    return read_log(build).then(() => link_cause(build.cause));
  };
  let is_last = false;
  const refresh = () => get(path).then(reply => reply.json()).then(async build => { await learn_names(build); is_last = is_over(build) && log.offset >= (build.log_bytes ?? 0); return show(build); }).catch(error => {
    const needs = document.getElementById("build-needs");
    if (last) return;
    needs.hidden = false;
    needs.replaceChildren(asked.has("id") ? error.message : needs.textContent);
    if (error.status === 404 && !yard.token()) needs.append(" ", yard.lead_to_login(element("a", "Log in, or enter a token, if it is private.")));
  });
  section.append(head, acts, answer, log_part, others);
  log_part.hidden = true;
  search();
  draw();
  if (asked.has("id") && (is_request || asked.has("site"))) refresh();
  setInterval(() => { if (!document.hidden && last && !is_last) refresh(); }, interval_ms);
})();
