import type { ServerResponse } from "node:http";
import { type ModelInput, textSent } from "./model-input";
import { type Continuity, newId } from "./continuity";
import {
  type Dialect,
  type Piece,
  RequestRefusal,
  type ChargedReply,
  type WireRequest,
} from "./dialect";
import type { RecordedRequest } from "./ledger";
import type { CacheUse, PromptCache } from "./prompt-cache";
import { type Frame, now, play, upTo } from "./play";
import {
  allowed,
  argumentsText,
  capped,
  type Failure,
  outputTokens,
  type Reply,
  type Script,
  tokensOf,
} from "./reply";
import { toSituation } from "./situation";
import type { Wire } from "./wire";

/** The request and the parts of the provider that answer it. */
type AnswerContext = {
  wire: Wire;
  dialect: Dialect;
  sent: WireRequest;
  /** The model's earlier replies in this format. */
  memory: Continuity;
  /** The model's prompt cache in this format; `null` if the provider has none. */
  cache: PromptCache | null;
  /** Undefined if there is no such model. */
  script: Script | undefined;
};

/**
 * Answers one request: interprets it, calls the script, sends the reply at its pace or breaks it
 * off, and records the outcome.
 */
export async function answer(
  res: ServerResponse,
  record: RecordedRequest,
  context: AnswerContext,
): Promise<void> {
  const closed = watchClose(res, record);
  const reply = await replyTo(record, context);
  if (reply.hang === "headers" || closed.aborted) return;
  const { frames, contentType, chargedReply } = reply.fail
    ? failureReply(reply.fail, context.dialect)
    : await renderReply(reply, record.asked, { ...context, inputTokens: record.inputTokens });
  res.writeHead(reply.fail?.status ?? 200, {
    "content-type": contentType,
    "cache-control": "no-cache",
    "x-request-id": `simulated-${record.id}`,
    ...(reply.fail?.retryAfter !== undefined && { "retry-after": String(reply.fail.retryAfter) }),
  });
  const ending = reply.hang ? "hang" : reply.cutAfterChunks !== undefined ? "cut" : "complete";
  const plan = {
    frames,
    startedAt: record.startedAt,
    pace: reply.pace ?? null,
    ending,
    stopAfterTokens: reply.cutAfterChunks ?? 0,
  } as const;
  await play(res, plan, (frame) => recordFrame(record, res, frame, chargedReply), closed);
  if (!closed.aborted) record.firstByteAt ??= now(); // a response that has headers but no frame
  if (ending !== "cut") return;
  settle(record, "cut"); // before `destroy`, whose close event looks like a close by the client
  res.destroy();
}

/** Sends an error in the wire format. For failures before a request is recorded. */
export function refuse(res: ServerResponse, dialect: Dialect, failure: Failure): void {
  if (res.headersSent) return void res.destroy();
  res.writeHead(failure.status, { "content-type": "application/json" });
  res.end(JSON.stringify(dialect.failureBody(failure)));
}

/** The script's reply, or the provider's error if the provider refuses the request. */
async function replyTo(
  record: RecordedRequest,
  { dialect, sent, memory, script }: AnswerContext,
): Promise<Reply> {
  try {
    record.asked = dialect.read(sent);
    record.inputTokens = tokensOf(textSent(record.asked));
    const mismatch = memory.mismatch(dialect.modelTurns(sent.body));
    if (mismatch) throw new RequestRefusal(dialect.mismatchFailure(mismatch));
  } catch (error) {
    if (!(error instanceof RequestRefusal)) throw error;
    record.refusal = error.message;
    return { fail: error.failure };
  }
  const reply = allowed(await scriptedReply(script, record), record.asked);
  return capped(reply, record.asked.outputCap);
}

/** The script's reply. An unknown model or a script that throws gives an error. */
async function scriptedReply(script: Script | undefined, record: RecordedRequest): Promise<Reply> {
  if (!script) {
    const message = `The model \`${record.model}\` does not exist or you do not have access to it.`;
    return { fail: { status: 404, code: "model_not_found", message } };
  }
  try {
    return await script(toSituation(record.asked));
  } catch (error) {
    record.scriptError = error instanceof Error ? (error.stack ?? error.message) : String(error);
    return {
      fail: {
        status: 500,
        code: "script_failed",
        message: "The script of this simulated model threw an error.",
      },
    };
  }
}

