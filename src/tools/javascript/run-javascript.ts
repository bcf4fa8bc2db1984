import * as z from "zod";
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
const defaultSchema = schemaFor(JAVASCRIPT_LIMITS);

const DESCRIPTION = `Runs JavaScript (ES2022 or later, no TypeScript) and gives what it logs with console.log and what it returns, as JSON. For computing: numbers, dates, parsing, simulations. \
The code sees the files named in \`files\` as texts and nothing else: no network, no modules (import, require), no Node or DOM, no eval; it cannot write files, so write what you need of its result with another tool. \
Nothing is kept between calls. Code that loops without end or for too long is stopped. If the outcome of a call is unknown, its code may have ended the service: do not run it again unchanged.`;

/** What a call needs besides its arguments. */
export type JavascriptDependencies = {
  /** `null` if the operator has disabled JavaScript since the session started. */
  runner: JavascriptRunner | null;
  /**
   * Serializes the calls of a session, because each call may use all memory that the runtime gives
   * a worker.
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
    schema: limits === JAVASCRIPT_LIMITS ? defaultSchema : schemaFor(limits),
    async run(
      { code, files: paths = [], timeout_ms: timeoutMs = limits.timeoutMs },
      files,
      { signal },
    ) {
      if (!runner)
        return { outcome: "error", text: "JavaScript has been switched off. Use another tool." };
      const texts = await readTexts(files, paths, limits);
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

/** Reads the input files. Checks their sizes before it reads contents. */
async function readTexts(
  files: AgentFiles,
  paths: readonly string[],
  { fileBytes }: JavascriptLimits,
): Promise<Record<string, string>> {
  let size = 0;
  for (const path of paths) size += (await files.withTree(path, () => files.stat(path))).size;
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
  const log = limitedText(outcome.log, outputBytes);
  const { text, isOk } = describeOutcome(outcome, outputBytes);
  return {
    outcome: isOk ? "ok" : "error",
    text: [log, text].filter(Boolean).join("\n") || "[no output, and nothing was returned]",
  };
}

function describeOutcome(
  { outcome }: JavascriptReply,
  maxBytes: number,
): { text: string; isOk: boolean } {
  switch (outcome.type) {
    case "returned":
      return {
        text: outcome.value === null ? "" : `[returned]\n${limitedText(outcome.value, maxBytes)}`,
        isOk: true,
      };
    case "threw":
      return {
        text: `${limitedText(outcome.error, maxBytes)}${outcome.line === null ? "" : ` (line ${outcome.line})`}`,
        isOk: false,
      };
    case "stopped":
      return {
        text: `[The code was stopped: ${STOP_REASONS[outcome.why]}. Do less in one call.]`,
        isOk: false,
      };
  }
}

const STOP_REASONS = {
  steps: "its loops and calls took too many steps, perhaps one of them never ends",
  time: "it took too long, perhaps a loop or a promise never ends",
};

function limitedText({ text, isCut }: { text: string; isCut: boolean }, maxBytes: number): string {
  const fullText = showControls(text).replace(/\n$/, "");
  if (!isCut && byteLength(fullText) <= maxBytes) return fullText;
  return `${truncateTo(maxBytes, fullText)}\n[Cut after ${maxBytes} bytes. Put out less.]`;
}
