import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { once } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";

/**
 * A provider of the Responses format that writes replies in the background. A reply continues
 * without a reader, and a reader can begin at any event. Each reply has the same text, written one
 * word at a time. After half of the words, each reply waits for `continueReply`.
 */
export type BackgroundReplies = {
  baseUrl: string;
  /** The requests in order: `create`, `resume after N`, `cancel`. */
  asked: string[];
  /** Ends the wait of all replies, also of later replies. */
  continueReply(): void;
  /** Deletes all replies, so that later requests for them get a 404. */
  forget(): void;
  close(): Promise<void>;
};

type BackgroundReply = { events: string[]; cancelled: boolean };

export async function startBackgroundReplies(
  text: string,
  wordMs: number,
): Promise<BackgroundReplies> {
  const replies = new Map<string, BackgroundReply>();
  const asked: string[] = [];
  const continued = Promise.withResolvers<void>();

  const create = (body: Record<string, unknown>, res: ServerResponse) => {
    asked.push("create");
    if (body["background"] !== true || body["store"] !== true || body["stream"] !== true) {
      return refuse(res, 400, "This server writes in the background only.");
    }
    const id = `resp_${replies.size + 1}`;
    const reply: BackgroundReply = { events: [], cancelled: false };
    replies.set(id, reply);
    void write(reply, { id, text, wordMs, continued: continued.promise });
    return send(res, reply, 0);
  };

  const server = createServer(async (req, res) => {
    const url = new URL(req.url ?? "", "http://provider.test");
    const [, , resource, id, action] = url.pathname.split("/");
    if (resource !== "responses") return refuse(res, 404, "Unknown URL");
    if (id === undefined) return create(await bodyOf(req), res);
    const reply = replies.get(id);
    asked.push(action ?? `resume after ${url.searchParams.get("starting_after")}`);
    if (!reply) return refuse(res, 404, `Response with id '${id}' not found.`);
    if (action !== "cancel")
      return send(res, reply, Number(url.searchParams.get("starting_after")) + 1);
    reply.cancelled = true;
    return void res
      .writeHead(200, { "content-type": "application/json" })
      .end(JSON.stringify({ id, status: "cancelled" }));
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  const port = address && typeof address === "object" ? address.port : 0;
  return {
    baseUrl: `http://127.0.0.1:${port}/v1`,
    asked,
    continueReply: () => continued.resolve(),
    forget: () => replies.clear(),
    async close() {
      continued.resolve();
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
}

/** Writes all events of the reply. The sequence number of an event is its index in the list. */
async function write(
  reply: BackgroundReply,
  {
    id,
    text,
    wordMs,
    continued,
  }: { id: string; text: string; wordMs: number; continued: Promise<void> },
): Promise<void> {
  const push = (type: string, fields: object) => {
    const sequence_number = reply.events.length;
    reply.events.push(
      `event: ${type}\ndata: ${JSON.stringify({ type, sequence_number, ...fields })}\n\n`,
    );
  };
  const base = {
    id,
    object: "response",
    created_at: 1_790_000_000,
    model: "gpt-5",
    output: [],
    background: true,
  };
  const place = { item_id: "msg_1", output_index: 0, content_index: 0 };
  push("response.created", { response: { ...base, status: "in_progress" } });
  push("response.output_item.added", {
    output_index: 0,
    item: { id: "msg_1", type: "message", role: "assistant", status: "in_progress", content: [] },
  });
  const words = text.split(/(?<= )/);
  for (const [nth, word] of words.entries()) {
    if (nth === Math.floor(words.length / 2)) await continued;
    if (reply.cancelled) return;
    await sleep(wordMs);
    push("response.output_text.delta", { ...place, delta: word });
  }
  const content = [{ type: "output_text", text, annotations: [] }];
  const item = { id: "msg_1", type: "message", role: "assistant", status: "completed", content };
  push("response.output_item.done", { output_index: 0, item });
  const usage = { input_tokens: 50, output_tokens: 20, total_tokens: 70 };
  push("response.completed", { response: { ...base, status: "completed", output: [item], usage } });
}

/** Sends the events from the index `from` as they are written, until the reply ends. */
async function send(res: ServerResponse, reply: BackgroundReply, from: number): Promise<void> {
  res.writeHead(200, { "content-type": "text/event-stream" });
  for (let next = from; !res.closed; next += 1) {
    while (next >= reply.events.length && !res.closed && !reply.cancelled) await sleep(5);
    const event = reply.events[next];
    if (event === undefined) return void res.destroy();
    res.write(event);
    if (event.startsWith("event: response.completed")) return void res.end();
  }
}

async function bodyOf(req: IncomingMessage): Promise<Record<string, unknown>> {
  const chunks: Buffer[] = [];
  for await (const chunk of req) chunks.push(chunk);
  const body: Record<string, unknown> = JSON.parse(Buffer.concat(chunks).toString());
  return body;
}

function refuse(res: ServerResponse, status: number, message: string): void {
  const error = { message, type: "invalid_request_error", param: null, code: null };
  res.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify({ error }));
}
