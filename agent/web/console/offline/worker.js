// The service worker of the reading page. It keeps the page's files and the newest unread items of one client, answers
// requests from them without a network, and queues marks until the server has accepted them. It intercepts nothing else.
"use strict";

const cacheName = `feedmesh-${shell.version}`;
const maxMarks = 1000; // items with queued marks; also the limit of one request
const minAge = 5 * 60_000; // ms between two updates of the kept items
const timeout = 12_000; // ms; the server's own limit is 10 s
const clientHeader = "Feedmesh-Client";
const partHeader = "Feedmesh-Part";
const marksPath = "/api/reading/marks";

let isOffline = false; // the last request had no response
let skipOnce = false; // the next navigation is the browser's own

// Storage: items by ID, queued marks by item ID, and values of this worker.

const result = (request) => new Promise((resolve, reject) => {
  request.onsuccess = () => resolve(request.result);
  request.onerror = () => reject(request.error);
});

let database;

function openDatabase() {
  const request = indexedDB.open("feedmesh", 1);
  request.onupgradeneeded = () => {
    request.result.createObjectStore("items", { keyPath: "id" });
    request.result.createObjectStore("marks", { keyPath: "id" });
    request.result.createObjectStore("values");
  };
  return result(request).then((db) => {
    const forget = () => { db.close(); database = undefined; };
    db.onversionchange = forget;
    db.onclose = forget;
    return db;
  });
}

// open returns the database. One of a later version, or a damaged one, is deleted: it contains copies, and at most the
// last marks.
function open() {
  database ??= openDatabase()
    .catch(() => result(indexedDB.deleteDatabase("feedmesh")).then(openDatabase))
    .catch((error) => { database = undefined; throw error; });
  return database;
}

// transact runs work on stores in one transaction and returns its result once it is committed.
async function transact(names, mode, work) {
  const transaction = (await open()).transaction(names, mode);
  const committed = new Promise((resolve, reject) => {
    transaction.oncomplete = resolve;
    transaction.onabort = () => reject(transaction.error);
  });
  committed.catch(() => {}); // also reported by work
  const value = await work(...names.map((name) => transaction.objectStore(name)));
  await committed;
  return value;
}

const readAll = (name) => transact([name], "readonly", (store) => result(store.getAll()));

// Without storage, which browsers may refuse, the page works online only: nothing is kept, and no marks wait.
const value = (name) => transact(["values"], "readonly", (values) => result(values.get(name))).catch(() => undefined);
const waiting = () => transact(["marks"], "readonly", (marks) => result(marks.count())).catch(() => 0);

// destroy deletes everything if it cannot be deleted in parts.
const destroy = () => { indexedDB.deleteDatabase("feedmesh"); };

// dropItems deletes the kept items; marks stay until their client is known.
const dropItems = () => transact(["items", "values"], "readwrite", (items, values) => {
  items.clear();
  values.delete("at");
  values.delete("complete");
}).catch(destroy);

// adopt deletes everything that belongs to another client.
async function adopt(client) {
  if (await value("client") === client) return;
  await transact(["items", "marks", "values"], "readwrite", (items, marks, values) => {
    items.clear();
    marks.clear();
    values.clear();
    values.put(client, "client");
  }).catch(destroy);
}

// Requests

// checked notices what a response reports about the network and the client, and returns it.
async function checked(response) {
  // The server redirects a navigation without a login to the page of the login, and rejects other requests.
  if (response.status === 401 || response.status === 403 || response.type === "opaqueredirect") {
    await dropItems();
  } else if (response.headers.has(clientHeader)) {
    await adopt(response.headers.get(clientHeader));
  }
  await setOffline(false);
  return response;
}

// load requests something from the server. It throws if there is no response in time.
const load = (request, options) => fetch(request, { signal: AbortSignal.timeout(timeout), ...options }).then(checked);

// own are the headers of this worker's requests: the server answers one without a login by 401, and browsers show none.
const own = { [partHeader]: "offline" };

