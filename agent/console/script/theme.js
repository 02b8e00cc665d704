// Before anything is painted, the page gets the look that was chosen (base.js).
// Without a choice the system's holds.
{
  let theme = null;
  try {
    theme = localStorage.getItem("theme");
  } catch { /* kept nowhere: the system's */ }
  if (theme === "dark" || theme === "light") document.documentElement.dataset.theme = theme;
}
