// Changes of plans in the graph, with the mouse and with keys. Each leads to an address with one
// step more, as the links and forms beside the graph do without this script.

const { visit } = globalThis.longhaul;

const nodes = () => [...document.querySelectorAll(".tree.draft a")];
const nodeOf = (e) => e.target.closest?.(".tree.draft a");
const keyOf = (node) => node.id.slice(1);
const nameOf = (node) => node.querySelector("text").textContent;
const isTask = (node) => keyOf(node).includes("-");

// say writes what the reader should know. It stays until the draft is another one.
let said = ""; // the address of the draft
function say(text) {
  said = location.href;
  document.getElementById("draft-says").textContent = text;
}
addEventListener("shown", () => { if (said !== location.href && document.getElementById("draft-says")) say(""); });

// open shows an address in place, and then moves the focus.
async function open(url, focused) {
  if (!await visit(url.href)) return location.assign(url);
  focused()?.focus({ preventScroll: true });
}

function step(fields, focused) {
  const url = new URL(location.href);
  for (const [name, value] of fields) url.searchParams.append(name, value);
  return open(url, focused);
}

// change adds a step about one plan or task.
const change = (what, node) => step([["do", what], ["of", keyOf(node)]], () => document.getElementById(node.id));

// add opens the form for a task after another one, or at the end of a plan.
const add = (node) => open(new URL(node.getAttribute("href"), location.href), () => document.getElementById("draft-name"));

// link makes one wait for another, or no longer.
function link(first, second) {
  if (first === second) return;
  if (isTask(first) !== isTask(second)) return say("A plan waits for plans, and a task for tasks of its plan.");
  if (second.dataset.after === undefined) return say(`${nameOf(second)} has begun or ended: it waits for nothing more.`);
  const after = new Set(second.dataset.after.split(" ").filter(Boolean));
  if (!after.delete(keyOf(first))) after.add(keyOf(first));
  return step([["do", "order"], ["of", keyOf(second)], ...[...after].map((key) => ["after", key])], () => document.getElementById(second.id));
}

let first = ""; // the id of what comes first
const actions = {
  n: add,
  x: (node) => change("skip", node),
  e: (node) => change("earlier", node),
  l: (node) => change("later", node),
  u: (node) => {
    const undo = [...document.querySelectorAll(".steps .undo")].at(-1);
    if (undo) open(new URL(undo.getAttribute("href"), location.href), () => document.getElementById(node.id));
  },
  w: (node) => {
    const from = first && document.getElementById(first);
    first = from ? "" : node.id;
    if (from) return link(from, node);
    say(`${nameOf(node)} comes first. Press w on what has to wait for it.`);
  },
  Escape: () => { first = ""; say(""); },
  ArrowLeft: (node) => go(node, -1),
  ArrowRight: (node) => go(node, 1),
};

function go(node, by) {
  const all = nodes();
  all[(all.indexOf(node) + by + all.length) % all.length].focus();
}

document.addEventListener("keydown", (e) => {
  const node = nodeOf(e), action = node && !e.ctrlKey && !e.metaKey && !e.altKey && actions[e.key];
  if (!action) return;
  e.preventDefault();
  action(node);
});

document.addEventListener("submit", (e) => {
  const form = e.target;
  if (!/^draft-(add|order)$/.test(form.id)) return;
  e.preventDefault();
  const url = new URL(location.pathname, location.href);
  url.search = new URLSearchParams(new FormData(form));
  form.reset();
  open(url, () => nodes().findLast((node) => node.classList.contains("added")));
});

// A drag shows the line that it would make, or where it would put a task between two.
let drag = null, over = null;
function edgeAt(e) {
  const edge = document.elementFromPoint(e.clientX, e.clientY)?.closest(".tree.draft .edge");
  const key = drag && isTask(drag.node) && drag.node.dataset.after !== undefined && keyOf(drag.node);
  return edge && key && ![edge.dataset.after, edge.dataset.before].includes(key) ? edge : null;
}
function mark(edge) {
  over?.classList.remove("over");
  over = edge;
  over?.classList.add("over");
}
document.addEventListener("dragstart", (e) => { if (nodeOf(e)) e.preventDefault(); });
document.addEventListener("pointerdown", (e) => {
  const node = nodeOf(e);
  drag = node && !e.button && e.pointerType !== "touch" ? { node, x: e.clientX, y: e.clientY, line: null } : null;
});
document.addEventListener("pointermove", (e) => {
  if (!drag || Math.hypot(e.clientX - drag.x, e.clientY - drag.y) < 6) return;
  const svg = drag.node.ownerSVGElement, at = svg.getBoundingClientRect();
  drag.line ??= svg.appendChild(document.createElementNS(svg.namespaceURI, "path"));
  drag.line.setAttribute("class", "fresh");
  drag.line.setAttribute("pointer-events", "none");
  drag.line.setAttribute("d", `M${drag.x - at.left} ${drag.y - at.top}L${e.clientX - at.left} ${e.clientY - at.top}`);
  mark(edgeAt(e));
});
document.addEventListener("pointercancel", () => { drag?.line?.remove(); drag = null; mark(null); });
document.addEventListener("pointerup", (e) => {
  const { node, line } = drag ?? {}, edge = line && edgeAt(e);
  drag = null;
  mark(null);
  if (!line) return;
  line.remove();
  if (edge) return step([["do", "between"], ["of", keyOf(node)], ["after", edge.dataset.after], ["before", edge.dataset.before]], () => document.getElementById(node.id));
  const at = document.elementFromPoint(e.clientX, e.clientY), to = at?.closest(".tree.draft a");
  if (to && to !== node && (isTask(to) || !isTask(node))) return link(node, to);
  if (at?.closest("#tree") && to !== node) return add(node);
});
