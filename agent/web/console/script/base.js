// Shared by all pages: keyboard shortcuts, the theme, and the only function that inserts fetched HTML into a
// page. Pages work without scripts.

const workerPath = "/worker.js";
const policy = globalThis.trustedTypes?.createPolicy("feedmesh", {
  createHTML: (html) => html,
  createScriptURL: (path) => { if (path !== workerPath) throw new TypeError("not the worker of this origin"); return path; },
});

// part fetches a part of a page from this origin and returns it as a document.
// Other origins and redirects are rejected. It throws if the response is not the
// requested part; the caller can then open the URL itself. With a version it returns
// null if the part has that version still. With prefetch the server changes nothing.
// A form, as URLSearchParams, is sent.
export async function part(address, name, { signal, version, prefetch, form } = {}) {
  const url = new URL(address, location.href);
  if (url.origin !== location.origin) throw new Error("not a page of this origin");
  const headers = { "Feedmesh-Part": name };
  if (version) headers["Feedmesh-Version"] = version;
  if (prefetch) headers["Feedmesh-Prefetch"] = "1";
  const answer = await fetch(url, { method: form ? "POST" : "GET", body: form, headers, redirect: "error", signal });
  if (version && answer.status === 204) return null;
  if (answer.headers.get("Feedmesh-Part") !== name) throw new Error("not the requested part");
  const html = await answer.text();
  return new DOMParser().parseFromString(policy ? policy.createHTML(html) : html, "text/html");
}

// registerWorker registers the service worker. Browsers permit none for pages of plain HTTP.
export async function registerWorker() {
  return navigator.serviceWorker?.register(policy ? policy.createScriptURL(workerPath) : workerPath);
}

// announce sets the text of the live region for screen readers.
export function announce(words) {
  document.getElementById("live").textContent = words;
}

// stored and store read and write local storage, which some browsers disable.
export function stored(name) {
  try { return localStorage.getItem(name); } catch { return null; }
}

export function store(name, value) {
  try { value ? localStorage.setItem(name, value) : localStorage.removeItem(name); } catch { /* used for this page only */ }
}

// Theme

const looks = { "": t("Theme: system"), light: t("Theme: light"), dark: t("Theme: dark"), contrast: t("Theme: high contrast") };

const look = document.getElementById("look");

function showLook() {
  look.textContent = looks[document.documentElement.dataset.theme ?? ""];
}

look?.addEventListener("click", () => {
  const names = Object.keys(looks);
  const next = names[(names.indexOf(document.documentElement.dataset.theme ?? "") + 1) % names.length];
  if (next) document.documentElement.dataset.theme = next;
  else delete document.documentElement.dataset.theme;
  store("theme", next || "system");
  showLook();
});

if (look) {
  look.hidden = false;
  showLook();
}

// Keyboard shortcuts

export const places = { h: "/", s: "/stories", f: "/feeds", r: "/rules", m: "/mesh", t: "/statistics" };

let shortcutUntil = 0; // time until which a letter after g selects a page

// step moves the focus to the next or previous entry of the page's list.
function step(by) {
  const rows = [...document.querySelectorAll("[data-list] > *")].filter((row) => row.querySelector("a[href]"));
  const at = rows.findIndex((row) => row.contains(document.activeElement));
  const row = at < 0 ? rows[by > 0 ? 0 : rows.length - 1] : rows[at + by];
  if (!row) return;
  row.querySelector("a[href]").focus({ preventScroll: true });
  row.scrollIntoView({ block: "nearest" });
}

export const keys = {
  "/": () => { const q = document.getElementById("q"); q.focus(); q.select(); },
  j: () => document.querySelector("[data-list]") ? step(1) : document.querySelector("a[rel=next]")?.click(),
  k: () => document.querySelector("[data-list]") ? step(-1) : document.querySelector("a[rel=prev]")?.click(),
  o: () => document.activeElement.closest("a[href]")?.click(),
  g: () => { shortcutUntil = Date.now() + 1500; },
  "?": help,
};

