// Lists of feeds: choosing many, and going on with what takes several steps.

const list = document.getElementById("feed-list");

function boxes() {
  return [...list.querySelectorAll('input[name="id"]')];
}

function tell() {
  const picked = boxes().filter((box) => box.checked).length;
  document.getElementById("picked").textContent = picked ? `${picked} chosen` : "";
  document.getElementById("pick-all").textContent = picked === boxes().length ? "Choose none" : "Choose all on this page";
}

if (list) {
  const all = document.getElementById("pick-all");
  all.hidden = false;
  all.addEventListener("click", () => {
    const none = boxes().every((box) => box.checked);
    for (const box of boxes()) box.checked = !none;
    tell();
  });
  list.addEventListener("change", tell);
  tell();
}

// What is to be done to many feeds goes on by itself, unless somebody stops it: the
// page is there for a moment first.
const goOn = document.getElementById("go-on");
if (goOn) setTimeout(() => goOn.requestSubmit(), 1500);
