// What the scripts of several pages share.
"use strict";
const yard = (() => {
  const element = (name, text, kind) => {
    const made = document.createElement(name);
    if (text) made.textContent = text;
    if (kind) made.className = kind;
    return made;
  };
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
  // What the reader chose, in the address of this page; an empty value leaves it.
  const address = values => {
    const here = new URL(location.href);
    for (const [name, value] of Object.entries(values)) value ? here.searchParams.set(name, value) : here.searchParams.delete(name);
    history.replaceState(null, "", here);
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
  return {element, say, call, recall, remember, address};
})();
