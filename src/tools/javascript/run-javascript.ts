import { z } from "zod";
import { byteLength, truncateTo } from "../../coordination/byte-length";
import type { AgentFiles } from "../../workspace/agent-files";
import { FileError } from "../../workspace/types";
import { defineFileTool } from "../files/define-tool";
import { readText } from "../files/page";
import { showControls } from "../large-results";
import type { Tool, ToolResult } from "../tool";
import type { Mutex } from "../../async/mutex";
import { RUN_JAVASCRIPT_RULE } from "./javascript-rule";
import type { JavascriptOutcome, JavascriptReply, JavascriptRunner } from "./javascript-runner";
import { JAVASCRIPT_LIMITS, type JavascriptLimits } from "./script-limits";

const schemaFor = ({ codeChars, files, timeoutMs }: JavascriptLimits) =>
  z.strictObject({
    code: z
      .string()
      .min(1)
      .max(codeChars)
      .describe("Body of an async function: `return` gives the result, `await` may be used."),
    files: z
      .array(z.string().min(1))
      .max(files)
      .optional()
      .describe(
        'Text files to hand in, e.g. ["data.csv"]; the code finds each text in files["data.csv"].',
      ),
    timeout_ms: z.int().min(1).max(timeoutMs).optional().describe(`Default ${timeoutMs}.`),
  });
const usualSchema = schemaFor(JAVASCRIPT_LIMITS);

const DESCRIPTION = `Runs JavaScript (ES2022 or later, no TypeScript) and gives what it logs with console.log and what it returns, as JSON. For computing: numbers, dates, parsing, simulations. \
The code sees the files named in \`files\` as texts and nothing else: no network, no modules (import, require), no Node or DOM, no eval; it cannot write files, so write what you need of its result with another tool. \
Nothing is kept between calls. Code that loops without end or for too long is stopped. If the outcome of a call is unknown, its code may have ended the service: do not run it again unchanged.`;

/** Dependencies of a call besides its arguments. */
export type JavascriptDependencies = {
  /** `null` if the operator has disabled it since the session started. */
  runner: JavascriptRunner | null;
  /**
   * Serializes the calls of a session: each may use as much memory as the runtime gives a worker.
   */
  mutex: Mutex;
};

/** `run_javascript`: runs a model's code in an isolated worker. */
export function runJavascriptTool(
  { runner, mutex }: JavascriptDependencies,
  limits: JavascriptLimits = JAVASCRIPT_LIMITS,
): Tool {
  const tool = defineFileTool({
    name: RUN_JAVASCRIPT_RULE.name,
    description: DESCRIPTION,
    schema: limits === JAVASCRIPT_LIMITS ? usualSchema : schemaFor(limits),
    async run(
      { code, files: paths = [], timeout_ms: timeoutMs = limits.timeoutMs },
      files,
      { signal },
    ) {
      if (!runner)
        return { outcome: "error", text: "JavaScript has been switched off. Use another tool." };
      const texts = await textsOf(files, paths, limits);
      const release = await mutex.acquire();
      try {
        return toResult(await runner.run({ code, files: texts, timeoutMs, signal }), limits);
      } finally {
        release();
      }
    },
  });
  return { ...tool, rule: RUN_JAVASCRIPT_RULE };
}

/** Checks sizes before reading contents. */
async function textsOf(
  files: AgentFiles,
  paths: readonly string[],
  { fileBytes }: JavascriptLimits,
): Promise<Record<string, string>> {
  const sizes = paths.map((path) => files.stat(path).size);
  const size = sizes.reduce((sum, one) => sum + one, 0);
  if (size > fileBytes)
    throw new FileError(
      "file_too_large",
      `These files have ${size} bytes; ${fileBytes} may be handed in. Make smaller parts of them.`,
    );
  const texts: [string, string][] = [];
  for (const path of paths) texts.push([path, await readText(files, path)]);
  return Object.fromEntries(texts);
}

function toResult(outcome: JavascriptOutcome, { outputBytes }: JavascriptLimits): ToolResult {
  if ("failed" in outcome) return { outcome: "error", text: showControls(outcome.failed) };
  const log = shown(outcome.log, outputBytes);
  const { text, isGood } = endOf(outcome, outputBytes);
  return {
    outcome: isGood ? "ok" : "error",
    text: [log, text].filter(Boolean).join("\n") || "[no output, and nothing was returned]",
  };
}

function endOf({ outcome }: JavascriptReply, mostBytes: number): { text: string; isGood: boolean } {
  switch (outcome.type) {
    case "returned":
      return {
        text: outcome.value === null ? "" : `[returned]\n${shown(outcome.value, mostBytes)}`,
        isGood: true,
      };
    case "threw":
      return {
        text: `${shown(outcome.error, mostBytes)}${outcome.line === null ? "" : ` (line ${outcome.line})`}`,
        isGood: false,
      };
    case "stopped":
      return {
        text: `[The code was stopped: ${WHY[outcome.why]}. Do less in one call.]`,
        isGood: false,
      };
  }
}

const WHY = {
  steps: "its loops and calls took too many steps, perhaps one of them never ends",
  time: "it took too long, perhaps a loop or a promise never ends",
};

function shown({ text, isCut }: { text: string; isCut: boolean }, mostBytes: number): string {
  const whole = showControls(text).replace(/\n$/, "");
  if (!isCut && byteLength(whole) <= mostBytes) return whole;
  return `${truncateTo(mostBytes, whole)}\n[Cut after ${mostBytes} bytes. Put out less.]`;
}
