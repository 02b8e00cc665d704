// The page of an import that is under way: how it is getting on, every second.

import { part } from "./base.js";

const box = document.getElementById("import-progress");

async function follow() {
  try {
    const page = await part(location.href, "import-progress", AbortSignal.timeout(10_000));
    box.replaceChildren(...page.body.childNodes);
  } catch {
    setTimeout(follow, 5000); // the node may be starting anew
    return;
  }
  if (document.getElementById("import-words").dataset.running === "true") setTimeout(follow, 1000);
  else location.reload(); // the lines have changed, too
}

if (box?.dataset.running === "true") setTimeout(follow, 1000);
