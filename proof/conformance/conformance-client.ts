import { z } from "zod";
import { McpServers } from "../../src/tools/mcp/mcp-servers";
import type { Tool } from "../../src/tools/tool";
import { context, environment, server } from "../../tests/tools/mcp/support";

/**
 * The service's own client as the protocol's conformance suite starts it: connects to the address of the last argument, lists the
 * tools, and calls them as the scenario says, else each once with arguments made from its schema. Ends with 1 if the server could
 * not be used.
 */

const ScenarioSchema = z.looseObject({
  toolCalls: z
    .array(z.looseObject({ name: z.string(), arguments: z.record(z.string(), z.unknown()) }))
    .optional(),
});
const ParametersSchema = z.looseObject({
  properties: z.record(z.string(), z.looseObject({ type: z.unknown() })).catch({}),
});

const SAMPLES: Record<string, unknown> = {
  number: 5,
  integer: 5,
  string: "sample",
  boolean: true,
  array: [],
};

/** Where an object is wanted, the first tool's schema as we got it: some scenarios look whether it came through whole. */
function argumentsFor({ spec }: Tool, first: Tool | undefined): Record<string, unknown> {
  const { properties } = ParametersSchema.parse(spec.parameters);
  return Object.fromEntries(
    Object.entries(properties).map(([name, { type }]) => [
      name,
      SAMPLES[String(type)] ?? first?.spec.parameters ?? {},
    ]),
  );
}

const scenario = ScenarioSchema.parse(JSON.parse(process.env["MCP_CONFORMANCE_CONTEXT"] ?? "{}"));
const servers = new McpServers(environment());
const url = process.argv.at(-1) ?? "";
const tools = {
  servers: [server(url, { name: "suite", connectMs: 20_000 })],
  allowedTools: null,
  excludeTools: [],
};
await servers.connect(new Map([["one", tools]]), new Map(), AbortSignal.timeout(60_000));
const offered = servers.toolsFor("one");
const calls =
  scenario.toolCalls?.map(({ name, arguments: args }) => ({
    tool: offered.find(({ spec }) => spec.name.endsWith(`__${name}`)),
    args,
  })) ?? offered.map((tool) => ({ tool, args: argumentsFor(tool, offered[0]) }));
for (const { tool, args } of calls)
  console.log(tool?.spec.name, JSON.stringify(await tool?.run(args, context())));
const [listing] = servers.list();
console.log(JSON.stringify(listing));
await servers.close();
process.exit(listing?.problem === null ? 0 : 1);
