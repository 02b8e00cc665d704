// Connects to a node with the client of the official TypeScript SDK, and prints what it gets as JSON. Arguments: address
// of the server, token, ID of an item.
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";

const [address, token, id] = process.argv.slice(2);
const connect = async (headers) => {
  const client = new Client({ name: "test", version: "1" });
  await client.connect(new StreamableHTTPClientTransport(new URL(address), { requestInit: { headers } }));
  return client;
};

const client = await connect({ Authorization: `Bearer ${token}` });
const got = {
  server: client.getServerVersion().name,
  tools: (await client.listTools()).tools.map((tool) => tool.name), // also compiles the output schemas
  found: (await client.callTool({ name: "search", arguments: { query: "scheduler" } })).structuredContent,
  item: (await client.callTool({ name: "read_item", arguments: { id } })).structuredContent,
  wrong: (await client.callTool({ name: "search", arguments: { limit: 100 } })).isError,
  story: (await client.callTool({ name: "read_story", arguments: { id: "s1" } })).structuredContent,
  resource: (await client.readResource({ uri: `feedmesh://items/${id}` })).contents[0].text,
  templates: (await client.listResourceTemplates()).resourceTemplates.length,
  prompt: (await client.getPrompt({ name: "morning-briefing", arguments: { hours: "24" } })).messages[0].content.text,
  refused: await connect({}).then(() => "", (e) => String(e)),
};
await client.close();
console.log(JSON.stringify(got));
