// The reading page: opens items beside the list, marks them without loading the page again, and shows marks of the
// client's other windows. Without it, links and forms do the same.
import { announce, keys, openShare, part, places, showPictures, showShare, store, stored } from "./base.js";

const reader = document.getElementById("reader");
const rows = document.getElementById("rows");
const pane = document.getElementById("pane");
const folders = document.getElementById("folders");
const undo = document.getElementById("undo");

// The shell is this page without data, which the service worker returns without a network.
const isShell = "shell" in reader.dataset;

const rowOf = (id) => rows.querySelector(`[data-id="${CSS.escape(id)}"]`);
const opened = () => pane.querySelector("article");

// fill replaces the content of an element with a part of a page.
async function fill(element, address, name) {
  insert(element, await part(address, name));
}

// insert replaces the content of an element with that of a page.
function insert(element, page) {
  element.replaceChildren(...page.body.childNodes);
  // Parts that the service worker kept are older than these marks.
  for (const { dataset } of element.querySelectorAll("[data-marks]")) {
    for (const [id, marks] of Object.entries(JSON.parse(decodeURIComponent(dataset.marks)))) show(id, marks);
  }
  // The service worker writes English.
  for (const words of element.querySelectorAll("[data-english]")) {
    if (words.ariaLabel) words.ariaLabel = t(words.ariaLabel);
    else words.textContent = t(words.textContent);
  }
  if (element === rows) watchRows();
  if (element === pane) showShare(pane);
}

// Numbers of unread items are requested once for several changes.
let folderTimer;
function countLater() {
  clearTimeout(folderTimer);
  folderTimer = setTimeout(() => part(listAddress(), "folders").then(showFolders, () => {}), 200);
}

// showFolders shows folders and feeds. If they are the same as before, only changed entries are replaced.
function showFolders(page) {
  const [before, after] = [folders, page].map((of) => [...of.querySelectorAll("li")]);
  const target = (entry) => entry.querySelector("a")?.href;
  const isOther = page.querySelector("[data-english]") || before.length !== after.length;
  if (isOther || before.some((entry, at) => target(entry) !== target(after[at]))) return insert(folders, page);
  before.forEach((entry, at) => { if (!entry.isEqualNode(after[at])) entry.replaceWith(after[at]); });
}

// Opening

let loading; // AbortController of the item that is being loaded
let opening; // Promise of the request that marks the open item as read

async function open(row, next = row?.nextElementSibling) {
  const link = row?.querySelector("a[href]");
  if (!link) return;
  loading?.abort();
  const { signal } = loading = new AbortController();
  for (const other of rows.querySelectorAll("[aria-current]")) other.removeAttribute("aria-current");
  link.setAttribute("aria-current", "true");
  row.scrollIntoView({ block: "nearest" });
  const early = prefetched?.id === row.dataset.id ? prefetched.page : undefined;
  if (early) showItem(row, early.cloneNode(true));
  try {
    // The request marks the item as read: it is not aborted for an item that is shown.
    const page = await (opening = part(link.href, "article", { signal: early ? undefined : signal }));
    if (signal.aborted) return;
    if (!early) showItem(row, page);
    else if (!page.body.isEqualNode(early.body)) showItem(row, page, true);
  } catch {
    if (!signal.aborted) location.assign(link.href);
    return;
  }
  countLater();
  prefetch(next);
}

// showItem shows an item beside the list, or a newer version of the one that is shown.
function showItem(row, page, isNewer) {
  const { scrollTop } = pane;
  insert(pane, page);
  showPictures(pane);
  pane.scrollTop = isNewer ? scrollTop : 0;
  if (opened()) show(row.dataset.id, { read: opened().dataset.read === "true" });
  if (isNewer) return;
  history.replaceState(null, "", row.querySelector("a[href]").href);
  reader.classList.add("opened");
  pane.dispatchEvent(new Event("itemchange"));
  pane.focus({ preventScroll: true });
  if (getComputedStyle(row).display === "none" || !row.offsetParent) scrollTo(0, 0); // the list is hidden on narrow screens
}

// The next item in the direction of the last step is requested in advance, so that it is shown at once.
let prefetched; // id and page, which is missing until it is loaded

async function prefetch(row) {
  const link = row?.querySelector("a[href]");
  if (!link || isShell || navigator.connection?.saveData) return;
  const next = prefetched = { id: row.dataset.id };
  next.page = await part(link.href, "article", { prefetch: true }).catch(() => undefined);
}

function close() {
  const id = opened()?.dataset.id;
  reader.classList.remove("opened");
  pane.dispatchEvent(new Event("itemchange"));
  const address = new URL(location.href);
  address.searchParams.delete("open");
  history.replaceState(null, "", address);
  const row = id && rowOf(id);
  row?.querySelector("a[href]").focus({ preventScroll: true });
  row?.scrollIntoView({ block: "nearest" });
}

