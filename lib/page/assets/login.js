// The page of log-ins: leaves for a provider with a secret that only this tab knows, comes back with a code, and gets a token
// of the registry for it, or takes one that is typed. The token stays in this tab (sessionStorage); a cookie only reads private pages.
"use strict";
(() => {
  const list = document.getElementById("logins");
  if (!list) return;
  const answer = document.getElementById("login-answer"), done = document.getElementById("login-done"), form = document.getElementById("own-token"), logout = document.getElementById("logout");
  const server = new URL(document.body.dataset.root, location.href), api = new URL("api/v1/login", server);
  const token_key = "wheelyard-token", secret_key = "wheelyard-login", id_key = "wheelyard-login-id", end_key = "wheelyard-login-end", who_key = "wheelyard-login-who", scope_key = "wheelyard-login-scope",
        own_key = "wheelyard-login-token", name_key = "wheelyard-login-name";
  const format = "wheelyard.login/1";
  const element = yard.element;
  const say = (text, is_error) => yard.say(answer, text, is_error);
  const send = (name, step, members) => fetch(new URL("login/" + encodeURIComponent(name) + "/" + step, api), {
    method: "POST", credentials: "omit", cache: "no-store", redirect: "error",
    headers: {Accept: "application/json", "Content-Type": "application/json"}, body: JSON.stringify({format, ...members}),
  }).then(async reply => {
    const told = await reply.json().catch(() => ({}));
    if (reply.ok) return told;
    throw Object.assign(new Error([told.detail || "The server answers " + reply.status + ".", told.value, told.advice].filter(Boolean).join(" – ")), {code: told.code});
  });
  // What the actions of a token permit (lib/store/catalog/token_actions.hpp).
  const meanings = {"*": "do everything", read: "read", upload: "upload files", audit: "read the audit log", build: "build what is asked for", task: "ask for wheels",
                    approve: "approve requests", token: "make tokens", index: "change indexes", yank: "yank files", delete: "delete files",
                    quarantine: "hold back and release files", pin: "pin files", promote: "promote files", status: "set the status of projects", gc: "free the space of deleted files"};
  // Many may come back from the provider at once; the log-in waits.
  const finish = (name, members, tries = 15) => send(name, "finish", members).catch(error => {
    if (error.code !== "login.busy" || tries === 0) throw error;
    say("Others log in now. Trying again …");
    return new Promise(resolve => setTimeout(resolve, 2000)).then(() => finish(name, members, tries - 1));
  });
  const begin = (name, purpose) => {
    const secret = [...crypto.getRandomValues(new Uint8Array(32))].map(byte => byte.toString(16).padStart(2, "0")).join("");
    sessionStorage.setItem(secret_key, secret);
    return send(name, "begin", {secret, purpose}).then(begun => location.assign(begun.url));
  };
  // Who is in may log in again for more: the buttons stay, and are no longer what to do first.
  const mark = is_in => {
    done.hidden = !is_in;
    const own = sessionStorage.getItem(own_key);
    form.hidden = is_in;
    logout.hidden = !is_in && yard.opened().length === 0;
    if (is_in) document.getElementById("login-scope").textContent = sessionStorage.getItem(scope_key) +
      (sessionStorage.getItem(token_key) === own ? " The other pages of this tab use it." : " The other pages of this tab use another token, which was typed there.");
    yard.show_account();
    list.classList.toggle("done", is_in);
    if (is_in) yard.private_of(own, true).then(items => {
      document.getElementById("login-reads").textContent = items.length ? "The pages of these private indexes open in this browser until you log out, or close it:" : "No private index is open to you.";
      document.getElementById("login-private").replaceChildren(...items);
    }).catch(error => say(error.message, true));
  };
  const days = seconds => seconds < 86400 ? Math.round(seconds / 60) + " minutes" : Math.round(seconds / 86400) + " days";
  const show = () => fetch(api, {cache: "no-store", credentials: "omit"}).then(reply => reply.json()).then(({page, identities}) => {
    // The provider sends the browser back to one address alone, and the secret stays in this one's tab.
    if (identities.length > 0 && new URL(page).origin !== location.origin) return location.replace(page);
    list.replaceChildren(...identities.map(identity => {
      const item = element("li");
      for (const [purpose, words] of [["read", "to read and to ask for wheels, for " + days(identity.reading_s)],
                                      ["publish", "to change things, for " + days(identity.publishing_s)]]) {
        const button = element("button", identity.title + ": " + words);
        button.type = "button";
        button.dataset.purpose = purpose;
        button.addEventListener("click", () => begin(identity.name, purpose).catch(error => say(error.message, true)));
        const line = element("p");  // the space between them
        line.append(button);
        item.append(line);
      }
      return item;
    }));
    if (identities.length === 0) say("No provider is configured here: enter a token, or ask the operator for one.");
  });
  // The page that led here, if it is one of ours.
  const pages = [[/^api\/v1\/$/, "Back to the page for operators"], [/^[\w.-]+\/builds\/(index\.html)?$/, "Back to the request"],
                 [/^(?!api\/)/, "Back to the page before"]];
  const show_back = () => {
    const link = document.getElementById("login-back"), before = sessionStorage.getItem("wheelyard-back"), back = new URL(before ?? "", location.origin);
    const path = back.pathname.slice(server.pathname.length);
    const known = before && back.origin === location.origin && server.pathname + path === back.pathname && pages.find(([pattern]) => pattern.test(path));
    link.hidden = !known;
    if (!known) return;
    link.textContent = known[1];
    link.href = back.pathname + back.search + back.hash;
  };
  // The log-in that this tab has, if it has not ended, or the token that was typed here, which has no ID; one that was typed on
  // another page does not end it.
  const own_login = () => {
    const id = sessionStorage.getItem(id_key), token = sessionStorage.getItem(own_key);
    return token && (!id || Date.parse(sessionStorage.getItem(end_key)) > Date.now()) ? {id, token} : null;
  };
  const end = (login, reason) => yard.call(new URL("api/v1/tokens/" + login.id + "/revoke", server), login.token,
    {format: "wheelyard.change/1", reason});
  const show_token = async token => {
    const earlier = own_login();
    if (earlier?.id) end(earlier, "logged in again").catch(() => {});
    // What an earlier token opened. The new one comes once, and is kept whatever comes of it.
    const still_open = await yard.close_private().then(() => "", error => error.message);
    sessionStorage.setItem(token_key, token.token);
    sessionStorage.setItem(own_key, token.token);
    sessionStorage.setItem(name_key, token.name.split(" ")[0]);
    sessionStorage.setItem(id_key, token.id);
    sessionStorage.setItem(end_key, token.expires);
    sessionStorage.setItem(who_key, token.shown_name);
    sessionStorage.setItem(scope_key, token.shown_name + " may " + token.actions.map(action => meanings[action] ?? action).join(", ") + " in " +
      (token.indexes.includes("*") ? "all indexes" : token.indexes.join(", ")) + (token.projects.includes("*") ? "" : ", projects " + token.projects.join(", ")) +
      ", until " + token.expires.slice(0, 16).replace("T", " ") + " UTC.");
    mark(true);
    show_back();
    say(still_open, still_open !== "");
  };
  const forget = () => {
    if (sessionStorage.getItem(token_key) === sessionStorage.getItem(own_key)) sessionStorage.removeItem(token_key);
    for (const key of [id_key, end_key, who_key, scope_key, own_key, name_key]) sessionStorage.removeItem(key);
  };
  // Also of another tab, or of a log-in that has ended.
  const log_out = async login => {
    const failure = await yard.close_private().then(() => null, error => error);
    if (login?.id) await end(login, "logged out");  // which closes what it opened
    else if (failure) throw failure;
    forget();
    mark(false);
    say(login?.id ? "You are logged out. Your provider may still know you, and log you in again without a question: on a shared machine log out there, too."
      : "The token is forgotten, and private pages are closed.");
  };
  logout.addEventListener("click", () => log_out(own_login()).catch(error => say(error.message, true)));
  mark(own_login() !== null);
  if (own_login()) show_back();
  form.addEventListener("submit", event => {
    event.preventDefault();
    const token = form.elements.namedItem("token").value.trim();
    yard.private_of(token).then(() => {
      forget();  // a log-in that has ended
      sessionStorage.setItem(token_key, token);
      sessionStorage.setItem(own_key, token);
      sessionStorage.setItem(scope_key, "A token that was typed here.");
      form.reset();
      mark(true);
      show_back();
      say("");
    }).catch(error => say(error.message, true));
  });

  // Back from the provider: what it says leaves the address before anything else happens.
  const said = new URLSearchParams(location.search), secret = sessionStorage.getItem(secret_key) ?? "";
  const name = decodeURIComponent(location.pathname.split("/").at(-2));
  if (said.has("state") || said.has("error")) {
    sessionStorage.removeItem(secret_key);
    history.replaceState(null, "", location.pathname);
  }
  if (said.has("error")) say("The provider refuses: " + said.get("error").slice(0, 60), true);
  else if (said.has("state")) {
    say("Logging in …");
    finish(name, {code: said.get("code") ?? "", state: said.get("state"), iss: said.get("iss") ?? "", secret})
      .then(show_token).catch(error => say(error.message, true));
  }
  show().catch(error => say(error.message, true));
})();
