// A search that answers while one types. Addresses stay what they are without it:
// each says all of a search, and Back leads where one was.

import { part, say } from "./base.js";

const field = document.getElementById("q");
const results = document.getElementById("results");
const calm = 80; // ms between two searches while one types
const pause = 350; // ms without a key after which the rest of the page follows
const late = 200; // ms after which a search that has not answered is marked

let shown = location.href; // the address of what is seen
let meant = location.href; // the newest address that Back must lead to
let last = 0; // when the last search began
let number = 0; // of the last search: answers of those before it come too late
let under = new AbortController(); // way of the last search
let waiting; // timer of the next search, or of what follows it

const seen = new Map(); // what the last pages showed, by address: Back is at once
const most = 20; // of these

function remember(address, nodes) {
  seen.delete(address);
  seen.set(address, nodes);
  if (seen.size > most) seen.delete(seen.keys().next().value);
}

// ask searches for an address and shows part of what was found. It returns false
// if something newer was asked for meanwhile.
async function ask(url, name, isWelcome = () => true) {
  const mine = ++number;
  last = performance.now();
  under.abort();
  under = new AbortController();
  const mark = setTimeout(() => results.classList.add("late"), late);
  try {
    const page = await part(url, name, under.signal);
    if (mine !== number || !isWelcome(page)) return false;
    put(name === "results" ? results : document.getElementById(name), page.body.childNodes);
    shown = String(url);
    return true;
  } catch {
    if (mine === number) location.assign(url); // the whole page says what is wrong
    return false;
  } finally {
    clearTimeout(mark);
    if (mine === number) results.classList.remove("late");
  }
}

// put shows something else in a place. The focus stays where it was, as far as
// that is still there.
function put(place, nodes) {
  const focus = place.contains(document.activeElement) && document.activeElement;
  place.replaceChildren(...nodes);
  if (document.getElementById("fault")) {
    field.setAttribute("aria-invalid", "true");
    field.setAttribute("aria-describedby", "fault");
  } else {
    field.removeAttribute("aria-invalid");
    field.removeAttribute("aria-describedby");
  }
  if (focus) again(focus);
}

// again gives the focus to what is now where it was, or else to the heading.
function again(focus) {
  const key = focus.dataset.key;
  const same = key && results.querySelector(`[data-key="${CSS.escape(key)}"]`);
  const heading = results.querySelector("h1");
  if (!same) heading.tabIndex = -1;
  (same || heading).focus({ preventScroll: true });
}

function tell() {
  say((document.getElementById("count") ?? results.querySelector("h1")).textContent);
  const q = new URL(location.href).searchParams.get("q");
  document.title = `${q || "Newest items"} · feedmesh`;
}

// settle makes the address shown one that Back leads to.
function settle() {
  const now = location.href;
  if (now === meant) return;
  history.replaceState(null, "", meant);
  history.pushState(null, "", now);
  meant = now;
}

// Typing

// typed returns the address of what is in the field, with the filters in force.
function typed() {
  const url = new URL(location.href);
  for (const name of ["q", "typing", "cursor", "page", "at"]) url.searchParams.delete(name);
  const q = field.value.trim();
  if (q) {
    url.searchParams.set("q", q);
    url.searchParams.set("typing", /\s$/.test(field.value) ? "end" : "word");
  }
  url.searchParams.sort();
  return url;
}

async function type() {
  const url = typed();
  if (url.href === location.href) return;
  // A mistake may be half of something right: it is told only after a while.
  let isFaulty = false;
  const isShown = await ask(url, "hits", (page) => !(isFaulty = page.getElementById("fault") !== null));
  if (!isShown && !isFaulty) return;
  history.replaceState(null, "", url);
  waiting = setTimeout(() => rest(isFaulty), isFaulty ? 2 * pause : pause);
  if (!isFaulty) suggest();
}

// rest brings what there was no time for while one typed.
async function rest(isFaulty) {
  if (await ask(location.href, isFaulty ? "hits" : "filters")) tell();
}

function soon() {
  clearTimeout(waiting);
  waiting = setTimeout(type, Math.max(0, last + calm - performance.now()));
}

field.addEventListener("input", (event) => { if (!event.isComposing) soon(); });
field.addEventListener("compositionend", soon);

