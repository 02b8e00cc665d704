// Updates the progress of a running import every second.

import { part } from "./base.js";

const box = document.getElementById("import-progress");

async function follow() {
  try {
    const page = await part(location.href, "import-progress", { signal: AbortSignal.timeout(10_000) });
    box.replaceChildren(...page.body.childNodes);
  } catch {
    setTimeout(follow, 5000); // the node may be restarting
    return;
  }
  if (document.getElementById("import-words").dataset.running === "true") setTimeout(follow, 1000);
  else location.reload(); // to update the lines
}

if (box?.dataset.running === "true") setTimeout(follow, 1000);
