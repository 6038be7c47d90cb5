// What the scripts of several pages share.
"use strict";
const yard = (() => {
  const element = (name, text, kind) => {
    const made = document.createElement(name);
    if (text) made.textContent = text;
    if (kind) made.className = kind;
    return made;
  };
  // Times are relative to now; the exact one is shown on demand, and where a month has passed.
  const exact = text => text.slice(0, 16).replace("T", " ") + " UTC";
  const ago = text => {
    const seconds = (Date.parse(text) - Date.now()) / 1000, far = Math.abs(seconds);
    if (!(far < 30 * 86400)) return exact(text);
    const [size, unit] = far < 5400 ? [60, "minute"] : far < 129600 ? [3600, "hour"] : [86400, "day"];
    return new Intl.RelativeTimeFormat("en", {numeric: "auto"}).format(Math.round(seconds / size), unit).replace("this minute", "just now");
  };
  const set_time = (part, text) => {
    part.dateTime = text.replace(/\.\d+/, "");
    part.textContent = ago(text);
    part.title = exact(text);
    return part;
  };
  const time = text => set_time(element("time"), text);
  const refresh_times = () => { for (const part of document.querySelectorAll("time[datetime]")) set_time(part, part.dateTime); };
  refresh_times();
  setInterval(refresh_times, 60000);
  // A sentence in the page's status line.
  const say = (line, text, is_error) => {
    line.textContent = text;
    line.className = is_error ? "note" : "quiet";
  };
  // A request with a token, POST where there is a body. Fails with the server's own words.
  const call = (url, token, body) => fetch(url, {
    method: body ? "POST" : "GET", credentials: "omit", cache: "no-store", redirect: "error",
    headers: {Accept: "application/json", Authorization: "Bearer " + token.trim(), ...(body && {"Content-Type": "application/json"})},
    body: body && JSON.stringify(body),
  }).then(async reply => {
    if (reply.ok) return reply;
    const problem = await reply.json().catch(() => ({}));
    throw new Error([problem.detail || "The server answers " + reply.status + ".", problem.value, problem.advice]
      .filter(Boolean).join(" – "));
  });
  // What the reader chose, for the next page. A browser may forbid storage.
  const recall = key => { try { return localStorage.getItem(key); } catch { return null; } };
  const remember = (key, value) => { try { localStorage.setItem(key, value); } catch { /* only this page knows it */ } };
  // What the reader chose, in the address of this page; an empty value leaves it. A browser may forbid that too, as of a file.
  const address = values => {
    const here = new URL(location.href);
    for (const [name, value] of Object.entries(values)) value ? here.searchParams.set(name, value) : here.searchParams.delete(name);
    try { history.replaceState(null, "", here); } catch { /* the page goes on */ }
  };
  // A slash leads to the search: of this page, or of its index.
  addEventListener("keydown", event => {
    if (event.key !== "/" || event.ctrlKey || event.metaKey || event.altKey || event.target.closest("input, select, textarea")) return;
    const box = document.querySelector("#search [name=q]"), root = document.body.dataset.root;
    if (!box && !document.querySelector('nav a[href$="project/"], nav a[href="../"]')) return;
    event.preventDefault();
    if (box) box.focus();
    else location.assign(root + "project/");
  });
  // Only a server has the page for operators.
  const operators = document.getElementById("operators");
  if (operators) fetch(operators.href, {method: "HEAD"}).then(reply => { operators.hidden = !reply.ok; }).catch(() => {});
  return {element, time, say, call, recall, remember, address};
})();
