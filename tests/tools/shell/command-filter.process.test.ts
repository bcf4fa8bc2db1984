import { spawn } from "node:child_process";
import { access, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { expect, it } from "vitest";
import { CommandFilter, filtered, runCommandTool, sandboxRunner } from "../../../src/tools/shell";
import { agentFiles, runTool } from "../files/agent-tree";
import { EVASIONS } from "./evasions";
import { localSandbox } from "./local-sandbox";

/** Without a filter, each evasion removes the file in a real bash. */
it.concurrent.each(EVASIONS.filter(({ elsewhere }) => !elsewhere))(
  "a real bash runs rm $name",
  async ({ command }) => {
    const directory = await mkdtemp(path.join(tmpdir(), "evasion-"));
    const file = path.join(directory, "gone.txt");
    await writeFile(file, "x");
    const child = spawn("bash", ["-c", command], {
      cwd: directory,
      stdio: ["ignore", "ignore", "ignore"],
    });
    await new Promise((resolve) => child.once("close", resolve));
    const fileExists = await access(file).then(
      () => true,
      () => false,
    );
    await rm(directory, { recursive: true });
    expect(fileExists).toBe(false);
  },
);

it("a command is sent to a container only if the filter allows it", async () => {
  const sandbox = await localSandbox();
  const files = await agentFiles({
    workspace: { "gone.txt": "x\n", "a.txt": "a\n" },
    peers: {},
    contexts: {},
  });
  for (const name of ["gone.txt", "a.txt"]) await files.read(name);
  const runner = sandboxRunner(sandbox, { root: sandbox.root });
  const tool = runCommandTool(
    filtered(runner, new CommandFilter({ allowed: [], blocked: ["rm .*gone"] })),
  );
  expect((await runTool(tool, { command: "ls | xargs rm -f gone.txt" }, files)).outcome).toBe(
    "error",
  );
  expect(sandbox.written).toEqual([]);
  expect((await runTool(tool, { command: "rm a.txt" }, files)).outcome).toBe("ok");
  expect([files.exists("gone.txt"), files.exists("a.txt")]).toEqual([true, false]);
  await sandbox.remove();
});
