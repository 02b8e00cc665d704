// Checks rules while they are edited; each diagnostic links to its position.
// All values are text.

const pause = 600; // milliseconds without input before the text is checked
const maxLength = 512 * 1024; // maximum length of a text that is checked automatically

const form = document.getElementById("rule");
const field = document.getElementById("text");
const faults = document.getElementById("faults");
const announcement = document.getElementById("faults-said");

let waiting;
let request; // AbortController of the last check

// placeOf returns the position of a diagnostic, "file:line:column: message" or
// "line:column: message"; undefined without a position.
function placeOf(fault) {
  const found = /^(?:([^\s:]+):)?(\d+):(\d+)\b/.exec(fault);
  if (!found) return undefined;
  const lines = field.value.split("\n");
  const file = found[1] ? lines.findIndex((line) => line.trim() === `-- ${found[1]} --`) : -1;
  const line = file + Number(found[2]); // line 1 of a file follows the line with its name
  let at = 0;
  for (let i = 0; i < Math.min(line, lines.length); i++) at += lines[i].length + 1;
  return { at: at + Number(found[3]) - 1, end: at + (lines[line]?.length ?? 0), line };
}

function go(place) {
  field.focus();
  field.setSelectionRange(place.at, Math.max(place.at, place.end));
  field.scrollTop = place.line / field.value.split("\n").length * field.scrollHeight - field.clientHeight / 2;
}

function entry(fault) {
  const item = document.createElement("li");
  const place = placeOf(fault);
  if (!place) {
    item.textContent = fault;
    return item;
  }
  const button = document.createElement("button");
  button.type = "button";
  button.textContent = fault;
  button.addEventListener("click", () => go(place));
  item.append(button);
  return item;
}

function show(words, list) {
  const heading = document.createElement("p");
  heading.textContent = words;
  const entries = document.createElement("ul");
  entries.className = "faults";
  entries.append(...list.map(entry));
  faults.replaceChildren(heading, ...(list.length ? [entries] : []));
  if (announcement.textContent !== words) announcement.textContent = words;
}

async function check() {
  request?.abort();
  request = new AbortController();
  if (!field.value.trim() || field.value.length > maxLength) {
    faults.replaceChildren();
    announcement.textContent = "";
    return;
  }
  try {
    const answer = await fetch(form.dataset.check, {
      method: "POST", headers: { "Content-Type": "text/plain; charset=utf-8" }, body: field.value, signal: request.signal,
    });
    if (!answer.ok) return; // submitting the form shows the error
    const found = await answer.json();
    if (found.sound) show(found.warnings.length ? t("No errors. Warnings:") : t("No errors."), found.warnings);
    else show(n(found.faults.length, "%d error:", "%d errors:"), found.faults);
  } catch {
    // A newer check was started, or the node does not respond: keep the last result.
  }
}

if (form) {
  field.addEventListener("input", () => {
    clearTimeout(waiting);
    waiting = setTimeout(check, pause);
  });
  if (faults.children.length) check();
}

// Ask before leaving the page with unsaved changes.
let sent = false;
form?.addEventListener("submit", () => { sent = true; });
addEventListener("beforeunload", (event) => {
  if (form && !sent && field.value !== field.defaultValue) event.preventDefault();
});
