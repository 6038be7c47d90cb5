// The page of builds: ask for a wheel, follow the request and its log, and act on it. The token stays in this tab
// (sessionStorage) and is sent only to this server; which requests are this browser's is kept (localStorage). A tree without a
// server has no form.
"use strict";
(() => {
  const section = document.getElementById("request");
  if (!section) return;
  const form = section.querySelector("form");
  const answer = document.getElementById("request-answer");
  const list = document.getElementById("requests");
  const index = section.dataset.index;
  const server = new URL(document.body.dataset.root + "../", location.href);
  const token_key = "wheelyard-token", tasks_key = "wheelyard-tasks-" + index;
  const interval_ms = 5000, max_requests = 20, max_log_chars = 200000;
  const field = name => form.elements.namedItem(name);
  const words = name => field(name).value.split(/[\s,]+/).filter(Boolean);  // "3.11 3.12": a request for each
  const element = yard.element;
  const say = (text, is_error) => yard.say(answer, text, is_error);
  const call = (path, body) => yard.call(new URL("api/v1/" + path, server), field("token").value, body);

  // What each request shows is kept between two answers, so that an open log stays open.
  const shown = new Map();
  const is_over = task => ["done", "failed", "cancelled"].includes(task.state);
  const state_of = task => yard.state({state: task.state})[0];
  const me = sessionStorage.getItem("wheelyard-login-name");  // as reasons name who is logged in
  const known = () => { try { return JSON.parse(yard.recall(tasks_key)) ?? []; } catch { return []; } };
  const remember = id => yard.remember(tasks_key, JSON.stringify([...known().filter(one => one !== id), id].slice(-max_requests)));

  const follow_log = entry => {
    if (!entry.log_open || entry.is_reading) return;
    entry.is_reading = true;
    call("tasks/" + entry.task.id + "/log?offset=" + entry.offset).then(async reply => {
      const bytes = await reply.arrayBuffer();
      entry.offset += bytes.byteLength;
      const text = entry.log.textContent + entry.decoder.decode(bytes, {stream: true});
      const at_end = entry.log.scrollTop + entry.log.clientHeight >= entry.log.scrollHeight - 8;
      entry.log.textContent = text.slice(-max_log_chars);
      if (at_end) entry.log.scrollTop = entry.log.scrollHeight;
    }).catch(error => say(error.message, true)).finally(() => { entry.is_reading = false; });
  };

  const add = task => {
    const item = element("li", "", "card");
    const entry = {task, offset: 0, build: task.build?.id, decoder: new TextDecoder(), head: element("p"), why: element("p", "", "quiet"), acts: element("p"), acts_of: "",
                   log: element("pre", "", "log"), log_open: false, is_reading: false};
    const more = element("details");
    more.append(element("summary", "Log"), entry.log);
    more.addEventListener("toggle", () => { entry.log_open = more.open; follow_log(entry); });
    entry.log.tabIndex = 0;
    item.append(entry.head, entry.why, more, entry.acts);
    list.prepend(item);
    return entry;
  };

  // What the token may do with it: act.js. Drawn again when the state or the token is another.
  const show_acts = entry => {
    const {task} = entry, of = task.state + " " + yard.token();
    if (entry.acts_of === of) return;
    entry.acts_of = of;
    yard.acts("task", task, answer, (verb, reply) => update(reply))
      .then(buttons => { if (entry.acts_of === of) entry.acts.replaceChildren(...buttons); }, () => { entry.acts_of = ""; });
  };

  const update = task => {
    if (!shown.has(task.id)) {
      shown.set(task.id, add(task));
      remember(task.id);
    }
    const entry = shown.get(task.id);
    if (task.state !== entry.task.state) dispatchEvent(new Event("status"));
    if (task.build?.id !== entry.build) {  // another build has another log
      Object.assign(entry, {build: task.build?.id, offset: 0, decoder: new TextDecoder()});
      entry.log.textContent = "";
    }
    entry.task = task;
    const name = element("a", task.package + " " + task.version), project = element("a", "Install " + task.package);
    name.href = "request.html?" + new URLSearchParams({id: task.id});
    project.href = document.body.dataset.root + "project/" + encodeURIComponent(task.package) + "/";
    entry.head.replaceChildren(name, " for Python " + task.python + (task.accelerator ? ", " + task.accelerator : "") + " ",
      state_of(task), ...(task.state === "done" ? [" ", project] : []));
    const waits = {awaits_approval: "Somebody has to approve it.", queued: "Waits for the next run of an agent of the site.",
      claimed: "The agent " + task.agent + " builds it."};
    entry.why.textContent = (me && task.reason ? task.reason.replaceAll(me, "you") : task.reason) || task.nobody_takes || waits[task.state] || "";
    show_acts(entry);
    follow_log(entry);
  };

  // Those of earlier visits; without a token only the list of what waits shows them.
  const follow_known = () => {
    const ids = known().filter(id => !shown.has(id));
    if (ids.length === 0) return;
    if (!field("token").value)
      return say(ids.length + (ids.length === 1 ? " request" : " requests") + " of this browser: the token shows state and log. All requests of this index are listed above.");
    for (const id of ids) call("tasks/" + encodeURIComponent(id)).then(reply => reply.json()).then(update).catch(() => {});
  };
  field("token").addEventListener("change", () => {
    sessionStorage.setItem(token_key, field("token").value.trim());
    say("");
    follow_known();
  });

  const refresh = () => {
    if (document.hidden || !field("token").value) return;
    for (const [id, entry] of shown)
      if (!is_over(entry.task)) call("tasks/" + id).then(reply => reply.json()).then(update).catch(error => say(error.message, true));
  };

  // Its page follows what becomes of it.
  const ask_without_token = requests => Promise.all(requests.map(request =>
    fetch(new URL("api/v1/indexes/" + encodeURIComponent(index) + "/requests", server), {method: "POST", credentials: "omit", headers: {"Content-Type": "application/json"}, body: JSON.stringify(request)})
      .then(async reply => {
        const asked = await reply.json().catch(() => ({}));
        if (reply.status === 401) throw new Error("This index takes requests only with a token.");
        if (!reply.ok) throw new Error([asked.detail || "The server answers " + reply.status + ".", asked.value, asked.advice].filter(Boolean).join(" – "));
        const item = element("li", "", "row"), link = element("a", asked.package + " " + asked.version + " for Python " + asked.python);
        link.href = "request.html?" + new URLSearchParams({id: asked.id});
        item.append(link, state_of(asked));
        list.prepend(item);
      })))
    .then(() => say("The registry has it. The link leads to the page of the request, which shows what becomes of it."))
    .catch(error => say(error.message, true));

  form.addEventListener("submit", event => {
    event.preventDefault();
    const token = field("token").value.trim();
    sessionStorage.setItem(token_key, token);
    const targets = words("python").flatMap(python => (words("accelerator").length ? words("accelerator") : [""])
      .map(accelerator => ({python, accelerator})));
    if (targets.length > max_requests) return say("At most " + max_requests + " wheels at once.", true);
    say("Asking …");
    const requests = targets.map(target => ({format: "wheelyard.task/1", index, package: field("package").value.trim(), version: field("version").value.trim(), ...target}));
    if (!token) return ask_without_token(requests);
    Promise.all(requests.map(request => call("tasks", request).then(reply => reply.json()).then(update)))
      .then(() => say(targets.length === 1 ? "The registry has the request." : "The registry has the " + targets.length + " requests."))
      .catch(error => say(error.message, true));
  });

  // Suggestions: what the sites of this index build.
  const suggest = (id, values) => document.getElementById(id).replaceChildren(...[...new Set(values)].sort((one, other) => one.localeCompare(other, "en", {numeric: true})).map(value => {
    const option = element("option");
    option.value = value;
    return option;
  }));
  fetch(new URL("healthz", server)).then(reply => {
    if (!reply.ok) return;
    document.getElementById("request-needs").hidden = true;
    document.getElementById("request-form").hidden = false;
    const wanted = new URLSearchParams(location.search);
    for (const name of ["package", "version", "python", "accelerator"]) field(name).value = wanted.get(name) ?? "";
    field("token").value = sessionStorage.getItem(token_key) ?? "";
    if (!yard.has_login()) yard.offer_login(document.getElementById("log-in"),
      () => location.pathname + "?" + new URLSearchParams(["package", "version", "python", "accelerator"].map(name => [name, field(name).value])));
    if (wanted.has("package")) {
      section.scrollIntoView();
      field(wanted.get("version") ? "python" : "version").focus();
    }
    follow_known();
    fetch(document.body.dataset.root + "status.json").then(reply => reply.ok ? reply.json() : null).then(data => {
      if (!data) return;
      suggest("pythons", data.sites.flatMap(site => site.pythons ?? []));
      field("python").placeholder = [...document.getElementById("pythons").options].map(option => option.value).join(" ");
      const versions = () => suggest("versions", yard.all(data, "cells").filter(cell => cell.package === field("package").value.trim()).map(cell => cell.version));
      field("package").addEventListener("input", versions);
      versions();
      suggest("accelerators", data.sites.flatMap(site => (site.nodes ?? []).map(node => node.accelerator).filter(Boolean)));
    }).catch(() => {});
    setInterval(refresh, interval_ms);
  }).catch(() => {});
})();
