import { describe, expect, it } from "vitest";
import { readFileSync } from "node:fs";
import { toolboxOf } from "../../../durable-objects/session/tools/toolbox";
import { hasJavascript } from "../../../src/tools/javascript";
import { COMPATIBILITY_DATE } from "../../../src/tools/javascript/script-limits";
import { Breakers } from "../../../src/tools/breaker";
import { parseTeam } from "../../../src/config/parse-team";
import { justBashRunner } from "../../../src/tools/shell";
import { Mutex } from "../../../src/async/mutex";
import { FULL_CONTEXT, detailsOf, teamOf, teamWith } from "../../config/teams";
import { agentFiles, runTool } from "../files/agent-tree";

const SHELL = "type: claude\ncwd: work\nenable_mcp_command_line: true";
const rulesOf = (backend: string, javascript?: boolean) =>
  teamOf(teamWith(backend), { ...FULL_CONTEXT, ...(javascript !== undefined && { javascript }) })
    .rules.agents[0]?.tools ?? [];

describe("run_javascript", () => {
  it.each([
    {
      name: "is offered to agents with a shell if the operator has enabled it",
      backend: SHELL,
      javascript: true,
      offered: true,
    },
    { name: "is not offered if it is disabled", backend: SHELL, javascript: false, offered: false },
    { name: "is not offered by default", backend: SHELL, javascript: undefined, offered: false },
    {
      name: "is not offered to agents with files only",
      backend: "type: claude\ncwd: work",
      javascript: true,
      offered: false,
    },
    {
      name: "is not offered to agents without files",
      backend: "type: claude",
      javascript: true,
      offered: false,
    },
  ])("$name", ({ backend, javascript, offered }) => {
    expect(hasJavascript(rulesOf(backend, javascript))).toBe(offered);
  });

  it("is allowed in planning mode, but is not repeated, because its code may have ended the service", () => {
    expect(rulesOf(SHELL, true).at(-1)).toEqual({
      name: "run_javascript",
      acts_outside: false,
      idempotent: false,
    });
  });

  it("is a reserved tool name", () => {
    const backend =
      "type: claude\ncustom_tools: [{name: run_javascript, url: https://api.example.com, description: x}]";
    const [detail] = detailsOf(parseTeam(teamWith(backend), FULL_CONTEXT));
    expect(detail).toContain("The service reserves the name `run_javascript`");
  });

  it("is still offered after the operator disables it, and then returns an error", async () => {
    const { agents } = teamOf(teamWith(SHELL), FULL_CONTEXT);
    const dependencies = {
      secretOf: () => undefined,
      shared: { large: new Mutex(), breakers: new Breakers() },
    };
    const tools = agents.flatMap((agent) =>
      toolboxOf(agent, {
        ...dependencies,
        runner: () => justBashRunner(Date.now),
        javascript: { runner: null, mutex: new Mutex() },
        readsResults: false,
      }),
    );
    const tool = tools.find(({ spec }) => spec.name === "run_javascript");
    if (!tool) throw new Error("it is not offered");
    expect(await runTool(tool, { code: "return 1" }, await agentFiles({}))).toEqual({
      outcome: "error",
      text: "JavaScript has been switched off. Use another tool.",
    });
  });
});

it("the workers of run_javascript have the service's compatibility date", () => {
  expect(readFileSync("wrangler.toml", "utf8")).toContain(
    `\ncompatibility_date = "${COMPATIBILITY_DATE}"\n`,
  );
});
