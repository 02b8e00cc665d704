// Updates the preview of a view while its text changes.

import { part, announce } from "./base.js";

const pause = 300; // milliseconds without input before the text is previewed
const timeout = 10_000; // milliseconds; its failure is that of a server that does not answer

const form = document.getElementById("view-editor");
const field = document.getElementById("definition");
const problem = document.getElementById("problem");
const preview = document.getElementById("preview");
const old = document.getElementById("preview-old");

let waiting; // timer of the next request
let request = new AbortController(); // of the last request
let previewed = field?.defaultValue; // text of the last request, at first that of the page; undefined after a failure, for a retry
let announced; // the last state

// state announces a state, unless it is the last one, and shows why the preview is that of an earlier text; empty: it is not.
function state(words, why) {
  old.hidden = !why;
  if (old.textContent !== why) old.textContent = why;
  if (words !== announced) announce(announced = words);
}

// replace shows another preview. A focused link keeps the focus if the preview still has it.
function replace(nodes) {
  const focused = preview.contains(document.activeElement) && document.activeElement;
  preview.replaceChildren(...nodes);
  if (!focused) return;
  const href = focused.getAttribute("href");
  const same = href && preview.querySelector(`a[href="${CSS.escape(href)}"]`);
  (same || field).focus({ preventScroll: true });
}

function show(page) {
  problem.replaceChildren(...page.getElementById("problem").childNodes);
  const wrong = problem.firstElementChild;
  if (wrong) {
    field.setAttribute("aria-invalid", "true");
    return state(wrong.textContent, preview.firstElementChild ? t("The preview is that of the last text without errors.") : "");
  }
  field.removeAttribute("aria-invalid");
  replace(page.getElementById("preview").childNodes);
  state(document.getElementById("preview-found").textContent, "");
}

async function update() {
  clearTimeout(waiting);
  if (field.value === previewed) return;
  request.abort();
  const { signal } = request = new AbortController();
  previewed = field.value;
  const data = new URLSearchParams({ definition: field.value, do: "preview" });
  try {
    const page = await part(form.action, "view-preview", { form: data, signal: AbortSignal.any([signal, AbortSignal.timeout(timeout)]) });
    if (!signal.aborted) show(page);
  } catch {
    if (signal.aborted) return; // a newer request
    previewed = undefined;
    const words = t("The preview could not be updated: the server did not answer.");
    state(words, words);
  }
}

function schedule() {
  clearTimeout(waiting);
  waiting = setTimeout(update, pause);
}

field?.addEventListener("input", (event) => { if (!event.isComposing) schedule(); });
field?.addEventListener("compositionend", schedule);
form?.addEventListener("submit", (event) => {
  if (event.submitter?.value !== "preview") return;
  event.preventDefault();
  previewed = undefined;
  update();
});
if (field) update(); // the browser may have restored a text
