// The inbox without page changes, and its keys. Without this script its links and forms do the same.

const { visit } = globalThis.longhaul;

const inbox = () => document.querySelector(".inbox");
const one = (selector) => inbox()?.querySelector(selector);

// go opens an address beside the list, with the focus on the title of what it shows.
async function go(url, options) {
  disarm();
  if (!await visit(url, options)) return false;
  const title = one(".review h1");
  (title ?? document.getElementById("main")).focus({ preventScroll: true });
  if (inbox()?.classList.contains("opened")) scrollTo(0, 0);
  one(".current")?.scrollIntoView({ block: "nearest" });
  return true;
}

// pin names the question that is shown in the address, so that a fresh copy of the page shows the
// same, although others have decided it or another one has become the first.
function pin() {
  const gate = one(".review[data-gate]")?.dataset.gate, url = new URL(location.href);
  if (!gate || url.pathname !== "/console/inbox" || url.searchParams.has("open") || url.searchParams.has("beside")) return;
  url.searchParams.set("beside", gate);
  history.replaceState(null, "", url);
}
addEventListener("shown", pin);
pin();

addEventListener("popstate", () => { if (inbox()) go(location.href, { back: true }).then((done) => done || location.reload()); });

document.addEventListener("click", (e) => {
  if (e.target.closest?.("[data-keys]")) return document.getElementById("keys").showModal();
  const link = e.target.closest?.(".inbox a[href]");
  if (!link || e.button || e.ctrlKey || e.metaKey || e.shiftKey || e.altKey || link.download) return;
  const path = new URL(link.href).pathname;
  if (!/^\/console\/inbox(\/[^/]+)?$/.test(path)) return;
  e.preventDefault();
  go(link.href).then((done) => { if (!done) location.assign(link.href); });
});

// A form is sent once. It has a button whose name is action. If sending fails the browser sends it, which shows why.
document.addEventListener("submit", (e) => {
  const form = e.target;
  if (!form.closest(".review") || form.dataset.plain) return;
  e.preventDefault();
  go(form.getAttribute("action"), { body: new URLSearchParams(new FormData(form, e.submitter)) }).then((done) => {
    if (done) return;
    for (const button of form.querySelectorAll("button")) button.disabled = false;
    form.dataset.plain = "1";
    form.requestSubmit(e.submitter);
  });
});

// What cannot be undone takes its key twice. The first press says what the second will do; it is
// forgotten when the object changes, or anything else is done.
const note = document.body.appendChild(Object.assign(document.createElement("p"), { id: "armed" }));
note.setAttribute("role", "status");
let armed = null;

function disarm(text = "") {
  delete armed?.button.dataset.armed;
  armed = null;
  note.textContent = text;
}

const digestsOf = (button) => new FormData(button.form).getAll("digest").join() + button.form.id;

function press(button, key) {
  if (!button || button.disabled) return disarm("That is not offered here.");
  if (button.closest("details")) button.closest("details").open = true;
  if (!button.form.reportValidity()) return disarm();
  if (armed?.button === button && armed.key === key) {
    if (armed.digests !== digestsOf(button)) return disarm("It has changed meanwhile. Look at it, and press again.");
    disarm();
    return button.click();
  }
  disarm(`Press ${key} once more: ${button.textContent.trim()}`);
  armed = { button, key, digests: digestsOf(button) };
  button.dataset.armed = "";
  button.scrollIntoView({ block: "nearest" });
}

addEventListener("shown", () => {
  if (!armed) return;
  if (!armed.button.isConnected || armed.digests !== digestsOf(armed.button)) return disarm("It has changed meanwhile. Look at it, and press again.");
  armed.button.dataset.armed = "";
});

// write opens a part of the decision, to write in it.
function write(id) {
  const part = document.getElementById(id);
  if (!part) return disarm("That is not offered here.");
  part.open = true;
  part.querySelector("textarea").focus();
}

// step opens the question after the present one, or before it.
function step(by) {
  const all = [...document.querySelectorAll("a.question")];
  const at = all.findIndex((link) => link.ariaCurrent);
  all[at < 0 ? 0 : at + by]?.click();
}

const together = () => {
  if (one("#several input:checked")) return one("#several").requestSubmit();
  const group = one(".current")?.closest(".alike");
  group?.querySelector("[data-together]")?.click();
};

const actions = {
  j: () => step(1),
  k: () => step(-1),
  a: () => press(one(".decision button[value=accept], .decision button[value=answer]"), "a"),
  r: () => press(one(".decision button[value=reject]"), "r"),
  s: () => write("refine-form"),
  e: () => write("edit-form"),
  q: () => write("ask-form"),
  x: () => one(".current input[type=checkbox]")?.click(),
  t: together,
  "/": () => one("#text").focus(),
  "?": () => document.getElementById("keys").showModal(),
};

const off = () => localStorage.getItem("console-keys") === "off";
document.addEventListener("change", (e) => { if (e.target.id === "no-keys") localStorage.setItem("console-keys", e.target.checked ? "off" : "on"); });

document.addEventListener("keydown", (e) => {
  if (!inbox() || document.querySelector("dialog[open]") || e.isComposing) return;
  const writes = e.target.matches?.("textarea, select, input:not([type=checkbox], [type=radio])");
  if (e.key === "Enter" && (e.ctrlKey || e.metaKey) && writes && e.target.form.closest(".decision")) {
    e.preventDefault();
    return press(e.target.form.querySelector("button"), "Ctrl+Enter");
  }
  if (e.key === "Escape") {
    disarm();
    if (writes) e.target.blur();
    return;
  }
  const action = !writes && !off() && !e.ctrlKey && !e.metaKey && !e.altKey && !e.repeat && actions[e.key];
  if (!action) return;
  e.preventDefault();
  action();
});
document.addEventListener("pointerdown", () => disarm());
const box = document.getElementById("no-keys");
if (box) box.checked = off();
