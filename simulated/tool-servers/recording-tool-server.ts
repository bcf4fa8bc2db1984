import type { ServerResponse } from "node:http";
import * as z from "zod";
import type { RequestTimes } from "../providers/ledger";
import { now } from "../providers/play";
import { type ReceivedRequest, startRawServer } from "../raw-server";

const CallSchema = z.looseObject({
  method: z.literal("tools/call"),
  params: z.looseObject({ name: z.string(), _meta: z.record(z.string(), z.unknown()).default({}) }),
});

/**
 * Starts a proxy of the tool server at `url`. It forwards the requests to all its paths and records
 * them.
 */
export async function startRecordingToolServer(url: string, ports?: readonly number[]) {
  const raw = await startRawServer(ports);
  const answered = new WeakSet<ReceivedRequest>();
  const requests: (RequestTimes & { received: ReceivedRequest })[] = [];
  raw.answer((response, received) => {
    const request: RequestTimes & { received: ReceivedRequest } = {
      received,
      startedAt: now(),
      firstByteAt: null,
      endedAt: null,
    };
    requests.push(request);
    response.once("finish", () => answered.add(received));
    response.once("close", () => {
      request.endedAt = now();
    });
    return pass(url, response, received, () => {
      request.firstByteAt = now();
    });
  });
  /** The recorded tool calls in order. `answered`: whether the whole response was sent. */
  const calls = () =>
    raw.received.flatMap((received) => {
      const call = CallSchema.safeParse(received.body);
      if (!call.success) return [];
      return [
        {
          name: call.data.params.name,
          meta: call.data.params._meta,
          answered: answered.has(received),
        },
      ];
    });
  return {
    url: `${raw.origin}/mcp`,
    calls,
    requests,
    received: raw.received,
    close: () => raw.close(),
  };
}

/** Forwards one request to `url` and its response to the client. */
async function pass(
  url: string,
  response: ServerResponse,
  { method, headers, body }: ReceivedRequest,
  onHeadersSent: () => void,
): Promise<void> {
  const closed = new AbortController();
  response.on("close", () => closed.abort());
  const forwardedHeaders = Object.entries(headers).flatMap(([name, value]) =>
    typeof value === "string" && !UNFORWARDED_HEADERS.has(name)
      ? [[name, value] satisfies [string, string]]
      : [],
  );
  try {
    const content = body === null ? {} : { body: JSON.stringify(body) };
    const answer = await fetch(url, {
      method,
      headers: forwardedHeaders,
      ...content,
      signal: closed.signal,
    });
    response.writeHead(
      answer.status,
      Object.fromEntries([...answer.headers].filter(([name]) => !UNFORWARDED_HEADERS.has(name))),
    );
    response.flushHeaders();
    onHeadersSent();
    for await (const chunk of answer.body ?? []) response.write(chunk);
    response.end();
  } catch {
    response.destroy(); // the server or the client is gone
  }
}

/** Headers that describe one connection, so they must not be forwarded. */
const UNFORWARDED_HEADERS: ReadonlySet<string> = new Set([
  ...[
    "host",
    "connection",
    "content-length",
    "transfer-encoding",
    "content-encoding",
    "accept-encoding",
    "keep-alive",
  ],
]);
