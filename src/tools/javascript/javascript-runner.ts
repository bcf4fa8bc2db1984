import { abortable } from "../../async/abort";
import { z } from "zod";
import { readText } from "../http/response";
import {
  COMPATIBILITY_DATE,
  JAVASCRIPT_LIMITS,
  type JavascriptLimits,
  REPLY_BYTES,
  WORKER_GRACE_MS,
} from "./limits";
import { workerModules } from "./worker-modules";

/** The part of the platform's `WorkerLoader` that is used: a worker made of code, which is gone with who holds it. */
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

export type JavascriptRequest = {
  /** Body of an async function. */
  code: string;
  /** Texts by the name the code has for them. */
  files: Readonly<Record<string, string>>;
  /** Wall clock. */
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

/** `failed`: there is nothing but a reason, for the model. */
export type JavascriptOutcome = JavascriptReply | { failed: string };

/**
 * What runs a model's code. Throws the signal's reason when it was aborted; whatever the code does, or the platform to it, is an
 * outcome.
 */
export type JavascriptRunner = { run(request: JavascriptRequest): Promise<JavascriptOutcome> };

/**
 * Each call in a worker of its own that is made for it and has nothing: no network, no bindings, no modules, nothing of Node. Code that
 * never ends is ended by the guards put into it, else by the platform where that measures CPU time, else nobody waits for it.
 */
export const javascriptRunner = (
  loader: CodeLoader,
  limits: JavascriptLimits = JAVASCRIPT_LIMITS,
): JavascriptRunner => ({
  async run({ code, ...request }) {
    request.signal.throwIfAborted();
    const { guardedCode } = await import("./guarded-code"); // a parser, which only those load who need it
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

type Asked = Omit<JavascriptRequest, "code">;

async function ask(
  loader: CodeLoader,
  { main, modules }: ReturnType<typeof workerModules>,
  { files, timeoutMs, signal }: Asked,
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

/** Code may have tampered with what replies are made of in its worker. */
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

/** What the runtime says when it cannot start code (its last check of the syntax), or has ended it. */
function endedByPlatform(error: unknown): string {
  const message = error instanceof Error ? error.message : String(error);
  const start = /^Failed to start Worker:\s*(?:Uncaught )?(.*)/.exec(message);
  if (!start) return `The runtime ended the code: ${message.slice(0, MESSAGE_CHARS)}`;
  const line = /code\.js:(\d+)/.exec(message)?.[1];
  return `${start[1]?.slice(0, MESSAGE_CHARS)}${line === undefined ? "" : ` (line ${line})`}`;
}