rows.addEventListener("click", (event) => {
  const link = event.target.closest("a.title");
  if (!link || event.button || event.ctrlKey || event.metaKey || event.shiftKey) return;
  event.preventDefault();
  open(link.closest("li"));
});

pane.addEventListener("click", (event) => {
  if (!event.target.closest("#close")) return;
  event.preventDefault();
  close();
});

// step opens the next or previous item of the list, or only moves the focus to it.
function step(by, focusOnly) {
  const all = [...rows.querySelectorAll("li")];
  const focused = all.findIndex((row) => row.contains(document.activeElement));
  const at = focused >= 0 ? focused : all.findIndex((row) => row.querySelector("[aria-current]"));
  const row = at < 0 ? all[by > 0 ? 0 : all.length - 1] : all[at + by];
  if (!row) return announce(by > 0 ? t("End of the list") : t("Start of the list"));
  if (focusOnly) {
    row.querySelector("a[href]").focus({ preventScroll: true });
    row.scrollIntoView({ block: "nearest" });
  } else {
    open(row, all[all.indexOf(row) + by]);
  }
}

// Marks

let changes = 0; // the number of changes of marks since the page was opened

// show shows the marks of an item that may be in the list and beside it.
function show(id, { read, starred }) {
  const row = rowOf(id);
  if (row && read != null) {
    row.classList.toggle("read", read);
    row.classList.toggle("unread", !read);
    const words = row.querySelector(".title > .visually-hidden");
    if (read) words?.remove();
    else if (!words) {
      const unread = document.createElement("span");
      unread.className = "visually-hidden";
      unread.lang = document.documentElement.lang;
      unread.textContent = `${t("Unread:")} `;
      row.querySelector(".title").prepend(unread);
    }
  }
  if (row && starred != null) row.classList.toggle("starred", starred);
  const item = opened();
  if (item?.dataset.id !== id) return;
  const button = (name, on, yes, no) => {
    item.dataset[name] = on;
    const b = item.querySelector(`button[name=${name}]`);
    b.value = on ? "no" : "yes";
    b.textContent = on ? yes : no;
  };
  if (read != null) button("read", read, t("Mark as unread"), t("Mark as read"));
  if (starred != null) button("starred", starred, t("Remove star"), t("Star"));
}

async function post(path, body) {
  const answer = await fetch(path, { method: "POST", headers: body && { "Content-Type": "application/json" }, body: JSON.stringify(body) });
  if (!answer.ok) throw new Error((await answer.json().catch(() => ({}))).detail ?? t("status %s", answer.status));
  return answer.status === 204 ? null : answer.json();
}

// mark changes marks at once, and back if the node does not accept them. It returns whether it did.
async function mark(ids, change) {
  changes++;
  for (const id of ids) show(id, change);
  await opening?.catch(() => {}); // a prefetched item is shown before it is marked as read
  try {
    await post("/api/reading/marks", { ids, ...change });
    countLater();
    return true;
  } catch (error) {
    const back = Object.fromEntries(Object.entries(change).map(([name, value]) => [name, !value]));
    for (const id of ids) show(id, back);
    report(t("Not marked: %s", error.message));
    return false;
  }
}

// report shows a sentence above the list, with a button to undo unless action is missing.
function report(words, action) {
  const note = document.createElement("p");
  note.className = "note";
  note.textContent = `${words} `;
  if (action) {
    const button = document.createElement("button");
    button.type = "button";
    button.className = "small";
    button.textContent = t("Undo");
    button.addEventListener("click", () => { undo.replaceChildren(); action(); });
    note.append(button);
  }
  undo.replaceChildren(note);
  announce(words);
}

// current returns the item that keys act on: the focused one of the list, or the one beside it.
function current() {
  const row = document.activeElement.closest?.("#rows li") ?? rows.querySelector("[aria-current]")?.closest("li");
  const item = opened();
  if (row && row.dataset.id !== item?.dataset.id) {
    return { id: row.dataset.id, read: row.classList.contains("read"), starred: row.classList.contains("starred") };
  }
  return item && { id: item.dataset.id, read: item.dataset.read === "true", starred: item.dataset.starred === "true", original: item.dataset.original };
}

const toggle = (name) => { const item = current(); if (item) mark([item.id], { [name]: !item[name] }); };

