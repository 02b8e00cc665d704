// What all pages have: keys, the look, and the one way in which HTML comes to a
// page after it was loaded. Pages are whole without any of it.

const policy = globalThis.trustedTypes?.createPolicy("feedmesh", { createHTML: (html) => html });

// part fetches a part of a page of ours and returns it as a document. Nothing of
// another origin gets in: neither asked for nor led to. It throws if the answer is
// no such part, so that whoever asked can go to the address itself.
export async function part(address, name, signal) {
  const url = new URL(address, location.href);
  if (url.origin !== location.origin) throw new Error("this is no page of ours");
  const answer = await fetch(url, { headers: { "Feedmesh-Part": name }, redirect: "error", signal });
  if (answer.headers.get("Feedmesh-Part") !== name) throw new Error("this is not the part that was asked for");
  const html = await answer.text();
  return new DOMParser().parseFromString(policy ? policy.createHTML(html) : html, "text/html");
}

// say has screen readers say it, when they come to it.
export function say(words) {
  document.getElementById("live").textContent = words;
}

// kept and keep are what this browser remembers. Some remember nothing.
export function kept(name) {
  try { return localStorage.getItem(name); } catch { return null; }
}

function keep(name, value) {
  try { value ? localStorage.setItem(name, value) : localStorage.removeItem(name); } catch { /* it holds for this page */ }
}

// The look

const looks = { "": "Look: as the system", light: "Look: light", dark: "Look: dark" };

const look = document.getElementById("look");

function showLook() {
  look.textContent = looks[document.documentElement.dataset.theme ?? ""];
}

look?.addEventListener("click", () => {
  const names = Object.keys(looks);
  const next = names[(names.indexOf(document.documentElement.dataset.theme ?? "") + 1) % names.length];
  if (next) document.documentElement.dataset.theme = next;
  else delete document.documentElement.dataset.theme;
  keep("theme", next);
  showLook();
});

if (look) {
  look.hidden = false;
  showLook();
}

// Keys

const places = { h: "/", s: "/stories", f: "/feeds", r: "/rules", m: "/mesh", t: "/statistics" };

let goes = 0; // until when a letter says where to go, after g

// step moves to the next entry of the page's list, or back.
function step(by) {
  const rows = [...document.querySelectorAll("[data-list] > *")].filter((row) => row.querySelector("a[href]"));
  const at = rows.findIndex((row) => row.contains(document.activeElement));
  const row = at < 0 ? rows[by > 0 ? 0 : rows.length - 1] : rows[at + by];
  if (!row) return;
  row.querySelector("a[href]").focus({ preventScroll: true });
  row.scrollIntoView({ block: "nearest" });
}

const keys = {
  "/": () => { const q = document.getElementById("q"); q.focus(); q.select(); },
  j: () => document.querySelector("[data-list]") ? step(1) : document.querySelector("a[rel=next]")?.click(),
  k: () => document.querySelector("[data-list]") ? step(-1) : document.querySelector("a[rel=prev]")?.click(),
  o: () => document.activeElement.closest("a[href]")?.click(),
  g: () => { goes = Date.now() + 1500; },
  "?": help,
};

// Whoever opens an entry of a list can go on from there to the next one.
addEventListener("click", (event) => {
  const list = event.target.closest("[data-list]");
  if (!list || !event.target.closest("a[href]")) return;
  const paths = [...list.children].map((row) => row.querySelector("a[href]")?.pathname);
  try {
    sessionStorage.setItem("list", JSON.stringify({ address: location.pathname + location.search, paths }));
  } catch { /* then there is no way on */ }
});

// listed returns the list that was left last, with its address and the paths of
// its entries, or null.
export function listed() {
  try { return JSON.parse(sessionStorage.getItem("list")); } catch { return null; }
}

// isWriting reports whether a key belongs to a field.
function isWriting(element) {
  return element.isContentEditable || /^(TEXTAREA|SELECT)$/.test(element.tagName)
    || element.tagName === "INPUT" && !/^(checkbox|radio|button|submit|reset|file|range|color)$/.test(element.type);
}

// A character has a keypress, and none while it is composed of others; to prevent
// that is what keeps it out of the field which it leads to.
addEventListener("keypress", (event) => {
  if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey) return;
  if (isWriting(event.target) || document.querySelector("dialog[open]") || kept("keys") === "off") return;
  const place = Date.now() < goes && places[event.key];
  goes = 0;
  if (!place && !Object.hasOwn(keys, event.key)) return;
  event.preventDefault();
  place ? location.assign(place) : keys[event.key]();
});

addEventListener("keydown", (event) => {
  if (event.key !== "Escape" || event.defaultPrevented || event.isComposing) return;
  if (!document.querySelector("dialog[open]")) document.activeElement.blur(); // a dialog closes by itself
});

// Help

const dialog = document.getElementById("help");

async function help() {
  if (!dialog.querySelector("h2")) {
    try {
      const page = await part("/help", "help");
      dialog.prepend(...page.body.childNodes);
    } catch {
      location.assign("/help");
      return;
    }
  }
  dialog.showModal();
}

const keySwitch = document.getElementById("keys");

function showKeys() {
  keySwitch.textContent = kept("keys") === "off" ? "Turn the keys on" : "Turn the keys off";
}

keySwitch?.addEventListener("click", () => {
  keep("keys", kept("keys") === "off" ? null : "off");
  showKeys();
});
if (keySwitch) showKeys();

// A form with data-asks is sent only when its question is answered with yes.
addEventListener("submit", (event) => {
  const question = event.target.dataset.asks;
  if (question && !confirm(question)) event.preventDefault();
});
