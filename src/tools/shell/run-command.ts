import { z } from "zod";
import { byteLength, truncateTo } from "../../coordination/byte-length";
import { FileError } from "../../workspace/types";
import { defineFileTool } from "../files/define-tool";
import { showControls } from "../large-results";
import type { Tool, ToolResult } from "../tool";
import type { CommandOutcome, CommandRunner } from "./command-runner";

export type RunCommandLimits = {
  /** Maximum and default timeout in seconds. */
  mostSeconds: number;
  defaultSeconds: number;
  /** UTF-8 bytes of stdout and of stderr. */
  outputBytes: number;
};

export const RUN_COMMAND_LIMITS: RunCommandLimits = {
  mostSeconds: 10,
  defaultSeconds: 10,
  outputBytes: 512 * 1024,
};

const schemaFor = ({ mostSeconds, defaultSeconds }: RunCommandLimits) =>
  z.strictObject({
    command: z
      .string()
      .min(1)
      .max(65_536)
      .describe("The command line; may be a script of several lines."),
    directory: z.string().optional().describe("Where it starts; default /workspace."),
    timeout_seconds: z
      .number()
      .positive()
      .max(mostSeconds)
      .optional()
      .describe(`Default ${defaultSeconds}.`),
  });
const usualSchema = schemaFor(RUN_COMMAND_LIMITS);

/**
 * `run_command`, in the shell that the operator provides. Changes of a stopped command are dropped
 * with its call.
 */
export function runCommandTool(
  runner: CommandRunner,
  limits: RunCommandLimits = RUN_COMMAND_LIMITS,
): Tool {
  return defineFileTool({
    name: "run_command",
    description: runner.description,
    staysInside: runner.staysInside ?? false,
    schema: limits === RUN_COMMAND_LIMITS ? usualSchema : schemaFor(limits),
    async run({ command, directory, timeout_seconds }, files, { signal }) {
      const start = files.resolve(directory ?? "/workspace");
      if (files.stat(start).kind !== "directory")
        throw new FileError("not_a_directory", `${start} is a file, not a directory.`);
      const timeoutMs = (timeout_seconds ?? limits.defaultSeconds) * 1000;
      const outcome = await runner.run({ command, directory: start, timeoutMs, files, signal });
      return toResult(outcome, limits);
    },
  });
}

/** An exit code other than 0 is not an error of the tool: the model interprets it. */
function toResult(
  { stdout, stderr, exitCode, stopped }: CommandOutcome,
  { outputBytes }: RunCommandLimits,
): ToolResult {
  const parts = [bounded("output", stdout, outputBytes)];
  if (stderr !== "") parts.push(`[stderr]\n${bounded("stderr", stderr, outputBytes)}`);
  if (stopped !== null) {
    const advice =
      "Nothing it changed was kept. Do less in one command: fewer files, fewer rounds of a loop, shorter texts.";
    return {
      outcome: "error",
      text: [...parts, `[The command was stopped: ${stopped}. ${advice}]`]
        .filter(Boolean)
        .join("\n"),
    };
  }
  if (exitCode !== 0) parts.push(`[exit code ${exitCode}]`);
  return { outcome: "ok", text: parts.filter(Boolean).join("\n") || "[no output]" };
}

function bounded(what: string, text: string, mostBytes: number): string {
  const shown = showControls(text).replace(/\n$/, "");
  const bytes = byteLength(shown);
  if (bytes <= mostBytes) return shown;
  return `${truncateTo(mostBytes, shown)}\n[The ${what} is cut after ${mostBytes} of ${bytes} bytes. Write it to a file with > and read that in parts.]`;
}
