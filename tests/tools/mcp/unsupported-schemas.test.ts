import { describe, expect, it } from "vitest";
import { toolProblem, whyUnfit } from "../../../src/providers/tool-problems";
import type { ToolSpec } from "../../../src/providers/provider";
import { McpServers } from "../../../src/tools/mcp/mcp-servers";
import { MAX_OFFERED } from "../../../src/tools/mcp/server-limits";
import { sent } from "../../providers/gemini/calls";
import { keep, serve } from "./test-servers";
import { tool } from "../../../simulated/tool-servers/scripted-server";
import { environment, server } from "./support";

const withArgument = (name: string, a: object) =>
  tool(name, { inputSchema: { type: "object", properties: { a } } });
const UNSUPPORTED_TOOLS = [
  withArgument("excludes", { not: { type: "null" } }),
  withArgument("patterns", { type: "object", patternProperties: { "^a": {} } }),
  withArgument("decides", { if: { type: "string" }, then: { minLength: 1 } }),
];

const unfit = (agent: string, spec: ToolSpec) => {
  const problem = agent === "plain" ? null : toolProblem("gemini", spec);
  return problem && whyUnfit(problem);
};

/**
 * Connects two agents. The model of `one` does not support all schemas; the model of `plain` does.
 */
async function connected(url: string): Promise<McpServers> {
  const servers = keep(new McpServers(environment({ unfit })));
  const agentTools = { servers: [server(url)], allowedTools: null, excludeTools: [] };
  await servers.connect(
    new Map(["one", "plain"].map((id) => [id, agentTools])),
    new Map(),
    AbortSignal.timeout(20_000),
  );
  return servers;
}

const namesFor = (servers: McpServers, agent: string) =>
  servers.toolsFor(agent).map(({ spec }) => spec.name);

describe("a tool with a schema that an agent's model does not support", () => {
  it("is refused for that agent with a reason, and is offered to other agents", async () => {
    const { url } = await serve({ tools: [tool("first"), ...UNSUPPORTED_TOOLS, tool("last")] });
    const servers = await connected(url);
    expect(namesFor(servers, "one")).toEqual(["mcp__box__first", "mcp__box__last"]);
    expect(servers.offersFor("one")[0]?.refused).toEqual(
      [
        ["excludes", "`not`"],
        ["patterns", "`patternProperties`"],
        ["decides", "`if`"],
      ].map(([name, keyword]) => ({
        server: "box",
        tool: name,
        changed: false,
        why: `its schema is not supported by the agent's model: ${keyword} at /properties/a: this provider's schemas have nothing like it`,
      })),
    );
    expect(namesFor(servers, "plain")).toHaveLength(5);
    expect(servers.offersFor("plain")[0]?.refused).toEqual([]);
  });

  it("does not prevent a model call: the provider gets the other tools", async () => {
    const { url } = await serve({ tools: [tool("first"), ...UNSUPPORTED_TOOLS] });
    const servers = await connected(url);
    const specs = (agent: string) => servers.toolsFor(agent).map(({ spec }) => spec);
    await expect(sent({ tools: specs("one") })).resolves.toMatchObject({
      body: { tools: [{ functionDeclarations: [{ name: "mcp__box__first" }] }] },
    });
    await expect(sent({ tools: specs("plain") })).rejects.toThrow(
      "mcp__box__excludes cannot be offered",
    );
  });

  it("has a short reason, with invisible characters escaped", async () => {
    const name = `\u200b${"n".repeat(5_000)}`;
    const listedTool = tool("odd", {
      inputSchema: { type: "object", properties: { [name]: { not: {} } } },
    });
    const { url } = await serve({ tools: [listedTool] });
    const [why = ""] =
      (await connected(url)).offersFor("one")[0]?.refused.map(({ why: reason }) => reason) ?? [];
    expect(why).toContain(String.raw`at /properties/\u{200b}nnn`);
    expect(why.length).toBeLessThan(400);
  });

  it("is checked only within the limit of offered tools, because a check takes time", async () => {
    const doublingDefinitions = Object.fromEntries(
      Array.from({ length: 14 }, (_, n) => [
        `d${n}`,
        { properties: { a: { $ref: `#/$defs/d${n + 1}` }, b: { $ref: `#/$defs/d${n + 1}` } } },
      ]),
    );
    const costlyTool = (_: unknown, n: number) =>
      tool(`t${n}`, {
        inputSchema: {
          type: "object",
          $defs: { ...doublingDefinitions, d14: {} },
          properties: { a: { $ref: "#/$defs/d0" } },
        },
      });
    const { url } = await serve({
      tools: [...Array.from({ length: 2_000 }, costlyTool), tool("last")],
    });
    const servers = await connected(url);
    const { refused = [], tools = [] } = servers.offersFor("one")[0] ?? {};
    expect([tools.length, refused.length]).toEqual([0, 2_001]);
    expect(refused.filter(({ why }) => why.includes("too deep or too large"))).toHaveLength(
      MAX_OFFERED,
    );
    expect(refused.at(-1)?.why).toContain("choose with allowed_tools");
  });
});
