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

/** The parts that answer one request. */
type AnswerContext = {
  wire: Wire;
  dialect: Dialect;
  sent: WireRequest;
  memory: Continuity;
  script: Script | undefined;
};

/**
 * Answers a request: interprets it, calls the script, paces or breaks the reply, and records the
 * outcome.
 */
export async function answer(
  res: ServerResponse,
  record: RecordedRequest,
  context: AnswerContext,
): Promise<void> {
  const left = watchClose(res, record);
  const reply = await replyTo(record, context);
  if (reply.hang === "headers" || left.aborted) return;
  const { frames, contentType, said } = reply.fail
    ? failed(reply.fail, context.dialect)
    : await rendered(reply, record.asked, { ...context, inputTokens: record.inputTokens });
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
  await play(res, plan, (frame) => note(record, res, frame, said), left);
  if (!left.aborted) record.firstByteAt ??= now(); // headers without a frame
  if (ending !== "cut") return;
  settle(record, "cut"); // before the close, which would look like the client's
  res.destroy();
}

/** An error in the format's form, for failures before a request is recorded. */
export function refuse(res: ServerResponse, dialect: Dialect, failure: Failure): void {
  if (res.headersSent) return void res.destroy();
  res.writeHead(failure.status, { "content-type": "application/json" });
  res.end(JSON.stringify(dialect.failureBody(failure)));
}

/** The model's reply, if the provider accepts the request. */
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
  const reply = allowed(await scripted(script, record), record.asked);
  return capped(reply, record.asked.outputCap);
}

async function scripted(script: Script | undefined, record: RecordedRequest): Promise<Reply> {
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

type RenderedReply = { frames: Frame[]; contentType: string; said: ChargedReply | null };

function failed(failure: Failure, dialect: Dialect): RenderedReply {
  const bytes = JSON.stringify(dialect.failureBody(failure));
  return {
    frames: [{ bytes, tokens: 0, usage: false }],
    contentType: "application/json",
    said: null,
  };
}

type Stage = AnswerContext & { inputTokens: number };

async function rendered(
  reply: Reply,
  asked: ModelInput,
  { wire, dialect, sent, memory, inputTokens }: Stage,
): Promise<RenderedReply> {
  const said = toSaid(reply, inputTokens, dialect);
  const written = await wire.render(sent, said);
  if ("message" in written) {
    const message = dialect.whole?.(written.message, said.usage) ?? written.message;
    const frame = { bytes: JSON.stringify(message), tokens: said.usage.outputTokens, usage: true };
    return { frames: [frame], contentType: "application/json", said };
  }
  const { pieces, given } = dialect.completeEvents(written.events, said, {
    asked,
    body: sent.body,
  });
  memory.keep(given);
  return {
    frames: endedBy(reply, pieces.map(toFrame), dialect),
    contentType: "text/event-stream",
    said,
  };
}

/** A stream with an error ends with it. */
function endedBy({ failsMidway }: Reply, frames: Frame[], dialect: Dialect): Frame[] {
  if (!failsMidway) return frames;
  const { afterTokens, failure } = failsMidway;
  const bytes = `event: error\ndata: ${JSON.stringify(dialect.failureBody(failure))}\n\n`;
  return [...upTo(frames, afterTokens), { bytes, tokens: 0, usage: false }];
}

function toSaid(
  { calls = [], usage, ...reply }: Reply,
  inputTokens: number,
  { callIdPrefix }: Dialect,
): ChargedReply {
  const reasoningTokens = tokensOf(reply.reasoning ?? "");
  const counted = {
    inputTokens,
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

/** Aborts when the connection is closed, and settles a record that is still open. */
function watchClose(res: ServerResponse, record: RecordedRequest): AbortSignal {
  const left = new AbortController();
  res.once("close", () => {
    const delivered = record.status === 200 ? "completed" : "failed";
    if (record.outcome === "open") settle(record, res.writableFinished ? delivered : "closed");
    left.abort();
  });
  return left.signal;
}

/** Records the end and outcome of a request. */
export function settle(record: RecordedRequest, outcome: RecordedRequest["outcome"]): void {
  record.outcome = outcome;
  record.endedAt = now();
}

function note(
  record: RecordedRequest,
  res: ServerResponse,
  frame: Frame,
  said: ChargedReply | null,
): void {
  record.firstByteAt ??= now();
  record.status = res.statusCode;
  record.tokensSent += frame.tokens;
  if (frame.usage && said) record.reported = said.usage;
}
