// Reports whether the open item was read or left at once, by the time for which it is visible. It is part of the reading
// page of those who switched suggestions on.

const leftWithin = 4; // seconds

const pane = document.getElementById("pane");

let item; // data of the open item
let seconds = 0; // for which it was visible
let since = 0; // time at which it became visible; 0 while it is not

function pause() {
  if (since) seconds += (performance.now() - since) / 1000;
  since = 0;
}

// report ends the reading of the item. A minute, or a third of the time that its text takes, is enough.
function report() {
  pause();
  const signal = item && (seconds >= Math.min(60, item.minutes * 20) ? "read" : seconds < leftWithin ? "left" : "");
  if (signal) {
    fetch("/api/interests/signals", {
      method: "POST", keepalive: true, headers: { "Content-Type": "application/json" }, body: JSON.stringify({ id: item.id, signal }),
    }).catch(() => {}); // a lost signal is not repeated
  }
  item = undefined;
  seconds = 0;
}

// begin begins the reading of the item that is open now, if there is one.
function begin() {
  report();
  if (document.getElementById("reader").classList.contains("opened")) item = { ...pane.querySelector("article")?.dataset };
  if (item && !document.hidden) since = performance.now();
}

pane.addEventListener("itemchange", begin);
document.addEventListener("visibilitychange", () => {
  if (document.hidden) pause();
  else if (item) since = performance.now();
});
addEventListener("pagehide", report);
begin();