// Store the list when an entry is opened, for links to the next and previous entry.
addEventListener("click", (event) => {
  const list = event.target.closest("[data-list]");
  if (!list || !event.target.closest("a[href]")) return;
  const paths = [...list.children].map((row) => row.querySelector("a[href]")?.pathname);
  try {
    sessionStorage.setItem("list", JSON.stringify({ address: location.pathname + location.search, paths }));
  } catch { /* without these links */ }
});

// listed returns the stored list with its URL and the paths of
// its entries, or null.
export function listed() {
  try { return JSON.parse(sessionStorage.getItem("list")); } catch { return null; }
}

// isWriting reports whether an element accepts text input.
function isWriting(element) {
  return element.isContentEditable || /^(TEXTAREA|SELECT)$/.test(element.tagName)
    || element.tagName === "INPUT" && !/^(checkbox|radio|button|submit|reset|file|range|color)$/.test(element.type);
}

// keypress is not sent during IME composition. Preventing its default keeps
// the character out of the field that gets the focus.
addEventListener("keypress", (event) => {
  if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey) return;
  if (isWriting(event.target) || document.querySelector("dialog[open]") || stored("keys") === "off") return;
  const place = Date.now() < shortcutUntil && places[event.key];
  shortcutUntil = 0;
  if (!place && !Object.hasOwn(keys, event.key)) return;
  event.preventDefault();
  place ? location.assign(place) : keys[event.key]();
});

addEventListener("keydown", (event) => {
  if (event.key !== "Escape" || event.defaultPrevented || event.isComposing) return;
  if (!document.querySelector("dialog[open]")) document.activeElement.blur(); // the browser closes dialogs
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
  keySwitch.textContent = stored("keys") === "off" ? t("Enable shortcuts") : t("Disable shortcuts");
}

keySwitch?.addEventListener("click", () => {
  store("keys", stored("keys") === "off" ? null : "off");
  showKeys();
});
if (keySwitch) showKeys();

// Images

function showPicture(link) {
  const picture = document.createElement("img");
  picture.alt = link.dataset.alt;
  picture.decoding = "async";
  picture.src = link.dataset.picture;
  picture.addEventListener("error", () => picture.replaceWith(link));
  link.replaceWith(picture);
}

// showPictures makes the links to images in an item show them: one when it is selected, all by the button.
export function showPictures(item) {
  item.querySelector(".content")?.addEventListener("click", (event) => {
    const link = event.target.closest("a[data-picture]");
    if (!link || event.button || event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    showPicture(link);
  });
  const links = item.querySelectorAll("a[data-picture]");
  const all = item.querySelector("#pictures");
  if (!all || links.length === 0) return;
  all.hidden = false;
  all.addEventListener("click", () => {
    links.forEach(showPicture);
    all.remove();
  });
}

// Sharing

// showShare shows the buttons of an item's share menu that the browser supports.
export function showShare(item) {
  for (const button of item.querySelectorAll("[data-share]")) {
    const copies = button.dataset.share === "copy";
    if (!(copies ? navigator.clipboard : navigator.share)) continue; // absent in pages of plain HTTP
    button.hidden = false;
    button.addEventListener("click", async () => {
      const { url, title } = button.dataset;
      try {
        await (copies ? navigator.clipboard.writeText(url) : navigator.share({ title, url }));
        if (copies) announce(t("Link copied"));
      } catch (error) {
        if (error.name !== "AbortError") announce(copies ? t("The link could not be copied") : t("The item could not be shared"));
      }
    });
  }
}

// openShare opens or closes the share menu of an item.
export function openShare(item) {
  const menu = item?.querySelector("details.share");
  if (!menu) return announce(t("This item has no address to share"));
  menu.open = !menu.open;
  menu.querySelector("summary").focus();
}

// A form with data-confirm is submitted only after confirmation.
addEventListener("submit", (event) => {
  const question = event.target.dataset.confirm;
  if (question && !confirm(question)) event.preventDefault();
});
