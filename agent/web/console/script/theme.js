// Applies the chosen theme (base.js) before the first paint.
// The default is the system's theme, with high contrast if the system prefers more contrast.
{
  let theme = null;
  try {
    theme = localStorage.getItem("theme");
  } catch { /* storage disabled: the system's theme */ }
  if (!theme && matchMedia("(prefers-contrast: more)").matches) theme = "contrast";
  if (["light", "dark", "contrast"].includes(theme)) document.documentElement.dataset.theme = theme;
}