async function loadJSON(address) {
  const response = await load(address, { headers: own });
  if (!response.ok) throw new Error(`status ${response.status}`);
  return response.json();
}

async function setOffline(now) {
  if (now === isOffline) return;
  isOffline = now;
  await report();
}

// report sends the state of the cache and the queue to all pages.
async function report() {
  const state = { offline: isOffline, at: await value("at"), waiting: await waiting() };
  for (const page of await clients.matchAll()) page.postMessage(state);
}

// The kept items

let keeping;
const keep = () => keeping ??= keepNow().finally(() => { keeping = undefined; });

async function keepNow() {
  if (Date.now() - (await value("complete") ?? 0) < minAge) return;
  const listed = (await loadJSON(shell.list)).slice(0, shell.maxItems);
  const client = await value("client");
  const missing = await transact(["items", "values"], "readwrite", async (items, values) => {
    const kept = new Map((await result(items.getAll())).map((item) => [item.id, item.article]));
    items.clear();
    listed.forEach((item, n) => { if (kept.has(item.id)) items.put({ ...item, n, article: kept.get(item.id) }); });
    values.put(Date.now(), "at");
    return listed.map((item, n) => ({ ...item, n })).filter((item) => !kept.has(item.id));
  });
  for (let from = 0; from < missing.length; from += shell.maxBatch) {
    const batch = missing.slice(from, from + shell.maxBatch);
    const texts = await loadJSON(`${shell.texts}?${new URLSearchParams(batch.map((item) => ["id", item.id]))}`);
    if (await value("client") !== client) return;
    const articles = new Map(texts.map((text) => [text.id, text.article]));
    await transact(["items"], "readwrite", (items) => {
      for (const item of batch) if (articles.has(item.id)) items.put({ ...item, article: articles.get(item.id) });
    });
  }
  await transact(["values"], "readwrite", (values) => { values.put(Date.now(), "complete"); });
}

// Marks

// enqueue merges a change into the queue: the last change of an item wins. It reports whether the queue had space.
const enqueue = (ids, change) => transact(["marks"], "readwrite", async (marks) => {
  const queued = new Map((await result(marks.getAll())).map((mark) => [mark.id, mark]));
  if (new Set([...queued.keys(), ...ids]).size > maxMarks) return false;
  for (const id of ids) {
    const old = queued.get(id);
    marks.put({ ...old, ...change, id, edition: (old?.edition ?? 0) + 1 });
  }
  return true;
});

// settle removes items that the server has marked as read from the kept ones.
const settle = (ids) => transact(["items"], "readwrite", (items) => { for (const id of ids) items.delete(id); }).catch(() => {});

let sending;
const send = () => sending ??= sendNow().finally(() => { sending = undefined; });

// sendNow sends the queue. It throws if there is no network.
async function sendNow() {
  if (!isOffline && await waiting() === 0) return;
  try {
    // The client may be another one, whose items these are not.
    if (!(await load(shell.page, { method: "HEAD", headers: own })).ok) return;
    const groups = Map.groupBy(await readAll("marks"), ({ read, starred }) => JSON.stringify({ read, starred }));
    for (const [change, marks] of groups) await sendGroup(JSON.parse(change), marks);
  } catch (error) {
    await setOffline(true);
    throw error;
  } finally {
    await report();
  }
}

const postMarks = (marks) => load(marksPath, { method: "POST", headers: { ...own, "Content-Type": "application/json" }, body: JSON.stringify(marks) });

async function sendGroup(change, sent) {
  const ids = sent.map((mark) => mark.id);
  const { status } = await postMarks({ ids, ...change });
  if ([401, 403, 408, 429].includes(status) || status >= 500) return; // later; other refusals are final
  await transact(["marks"], "readwrite", async (marks) => {
    for (const mark of sent) {
      if ((await result(marks.get(mark.id)))?.edition === mark.edition) marks.delete(mark.id);
    }
  });
  if (change.read) await settle(ids);
}

