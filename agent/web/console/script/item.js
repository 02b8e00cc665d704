// Shows images on request, and links to the next and previous entry of the list
// from which the item was opened.

import { keys, listed, openShare, showPictures, showShare } from "./base.js";

showPictures(document);
showShare(document);

const around = document.getElementById("around");
const list = listed();
const at = list?.paths.indexOf(location.pathname) ?? -1;
if (at >= 0) {
  const lead = (link, path) => { if (path) { link.href = path; link.hidden = false; } };
  lead(around.querySelector("[rel=prev]"), list.paths[at - 1]);
  lead(around.querySelector("[rel=next]"), list.paths[at + 1]);
  lead(around.querySelector("[rel=up]"), list.address);
  around.hidden = false;
}

keys.d = () => document.querySelector(".full-text button")?.click();
keys.S = () => openShare(document);
