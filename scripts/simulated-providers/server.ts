import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { text } from "node:stream/consumers";
import { parseJson } from "../../src/providers/json";
import type { RecordedRequest } from "./ledger";
import { now, play } from "./play";
import { capped, outputTokens, type Reply, type ReportedUsage, type Script, tokensOf } from "./reply";
import { type ChatMessage, type ChatRequest, ChatRequestSchema } from "./schema";
import { textOf, toSituation } from "./situation";
import { type Frame, startWire, type Wire } from "./wire";

/**
 * Model providers on loopback, speaking Chat Completions. This thin layer decides (the scripts), paces, breaks, hangs, and
 * records; the wire format itself is aimock's (`wire.ts`).
 */
export type SimulatedProviders = {
  url: string;
  /** What a config names as `base_url`. */
  baseUrl: string;
  /** Everything that reached a model, in order of arrival; the entries stay live while their requests are open. */
  requests(): readonly RecordedRequest[];
  /** Breaks what is open. */
  close(): Promise<void>;
};

export type SimulatedProvidersOptions = { models: Readonly<Record<string, Script>>; port?: number };

/** Starts the providers on a loopback port, a free one unless told. */
export async function startSimulatedProviders({ models, port = 0 }: SimulatedProvidersOptions): Promise<SimulatedProviders> {
  const wire = await startWire();
  const records: RecordedRequest[] = [];
  const server = createServer((req, res) => {
    handle(req, res).catch((error: unknown) => refuse(res, 500, error instanceof Error ? error.message : String(error)));
  });
  async function handle(req: IncomingMessage, res: ServerResponse): Promise<void> {
    const startedAt = now();
    if (req.method !== "POST" || req.url !== "/v1/chat/completions")
      return refuse(res, 404, `Unknown URL (${req.method} ${req.url})`);
    const request = ChatRequestSchema.safeParse(parseJson(await text(req)));
    if (!request.success) return refuse(res, 400, "The body is no Chat Completions request.");
    const record = recordOf(records.length + 1, startedAt, req, request.data);
    records.push(record);
    await answer(res, record, { wire, models });
  }
  await new Promise<void>((listening, failed) => server.once("error", failed).listen(port, "127.0.0.1", listening));
  const address = server.address();
  const url = `http://127.0.0.1:${address && typeof address === "object" ? address.port : port}`;
  return {
    url,
    baseUrl: `${url}/v1`,
    requests: () => records,
    async close() {
      server.closeAllConnections();
      await new Promise((closed) => server.close(closed));
      await wire.close();
    },
  };
}

type Backstage = { wire: Wire; models: Readonly<Record<string, Script>> };

async function answer(res: ServerResponse, record: RecordedRequest, { wire, models }: Backstage): Promise<void> {
  const left = watchClose(res, record);
  const reply = capped(await scripted(models[record.model], record), outputCap(record.body));
  if (reply.hang === "headers" || left.aborted) return;
  const usage = reply.usage ?? { inputTokens: record.inputTokens, outputTokens: outputTokens(reply) };
  const { status, contentType, frames } = await wire.render(record.body, reply, usage);
  res.writeHead(status, {
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
  await play(res, plan, (frame) => note(record, res, frame, usage), left);
  if (!left.aborted) record.firstByteAt ??= now(); // headers without a frame
  if (ending !== "cut") return;
  settle(record, "cut"); // before the close, which would look like the client's
  res.destroy();
}

async function scripted(script: Script | undefined, record: RecordedRequest): Promise<Reply> {
  if (!script) {
    const message = `The model \`${record.model}\` does not exist or you do not have access to it.`;
    return { fail: { status: 404, code: "model_not_found", type: "invalid_request_error", message } };
  }
  try {
    return await script(toSituation(record.body));
  } catch (error) {
    record.scriptError = error instanceof Error ? (error.stack ?? error.message) : String(error);
    return { fail: { status: 500, code: "script_failed", message: "The script of this simulated model threw an error." } };
  }
}

function recordOf(id: number, startedAt: number, { headers }: IncomingMessage, body: ChatRequest): RecordedRequest {
  const sent = `${body.messages.map(sentText).join("")}${JSON.stringify(body.tools ?? [])}`;
  return {
    id,
    model: body.model,
    headers: Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, String(value)])),
    body,
    startedAt,
    firstByteAt: null,
    endedAt: null,
    outcome: "open",
    status: 0,
    tokensSent: 0,
    inputTokens: tokensOf(sent),
    reported: null,
    scriptError: null,
  };
}

const sentText = (message: ChatMessage): string =>
  textOf(message) + (message.tool_calls ?? []).map((call) => call.function.name + call.function.arguments).join("");

const outputCap = (body: ChatRequest): number | null => body.max_completion_tokens ?? body.max_tokens ?? null;

/** Aborts when the connection is gone, and settles a record that nobody has settled by then. */
function watchClose(res: ServerResponse, record: RecordedRequest): AbortSignal {
  const left = new AbortController();
  res.once("close", () => {
    const delivered = record.status === 200 ? "completed" : "failed";
    if (record.outcome === "open") settle(record, res.writableFinished ? delivered : "closed");
    left.abort();
  });
  return left.signal;
}

function settle(record: RecordedRequest, outcome: RecordedRequest["outcome"]): void {
  record.outcome = outcome;
  record.endedAt = now();
}

function note(record: RecordedRequest, res: ServerResponse, frame: Frame, usage: ReportedUsage): void {
  record.firstByteAt ??= now();
  record.status = res.statusCode;
  record.tokensSent += frame.tokens;
  if (frame.usage) record.reported = usage;
}

function refuse(res: ServerResponse, status: number, message: string): void {
  if (res.headersSent) return void res.destroy();
  res.writeHead(status, { "content-type": "application/json" });
  res.end(JSON.stringify({ error: { message, type: "invalid_request_error", param: null, code: null } }));
}
