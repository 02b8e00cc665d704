// Runs before the other scripts. It applies the chosen theme (base.js) before the first paint.
// The default is the system's theme, with high contrast if the system prefers more contrast.
{
  let theme = null;
  try {
    theme = localStorage.getItem("theme");
  } catch { /* storage disabled: the system's theme */ }
  if (!theme && matchMedia("(prefers-contrast: more)").matches) theme = "contrast";
  if (["light", "dark", "contrast"].includes(theme)) document.documentElement.dataset.theme = theme;
}

// t returns a text in the language of the page, with the values in place of each %s.
function t(english, ...values) {
  return (globalThis.texts?.[english] ?? english).replace(/%s/g, () => values.shift());
}

// n returns a text with a number in place of %d; one and other are its English forms.
function n(number, one, other) {
  const forms = globalThis.texts?.[other] ?? { one, other };
  return (forms[new Intl.PluralRules(document.documentElement.lang).select(number)] ?? forms.other).replace("%d", number);
}
