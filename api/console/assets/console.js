// Keeps the page current: fetches it again when the server says that it has changed, and
// changes only what differs, so that focus, selection, open parts and texts that are being
// written stay as they are.

const banner = document.getElementById("connection");
let tag = ""; // of the page as it was fetched last
let fetching = false, again = false;
let signedOut = false; // nothing more is asked for
let pressed = false; // a button of the mouse or a finger is down
let visits = 0; // pages that were opened in place of the first
let refused = false; // the page says why a form was refused, with the input: it stays as it is
let late = null; // the fresh copy that waits for the release

// refresh fetches the page and shows what has changed.
async function refresh() {
  if (signedOut || document.hidden || refused) return;
  if (fetching) {
    again = true;
    return;
  }
  fetching = true;
  const at = location.href;
  try {
    const headers = { "X-Console-Refresh": "1" };
    if (tag) headers["If-None-Match"] = tag;
    const turn = visits;
    const response = await fetch(at, { headers, redirect: "error", cache: "no-store" });
    if (turn !== visits) return; // another page was opened in its place
    if (response.status === 401) {
      say("You are signed out. Reload the page to sign in again.");
      signedOut = true;
      unfollow();
      return;
    }
    if (at !== location.href) return; // another view was chosen meanwhile
    if (response.ok) {
      tag = response.headers.get("ETag") ?? "";
      const fresh = await parse(await response.text());
      if (at === location.href && turn === visits) show(fresh);
    }
    if (response.ok || response.status === 304) connected();
    else if (response.status >= 500) lost();
  } catch {
    lost();
  } finally {
    fetching = false;
    if (again) {
      again = false;
      soon();
    }
  }
}

// parse reads a page. A long one takes several short tasks of the browser.
async function parse(text) {
  const fresh = document.implementation.createHTMLDocument();
  fresh.open();
  for (let at = 0; at < text.length; at += pieceSize) {
    if (at) await pause();
    fresh.write(text.slice(at, at + pieceSize));
  }
  fresh.close();
  await pause();
  return fresh;
}
const pieceSize = 32 << 10;
const pause = () => new Promise((done) => setTimeout(done));

// visit shows another page in place of this one, and keeps what both have. With a body, it sends
// that as a form. It reports whether it has: if not, the browser may do it.
async function visit(url, { body, back } = {}) {
  const method = body ? "POST" : "GET";
  try {
    const response = await fetch(url, { method, body, headers: { "X-Console-Refresh": "1" }, cache: "no-store" });
    if (response.status === 401 || response.status >= 500) return false;
    const text = await response.text();
    for (const form of document.forms) {
      if (form.method === "post") form.reset();
      delete form.dataset.dirty;
    }
    if (!back && response.url !== location.href) history.pushState(null, "", response.url);
    tag = "";
    pressed = false;
    const turn = ++visits;
    refused = Boolean(body) && !response.redirected;
    const fresh = await parse(text);
    if (turn === visits) show(fresh); // else another page was opened in its place
    return true;
  } catch {
    return false;
  }
}

// show replaces the contents of the page by those of a fresh copy. While a button of the
// mouse or a finger is down it waits: what was pressed must still be there at the release,
// or the click is lost or hits something else.
function show(fresh) {
  late = pressed ? fresh : null;
  if (pressed) return;
  document.title = fresh.title;
  morph(document.getElementById("main"), fresh.getElementById("main"));
  const pages = document.querySelector("nav"), freshPages = fresh.querySelector("nav");
  if (pages && freshPages) morph(pages, freshPages);
  localize(document);
  if (fresh.body.dataset.refresh) document.body.dataset.refresh = fresh.body.dataset.refresh;
  else delete document.body.dataset.refresh;
  dispatchEvent(new Event("shown"));
  const url = fresh.body.dataset.events;
  if (url === document.body.dataset.events) return;
  if (url) document.body.dataset.events = url; // a new attempt has begun
  else delete document.body.dataset.events; // the work has ended
  unfollow();
  follow();
}

addEventListener("pointerdown", () => { pressed = true; }, true);
for (const end of ["pointerup", "pointercancel", "dragend", "change", "keydown", "blur"]) addEventListener(end, release, true);
addEventListener("pointermove", (e) => { if (!e.buttons) release(); }, true); // the release was outside, as in an open select
function release() {
  if (!pressed) return;
  pressed = false;
  setTimeout(() => { if (late && !pressed) show(late); }); // after the click
}

