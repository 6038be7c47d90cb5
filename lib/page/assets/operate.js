// The page for operators: agents, failures, upstreams, files in quarantine, storage, indexes, tokens, nodes, changes, each through the
// API of this server. The token stays in this tab (sessionStorage) and is sent as Bearer; there is no cookie for another site to use.
"use strict";
(() => {
  const form = document.getElementById("operate");
  if (!form) return;
  const answer = document.getElementById("operate-answer");
  const server = new URL(document.body.dataset.root, location.href);
  const token_key = "wheelyard-token";
  const max_pages = 5, max_shown = 50;
  const find = document.getElementById("find"), audit = document.getElementById("audit");
  const field = name => form.elements.namedItem(name);
  const element = yard.element;
  const say = (text, is_error) => yard.say(answer, text, is_error);
  const call = (path, body) => yard.call(new URL(path, server), field("token").value, body).then(reply => reply.json());
  // What the token may do with a thing of a list: act.js. The answer is where the reader looks.
  const acts = (kind, of) => yard.acts(kind, of, answer, () => show());
  document.getElementById("lists").addEventListener("click", event => event.target.closest("td [data-act]")?.closest(".scroll").previousElementSibling.before(answer));
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
    const put = rows => {
      if (question !== asked[id]) return;
      body.replaceChildren(...rows);
      yard.label_cells(body.parentElement);
    };
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
  const day = text => (text ?? "").slice(0, 16).replace("T", "\u00a0");

  // The paragraph above a list.
  const note_above = (id, text) => {
    const line = document.getElementById(id).closest("div").previousElementSibling;
    line.textContent = text;
    line.hidden = !text;
  };
  // What people are called, for those who may read the audit log.
  let people = Promise.resolve({});
  const who = async name => {
    const names = await people;
    return Object.hasOwn(names, name) ? name + " " + names[name] : name;
  };
  let known = [];
  // The chosen index, otherwise all. What the token may not see of one does not hide the others.
  const of_indexes = async ask => {
    const chosen = field("index").value.trim();
    if (chosen) return [await ask(chosen)];
    const answers = await Promise.allSettled(known.map(ask));
    const good = answers.filter(one => one.status === "fulfilled").map(one => one.value);
    if (good.length === 0 && answers.length > 0) throw answers[0].reason;
    return good;
  };
  const folder_of = index => "api/v1/indexes/" + encodeURIComponent(index);
  const quarantine = async () => (await of_indexes(async index => {
    const folder = folder_of(index) + "/files", rows = [];
    let after = "";
    for (let page = 0; page < max_pages && after !== null; ++page) {
      const part = await call(folder + "?state=quarantined&after=" + encodeURIComponent(after));
      for (const file of part.files) {
        rows.push(row([file.filename, link_to(index + "/project/" + file.project, index), size(file.size_bytes), await who(file.uploaded_by) + ", " + day(file.uploaded), file.state_reason,
          [history_of(file.filename), " ", source_of({...file, index}, "quarantine"), " ", ...await acts("file", {...file, index})]]));
      }
      after = part.next;
    }
    return rows;
  })).flat();
  const with_code = (text = "") => {
    const made = element("span");
    yard.say(made, text);
    made.className = "";
    return made;
  };
  // What the index keeps, in a sentence, and a row for each of its largest projects; of several, a row for each.
  const count_of = count => count + (count === 1 ? " file" : " files");
  const share = (bytes, of, name) => {
    const bar = element("progress");
    [bar.max, bar.value] = [of || 1, bytes];
    bar.setAttribute("aria-label", "Share of " + name);
    return bar;
  };
  // A row for each month; what was deleted since is in none.
  const growth = all => {
    const days = all.flatMap(kept => kept.growth ?? []), months = new Map();
    const add = (sum, {files, bytes}) => ({files: sum.files + files, bytes: sum.bytes + bytes}), nothing = {files: 0, bytes: 0};
    const month_ago = new Date(Date.now() - 30 * 86400e3).toISOString().slice(0, 10);
    for (const one of days) months.set(one.day.slice(0, 7), add(months.get(one.day.slice(0, 7)) ?? nothing, one));
    const [year, month] = [days, days.filter(one => one.day >= month_ago)].map(list => list.reduce(add, nothing));
    note_above("growth", `Of what is kept, ${count_of(month.files)}, ${size(month.bytes)} came in the last 30 days; ${count_of(year.files)}, ${size(year.bytes)} in the last 365.`);
    return [...months].sort().reverse().map(([name, sum]) => row([name, String(sum.files), size(sum.bytes), share(sum.bytes, year.bytes, name)]));
  };
  const storage = async () => {
    note_above("storage", "");
    const described = of_indexes(index => call(folder_of(index) + "/storage"));
    note_above("growth", "");
    fill("growth", async () => growth(await described));
    const all = await described;
    const sum = member => all.reduce((total, kept) => total + member(kept), 0);
    const [kept_files, kept_bytes] = [sum(kept => kept.files), sum(kept => kept.bytes)];
    const [held, held_bytes] = [sum(kept => kept.quarantined.files), sum(kept => kept.quarantined.bytes)];
    const [fetched, fetched_bytes] = [sum(kept => kept.fetched.files), sum(kept => kept.fetched.bytes)];
    const [one] = all;
    if (one) note_above("storage", count_of(kept_files) + ", " + size(kept_bytes) +
      (all.length === 1 && one.quota_bytes ? " of " + size(one.quota_bytes) : "") +
      (all.length === 1 && one.quota_files ? ", at most " + count_of(one.quota_files) : "") +
      (held ? "; in quarantine " + count_of(held) + ", " + size(held_bytes) : "") +
      (fetched ? "; fetched from upstreams " + count_of(fetched) + ", " + size(fetched_bytes) : "") +
      "; the disk has " + size(one.free_bytes) + " left.");
    if (all.length !== 1)
      return all.map(kept => row([link_to(kept.index), String(kept.files), size(kept.bytes), share(kept.bytes, kept_bytes, kept.index),
        day(kept.projects.map(project => project.newest).sort().pop())]));
    return one.projects.map(project => row([link_to(one.index + "/project/" + project.project, project.project), String(project.files),
      size(project.bytes), share(project.bytes, one.bytes, project.project), day(project.newest)]));
  };
  const indexes = async () => (await call("api/v1/indexes")).indexes.map(({name, keys}) => {
    const quota = [keys.quota_mib && size(keys.quota_mib * 2 ** 20), keys.quota_files && keys.quota_files + " files"];
    return row([link_to(name), keys.title ?? "", keys.read === "token" ? "tokens" : "everyone", keys.archived ? "archived" : "active",
      quota.filter(Boolean).join(", "), keys.sdists ? "yes" : "no"]);
  });
  // What the token may do that makes others; the list has it, since it is within itself.
  let own = {};
  const make = document.getElementById("make"), made = document.getElementById("made");
  const hide_made = () => { made.querySelector("code").textContent = ""; made.hidden = true; };
  const make_token = async () => {
    const words = name => make.elements.namedItem(name).value.split(/[\s,]+/).filter(Boolean);
    const [name, expires] = ["name", "expires"].map(field => make.elements.namedItem(field).value.trim());
    const lists = {indexes: words("indexes"), projects: words("projects"), actions: words("actions")};
    if (!lists.projects.length) lists.projects = own.projects ?? [];
    const {id, token} = await call("api/v1/tokens", {format: "wheelyard.token_request/1", name, ...(expires && {expires}),
      ...Object.fromEntries(Object.entries(lists).filter(([, list]) => list.length))});
    made.querySelector("code").textContent = token;
    made.hidden = false;
    make.reset();
    return "Created " + id + ".";
  };
  const tokens = async () => {
    note_above("tokens", "");
    const {tokens, hidden} = await call("api/v1/tokens");
    own = tokens.find(({id}) => field("token").value.trim().startsWith(id + "_")) ?? {};
    if (hidden) note_above("tokens", hidden + (hidden === 1 ? " more token is" : " more tokens are") + " outside the scope of yours, and not shown.");
    return Promise.all(tokens.map(async token => row([token.name, token.id, token.indexes.join(" "),
    token.projects.join(" "), token.actions.join(" "), token.state + (token.expires && token.state === "active" ? " until " + day(token.expires) : "") + ", created " + day(token.created),
    await acts("token", token)])));
  };
  // A registry of one server has none.
  const nodes = async () => {
    const {nodes: seen} = await call("api/v1/nodes");
    note_above("nodes", seen.length ? "" : "This registry is one server.");
    return seen.map(node => row([node.name, node.is_writer ? "writes" : "serves", (node.lease_ms / 1000).toFixed(1) + " s left",
      String(node.serial_visible)]));
  };
  // What waits for somebody's approval.
  const requests = async () => {
    const chosen = field("index").value.trim();
    const {tasks} = await call("api/v1/tasks?state=awaits_approval&index=" + encodeURIComponent(chosen));
    return Promise.all(tasks.map(async task => {
      const page = element("a", task.package + " " + task.version);
      page.href = new URL(encodeURIComponent(task.index) + "/builds/request.html?" + new URLSearchParams({id: task.id}), server);
      return row([page, task.index, task.python + (task.accelerator ? ", " + task.accelerator : ""), task.source ? "uploaded source" : "recipe", await who(task.asked_by) + ", " + day(task.asked),
        await acts("task", task)]);
    }));
  };
  // What is broken, by its list, in a line above all: "All well.", or how many there are, each with the way to its list.
  const broken = {};
  const show_well = () => {
    const words = {agents: ["late site", "late sites"], failures: ["failed build", "failed builds"], upstreams: ["upstream trouble", "upstream troubles"]};
    const found = Object.entries(words).filter(([id]) => broken[id] > 0).map(([id, [one, several]], at) => {
      const link = element("a", broken[id] + " " + (broken[id] === 1 ? one : several));
      link.href = "#part-" + id;
      return [at ? ", " : "", link];
    });
    const is_known = Object.keys(words).every(id => id in broken);
    document.getElementById("well").replaceChildren(...(found.length ? found.flat() : [element("strong", is_known ? "All well" : "Not all is known")]), ".");
  };
  const count_broken = (id, rows, is_broken) => { broken[id] = rows.filter(is_broken).length; return rows; };
  // The late ones first.
  const agents = async () => count_broken("agents", (await call("api/v1/sites")).sites, site => site.late)
    .sort((one, other) => other.late - one.late || one.site.localeCompare(other.site))
    .map(site => row([site.site, link_to(site.index + "/builds", site.index), yard.time(site.time), site.next_tick ? yard.time(site.next_tick) : "",
      element("span", site.late ? "late" : "reports", "state " + (site.late ? "failed" : "have"))]));
  // An index also lists the builds of its staging index: each is shown once.
  const failures = async () => {
    note_above("failures", "");
    const since = Date.now() - 7 * 86400e3, seen = new Set();
    const all = (await of_indexes(async index => (await call(folder_of(index) + "/builds")).builds.map(build => ({...build, index})))).flat();
    const failed = all.filter(({state, ended, site, id}) => state === "failed" && Date.parse(ended) > since && !seen.has(site + "/" + id) && seen.add(site + "/" + id))
      .sort((one, other) => Date.parse(other.ended) - Date.parse(one.ended));
    if (failed.length > max_shown) note_above("failures", failed.length + " builds failed; the newest " + max_shown + " are shown.");
    const is_solved = build => all.some(other => other.state === "done" && yard.is_same_wheel(other, build) && Date.parse(other.ended) > Date.parse(build.ended));
    return Promise.all(count_broken("failures", failed, build => !is_solved(build)).slice(0, max_shown).map(async build => {
      const page = element("a", [build.package, build.version, build.python, build.accelerator].filter(Boolean).join(" "));
      page.href = new URL(encodeURIComponent(build.index) + "/builds/build.html?" + new URLSearchParams({site: build.site, id: build.id}), server);
      return row([page, build.site, build.index, yard.time(build.ended), build.cause ?? "", is_solved(build) ? element("span", "built since", "state have") : [with_code(build.remedy), " ", ...await acts("task", build)]]);
    }));
  };
  // Failures of the last seven days, the newest first.
  const upstreams = async () => {
    note_above("upstreams", "");
    const since = Date.now() - 7 * 86400e3;
    const failed = (await of_indexes(index => call(folder_of(index) + "/upstreams"))).flatMap(({upstreams: all}) => all)
      .flatMap(({upstream, failures}) => failures.map(one => ({...one, upstream})))
      .filter(({time}) => Date.parse(time) > since).sort((one, other) => Date.parse(other.time) - Date.parse(one.time));
    if (failed.length > max_shown) note_above("upstreams", failed.length + " projects; the newest " + max_shown + " are shown.");
    return count_broken("upstreams", failed, () => true).slice(0, max_shown).map(one => row([one.upstream, one.upstream_wide ? "all" : one.project, yard.time(one.time), yard.time(one.since),
      String(one.count), [one.error, one.value].filter(Boolean).join(": ")]));
  };
  const history_of = name => {
    const made = element("button", "History");
    made.type = "button";
    made.setAttribute("aria-label", "Changes of " + name);
    made.addEventListener("click", () => {
      for (const other of filter_names) part(other).value = other === "what" ? name : "";
      document.getElementById("changes").scrollIntoView();
      return filter_changes(Object.fromEntries(filter_names.map(other => [other, part(other).value])));
    });
    return made;
  };
  // What the uploader stated, in a sentence above the list; a wheel without a statement has the server's answer there.
  const source_of = ({filename, index}, list) => {
    const made = element("button", "Source");
    made.type = "button";
    made.setAttribute("aria-label", "Source of " + filename);
    made.addEventListener("click", () => call(folder_of(index) + "/files/" + encodeURIComponent(filename) + "/provenance")
      .then(({source = {}, site, program, attempt}) => [source.origin && "source " + source.origin, source.sha256 && "SHA-256 " + source.sha256,
        site && "built at " + site, program && "by " + program, attempt && "attempt " + attempt].filter(Boolean).join(", "), error => error.message)
      .then(text => note_above(list, filename + ": " + text)));
    return made;
  };
  const files = async () => {
    const name = find.elements.namedItem("file").value.trim();
    note_above("files", "");
    if (!name) throw new Error("Type a part of a name above.");
    const found = (await of_indexes(async index => (await call(folder_of(index) + "/files?name=" + encodeURIComponent(name))).files
      .map(file => ({...file, index})))).flat();
    if (found.length > max_shown) note_above("files", "More than " + max_shown + " files have this in their names: type more of it.");
    return Promise.all(found.slice(0, max_shown).map(async file => row([file.filename, link_to(file.index + "/project/" + file.project, file.index), file.state + (file.yanked ? ", yanked" : ""), size(file.size_bytes),
      await who(file.uploaded_by) + ", " + day(file.uploaded), file.state_reason || file.yanked_reason || "",
      [history_of(file.filename), " ", source_of(file, "files"), " ", ...await acts("file", file)]])));
  };
  // The newest that pass the filter in the address; the button goes on with those before them. The server looks at a part of a
  // long log for each reply.
  const filter_names = ["who", "action", "what", "since", "until"];
  const part = name => audit.elements.namedItem(name);
  const changes = async () => {
    const chosen = new URLSearchParams(location.search), query = new URLSearchParams(), shown = [];
    for (const name of [...filter_names, "index", "before"])
      if (chosen.get(name)) query.set(name === "since" ? "from" : name, chosen.get(name));
    let next = undefined;
    for (let page = 0; page < max_pages && shown.length < max_shown && next !== null; ++page) {
      query.set("newest", max_shown - shown.length);
      const reply = await call("api/v1/audit?" + String(query).replaceAll("+", "%20"));
      shown.push(...reply.events.reverse());
      next = reply.next;
      query.set("before", next);
    }
    part("older").value = next ?? "";
    part("older").hidden = next === null;
    return shown.map(event =>
      row([day(event.time), event.kind.replaceAll("_", " "), event.index, event.filename || event.project, [event.actor, event.actor_name].filter(Boolean).join(" "), event.reason]));
  };
  // A step that Back undoes.
  const filter_changes = values => {
    yard.address({before: "", ...values}, true);
    return fill("changes", changes);
  };
  const read_address = () => {
    const chosen = new URLSearchParams(location.search);
    for (const name of filter_names) part(name).value = chosen.get(name) ?? "";
    find.elements.namedItem("file").value = chosen.get("file") ?? "";
    field("index").value = chosen.get("index") ?? "";
  };

  const of_index = {failures, upstreams, files, requests, quarantine, storage, changes};
  const lists = {agents, ...of_index, indexes, tokens, nodes};
  const show_some = some => {
    for (const id of Object.keys(some)) delete broken[id];
    return Promise.all(Object.entries(some).map(([id, rows]) => fill(id, rows))).then(show_well);
  };
  const show = () => {
    people = call("api/v1/people").then(reply => reply.names).catch(() => ({}));
    return show_some(lists).then(() => { document.getElementById("lists").hidden = false; });
  };
  // Those that everybody sees, and those that the token may see, such as a staging index.
  const list_indexes = () => Promise.all([call("").then(data => data.indexes.map(index => index.name)),
    call("api/v1/indexes").then(data => data.indexes.map(index => index.name)).catch(() => [])]).then(names => {
    known = [...new Set(names.flat())].sort();
    document.getElementById("known").replaceChildren(...known.map(name => new Option(name, name)));
    if (known.length === 1) field("index").value ||= known[0];
  });
  form.hidden = false;
  if (!yard.has_login()) yard.offer_login(document.getElementById("log-in"), () => location.pathname + location.search);
  field("token").value = sessionStorage.getItem(token_key) ?? "";
  read_address();
  form.addEventListener("submit", event => {
    event.preventDefault();
    sessionStorage.setItem(token_key, field("token").value.trim());
    form.after(answer);
    say("");
    // What another token showed is gone before this one is asked.
    hide_made();
    document.getElementById("lists").hidden = true;
    for (const id of [...Object.keys(lists), "growth"]) document.getElementById(id).tBodies[0].replaceChildren();
    list_indexes().then(show).catch(error => say(error.message, true));
  });
  field("index").addEventListener("change", () => {
    yard.address({index: field("index").value.trim(), before: ""}, true);
    return show_some(of_index);
  });
  addEventListener("popstate", () => {
    read_address();
    if (field("token").value) show_some(of_index);
  });
  make.addEventListener("submit", event => {
    event.preventDefault();
    const line = document.getElementById("make-answer");
    hide_made();
    yard.say(line, "");
    make_token().then(text => { yard.say(line, text); return show_some({tokens}); }).catch(error => yard.say(line, error.message, true));
  });
  made.querySelector("button").addEventListener("click", hide_made);
  // A page that Back shows again is the one that was left: its lists are asked for again, with the token that the tab has now.
  addEventListener("pagehide", hide_made);
  addEventListener("pageshow", event => {
    if (!event.persisted) return;
    field("token").value = sessionStorage.getItem(token_key) ?? "";
    if (field("token").value) form.requestSubmit();
    else document.getElementById("lists").hidden = true;
  });
  find.addEventListener("submit", event => {
    event.preventDefault();
    yard.address({file: find.elements.namedItem("file").value.trim()}, true);
    return fill("files", files);
  });
  audit.addEventListener("submit", event => {
    event.preventDefault();
    return filter_changes(Object.fromEntries(filter_names.map(name => [name, part(name).value.trim()])));
  });
  part("older").addEventListener("click", () => filter_changes({before: part("older").value}));
  if (field("token").value) form.requestSubmit();
})();
