// Stores the position of audio and video in this browser, and continues there.
import { store, stored } from "./base.js";

const name = "positions";
const maxPositions = 200; // the newest are kept
const shortest = 5; // seconds; an earlier position is the start
const interval = 5; // seconds between stored positions

const medium = document.querySelector("audio, video");

// positions returns the stored positions as path and seconds, newest last.
function positions() {
  try {
    const all = JSON.parse(stored(name));
    return Array.isArray(all) ? all : [];
  } catch {
    return [];
  }
}

let last = 0; // position that was stored

function save() {
  if (medium.played.length === 0) return;
  last = medium.currentTime;
  const all = positions().filter(([path]) => path !== location.pathname);
  if (!medium.ended && last >= shortest) all.push([location.pathname, Math.floor(last)]);
  store(name, JSON.stringify(all.slice(-maxPositions)));
}

if (medium) {
  const at = positions().find(([path]) => path === location.pathname)?.[1];
  medium.addEventListener("loadedmetadata", () => { if (at < medium.duration) medium.currentTime = at; }, { once: true });
  medium.addEventListener("timeupdate", () => { if (Math.abs(medium.currentTime - last) >= interval) save(); });
  for (const event of ["pause", "ended"]) medium.addEventListener(event, save);
  addEventListener("pagehide", save);
}