// morph makes old like fresh. Most parts of a page are alike, which the browser sees fastest.
function morph(old, fresh) {
  if (old.isEqualNode(fresh)) return;
  if (old.nodeType !== fresh.nodeType || old.nodeName !== fresh.nodeName) {
    if (retire(old)) old.before(fresh);
    else old.replaceWith(fresh);
    return;
  }
  if (old.nodeType !== Node.ELEMENT_NODE) {
    if (old.data !== fresh.data) old.data = fresh.data;
    return;
  }
  if (old.localName === "form" && old.dataset.dirty) { // something was written in it
    if (old.classList.contains("retired")) revive(old, fresh);
    return;
  }
  attributes(old, fresh);
  if (old.matches("[data-saved], [data-said]")) return; // has what a script has written
  if (old.localName === "textarea" || old.localName === "select") {
    if (old.innerHTML !== fresh.innerHTML) old.innerHTML = fresh.innerHTML;
    return;
  }
  children(old, fresh);
}

// keyed returns the children of a node by their ids; those without one by their kind and
// class, and their number among these. So a part that comes or goes leaves its neighbours
// what they are, with their focus and what is open in them.
function keyed(parent) {
  const all = new Map(), numbers = new Map();
  for (const node of parent.childNodes) {
    if (node.id && !all.has("#" + node.id)) {
      all.set("#" + node.id, node);
      continue;
    }
    const kind = node.nodeName + "." + (node.getAttribute?.("class") ?? "");
    const n = numbers.get(kind) ?? 0;
    numbers.set(kind, n + 1);
    all.set(kind + " " + n, node);
  }
  return all;
}

// children makes the children of old those of fresh. Elements that stay are not moved
// unless their order has changed: one that is moved would lose the focus.
function children(old, fresh) {
  const known = keyed(old), wanted = keyed(fresh), kept = new Set();
  for (const [key, node] of known) {
    if (wanted.has(key)) continue;
    if (retire(node)) kept.add(node);
    else node.remove();
  }
  let at = old.firstChild;
  const skip = () => { while (at && kept.has(at)) at = at.nextSibling; };
  for (const [key, next] of wanted) {
    const here = known.get(key);
    skip();
    while (here && here !== at && at?.nodeType === Node.TEXT_NODE) { // texts make room: theirs is the next place
      const text = at;
      at = at.nextSibling;
      text.remove();
      skip();
    }
    if (!here) {
      old.insertBefore(next, at);
      continue;
    }
    if (here === at) at = at.nextSibling;
    else if (old.moveBefore && here.isConnected) old.moveBefore(here, at);
    else old.insertBefore(here, at);
    morph(here, next);
  }
}

// retire keeps a part of the page with forms that something was written in, although the
// page has them no more: what was written stays to be copied, and cannot be sent.
function retire(old) {
  if (old.nodeType !== Node.ELEMENT_NODE) return false;
  const forms = [...old.querySelectorAll("form"), ...(old.matches("form") ? [old] : [])];
  if (!forms.some((form) => form.dataset.dirty)) return false;
  for (const form of forms) {
    if (!form.dataset.dirty) (form.closest("details") ?? form).remove();
    for (const button of form.querySelectorAll("button")) button.disabled = true;
    form.classList.add("retired");
  }
  return true;
}

// revive makes a form that was retired one that can be sent, since the page has it again:
// about the present state, with what was written.
function revive(form, fresh) {
  form.classList.remove("retired");
  for (const button of form.querySelectorAll("button")) button.disabled = false;
  for (const field of fresh.querySelectorAll("input[type=hidden]")) {
    const own = form.querySelector(`input[type=hidden][name="${CSS.escape(field.name)}"]`);
    if (own) own.value = field.value;
  }
}

// attributes makes the attributes of old those of fresh. Parts that the reader has opened
// stay open.
function attributes(old, fresh) {
  for (const a of [...old.attributes]) {
    if (!fresh.hasAttribute(a.name) && !(a.name === "open" && /^(details|dialog)$/.test(old.localName))) old.removeAttribute(a.name);
  }
  for (const a of fresh.attributes) {
    if (old.getAttribute(a.name) !== a.value) old.setAttribute(a.name, a.value);
  }
}

