import { describe, expect, it } from "vitest";
import { justBashRunner, runCommandTool } from "../../../src/tools/shell";
import { agentFiles, runTool } from "../files/agent-tree";
import { BACKTRACKING, ENDLESS } from "./endless-commands";

const tool = runCommandTool(justBashRunner(Date.now));
const TIMEOUT_SECONDS = 3;
/**
 * One operation of a command may be running at the time limit: it is not interrupted. Includes slow
 * machines.
 */
const MOST_MS = 40_000;

describe("run_command stops", () => {
  it.each(ENDLESS)("$name", async ({ command }) => {
    const began = performance.now();
    const { outcome, text } = await runTool(
      tool,
      { command, timeout_seconds: TIMEOUT_SECONDS },
      await agentFiles({}),
    );
    const ms = performance.now() - began;
    expect(ms).toBeLessThan(MOST_MS);
    expect(text).toMatch(/\[The command was stopped: .+\. Nothing it changed was kept/);
    expect(outcome).toBe("error");
  });
});

describe("regular expressions do not backtrack", () => {
  it.each(BACKTRACKING)("in $name", async ({ command }) => {
    const began = performance.now();
    await runTool(tool, { command }, await agentFiles({}));
    expect(performance.now() - began).toBeLessThan(10_000);
  });
});
