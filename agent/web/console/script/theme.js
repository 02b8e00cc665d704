// Applies the chosen theme (base.js) before the first paint.
// The default is the system's theme.
{
  let theme = null;
  try {
    theme = localStorage.getItem("theme");
  } catch { /* storage disabled: the system's theme */ }
  if (theme === "dark" || theme === "light") document.documentElement.dataset.theme = theme;
}
