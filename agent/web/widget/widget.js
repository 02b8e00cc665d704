// Shows the newest entries of an output of feedmesh below its own script tag:
//
//   data-output   path of the output, /outputs/….json
//   data-entries  number of entries, 10 by default
//   data-theme    "light" or "dark"; that of the browser by default
//   data-token    token of scope search
//
// The site styles it by ::part(list), ::part(entry), ::part(title), ::part(source), and by the font and colour of
// the element around it. It sets text only, never HTML, and works under a content security policy that allows
// scripts of this server and connections to it.
(() => {
  const tag = document.currentScript;
  const server = new URL(tag.src).origin;
  const { output = "/outputs/search.json", entries = "10", theme, token } = tag.dataset;

  const sheet = new CSSStyleSheet();
  sheet.replaceSync(`
    :host { display: block; color-scheme: light dark; }
    :host([data-theme="light"]) { color-scheme: light; color: #1b1b1f; background: #fff; }
    :host([data-theme="dark"]) { color-scheme: dark; color: #e6e6ea; background: #17171b; }
    ol { list-style: none; margin: 0; padding: 0; }
    li { padding: .5em 0; border-top: 1px solid color-mix(in srgb, currentColor 18%, transparent); }
    li:first-child { border-top: 0; }
    a { color: inherit; font-weight: 600; text-decoration: none; overflow-wrap: anywhere; }
    a:hover, a:focus-visible { text-decoration: underline; }
    .source { display: block; font-size: .85em; opacity: .8; }
  `);

  const host = document.createElement("div");
  if (theme) host.dataset.theme = theme;
  const root = host.attachShadow({ mode: "open" });
  root.adoptedStyleSheets = [sheet];
  tag.after(host);

  const element = (name, part, ...children) => {
    const made = document.createElement(name);
    made.className = part;
    made.setAttribute("part", part);
    made.append(...children);
    return made;
  };

  const ago = (date) => {
    const seconds = (Date.now() - date) / 1000;
    const format = new Intl.RelativeTimeFormat(document.documentElement.lang || undefined, { numeric: "auto" });
    const [unit, length] = [["day", 86400], ["hour", 3600], ["minute", 60]].find(([, length]) => seconds >= length) ?? ["second", 1];
    return format.format(-Math.max(0, Math.floor(seconds / length)), unit);
  };

  const entryOf = (item) => {
    const title = element("a", "title", item.title || "Untitled");
    const address = item.url ?? item.external_url ?? "";
    if (/^https?:/.test(address)) title.href = address;
    title.dir = "auto";
    title.rel = "noopener";
    const at = new Date(item.date_published);
    const source = [item.authors?.[0]?.name, isNaN(at) ? "" : ago(at)].filter(Boolean).join(" · ");
    return element("li", "entry", title, element("span", "source", source));
  };

  const show = async () => {
    const address = new URL(output, server);
    if (address.origin !== server || !address.pathname.startsWith("/outputs/")) throw new Error(`${output} is no output of ${server}`);
    const answer = await fetch(address, token ? { headers: { Authorization: `Bearer ${token}` } } : {});
    if (!answer.ok) throw new Error(`${server} answered ${answer.status}`);
    const feed = await answer.json();
    const list = element("ol", "list", ...feed.items.slice(0, Number(entries) || 10).map(entryOf));
    list.setAttribute("aria-label", feed.title);
    root.replaceChildren(list);
  };

  show().catch((error) => {
    console.error("feedmesh:", error.message, "- it must allow this site by --cors, and the token needs the scope search");
    root.replaceChildren(element("p", "problem", "The news could not be loaded."));
  });
})();
