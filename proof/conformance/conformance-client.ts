import * as z from "zod";
import { McpServers } from "../../src/tools/mcp/mcp-servers";
import type { Tool } from "../../src/tools/tool";
import { context, environment, server } from "../../tests/tools/mcp/support";

/**
 * The service's client for the protocol's conformance suite. Connects to the address in the last
 * argument, lists the tools, and calls the tools that the scenario requires. By default, it calls
 * each tool once, with arguments derived from the tool's schema. Exits with 1 if the server is
 * unusable.
 */

const ScenarioSchema = z.looseObject({
  toolCalls: z
    .array(z.looseObject({ name: z.string(), arguments: z.record(z.string(), z.unknown()) }))
    .optional(),
});
const ParametersSchema = z.looseObject({
  properties: z.record(z.string(), z.looseObject({ type: z.unknown() })).catch({}),
});

/** Sample arguments by JSON Schema type. */
const SAMPLES: Record<string, unknown> = {
  number: 5,
  integer: 5,
  string: "sample",
  boolean: true,
  array: [],
};

/**
 * Returns sample arguments by parameter type. An object parameter receives the first tool's schema,
 * because some scenarios check that the schema arrived unchanged.
 */
function argumentsFor({ spec }: Tool, firstTool: Tool | undefined): Record<string, unknown> {
  const { properties } = ParametersSchema.parse(spec.parameters);
  return Object.fromEntries(
    Object.entries(properties).map(([name, { type }]) => [
      name,
      SAMPLES[String(type)] ?? firstTool?.spec.parameters ?? {},
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
const offeredTools = servers.toolsFor("one");
const calls =
  scenario.toolCalls?.map(({ name, arguments: args }) => ({
    tool: offeredTools.find(({ spec }) => spec.name.endsWith(`__${name}`)),
    args,
  })) ?? offeredTools.map((tool) => ({ tool, args: argumentsFor(tool, offeredTools[0]) }));
for (const { tool, args } of calls)
  console.log(tool?.spec.name, JSON.stringify(await tool?.run(args, context())));
const [listing] = servers.list();
console.log(JSON.stringify(listing));
await servers.close();
process.exit(listing?.problem === null ? 0 : 1);
