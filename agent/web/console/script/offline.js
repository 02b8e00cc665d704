// Has the service worker keep unread items for reading offline, and shows its state.
import { registerWorker } from "./base.js";

const line = document.getElementById("offline");
const worker = navigator.serviceWorker;
const keepEvery = 5 * 60_000; // ms
const settled = 3000; // ms, in which the page comes first

const send = (job) => worker.controller?.postMessage(job);

function show({ offline, at, waiting }) {
  const marks = waiting ? n(waiting, "%d mark will be sent", "%d marks will be sent") : "";
  const items = at
    ? t("Offline: items of %s", new Date(at).toLocaleString([], { dateStyle: "short", timeStyle: "short" }))
    : t("Offline: no items are kept");
  const words = offline ? [items, marks].filter(Boolean).join("; ") : marks;
  line.textContent = words && `${words}.`;
  line.hidden = !words;
}

// keep requests an update of the kept items. The worker ignores it if they are new.
function keep() {
  if (document.hidden || !navigator.onLine || navigator.connection?.saveData) return;
  (globalThis.requestIdleCallback ?? setTimeout)(() => send("keep"));
}

function start() {
  send("send");
  keep();
}

if (worker) {
  worker.addEventListener("message", (event) => show(event.data));
  worker.addEventListener("controllerchange", start);
  addEventListener("online", start);
  document.addEventListener("visibilitychange", keep);
  setInterval(keep, keepEvery);
  setTimeout(() => {
    if (worker.controller) start();
    registerWorker().catch(() => { /* refused, as in private windows: works online */ });
  }, settled);
}
