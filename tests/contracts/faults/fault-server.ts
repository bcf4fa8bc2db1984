import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { text } from "node:stream/consumers";
import { isJsonObject, parseJson } from "../../../src/providers/json";
import type { Ending } from "./mutate";

/** A fault between a provider and the service. */
export type WireFault =
  /** A response that is not a stream, for every request. */
  | { kind: "answer"; status: number; headers?: Readonly<Record<string, string>>; body: string }
  /** The reply of the provider with changed bytes. */
  | {
      kind: "stream";
      headers?: Readonly<Record<string, string>>;
      change: (whole: Buffer) => readonly Buffer[];
      ending: Ending | "comments";
    }
  /** No response is ever sent. */
  | { kind: "mute" };

/**
 * A plan for the calls of one model. The first `after` calls pass unchanged, the next `calls` calls
 * have the fault, and all later calls pass unchanged.
 */
export type Plan = { fault: WireFault; calls: number; after?: number };

/** A proxy between the service and its simulated providers. It injects the planned faults. */
export type FaultServer = {
  origin: string;
  /** The number of calls of a model, with or without a fault. */
  callsOf(model: string): number;
  /** The number of these calls whose bytes were changed or divided differently. */
  strikesOf(model: string): number;
  close(): Promise<void>;
};

const COMMENT_EVERY_MS = 200;

export async function startFaultServer(
  upstream: string,
  planOf: (model: string) => Plan | undefined,
): Promise<FaultServer> {
  const calls = new Map<string, number>();
  const strikes = new Map<string, number>();
  const handle = async (req: IncomingMessage, res: ServerResponse) => {
    const body = await text(req);
    const model = modelOf(req.url ?? "", body);
    const earlier = calls.get(model) ?? 0;
    calls.set(model, earlier + 1);
    const plan = planOf(model);
    const fetchReply = () => forward(`${upstream}${req.url}`, req, body);
    if (!plan || !hasFault(plan, earlier)) return forwardReply(res, await fetchReply());
    await breakReply({
      res,
      fault: plan.fault,
      fetchReply,
      recordStrike: () => strikes.set(model, (strikes.get(model) ?? 0) + 1),
    });
  };
  const server = createServer((req, res) => void handle(req, res).catch(() => res.destroy()));
  // closing an idle connection could break a call that starts at that moment
  server.keepAliveTimeout = 0;
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  return {
    origin: `http://127.0.0.1:${address && typeof address === "object" ? address.port : 0}`,
    callsOf: (model) => calls.get(model) ?? 0,
    strikesOf: (model) => strikes.get(model) ?? 0,
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
}

const hasFault = ({ calls, after = 0 }: Plan, earlier: number): boolean =>
  earlier >= after && earlier < after + calls;

/** One format names the model in its path, the others in the body. */
function modelOf(path: string, body: string): string {
  const inPath = /\/models\/([^/:]+):/.exec(path)?.[1];
  const parsed = parseJson(body);
  return inPath ?? (isJsonObject(parsed) ? String(parsed["model"]) : "");
}

function forward(url: string, { headers }: IncomingMessage, body: string): Promise<Response> {
  const forwardedNames = [
    "content-type",
    "authorization",
    "x-api-key",
    "x-goog-api-key",
    "anthropic-version",
    "anthropic-beta",
    "accept",
  ];
  const sent = forwardedNames.flatMap((name): [string, string][] =>
    headers[name] === undefined ? [] : [[name, String(headers[name])]],
  );
  return fetch(url, { method: "POST", headers: Object.fromEntries(sent), body });
}

async function forwardReply(res: ServerResponse, reply: Response): Promise<void> {
  res.writeHead(reply.status, {
    "content-type": reply.headers.get("content-type") ?? "application/json",
  });
  for await (const chunk of reply.body ?? []) res.write(chunk);
  res.end();
}

/**
 * Whether these chunks differ from the reply, in their bytes or in their division. If not, the
 * reply had no fault.
 */
export const arrivesOtherwise = (whole: Buffer, chunks: readonly Buffer[]): boolean =>
  chunks.length > 1 || !Buffer.concat(chunks).equals(whole);

type FaultyReply = {
  res: ServerResponse;
  fault: WireFault;
  fetchReply: () => Promise<Response>;
  recordStrike: () => void;
};

/**
 * Sends the faulty reply. The fault is counted before the write, because it also affects a reader
 * that stops during the write.
 */
async function breakReply({ res, fault, fetchReply, recordStrike }: FaultyReply): Promise<void> {
  if (fault.kind === "mute") return recordStrike();
  if (fault.kind === "answer") {
    recordStrike();
    res
      .writeHead(fault.status, { "content-type": "application/json", ...fault.headers })
      .end(fault.body);
    return;
  }
  const whole = Buffer.from(await (await fetchReply()).arrayBuffer());
  const chunks = fault.change(whole);
  if (fault.ending !== "end" || arrivesOtherwise(whole, chunks)) recordStrike();
  res.writeHead(200, { "content-type": "text/event-stream", ...fault.headers });
  res.flushHeaders();
  for (const chunk of chunks) await writeChunk(res, chunk);
  if (fault.ending === "end") res.end();
  if (fault.ending === "reset") res.destroy();
  if (fault.ending === "comments" && !res.destroyed) {
    const commentTimer = setInterval(() => res.write(": still here\n\n"), COMMENT_EVERY_MS);
    res.once("close", () => clearInterval(commentTimer));
  }
}

/**
 * Writes one chunk to the socket separately. The chunk is dropped if the socket is closed before or
 * during the write.
 */
async function writeChunk(res: ServerResponse, chunk: Buffer): Promise<void> {
  if (res.destroyed) return;
  await new Promise<void>((resolve) => {
    const done = () => {
      res.off("close", done);
      resolve();
    };
    res.once("close", done);
    res.write(chunk, () => setImmediate(done));
  });
}