// fetchText replaces the text of the open item by that of its page.
async function fetchText() {
  const item = opened();
  const form = item?.querySelector("form.full-text");
  const button = form?.querySelector("button");
  if (!button) return announce(t("This item has its full text"));
  if (button.disabled) return;
  form.querySelector(".note")?.remove();
  button.disabled = true;
  announce(t("Fetching the full text"));
  try {
    await post(`/api/items/${encodeURIComponent(item.dataset.id)}/text`);
    if (opened() !== item) return;
    await fill(pane, form.elements.back.value, "article");
    showPictures(pane);
    pane.focus({ preventScroll: true });
    announce(t("Full text fetched"));
  } catch (error) {
    const note = document.createElement("p");
    note.className = "note";
    note.textContent = error.message;
    form.append(note);
    announce(error.message);
  } finally {
    button.disabled = false;
  }
}

pane.addEventListener("submit", (event) => {
  if (!event.target.matches(".full-text")) return;
  event.preventDefault();
  fetchText();
});

pane.addEventListener("submit", (event) => {
  const button = event.submitter;
  if (!button?.closest(".marks")) return;
  event.preventDefault();
  mark([opened().dataset.id], { [button.name]: button.value === "yes" });
});

const markAllForm = document.getElementById("mark-all");
const markAll = () => markStream(Object.fromEntries(new FormData(markAllForm)));

// markStream marks the items of a feed, a folder or all as read: those first seen until a time, or older ones. The shell
// has none of these, and marks the items that it lists.
async function markStream({ feed, tag, label, until, older }) {
  if (isShell) return markRows(unreadRows().filter((row) => !older || Date.parse(row.dataset.time) <= Date.parse(older)));
  try {
    const { ids, more } = await post("/api/reading/all-read", { feed: feed || undefined, tag: tag || undefined, label: label || undefined, until, older });
    refresh();
    reportRead(ids, more, refresh);
  } catch (error) {
    report(t("Not marked: %s", error.message));
  }
}

// reportRead reports that items were marked as read, with a button to undo it.
function reportRead(ids, more, after) {
  if (ids.length === 0) report(t("Nothing was unread."));
  else if (more) report(t("%s or more items marked as read.", ids.length));
  else report(n(ids.length, "%d item marked as read.", "%d items marked as read."), () => mark(ids, { read: false }).then(after));
}

const unreadRows = () => [...rows.querySelectorAll("li.unread")];

async function markRows(list) {
  const ids = list.map((row) => row.dataset.id);
  if (ids.length === 0 || await mark(ids, { read: true })) reportRead(ids);
}

// currentRow returns the row of the item that keys act on.
const currentRow = () => { const item = current(); return item && rowOf(item.id); };

function markAbove() {
  const row = currentRow();
  if (row) markRows(unreadRows().filter((other) => other === row || other.compareDocumentPosition(row) & Node.DOCUMENT_POSITION_FOLLOWING));
}

function markOlder() {
  const row = currentRow();
  if (row) markStream({ ...Object.fromEntries(new FormData(markAllForm)), older: row.dataset.time });
}

addEventListener("submit", (event) => {
  if (event.target !== markAllForm && !event.target.matches("form.older")) return;
  event.preventDefault();
  markStream(Object.fromEntries(new FormData(event.target)));
});

// Marking as read by scrolling

const scrollSwitch = document.getElementById("scroll-read");
const scrolled = new Set(); // IDs that were marked in this list, to undo it
let passed = []; // IDs to mark together
let passedTimer;
const visible = new WeakSet(); // rows that were visible: others, above a list that was scrolled before, stay unread

const watcher = new IntersectionObserver((entries) => {
  for (const { target, isIntersecting, boundingClientRect: { bottom, height } } of entries) {
    const top = Math.max(0, rows.parentElement.getBoundingClientRect().top);
    if (isIntersecting) visible.add(target);
    else if (visible.has(target) && height > 0 && bottom <= top && target.classList.contains("unread")) passed.push(target.dataset.id);
  }
  if (passed.length === 0) return;
  clearTimeout(passedTimer);
  passedTimer = setTimeout(markPassed, 500);
});

async function markPassed() {
  const ids = passed.filter((id) => rowOf(id)?.classList.contains("unread"));
  passed = [];
  if (ids.length === 0 || !await mark(ids, { read: true })) return;
  for (const id of ids) scrolled.add(id);
  reportRead([...scrolled], false, () => scrolled.clear());
}

// watchRows observes the rows of a new list if the reader switched it on.
function watchRows() {
  const on = stored("scroll-read") === "on";
  scrollSwitch.setAttribute("aria-pressed", on);
  watcher.disconnect();
  scrolled.clear();
  if (on) for (const row of rows.querySelectorAll("li")) watcher.observe(row);
}

scrollSwitch.addEventListener("click", () => {
  store("scroll-read", stored("scroll-read") === "on" ? null : "on");
  watchRows();
});
scrollSwitch.hidden = false;

// refresh requests the list again.
function refresh() {
  fill(rows, listAddress(), "rows").catch(() => { if (!isShell) location.reload(); });
  countLater();
}