// mark answers a request to change marks. While marks are queued, later ones follow them in order.
async function mark(request) {
  const { ids, ...change } = await request.json();
  if (await waiting() === 0) {
    try {
      const response = await postMarks({ ids, ...change });
      if (response.ok && change.read) await settle(ids);
      return response;
    } catch { /* queued */ }
  }
  if (!await enqueue(ids, change)) {
    const problem = { status: 507, title: "Insufficient Storage", detail: `${maxMarks} marks wait to be sent` };
    return Response.json(problem, { status: 507, headers: { "Content-Type": "application/problem+json" } });
  }
  await send().catch(() => registration.sync?.register("marks").catch(() => {}));
  return new Response(null, { status: 204 });
}

// The reading page

async function showPage(event) {
  const address = new URL(event.request.url);
  const late = new Promise((_, reject) => { setTimeout(reject, timeout); });
  // A preloaded request is the browser's own and keeps its headers; there is none until preloading is enabled.
  const loaded = event.preloadResponse.then((response) => response ?? fetch(address, { headers: own }));
  let response;
  try {
    response = await Promise.race([loaded, late]).then(checked);
  } catch {
    await setOffline(true);
    return await caches.match(shell.page) ?? Response.error();
  }
  if (response.status === 401) {
    skipOnce = true; // the server sends a challenge only to the browser's own request, which shows the login
    return Response.redirect(address);
  }
  if (response.ok && address.searchParams.has("open")) await settle([address.searchParams.get("open")]);
  return response;
}

const parts = { rows: offlineRows, folders: offlineFolders, article: offlineArticle };

async function showPart(request, name, query) {
  try {
    if (name !== "article") await send(); // before what depends on it
    else if (isOffline && await isKept(query.get("open"))) throw new Error("offline"); // without waiting for a timeout
    const response = await load(request);
    if (response.ok && name === "article") await settle([query.get("open")]);
    return response;
  } catch (error) {
    if (!Object.hasOwn(parts, name)) throw error;
    const html = await parts[name](query);
    await setOffline(true);
    return new Response(html, { headers: { "Content-Type": "text/html; charset=utf-8", [partHeader]: name } });
  }
}

