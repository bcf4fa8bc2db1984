import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { json } from "node:stream/consumers";
import { setTimeout as sleep } from "node:timers/promises";
import type { RequestTimes } from "./ledger";
import { now } from "./play";
import { TOOL_PATH } from "./tool-path";

/** A received call. `key` identifies it (the request's `idempotency-key`); "" if there is none. */
export type ReceivedCall = {
  name: string;
  key: string;
  /** Whether the whole response was sent. */
  answered: boolean;
};

/** HTTP tools on loopback, with their declarations for a config. */
export type ToolServer = {
  /**
   * Entries of `custom_tools`: `place_order` must not be repeated, `write_note` may be, and
   * `await_delivery` responds only long after the end of a run.
   */
  declared: readonly Readonly<Record<string, unknown>>[];
  /** The operator's variable `REPEATABLE_TOOLS`. */
  repeatable: string;
  /** All received calls in order, whether or not the response arrived. */
  reached(): readonly (ReceivedCall & RequestTimes)[];
  /** Forgets calls whose keys have this prefix. */
  forget(prefix: string): void;
  /** Forgets calls without a key. */
  forgetKeyless(): void;
  /** Breaks open connections. */
  close(): Promise<void>;
};

/** Duration of a tool's work: long enough to be killed meanwhile. */
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
  // closing idle connections could break a call that starts at that moment
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
  reached: (ReceivedCall & RequestTimes)[] = [];
  #calls = 0;
  /** Numbers of notes by key: a repeated note gets the same number. */
  readonly #notes = new Map<string, number>();

  async answer(req: IncomingMessage, res: ServerResponse): Promise<void> {
    const name = req.url?.slice(TOOL_PATH.length) ?? "";
    const key = String(req.headers["idempotency-key"] ?? "");
    const call: ReceivedCall & RequestTimes = {
      name,
      key,
      answered: false,
      startedAt: now(),
      firstByteAt: null,
      endedAt: null,
    };
    const left = new AbortController();
    res.once("close", () => {
      call.endedAt = now();
      left.abort();
    });
    await json(req);
    this.reached.push(call);
    this.#calls += 1;
    const number = (name === "write_note" ? this.#notes.get(key) : undefined) ?? this.#calls;
    if (name === "write_note") this.#notes.set(key, number);
    const isPatient = name === "await_delivery";
    await sleep(
      isPatient ? DELIVERY_MS : WORK_MS,
      undefined,
      isPatient ? { signal: left.signal } : {},
    );
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
