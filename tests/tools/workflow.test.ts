import { describe, expect, it } from "vitest";
import { WORKFLOW_TOOLS } from "../../src/coordination/tool/offers";
import { workflowTools } from "../../src/tools/workflow";

const ALIASES = ["agent10", "agent2", "agent1"];
const toolNames = (offers: readonly string[]) =>
  workflowTools(offers, ALIASES).map(({ name }) => name);

describe("the coordination tools", () => {
  it("are returned in a fixed order, for any order of their names", () => {
    expect(toolNames(["vote", "new_answer"])).toEqual(["new_answer", "vote"]);
    expect(toolNames(["restart_orchestration", "submit"])).toEqual([
      "submit",
      "restart_orchestration",
    ]);
    expect(toolNames([...WORKFLOW_TOOLS].reverse())).toEqual([...WORKFLOW_TOOLS]);
  });

  it("are only the requested tools", () => {
    expect(toolNames(["vote", "read_file"])).toEqual(["vote"]);
    expect(toolNames([])).toEqual([]);
  });

  it("let an agent vote for all aliases of the team, sorted by number", () => {
    const [vote] = workflowTools(["vote"], ALIASES);
    expect(vote?.parameters).toMatchObject({
      properties: {
        agent_id: { type: "string", enum: ["agent1", "agent2", "agent10"] },
        reason: { type: "string" },
      },
      required: ["agent_id", "reason"],
      additionalProperties: false,
    });
  });

  it.each([
    { tool: "new_answer", required: ["content"] },
    { tool: "submit", required: ["confirmed"] },
    { tool: "restart_orchestration", required: ["reason", "instructions"] },
    { tool: "assign_personas", required: ["personas"] },
  ])("$tool requires $required", ({ tool, required }) => {
    expect(workflowTools([tool], ALIASES)[0]?.parameters).toMatchObject({
      type: "object",
      required,
    });
  });

  it("are the same for a team in any order of its agents", () => {
    const texts = [ALIASES, ALIASES.toReversed()].map((aliases) =>
      JSON.stringify(workflowTools(WORKFLOW_TOOLS, aliases)),
    );
    expect(texts[0]).toBe(texts[1]);
  });
});
