import { abortable, timeLimit } from "../../async/abort";
import { lazy } from "../../async/lazy";
import * as z from "zod";
import { readText } from "../http/response";
import {
  COMPATIBILITY_DATE,
  JAVASCRIPT_LIMITS,
  type JavascriptLimits,
  REPLY_BYTES,
  WORKER_GRACE_MS,
} from "./script-limits";
import { workerModules } from "./worker-modules";

/** The module contains a large parser. */
const guards = lazy(() => import("./guarded-code"));

/** The part of the platform's `WorkerLoader` that is used here. It creates a worker from code. */
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
  /** The body of an async function. */
  code: string;
  /** Texts of the input files, by the names that the code uses. */
  files: Readonly<Record<string, string>>;
  /** Limit of the wall-clock time. */
  timeoutMs: number;
  /** Aborted when the result is no longer needed. */
  signal: AbortSignal;
};

/** A text that may be cut after a maximum length. */
const CutTextSchema = z.object({ text: z.string(), isCut: z.boolean() });
const ReplySchema = z.object({
  log: CutTextSchema,
  outcome: z.discriminatedUnion("type", [
    z.object({ type: z.literal("returned"), value: CutTextSchema.nullable() }),
    z.object({ type: z.literal("threw"), error: CutTextSchema, line: z.number().nullable() }),
    z.object({ type: z.literal("stopped"), why: z.enum(["steps", "time"]) }),
  ]),
});
export type JavascriptReply = z.infer<typeof ReplySchema>;

/** The reply of the worker. If there is none, `failed` is the reason, as text for the model. */
export type JavascriptOutcome = JavascriptReply | { failed: string };

/**
 * Runs a model's code. Throws the signal's reason if the signal is aborted. Failures of the code or
 * of the platform are not thrown; they are outcomes.
 */
export type JavascriptRunner = { run(request: JavascriptRequest): Promise<JavascriptOutcome> };

/**
 * Creates a runner. It runs each call in a new worker without network, bindings, modules or Node
 * APIs. The inserted guards stop endless code. If they fail, the platform's CPU limit stops it,
 * where there is one; otherwise the runner stops waiting at the timeout.
 */
export const javascriptRunner = (
  loader: CodeLoader,
  limits: JavascriptLimits = JAVASCRIPT_LIMITS,
): JavascriptRunner => ({
  async run({ code, ...request }) {
    request.signal.throwIfAborted();
    const { guardedCode } = await guards();
    const guarded = guardedCode(code);
    if (!guarded.ok) return { failed: guarded.problem };
    const limit = timeLimit(request.timeoutMs + WORKER_GRACE_MS, [request.signal]);
    const { signal } = limit;
    try {
      // `abortable` also ends the wait for a worker that ignores the abort.
      return await abortable(
        runInWorker(loader, workerModules(guarded), { ...request, signal }, limits),
        signal,
      );
    } catch (error) {
      request.signal.throwIfAborted();
      return { failed: signal.aborted ? TIMED_OUT : platformFailure(error) };
    } finally {
      limit.end();
    }
  },
});

type CodeInput = Omit<JavascriptRequest, "code">;

async function runInWorker(
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
  return (isWhole ? parseReply(text) : null) ?? { failed: UNREADABLE };
}

/**
 * The worker's reply; `null` if invalid: the code may have replaced the worker's JSON or Promise.
 */
function parseReply(text: string): JavascriptReply | null {
  try {
    return ReplySchema.safeParse(JSON.parse(text)).data ?? null;
  } catch {
    return null;
  }
}

const TIMED_OUT = "The code was stopped: it took too long. What it logged is lost.";
const UNREADABLE =
  "The code left no readable result: it changed what results are made of, such as JSON or Promise.";
const MESSAGE_CHARS = 500;

/** The text for an error of the runtime: the code could not start (bad syntax), or was ended. */
function platformFailure(error: unknown): string {
  const message = error instanceof Error ? error.message : String(error);
  const start = /^Failed to start Worker:\s*(?:Uncaught )?(.*)/.exec(message);
  if (!start) return `The runtime ended the code: ${message.slice(0, MESSAGE_CHARS)}`;
  const line = /code\.js:(\d+)/.exec(message)?.[1];
  return `${start[1]?.slice(0, MESSAGE_CHARS)}${line === undefined ? "" : ` (line ${line})`}`;
}
