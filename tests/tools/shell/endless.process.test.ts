import { describe, expect, it } from "vitest";
import { justBashRunner, runCommandTool } from "../../../src/tools/shell";
import { agentFiles, runTool } from "../files/agent-tree";
import { BACKTRACKING, ENDLESS } from "./endless-commands";

const tool = runCommandTool(justBashRunner(Date.now));
const TIMEOUT_SECONDS = 3;
/**
 * Longer than the timeout: at the timeout, the current step of a command is not interrupted, and it
 * takes long on a slow machine.
 */
const MAX_MS = 40_000;

describe("run_command stops", () => {
  it.each(ENDLESS)("$name", async ({ command }) => {
    const startedAt = performance.now();
    const { outcome, text } = await runTool(
      tool,
      { command, timeout_seconds: TIMEOUT_SECONDS },
      await agentFiles({}),
    );
    const durationMs = performance.now() - startedAt;
    expect(durationMs).toBeLessThan(MAX_MS);
    expect(text).toMatch(/\[The command was stopped: .+\. Nothing it changed was kept/);
    expect(outcome).toBe("error");
  });
});

describe("regular expressions do not backtrack", () => {
  it.each(BACKTRACKING)("in $name", async ({ command }) => {
    const startedAt = performance.now();
    await runTool(tool, { command }, await agentFiles({}));
    expect(performance.now() - startedAt).toBeLessThan(10_000);
  });
});