// localize shows times in the time zone and the language of the reader: as how long ago they
// were, or how far ahead they are, with the exact time in the title.
const clock = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "short" });
const exact = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "medium" }); // in timelines
const relative = new Intl.RelativeTimeFormat("en", { style: "narrow" }); // in the language of the page
const units = [["day", 86400e3], ["hour", 3600e3], ["minute", 60e3]];
function localize(root) {
  for (const e of root.querySelectorAll("time[datetime]")) {
    const at = new Date(e.dateTime), whole = exact.format(at);
    const text = e.hasAttribute("data-exact") ? whole : away(at - Date.now()) ?? clock.format(at);
    if (e.textContent !== text) e.textContent = text;
    if (!e.hasAttribute("data-exact") && e.title !== whole) e.title = whole;
  }
}

// away returns how far away a time is, null for more than a month.
function away(ms) {
  if (Math.abs(ms) > 31 * units[0][1]) return null;
  for (const [unit, size] of units) if (Math.abs(ms) >= size) return relative.format(Math.trunc(ms / size), unit);
  return ms < 0 ? "just now" : "in a moment";
}

function say(text) {
  if (banner.textContent !== text) banner.textContent = text;
  banner.hidden = !text;
}

function lost() { say("The connection is lost. Trying again; what you see may be old."); }
function connected() { say(""); }

// soon refreshes in a moment: many events make one request.
let timer = 0;
function soon() {
  if (!timer) timer = setTimeout(() => { timer = 0; refresh(); }, 250);
}

// follow refreshes at each event of the work that the page shows, while the page is visible:
// a browser opens six connections to a server at most, for all its tabs. It connects again
// by itself and continues after the last event.
let stream = null;
function follow() {
  const url = document.body.dataset.events;
  if (!url || stream || signedOut || document.hidden) return;
  const events = stream = new EventSource(url);
  let open = false;
  events.onopen = () => {
    if (open) return;
    open = true;
    soon(); // what happened in between
  };
  events.onmessage = soon;
  events.onerror = () => {
    open = false;
    soon(); // the stream may have ended with the work
    if (events.readyState === EventSource.CLOSED || !document.body.dataset.events) {
      unfollow();
      setTimeout(follow, 2000);
    }
  };
}

function unfollow() {
  stream?.close();
  stream = null;
}

document.addEventListener("input", (e) => { const form = e.target.closest?.("form"); if (form) form.dataset.dirty = "1"; });
document.addEventListener("submit", (e) => {
  if (e.target.closest("[data-saved]")) return; // it is not sent
  for (const button of e.target.querySelectorAll("button")) setTimeout(() => { button.disabled = true; });
});
addEventListener("pagehide", unfollow); // browsers keep pages that were left
addEventListener("pageshow", (e) => { if (e.persisted) location.reload(); });
document.addEventListener("visibilitychange", () => {
  if (document.hidden) return unfollow();
  follow();
  if (document.body.dataset.events || document.body.dataset.refresh) soon();
});

// A link to another view of the same page ("?…") changes the page in place.
document.addEventListener("click", async (e) => {
  const link = e.target.closest?.('main a[href^="?"]');
  if (!link || e.defaultPrevented || e.button || e.metaKey || e.ctrlKey || e.shiftKey || e.altKey) return;
  e.preventDefault();
  const url = new URL(link.getAttribute("href"), location.href);
  if (!await visit(url.href)) return location.assign(url);
  const to = url.hash && document.getElementById(url.hash.slice(1));
  if (!to) return;
  to.focus({ preventScroll: true });
  to.scrollTop = 0;
  to.scrollIntoView({ block: "nearest" });
});
addEventListener("popstate", () => { if (!document.querySelector(".inbox")) refresh(); });

// "/" leads to the search, unless something is being written.
document.addEventListener("keydown", (e) => {
  if (e.key !== "/" || e.defaultPrevented || e.ctrlKey || e.metaKey || e.altKey || e.target.closest?.("input, textarea, select")) return;
  const field = document.querySelector(".find input");
  if (!field || document.querySelector(".inbox")) return; // which has a search of its own
  e.preventDefault();
  field.focus();
});

