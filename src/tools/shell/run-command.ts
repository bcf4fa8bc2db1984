import * as z from "zod";
import { byteLength, truncateTo } from "../../coordination/byte-length";
import { FileError } from "../../workspace/types";
import { defineFileTool } from "../files/define-tool";
import { showControls } from "../large-results";
import type { Tool, ToolResult } from "../tool";
import type { CommandOutcome, CommandRunner } from "./command-runner";

export type RunCommandLimits = {
  /** Longest timeout that a model can set, in seconds. */
  mostSeconds: number;
  /** Timeout if the model sets none, in seconds. */
  defaultSeconds: number;
  /** Maximum UTF-8 bytes of stdout. The same limit applies to stderr. */
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
const defaultSchema = schemaFor(RUN_COMMAND_LIMITS);

/**
 * `run_command`: runs a command in the shell that the operator provides. If a command is stopped,
 * its call fails, so its changes of files are discarded.
 */
export function runCommandTool(
  runner: CommandRunner,
  limits: RunCommandLimits = RUN_COMMAND_LIMITS,
): Tool {
  return defineFileTool({
    name: "run_command",
    description: runner.description,
    staysInside: runner.staysInside ?? false,
    schema: limits === RUN_COMMAND_LIMITS ? defaultSchema : schemaFor(limits),
    async run({ command, directory, timeout_seconds }, files, { signal }) {
      const start = files.resolve(directory ?? "/workspace");
      const { kind } = await files.withTree(start, () => files.stat(start));
      if (kind !== "directory")
        throw new FileError("not_a_directory", `${start} is a file, not a directory.`);
      const timeoutMs = (timeout_seconds ?? limits.defaultSeconds) * 1000;
      const outcome = await runner.run({ command, directory: start, timeoutMs, files, signal });
      return toResult(outcome, limits);
    },
  });
}

/** The result of a command. An exit code other than 0 is not an error of the tool. */
function toResult(
  { stdout, stderr, exitCode, stopped }: CommandOutcome,
  { outputBytes }: RunCommandLimits,
): ToolResult {
  const parts = [limitedText("output", stdout, outputBytes)];
  if (stderr !== "") parts.push(`[stderr]\n${limitedText("stderr", stderr, outputBytes)}`);
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

function limitedText(streamName: string, text: string, maxBytes: number): string {
  const shown = showControls(text).replace(/\n$/, "");
  const bytes = byteLength(shown);
  if (bytes <= maxBytes) return shown;
  return `${truncateTo(maxBytes, shown)}\n[The ${streamName} is cut after ${maxBytes} of ${bytes} bytes. Write it to a file with > and read that in parts.]`;
}
