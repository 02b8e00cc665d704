// Lists of feeds: selection of several feeds, and continuation of bulk changes.

const list = document.getElementById("feed-list");

function boxes() {
  return [...list.querySelectorAll('input[name="id"]')];
}

function showSelection() {
  const picked = boxes().filter((box) => box.checked).length;
  document.getElementById("picked").textContent = picked ? t("%s selected", picked) : "";
  document.getElementById("pick-all").textContent = picked === boxes().length ? t("Select none") : t("Select all on this page");
}

if (list) {
  const all = document.getElementById("pick-all");
  all.hidden = false;
  all.addEventListener("click", () => {
    const none = boxes().every((box) => box.checked);
    for (const box of boxes()) box.checked = !none;
    showSelection();
  });
  list.addEventListener("change", showSelection);
  showSelection();
}

// A bulk change continues automatically after a delay, in which it
// can be stopped.
const goOn = document.getElementById("go-on");
if (goOn) setTimeout(() => goOn.requestSubmit(), 1500);