// The same marks in other windows

// listAddress returns the URL of the list without the open item.
function listAddress() {
  const address = new URL(location.href);
  address.searchParams.delete("open");
  return address;
}

// sync shows the marks that changed while no events were received. Items stay in the list; those that the list of
// unread items no longer has were read. A list that is older than a change is requested again.
async function sync() {
  if (isShell) return refresh();
  const before = changes;
  const page = await part(listAddress(), "rows", { version: rows.querySelector("[data-version]")?.dataset.version }).catch(() => null);
  if (before !== changes) return sync();
  if (!page) return;
  countLater();
  const onlyUnread = !new URL(location.href).searchParams.has("show");
  for (const row of rows.querySelectorAll("li")) {
    const now = page.getElementById(row.id);
    if (now) show(row.dataset.id, { read: now.classList.contains("read"), starred: now.classList.contains("starred") });
    else if (onlyUnread) show(row.dataset.id, { read: true });
  }
}

let source; // EventSource; undefined while the page is hidden

function listen() {
  if (source || document.hidden) return;
  source = new EventSource("/api/events");
  source.addEventListener("subscribed", sync);
  source.addEventListener("error", () => {
    if (source?.readyState !== EventSource.CLOSED) return; // it reconnects
    source = undefined; // too many windows: retry
    setTimeout(listen, 30000);
  });
  source.addEventListener("marked", (event) => {
    changes++;
    const { ids, read, starred } = JSON.parse(event.data);
    if (ids) {
      for (const id of ids) show(id, { read, starred });
      countLater();
    } else {
      refresh();
    }
  });
}

document.addEventListener("visibilitychange", () => {
  if (!document.hidden) return listen();
  source?.close();
  source = undefined;
});
addEventListener("pagehide", () => { source?.close(); source = undefined; });
addEventListener("pageshow", listen);

// showShell fills the shell with what the service worker kept.
async function showShell() {
  const here = new URL(location.href);
  for (const link of document.querySelectorAll(".sorts a")) link.toggleAttribute("aria-current", new URL(link.href).searchParams.get("show") === here.searchParams.get("show"));
  await Promise.allSettled([fill(rows, listAddress(), "rows"), fill(folders, listAddress(), "folders")]);
  if (!here.searchParams.has("open")) return;
  await fill(pane, here, "article");
  reader.classList.add("opened");
  showPictures(pane);
}

// annotate moves the focus to the labels of the open item.
function annotate() {
  const form = pane.querySelector(".annotation");
  if (!form || isShell) return;
  form.open = true;
  form.querySelector("[name=labels]").focus();
}

// Touch: a swipe over an item of the list to the left changes read, to the right its star.

const swipe = 60; // pixels
let touch;

rows.addEventListener("touchstart", (event) => {
  const row = event.target.closest("li");
  touch = row && event.touches.length === 1 ? { row, x: event.touches[0].clientX, y: event.touches[0].clientY } : undefined;
}, { passive: true });

rows.addEventListener("touchend", (event) => {
  if (!touch) return;
  const { row, x, y } = touch;
  const { clientX, clientY } = event.changedTouches[0];
  touch = undefined;
  if (Math.abs(clientX - x) < swipe || Math.abs(clientY - y) > swipe / 2) return;
  if (event.cancelable) event.preventDefault(); // no click follows
  const name = clientX < x ? "read" : "starred";
  mark([row.dataset.id], { [name]: !row.classList.contains(name) });
});

// nextFeed opens the list of the next feed with unread items.
function nextFeed() {
  const links = [...folders.querySelectorAll("nav:last-of-type a")];
  const at = links.findIndex((link) => link.hasAttribute("aria-current"));
  const next = [...links.slice(at + 1), ...links.slice(0, Math.max(at, 0))].find((link) => link.querySelector(".count"));
  if (next) location.assign(next.href);
  else announce(t("No other feed has unread items"));
}

// Keys

Object.assign(keys, {
  j: () => step(1),
  k: () => step(-1),
  n: () => step(1, true),
  p: () => step(-1, true),
  o: () => open(document.activeElement.closest?.("#rows li") ?? rows.querySelector("li")),
  v: () => { const original = current()?.original; if (original) window.open(original, "_blank", "noopener"); },
  d: fetchText,
  S: () => openShare(opened()),
  m: () => toggle("read"),
  s: () => toggle("starred"),
  f: () => toggle("starred"),
  l: annotate,
  a: markAll,
  A: markAbove,
  B: markOlder,
  N: nextFeed,
  u: close,
  r: refresh,
});
Object.assign(places, { u: "/read", a: "/read?show=all", b: "/read?show=starred" });

showPictures(pane);
showShare(pane);
if (isShell) showShell();
else watchRows();
listen();