// Menus close when something else is used, and by Escape: not at the end of a drag, and not while
// something is being written in them. A button copies the id that it has.
let down = null; // what was pressed
document.addEventListener("pointerdown", (e) => { down = e.target; }, true);
document.addEventListener("click", (e) => {
  const dragged = e.detail > 0 && down !== e.target;
  for (const menu of document.querySelectorAll("details.menu[open]")) {
    if (!dragged && !menu.contains(e.target) && !menu.querySelector("form[data-dirty]")) menu.open = false;
  }
  const button = e.target.closest?.("[data-copy]");
  if (!button) return;
  navigator.clipboard.writeText(button.dataset.copy).then(() => {
    const text = button.textContent;
    button.textContent = "Copied";
    setTimeout(() => { button.textContent = text; }, 1500);
  });
});
document.addEventListener("keydown", (e) => {
  const menu = e.key === "Escape" && e.target.closest?.("details.menu[open]");
  if (!menu) return;
  menu.open = false;
  menu.firstElementChild.focus();
});

// Views of a list that a person has saved, kept in this browser: an address for each name.
const savedIn = (menu) => "console-saved-" + menu.dataset.saved;
const savedOf = (menu) => JSON.parse(localStorage.getItem(savedIn(menu)) ?? "[]");

function save(menu, views) {
  localStorage.setItem(savedIn(menu), JSON.stringify(views));
  showSaved();
}

function showSaved() {
  for (const menu of document.querySelectorAll("[data-saved]")) {
    const views = savedOf(menu);
    menu.querySelector("ul").replaceChildren(...views.map(([name, query]) => {
      const line = document.createElement("li"), link = document.createElement("a"), forget = document.createElement("button");
      link.href = location.pathname + query;
      link.textContent = name;
      forget.className = "quiet";
      forget.textContent = "Forget";
      forget.ariaLabel = `Forget ${name}`;
      forget.addEventListener("click", () => save(menu, views.filter((view) => view[0] !== name)));
      line.append(link, " ", forget);
      return line;
    }));
  }
}

document.addEventListener("submit", (e) => {
  const menu = e.target.closest("[data-saved]");
  if (!menu) return;
  e.preventDefault();
  const name = e.target.elements.name.value.trim(), query = new URLSearchParams(location.search);
  for (const of of ["page", "open", "beside", "done", "more"]) query.delete(of); // which pass
  save(menu, [...savedOf(menu).filter((view) => view[0] !== name), [name, "?" + query]]);
  e.target.reset();
  delete e.target.dataset.dirty;
});

// Notices of questions, if the person allows them: while the page is hidden it asks each minute how
// many wait.
const waitingIn = (title) => Number(/^\((\d+)\)/.exec(title)?.[1] ?? 0);
const notifies = () => globalThis.Notification?.permission === "granted" && localStorage.getItem("console-notices") === "on";
let waiting = 0;
async function look() {
  if (!document.hidden || signedOut || !notifies()) return;
  try {
    const response = await fetch("/console/find", { headers: { "X-Console-Refresh": "1" }, redirect: "error", cache: "no-store" });
    if (!response.ok) return;
    const n = waitingIn((await parse(await response.text())).title);
    if (n > waiting) new Notification("Longhaul", { body: n === 1 ? "1 question waits for you." : `${n} questions wait for you.`, tag: "longhaul" }).onclick = () => open("/console/inbox");
    waiting = n;
  } catch { /* it is asked again */ }
}

function showNotifies() {
  const button = document.querySelector("[data-notify]");
  if (!button) return;
  button.hidden = !globalThis.Notification;
  button.ariaPressed = notifies();
}

document.addEventListener("click", async (e) => {
  if (!e.target.closest?.("[data-notify]")) return;
  const on = !notifies() && await Notification.requestPermission() === "granted";
  localStorage.setItem("console-notices", on ? "on" : "off");
  showNotifies();
});
addEventListener("shown", showNotifies);
document.addEventListener("visibilitychange", () => { waiting = waitingIn(document.title); look(); });
setInterval(look, 60e3);

globalThis.longhaul = { visit }; // for the scripts of single pages
document.documentElement.classList.add("live");
if (navigator.clipboard) document.documentElement.classList.add("copies");
localize(document);
showSaved();
showNotifies();
setInterval(() => { if (!document.hidden) localize(document); }, 15000);
follow();
(function poll() {
  setTimeout(() => {
    if (document.body.dataset.refresh) refresh();
    poll();
  }, 1000 * (document.body.dataset.refresh || 5));
})();
