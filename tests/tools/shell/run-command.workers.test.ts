import { describe, expect, it } from "vitest";
import { justBashRunner, runCommandTool } from "../../../src/tools/shell";
import { agentFiles, readAsText, runTool } from "../files/agent-tree";
import { ENDLESS } from "./endless-commands";

/** The shell in workerd: its code must load there, and it must stop endless commands there. */
const tool = runCommandTool(justBashRunner(Date.now));

describe("run_command in the service's runtime", () => {
  it("runs text tools, compression and jq over an agent's files", async () => {
    const files = await agentFiles({
      workspace: { "a.json": '{"n": [1, 2, 3]}\n' },
      peers: { agent2: { "b.txt": "two\n" } },
    });
    const command =
      "jq -c .n a.json | tee out.txt; gzip -c out.txt | gunzip; grep -c two /peers/agent2/b.txt; awk '{print NR}' out.txt";
    expect(await runTool(tool, { command }, files)).toEqual({
      outcome: "ok",
      text: "[1,2,3]\n[1,2,3]\n1\n1",
    });
    expect(await readAsText(files, "out.txt")).toBe("[1,2,3]\n");
  });

  it.each(ENDLESS.filter(({ name }) => /empty|recursion|nested awk|billion|eval/.test(name)))(
    "stops $name",
    async ({ command }) => {
      const { outcome, text } = await runTool(
        tool,
        { command, timeout_seconds: 1 },
        await agentFiles({}),
      );
      expect(text).toContain("[The command was stopped:");
      expect(outcome).toBe("error");
    },
  );
});
