import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { json } from "node:stream/consumers";
import { setTimeout as sleep } from "node:timers/promises";
import type { RequestTimes } from "./ledger";
import { now } from "./play";
import { TOOL_PATH } from "./tool-path";

/** A received call. `key`: the value of the header `idempotency-key`; "" if there is none. */
export type ReceivedCall = {
  name: string;
  key: string;
  /** Whether the whole response was sent. */
  answered: boolean;
};

/** A received call with its times and its headers. */
type RecordedCall = ReceivedCall & RequestTimes & { headers: IncomingMessage["headers"] };

/** A server on loopback with three HTTP tools. */
export type ToolServer = {
  /**
   * The tools as entries of `custom_tools` in a config. The service must not repeat a call of
   * `place_order`. It may repeat a call of `write_note`. `await_delivery` responds after 20 s, when
   * a run has usually ended.
   */
  declared: readonly Readonly<Record<string, unknown>>[];
  /** Value of the service's variable `REPEATABLE_TOOLS`. */
  repeatable: string;
  /** All received calls in order. For some of them, the response may not have arrived. */
  reached(): readonly RecordedCall[];
  /** Deletes the records of calls whose keys have this prefix. */
  forget(prefix: string): void;
  /** Deletes the records of calls without a key. */
  forgetKeyless(): void;
  /** Breaks every connection and stops the server. */
  close(): Promise<void>;
};

/** Duration of a tool's work, so long that a test can kill the service meanwhile. */
const WORK_MS = 60;
const DELIVERY_MS = 20_000;
const TOOLS = {
  place_order: "Order pots. The answer is the order's number.",
  write_note: "Write a note down. The answer is the note's number.",
  await_delivery: "Wait until pots are delivered. The answer is the delivery's number.",
} as const;

/** Starts the tools on a free loopback port. */
export async function startToolServer(): Promise<ToolServer> {
  const work = new ToolWork();
  const server = createServer((req, res) => {
    work
      .answer(req, res)
      .catch((error: unknown) => res.destroy(error instanceof Error ? error : undefined));
  });
  // 0: never close idle connections, because a call could start on one at that moment
  server.keepAliveTimeout = 0;
  await new Promise<void>((listening, failed) =>
    server.once("error", failed).listen(0, "127.0.0.1", listening),
  );
  const address = server.address();
  const url = `http://127.0.0.1:${address && typeof address === "object" ? address.port : 0}${TOOL_PATH}`;
  return {
    declared: declaredAt(url),
    repeatable: `${url}write_note`,
    reached: () => work.reached,
    forget: (prefix) => work.forget((key) => key.startsWith(prefix)),
    forgetKeyless: () => work.forget((key) => key === ""),
    async close() {
      server.closeAllConnections();
      await new Promise((closed) => server.close(closed));
    },
  };
}

/** Performs and records the work of the tools. */
class ToolWork {
  reached: RecordedCall[] = [];
  #calls = 0;
  /** Number of each note by key. A repeated call with the same key gets the same number. */
  readonly #notes = new Map<string, number>();

  async answer(req: IncomingMessage, res: ServerResponse): Promise<void> {
    const name = req.url?.slice(TOOL_PATH.length) ?? "";
    const key = String(req.headers["idempotency-key"] ?? "");
    const call: RecordedCall = {
      headers: req.headers,
      name,
      key,
      answered: false,
      startedAt: now(),
      firstByteAt: null,
      endedAt: null,
    };
    const closed = new AbortController();
    res.once("close", () => {
      call.endedAt = now();
      closed.abort();
    });
    await json(req);
    this.reached.push(call);
    this.#calls += 1;
    const number = (name === "write_note" ? this.#notes.get(key) : undefined) ?? this.#calls;
    if (name === "write_note") this.#notes.set(key, number);
    const isSlow = name === "await_delivery";
    await sleep(isSlow ? DELIVERY_MS : WORK_MS, undefined, isSlow ? { signal: closed.signal } : {});
    res.once("finish", () => {
      call.answered = true;
    });
    res.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify({ number }));
    call.firstByteAt = now();
  }

  forget(isForgotten: (key: string) => boolean): void {
    this.reached = this.reached.filter(({ key }) => !isForgotten(key));
    for (const key of this.#notes.keys()) if (isForgotten(key)) this.#notes.delete(key);
  }
}

function declaredAt(url: string): ToolServer["declared"] {
  const parameters = {
    type: "object",
    properties: { text: { type: "string" } },
    required: ["text"],
  };
  return Object.entries(TOOLS).map(([name, description]) => ({
    name,
    description,
    parameters,
    method: "POST",
    url: `${url}${name}`,
  }));
}
