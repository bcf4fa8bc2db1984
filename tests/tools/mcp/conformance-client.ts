import { McpServers } from "../../../src/tools/mcp/mcp-servers";
import { environment, context, server } from "./support";

/**
 * The service's own client as the protocol's conformance suite starts it: connects to the address of the last argument, lists the
 * tools and calls each once, with arguments made from its schema. Ends with 1 if the server could not be used.
 */

type Schema = { properties?: Record<string, { type?: unknown }> };

const SAMPLES: Record<string, unknown> = { number: 5, integer: 5, string: "sample", boolean: true, array: [], object: {} };

const sample = ({ properties = {} }: Schema): Record<string, unknown> =>
  Object.fromEntries(Object.entries(properties).map(([name, { type }]) => [name, SAMPLES[String(type)] ?? null]));

const url = process.argv.at(-1) ?? "";
const servers = new McpServers(environment());
const tools = {
  servers: [server(url, { name: "suite", connectMs: 60_000, callMs: 20_000 })],
  allowedTools: null,
  excludeTools: [],
};
await servers.connect(new Map([["one", tools]]), new Map(), AbortSignal.timeout(100_000));
const [listing] = servers.list();
console.log(JSON.stringify(listing));
for (const tool of servers.toolsFor("one")) {
  const result = await tool.run(sample(tool.spec.parameters), context());
  console.log(tool.spec.name, JSON.stringify(result).slice(0, 500));
}
await servers.close();
process.exit(listing?.problem === null ? 0 : 1);
