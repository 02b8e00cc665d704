// Updates the mesh page by server-sent events. All values are text.
import { announce } from "./base.js";

const maxEvents = 20;
const announceInterval = 5000; // minimum milliseconds between announcements

const note = document.getElementById("mesh-live");
const happened = document.getElementById("mesh-happened");
const list = document.getElementById("happenings");

let source; // EventSource; undefined while the page is hidden
let announced = 0;

// put changes text only if it differs, to keep the user's selection.
function put(element, words) {
  if (element && element.textContent !== words) element.textContent = words;
}

// fill updates the rows of a table. Cells get the class of their column's heading.
function fill(table) {
  const body = document.getElementById(`${table.id}-rows`);
  if (!body) return;
  const heads = body.closest("table").tHead.rows[0].cells;
  table.rows.forEach((words, r) => {
    const row = body.rows[r] ?? body.insertRow();
    words.forEach((text, i) => {
      let cell = row.cells[i];
      if (!cell) {
        cell = row.appendChild(document.createElement(i ? "td" : "th"));
        if (i) cell.className = heads[i].className;
        else cell.scope = "row";
      }
      put(cell, text);
    });
  });
  while (body.rows.length > table.rows.length) body.deleteRow(-1);
}

function show(state) {
  for (const figure of state.figures) put(document.getElementById(figure.id), figure.value);
  state.tables.forEach(fill);
  put(note, t("Live: this page updates itself."));
}

function addEvent({ text, at }) {
  const entry = document.createElement("li");
  entry.textContent = `${at}: ${text}`;
  list.prepend(entry);
  while (list.children.length > maxEvents) list.lastChild.remove();
  happened.hidden = false;
  if (Date.now() - announced < announceInterval) return;
  announced = Date.now();
  announce(text);
}

function open() {
  if (source || document.hidden) return;
  source = new EventSource("/mesh/events");
  source.addEventListener("state", (event) => show(JSON.parse(event.data)));
  source.addEventListener("happened", (event) => addEvent(JSON.parse(event.data)));
  source.addEventListener("error", () => {
    if (source?.readyState !== EventSource.CLOSED) return put(note, t("Connection lost: reconnecting."));
    put(note, t("Not live: too many open connections. Reload the page for updates."));
    source = undefined;
  });
}

// A hidden page closes its connection.
function close() {
  source?.close();
  source = undefined;
}

document.addEventListener("visibilitychange", () => document.hidden ? close() : open());
addEventListener("pagehide", close);
addEventListener("pageshow", open);
open();