type RenderedReply = { frames: Frame[]; contentType: string; chargedReply: ChargedReply | null };

function failureReply(failure: Failure, dialect: Dialect): RenderedReply {
  const bytes = JSON.stringify(dialect.failureBody(failure));
  return {
    frames: [{ bytes, tokens: 0, usage: false }],
    contentType: "application/json",
    chargedReply: null,
  };
}

type RenderContext = AnswerContext & { inputTokens: number };

/** Writes the reply in the wire format. */
async function renderReply(
  reply: Reply,
  asked: ModelInput,
  { wire, dialect, sent, memory, cache, inputTokens }: RenderContext,
): Promise<RenderedReply> {
  const cacheUse = cache?.use(dialect.promptBlocks({ asked, body: sent.body }), now()) ?? null;
  const chargedReply = toChargedReply(reply, { inputTokens, cacheUse }, dialect);
  const rendered = await wire.render(sent, chargedReply);
  if ("message" in rendered) {
    const message = dialect.whole?.(rendered.message, chargedReply.usage) ?? rendered.message;
    const frame = {
      bytes: JSON.stringify(message),
      tokens: chargedReply.usage.outputTokens,
      usage: true,
    };
    return { frames: [frame], contentType: "application/json", chargedReply };
  }
  const { pieces, originalItems } = dialect.completeEvents(rendered.events, chargedReply, {
    asked,
    body: sent.body,
  });
  memory.keep(originalItems);
  return {
    frames: withFailure(reply, pieces.map(toFrame), dialect),
    contentType: "text/event-stream",
    chargedReply,
  };
}

/** If the reply fails midway, the error is the last frame of its stream. */
function withFailure({ failsMidway }: Reply, frames: Frame[], dialect: Dialect): Frame[] {
  if (!failsMidway) return frames;
  const { afterTokens, failure } = failsMidway;
  const bytes = `event: error\ndata: ${JSON.stringify(dialect.failureBody(failure))}\n\n`;
  return [...upTo(frames, afterTokens), { bytes, tokens: 0, usage: false }];
}

function toChargedReply(
  { calls = [], usage, ...reply }: Reply,
  { inputTokens, cacheUse }: { inputTokens: number; cacheUse: CacheUse | null },
  { callIdPrefix }: Dialect,
): ChargedReply {
  const reasoningTokens = tokensOf(reply.reasoning ?? "");
  const cachedTokens = Math.min(cacheUse?.readTokens ?? 0, inputTokens);
  const cacheWriteTokens = Math.min(cacheUse?.writtenTokens ?? 0, inputTokens - cachedTokens);
  const counted = {
    inputTokens,
    ...(cachedTokens > 0 && { cachedTokens }),
    ...(cacheWriteTokens > 0 && { cacheWriteTokens }),
    outputTokens: outputTokens({ ...reply, calls }),
    ...(reasoningTokens > 0 && { reasoningTokens }),
  };
  return {
    ...reply,
    calls: calls.map((call) => ({
      id: call.id ?? newId(callIdPrefix),
      name: call.name,
      arguments: argumentsText(call),
    })),
    usage: usage ?? counted,
  };
}

const toFrame = ({ event, data, tokens, usage }: Piece): Frame => ({
  bytes: `${event ? `event: ${event}\n` : ""}data: ${data}\n\n`,
  tokens,
  usage,
});

/**
 * Returns a signal that aborts when the connection is closed. The close also settles a record that
 * is still open.
 */
function watchClose(res: ServerResponse, record: RecordedRequest): AbortSignal {
  const closed = new AbortController();
  res.once("close", () => {
    const outcomeIfSent = record.status === 200 ? "completed" : "failed";
    if (record.outcome === "open") settle(record, res.writableFinished ? outcomeIfSent : "closed");
    closed.abort();
  });
  return closed.signal;
}

/** Records the end and outcome of a request. */
export function settle(record: RecordedRequest, outcome: RecordedRequest["outcome"]): void {
  record.outcome = outcome;
  record.endedAt = now();
}

/** Records that a frame was sent. */
function recordFrame(
  record: RecordedRequest,
  res: ServerResponse,
  frame: Frame,
  chargedReply: ChargedReply | null,
): void {
  record.firstByteAt ??= now();
  record.status = res.statusCode;
  record.tokensSent += frame.tokens;
  if (frame.usage && chargedReply) record.reported = chargedReply.usage;
}
