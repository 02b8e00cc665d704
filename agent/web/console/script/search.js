// Search as you type. URLs are the same as without the script:
// each contains the whole search, and Back returns to the previous search.

import { part, announce } from "./base.js";

const field = document.getElementById("q");
const results = document.getElementById("results");
const minInterval = 80; // minimum ms between two searches during typing
const pause = 350; // ms without input before the rest of the page is loaded
const pendingDelay = 200; // ms after which a pending search is indicated

let shown = location.href; // URL of the shown results
let historyURL = location.href; // URL of the newest history entry to keep
let last = 0; // start time of the last search
let number = 0; // of the last search: earlier responses are discarded
let controller = new AbortController(); // AbortController of the last search
let waiting; // timer of the next request

const pageCache = new Map(); // cache of the last pages by URL, so that Back is immediate
const maxCached = 20;

function cachePage(address, nodes) {
  pageCache.delete(address);
  pageCache.set(address, nodes);
  if (pageCache.size > maxCached) pageCache.delete(pageCache.keys().next().value);
}

// load fetches a search and shows a part of its results. It returns false
// if a newer request was started meanwhile.
async function load(url, name, accept = () => true) {
  const request = ++number;
  last = performance.now();
  controller.abort();
  controller = new AbortController();
  const mark = setTimeout(() => results.classList.add("pending"), pendingDelay);
  try {
    const page = await part(url, name, { signal: controller.signal });
    if (request !== number || !accept(page)) return false;
    put(name === "results" ? results : document.getElementById(name), page.body.childNodes);
    shown = String(url);
    return true;
  } catch {
    if (request === number) location.assign(url); // the full page shows the error
    return false;
  } finally {
    clearTimeout(mark);
    if (request === number) results.classList.remove("pending");
  }
}

// put replaces the content of an element and keeps the focus if the focused
// element still exists.
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
  if (focus) restoreFocus(focus);
}

// restoreFocus focuses the element with the same key, or else the heading.
function restoreFocus(focus) {
  const key = focus.dataset.key;
  const same = key && results.querySelector(`[data-key="${CSS.escape(key)}"]`);
  const heading = results.querySelector("h1");
  if (!same) heading.tabIndex = -1;
  (same || heading).focus({ preventScroll: true });
}

function announceCount() {
  announce((document.getElementById("count") ?? results.querySelector("h1")).textContent);
  const q = new URL(location.href).searchParams.get("q");
  document.title = `${q || t("Newest items")} · feedmesh`;
}

// updateHistory adds the shown URL to the history.
function updateHistory() {
  const now = location.href;
  if (now === historyURL) return;
  history.replaceState(null, "", historyURL);
  history.pushState(null, "", now);
  historyURL = now;
}

// Typing

// typed returns the URL of the field's query with the active filters.
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
  // An incomplete query may be invalid: show the error only after a delay.
  let isFaulty = false;
  if (url.href !== location.href) {
    const isShown = await load(url, "hits", (page) => !(isFaulty = page.getElementById("fault") !== null));
    if (!isShown && !isFaulty) return;
    history.replaceState(null, "", url);
    if (typed().href !== url.href) return; // a newer search is scheduled: loadRest would abort it
  }
  clearTimeout(waiting);
  waiting = setTimeout(() => loadRest(isFaulty), isFaulty ? 2 * pause : pause);
  if (!isFaulty) suggest();
}

// loadRest loads the parts of the page that typing skipped.
async function loadRest(isFaulty) {
  if (await load(location.href, isFaulty ? "hits" : "filters")) announceCount();
}

function scheduleSearch() {
  clearTimeout(waiting);
  waiting = setTimeout(type, Math.max(0, last + minInterval - performance.now()));
}

field.addEventListener("input", (event) => { if (!event.isComposing) scheduleSearch(); });
field.addEventListener("compositionend", scheduleSearch);

field.form.addEventListener("submit", async (event) => {
  event.preventDefault();
  close();
  clearTimeout(waiting);
  if (matchMedia("(pointer: coarse)").matches) field.blur(); // the on-screen keyboard hides the results
  await go(typed());
});

// Links to other searches

async function go(url, scroll) {
  clearTimeout(waiting);
  updateHistory();
  const before = [shown, [...results.childNodes]];
  if (!await load(url, "results")) return;
  cachePage(...before);
  if (location.href !== String(url)) history.pushState(null, "", url);
  historyURL = location.href;
  if (scroll) scrollTo(0, 0);
  announceCount();
}

results.addEventListener("click", (event) => {
  const link = event.target.closest("a[href]");
  const href = link?.getAttribute("href");
  if (!href || event.button || event.ctrlKey || event.metaKey || event.shiftKey || event.altKey) return;
  const url = new URL(href, location.href);
  if (url.origin !== location.origin || url.pathname !== "/" || href.startsWith("#")) {
    updateHistory(); // so that Back returns to the shown results
    return;
  }
  event.preventDefault();
  field.value = url.searchParams.get("q") ?? "";
  go(url, url.searchParams.has("cursor"));
});

addEventListener("popstate", async () => {
  clearTimeout(waiting);
  close();
  cachePage(shown, [...results.childNodes]);
  historyURL = location.href;
  field.value = new URL(historyURL).searchParams.get("q") ?? "";
  if (pageCache.has(historyURL)) {
    number++; // discard pending responses
    put(results, pageCache.get(historyURL));
    pageCache.delete(historyURL); // its nodes are live again
    shown = historyURL;
    announceCount();
  } else if (await load(historyURL, "results")) announceCount();
});

// Suggestions: completions of the last word

const list = document.createElement("ul");
list.id = "suggestions";
list.className = "suggestions";
list.role = "listbox";
list.ariaLabel = t("Suggestions");
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
  } catch { /* none, or replaced by newer suggestions */ }
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
