import { abortable } from "../../async/abort";
import { z } from "zod";
import { readText } from "../http/response";
import {
  COMPATIBILITY_DATE,
  JAVASCRIPT_LIMITS,
  type JavascriptLimits,
  REPLY_BYTES,
  WORKER_GRACE_MS,
} from "./script-limits";
import { workerModules } from "./worker-modules";

/** The part of the platform's `WorkerLoader` that is used: creates a worker from code. */
export type CodeLoader = {
  load(code: {
    compatibilityDate: string;
    compatibilityFlags: string[];
    mainModule: string;
    modules: Record<string, string>;
    env: Record<string, never>;
    globalOutbound: null;
    limits: { cpuMs: number; subRequests: number };
  }): { getEntrypoint(): { fetch(url: string, init: RequestInit): Promise<Response> } };
};

type JavascriptRequest = {
  /** Body of an async function. */
  code: string;
  /** File contents by the names that the code uses. */
  files: Readonly<Record<string, string>>;
  /** Wall-clock time. */
  timeoutMs: number;
  signal: AbortSignal;
};

const CutSchema = z.object({ text: z.string(), isCut: z.boolean() });
const ReplySchema = z.object({
  log: CutSchema,
  outcome: z.discriminatedUnion("type", [
    z.object({ type: z.literal("returned"), value: CutSchema.nullable() }),
    z.object({ type: z.literal("threw"), error: CutSchema, line: z.number().nullable() }),
    z.object({ type: z.literal("stopped"), why: z.enum(["steps", "time"]) }),
  ]),
});
export type JavascriptReply = z.infer<typeof ReplySchema>;

/** `failed`: no result, only a reason for the model. */
export type JavascriptOutcome = JavascriptReply | { failed: string };

/**
 * Runs a model's code. Throws the signal's reason if aborted. Failures of the code or of the
 * platform are outcomes.
 */
export type JavascriptRunner = { run(request: JavascriptRequest): Promise<JavascriptOutcome> };

/**
 * Runs each call in a new worker without network, bindings, modules or Node APIs. Endless code is
 * stopped by the inserted guards, or by the platform's CPU limit where there is one; otherwise the
 * wait ends at the timeout.
 */
export const javascriptRunner = (
  loader: CodeLoader,
  limits: JavascriptLimits = JAVASCRIPT_LIMITS,
): JavascriptRunner => ({
  async run({ code, ...request }) {
    request.signal.throwIfAborted();
    // contains a parser, loaded only when needed
    const { guardedCode } = await import("./guarded-code");
    const guarded = guardedCode(code);
    if (!guarded.ok) return { failed: guarded.problem };
    const late = AbortSignal.timeout(request.timeoutMs + WORKER_GRACE_MS);
    const signal = AbortSignal.any([request.signal, late]);
    try {
      // Also ends the wait for a worker that does not notice the abort.
      return await abortable(
        ask(loader, workerModules(guarded), { ...request, signal }, limits),
        signal,
      );
    } catch (error) {
      request.signal.throwIfAborted();
      return { failed: late.aborted ? TOO_LATE : endedByPlatform(error) };
    }
  },
});

type CodeInput = Omit<JavascriptRequest, "code">;

async function ask(
  loader: CodeLoader,
  { main, modules }: ReturnType<typeof workerModules>,
  { files, timeoutMs, signal }: CodeInput,
  { steps, outputBytes }: JavascriptLimits,
): Promise<JavascriptOutcome> {
  const worker = loader.load({
    compatibilityDate: COMPATIBILITY_DATE,
    compatibilityFlags: ["no_nodejs_compat_v2"],
    mainModule: main,
    modules: { ...modules },
    env: {},
    globalOutbound: null,
    limits: { cpuMs: timeoutMs, subRequests: 0 },
  });
  const body = JSON.stringify({ files, steps, timeoutMs, chars: outputBytes });
  const response = await worker
    .getEntrypoint()
    .fetch("https://code.invalid/", { method: "POST", body, signal });
  const { text, isWhole } = await readText(response, REPLY_BYTES);
  return (isWhole ? replyIn(text) : null) ?? { failed: UNREADABLE };
}

/** The code may have tampered with its worker's JSON or Promise. */
function replyIn(text: string): JavascriptReply | null {
  try {
    return ReplySchema.safeParse(JSON.parse(text)).data ?? null;
  } catch {
    return null;
  }
}

const TOO_LATE = "The code was stopped: it took too long. What it logged is lost.";
const UNREADABLE =
  "The code left no readable result: it changed what results are made of, such as JSON or Promise.";
const MESSAGE_CHARS = 500;

/** Converts the runtime's error: it cannot start the code (a syntax check), or has ended it. */
function endedByPlatform(error: unknown): string {
  const message = error instanceof Error ? error.message : String(error);
  const start = /^Failed to start Worker:\s*(?:Uncaught )?(.*)/.exec(message);
  if (!start) return `The runtime ended the code: ${message.slice(0, MESSAGE_CHARS)}`;
  const line = /code\.js:(\d+)/.exec(message)?.[1];
  return `${start[1]?.slice(0, MESSAGE_CHARS)}${line === undefined ? "" : ` (line ${line})`}`;
}
