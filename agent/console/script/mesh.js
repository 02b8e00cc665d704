// The mesh's page shows what changes, as it changes. All of it is text.
import { say } from "./base.js";

const kept = 20; // happenings
const quiet = 5000; // milliseconds between two things said aloud

const note = document.getElementById("mesh-live");
const happened = document.getElementById("mesh-happened");
const list = document.getElementById("happenings");

let source; // of events; none while nobody looks
let said = 0;

// put writes words where they differ, so that what is selected stays so.
function put(element, words) {
  if (element && element.textContent !== words) element.textContent = words;
}

// fill has a table's body show the rows. Its cells are as their columns' headings.
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
  put(note, "Live: what changes shows by itself.");
}

function tell({ text, at }) {
  const entry = document.createElement("li");
  entry.textContent = `${at}: ${text}`;
  list.prepend(entry);
  while (list.children.length > kept) list.lastChild.remove();
  happened.hidden = false;
  if (Date.now() - said < quiet) return;
  said = Date.now();
  say(text);
}

function open() {
  if (source || document.hidden) return;
  source = new EventSource("/mesh/events");
  source.addEventListener("state", (event) => show(JSON.parse(event.data)));
  source.addEventListener("happened", (event) => tell(JSON.parse(event.data)));
  source.addEventListener("error", () => {
    if (source?.readyState !== EventSource.CLOSED) {
      put(note, "Not live at the moment: the connection is being made again.");
      return;
    }
    put(note, "Not live: this node has no room for more. Reload the page to see what changed.");
    source = undefined;
  });
}

// A page that nobody looks at holds no connection.
function close() {
  source?.close();
  source = undefined;
}

document.addEventListener("visibilitychange", () => document.hidden ? close() : open());
addEventListener("pagehide", close);
addEventListener("pageshow", open);
open();
