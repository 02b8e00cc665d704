// Rules are checked while they are written, and each fault leads to its place. All
// of it is text.

const pause = 600; // milliseconds without a key before the text is checked
const most = 512 * 1024; // letters of a text that is checked so; longer ones when asked

const form = document.getElementById("rule");
const field = document.getElementById("text");
const faults = document.getElementById("faults");
const said = document.getElementById("faults-said");

let waiting;
let asked; // to be given up when a newer text is to be checked

// placeOf returns where in the text a fault is, "file:line:column: what" or
// "line:column: what"; undefined if it does not say.
function placeOf(fault) {
  const found = /^(?:([^\s:]+):)?(\d+):(\d+)\b/.exec(fault);
  if (!found) return undefined;
  const lines = field.value.split("\n");
  const file = found[1] ? lines.findIndex((line) => line.trim() === `-- ${found[1]} --`) : -1;
  const line = file + Number(found[2]); // lines of a file count from the one after its name
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
  if (said.textContent !== words) said.textContent = words;
}

async function check() {
  asked?.abort();
  asked = new AbortController();
  if (!field.value.trim() || field.value.length > most) {
    faults.replaceChildren();
    said.textContent = "";
    return;
  }
  try {
    const answer = await fetch(form.dataset.check, {
      method: "POST", headers: { "Content-Type": "text/plain; charset=utf-8" }, body: field.value, signal: asked.signal,
    });
    if (!answer.ok) return; // the form says why, when it is sent
    const found = await answer.json();
    if (found.sound) show(found.warnings.length ? "The text is sound, but look at this:" : "The text is sound.", found.warnings);
    else show(found.faults.length === 1 ? "One thing is wrong:" : `${found.faults.length} things are wrong:`, found.faults);
  } catch {
    // A newer text is checked, or the node is away: what is said stays.
  }
}

if (form) {
  field.addEventListener("input", () => {
    clearTimeout(waiting);
    waiting = setTimeout(check, pause);
  });
  if (faults.children.length) check();
}

// What was written is not lost by a slip.
let sent = false;
form?.addEventListener("submit", () => { sent = true; });
addEventListener("beforeunload", (event) => {
  if (form && !sent && field.value !== field.defaultValue) event.preventDefault();
});
