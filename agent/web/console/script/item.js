// Shows images on request, and links to the next and previous entry of the list
// from which the item was opened.

import { listed } from "./base.js";

const pictures = document.querySelectorAll("a[data-picture]");

function showPicture(link) {
  const picture = document.createElement("img");
  picture.alt = link.dataset.picture;
  picture.referrerPolicy = "no-referrer";
  picture.decoding = "async";
  picture.src = link.href;
  picture.addEventListener("error", () => picture.replaceWith(link));
  link.replaceWith(picture);
}

document.querySelector(".content")?.addEventListener("click", (event) => {
  const link = event.target.closest("a[data-picture]");
  if (!link || event.button || event.ctrlKey || event.metaKey || event.shiftKey) return;
  event.preventDefault();
  showPicture(link);
});

const all = document.getElementById("pictures");
if (all && pictures.length > 0) {
  all.hidden = false;
  all.addEventListener("click", () => {
    pictures.forEach(showPicture);
    all.remove();
  });
}

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
