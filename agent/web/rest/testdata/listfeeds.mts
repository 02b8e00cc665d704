// Lists all feeds of the agent at the address given as argument, page by page, as JSON. TestOpenAPI_GeneratedClientListsFeeds
// compiles it with the types that openapi-typescript generates from /openapi.json.
import createClient from "openapi-fetch";
import type { components, paths } from "./api.d.ts";

declare const process: { argv: string[] };

const api = createClient<paths>({ baseUrl: process.argv[2] });
const feeds: components["schemas"]["Feed"][] = [];
let after: string | undefined;
do {
  const { data, error } = await api.GET("/api/feeds", { params: { query: { sort: "title", limit: 2, after } } });
  if (!data) throw new Error(error.detail);
  feeds.push(...(data.feeds ?? []));
  after = data.next;
} while (after);

const missing = await api.GET("/api/feeds/{id}", { params: { path: { id: "none" } } });
const problem = { status: missing.error?.status, detail: missing.error?.detail };

// @ts-expect-error: the description lists the values of sort
await api.GET("/api/feeds", { params: { query: { sort: "colour" } } });

console.log(JSON.stringify({ feeds, problem }));
