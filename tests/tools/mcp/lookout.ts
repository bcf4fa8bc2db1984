import type { ServerResponse } from "node:http";
import { z } from "zod";
import { type Received, startRawServer } from "../../contracts/raw-server";

const CallSchema = z.looseObject({
  method: z.literal("tools/call"),
  params: z.looseObject({ name: z.string(), _meta: z.record(z.string(), z.unknown()).default({}) }),
});

/** Another address of a server, at which every message is noted on its way. */
export async function startLookout(url: string) {
  const raw = await startRawServer();
  const answered = new WeakSet<Received>();
  raw.answer((response, received) => {
    response.once("finish", () => answered.add(received));
    return pass(url, response, received);
  });
  /** The calls of tools that came by, in order. `answered`: the whole answer has left. */
  const calls = () =>
    raw.received.flatMap((received) => {
      const call = CallSchema.safeParse(received.body);
      if (!call.success) return [];
      return [{ name: call.data.params.name, meta: call.data.params._meta, answered: answered.has(received) }];
    });
  return { url: `${raw.origin}/mcp`, calls, received: raw.received, close: () => raw.close() };
}

async function pass(url: string, response: ServerResponse, { method, headers, body }: Received): Promise<void> {
  const left = new AbortController();
  response.on("close", () => left.abort());
  const sent = Object.entries(headers).flatMap(([name, value]) =>
    typeof value === "string" && !NOT_PASSED.has(name) ? [[name, value] as [string, string]] : [],
  );
  try {
    const content = body === null ? {} : { body: JSON.stringify(body) };
    const answer = await fetch(url, { method, headers: sent, ...content, signal: left.signal });
    response.writeHead(answer.status, Object.fromEntries([...answer.headers].filter(([name]) => !NOT_PASSED.has(name))));
    response.flushHeaders();
    for await (const chunk of answer.body ?? []) response.write(chunk);
    response.end();
  } catch {
    response.destroy(); // the server is gone, or whoever asked
  }
}

const NOT_PASSED: ReadonlySet<string> = new Set([
  ...["host", "connection", "content-length", "transfer-encoding", "content-encoding", "accept-encoding", "keep-alive"],
]);