field.form.addEventListener("submit", async (event) => {
  event.preventDefault();
  close();
  clearTimeout(waiting);
  if (matchMedia("(pointer: coarse)").matches) field.blur(); // the keyboard hides what was found
  await go(typed());
});

// Links to other searches

async function go(url, scroll) {
  clearTimeout(waiting);
  settle();
  const before = [shown, [...results.childNodes]];
  if (!await ask(url, "results")) return;
  remember(...before);
  if (location.href !== String(url)) history.pushState(null, "", url);
  meant = location.href;
  if (scroll) scrollTo(0, 0);
  tell();
}

results.addEventListener("click", (event) => {
  const link = event.target.closest("a[href]");
  const href = link?.getAttribute("href");
  if (!href || event.button || event.ctrlKey || event.metaKey || event.shiftKey || event.altKey) return;
  const url = new URL(href, location.href);
  if (url.origin !== location.origin || url.pathname !== "/" || href.startsWith("#")) {
    settle(); // so that Back leads to what is seen now
    return;
  }
  event.preventDefault();
  field.value = url.searchParams.get("q") ?? "";
  go(url, url.searchParams.has("cursor"));
});

addEventListener("popstate", async () => {
  clearTimeout(waiting);
  close();
  remember(shown, [...results.childNodes]);
  meant = location.href;
  field.value = new URL(meant).searchParams.get("q") ?? "";
  if (seen.has(meant)) {
    number++; // whatever is under way comes too late
    put(results, seen.get(meant));
    seen.delete(meant); // it is changed from now on
    shown = meant;
    tell();
  } else if (await ask(meant, "results")) tell();
});

// Suggestions: words that the last one may become

const list = document.createElement("ul");
list.id = "suggestions";
list.className = "suggestions";
list.role = "listbox";
list.ariaLabel = "Suggestions";
list.hidden = true;
field.parentElement.append(list);
field.role = "combobox";
field.setAttribute("aria-autocomplete", "list");
field.setAttribute("aria-controls", list.id);
field.ariaExpanded = "false";

let words = new AbortController();

async function suggest() {
  words.abort();
  const prefix = field.value.match(/[\p{L}\p{N}]{2,}$/u)?.[0];
  if (!prefix || document.activeElement !== field) return close();
  words = new AbortController();
  const { signal } = words;
  try {
    const answer = await fetch(`/api/suggest?${new URLSearchParams({ prefix, limit: 6 })}`, { signal });
    if (!answer.ok) return close();
    const found = (await answer.json()).words.map((w) => w.value).filter((w) => w !== prefix.toLowerCase());
    if (!signal.aborted) open(found.slice(0, 5));
  } catch { /* there are none, or newer ones */ }
}

function open(found) {
  list.replaceChildren(...found.map((word, i) => {
    const option = document.createElement("li");
    option.id = `suggestion-${i}`;
    option.role = "option";
    option.ariaSelected = "false";
    option.textContent = word;
    return option;
  }));
  list.hidden = found.length === 0;
  field.ariaExpanded = String(!list.hidden);
  field.removeAttribute("aria-activedescendant");
}

function close() {
  words.abort();
  open([]);
}

const chosen = () => list.querySelector("[aria-selected=true]");

function choose(option) {
  field.value = field.value.replace(/[\p{L}\p{N}]+$/u, option.textContent) + " ";
  close();
  clearTimeout(waiting);
  go(typed());
}

function move(by) {
  const options = [...list.children];
  const at = options.indexOf(chosen()) + by;
  chosen()?.setAttribute("aria-selected", "false");
  const next = options[at === -2 ? options.length - 1 : at];
  next?.setAttribute("aria-selected", "true");
  next ? field.setAttribute("aria-activedescendant", next.id) : field.removeAttribute("aria-activedescendant");
}

field.addEventListener("keydown", (event) => {
  if (event.isComposing || list.hidden && event.key !== "Escape") return;
  if (event.key === "ArrowDown" || event.key === "ArrowUp") move(event.key === "ArrowDown" ? 1 : -1);
  else if (event.key === "Enter" && chosen()) choose(chosen());
  else if (event.key === "Escape") list.hidden ? field.blur() : close();
  else return;
  event.preventDefault();
});

field.addEventListener("blur", close);
list.addEventListener("pointerdown", (event) => event.preventDefault()); // the field keeps the focus
list.addEventListener("click", (event) => {
  const option = event.target.closest("li");
  if (option) choose(option);
});