const escape = (text) => text.replace(/[&<>"']/g, (c) => `&#${c.codePointAt()};`);
const nothing = (words) => `<p class="nothing" data-english>${words}</p>`;

// t returns an English text of an element with the attribute data-english: the page translates it.
const t = (english) => english;

// marksAttribute passes marks by item ID to the page, which shows them.
const marksAttribute = (marks) => `data-marks="${encodeURIComponent(JSON.stringify(marks))}"`;

// keptItems returns the kept items in their order, with queued marks.
async function keptItems() {
  const [items, marks] = [await readAll("items"), new Map((await readAll("marks")).map((mark) => [mark.id, mark]))];
  return items.sort((a, b) => a.n - b.n).map((item) => {
    const { read = false, starred = item.starred } = marks.get(item.id) ?? {};
    return { ...item, read, starred };
  });
}

const isKept = (id) => transact(["items"], "readonly", (items) => result(items.count(id))).catch(() => 0);

async function offlineRows(query) {
  const show = { all: () => true, starred: (item) => item.starred }[query.get("show")] ?? ((item) => !item.read);
  const items = (await keptItems()).filter((item) => show(item) && (!query.has("feed") || item.feed === query.get("feed")));
  if (query.get("sort") === "oldest") items.reverse();
  if (items.length === 0) return nothing(t("No such items are kept for reading offline."));
  const marks = Object.fromEntries(items.map(({ id, read, starred }) => [id, { read, starred }]));
  return `<ol class="rows" data-list ${marksAttribute(marks)}>${items.map((item) => item.row).join("")}</ol>`;
}

async function offlineFolders(query) {
  const items = (await keptItems()).filter((item) => !item.read);
  const entry = (feed, title, number) => {
    const current = (query.get("feed") ?? "") === feed ? ' aria-current="true"' : "";
    return `<li><a href="/read${feed && `?feed=${encodeURIComponent(feed)}`}"${current}><bdi${feed ? "" : " data-english"}>${escape(title)}</bdi><span class="count">${number}</span></a></li>`;
  };
  const feeds = [...Map.groupBy(items, (item) => item.feed)].map(([feed, of]) => entry(feed, of[0].feed_title, of.length));
  return `<nav aria-label="${t("Folders")}" data-english><ul>${entry("", t("All feeds"), items.length)}</ul></nav>
<nav aria-label="${t("Feeds")}" data-english><h2 data-english>${t("Feeds")}</h2><ul>${feeds.join("")}</ul></nav>`;
}

// offlineArticle returns a kept article and queues it as read, as the server does when it is opened.
async function offlineArticle(query) {
  const item = (await keptItems()).find(({ id }) => id === query.get("open"));
  if (!item) return nothing(t("This item is not kept for reading offline."));
  const read = item.read || await enqueue([item.id], { read: true });
  registration.sync?.register("marks").catch(() => {});
  await report();
  return `<div ${marksAttribute({ [item.id]: { read, starred: item.starred } })}>${item.article}</div>`;
}

// cached answers from the cache, and from the network what is not there.
const cached = async (request) => await caches.match(request) ?? fetch(request);

const helpPart = (request) => fetch(request).catch(async (error) => {
  const help = await caches.match(shell.help);
  if (!help) throw error;
  return help;
});

// Events

// Requests that browsers answer without this worker, where they support that; the others ask it.
const routes = [
  ...shell.assets.map((pathname) => ({ condition: { urlPattern: { pathname } }, source: { cacheName } })),
  { condition: { urlPattern: { pathname: "/feeds/*/icon" } }, source: "network" },
];

addEventListener("install", (event) => {
  event.addRoutes?.(routes).catch(() => {});
  const files = [shell.page, ...shell.assets].map((path) => new Request(path, { cache: "reload", headers: own }));
  files.push(new Request(shell.help, { cache: "reload", headers: { [partHeader]: "help" } }));
  event.waitUntil((async () => {
    const cache = await caches.open(cacheName);
    await cache.addAll(files);
    await adopt((await cache.match(shell.page)).headers.get(clientHeader)); // marks can be queued from now on
    await skipWaiting();
  })());
});

addEventListener("activate", (event) => {
  event.waitUntil((async () => {
    for (const name of await caches.keys()) if (name !== cacheName) await caches.delete(name);
    await registration.navigationPreload?.enable();
    await clients.claim();
  })());
});

addEventListener("fetch", (event) => {
  const { request } = event;
  const address = new URL(request.url);
  const part = request.headers.get(partHeader);
  if (address.origin !== location.origin) return;
  // Only requests of pages of this origin can be intercepted, except navigations: forms of other sites stay the
  // browser's, and so do frames, which the server rejects by headers that a worker does not pass on.
  if (request.mode === "navigate") {
    const skip = skipOnce;
    skipOnce = false;
    if (request.method === "GET" && request.destination === "document" && address.pathname === "/read" && !skip) event.respondWith(showPage(event));
  } else if (request.method === "POST" && address.pathname === marksPath) {
    event.respondWith(mark(request));
  } else if (request.method === "GET" && shell.assets.includes(address.pathname)) {
    event.respondWith(cached(request));
  } else if (request.method === "GET" && address.pathname === shell.help && part) {
    event.respondWith(helpPart(request));
  } else if (request.method === "GET" && address.pathname === "/read" && part && !request.headers.has("Feedmesh-Prefetch")) {
    event.respondWith(showPart(request, part, address.searchParams));
  }
});

// Pages send the name of what is to be done.
const jobs = {
  send: () => send().then(report, report),
  keep: () => send().then(keep).then(report, report),
};

addEventListener("message", (event) => {
  if (Object.hasOwn(jobs, event.data)) event.waitUntil(jobs[event.data]());
});

addEventListener("sync", (event) => event.waitUntil(send()));
