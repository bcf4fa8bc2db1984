import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { json } from "node:stream/consumers";
import { setTimeout as sleep } from "node:timers/promises";
import type { RequestTimes } from "./ledger";
import { now } from "./play";
import { TOOL_PATH } from "./tool-path";

/** A call as it arrived. `key`: what tells it from all others, of a request its `idempotency-key`; empty: it came with none. */
export type ReachedCall = {
  name: string;
  key: string;
  /** Whether its whole answer has left. */
  answered: boolean;
};

/** Tools over HTTP as a config declares them, on loopback. */
export type ToolServer = {
  /**
   * Entries of `custom_tools`: `place_order` must not be called twice for one call of a model's, `write_note` may, and
   * `await_delivery` answers nobody who does not wait far longer than a run takes.
   */
  declared: readonly Readonly<Record<string, unknown>>[];
  /** What the operator says may be called twice: `REPEATABLE_TOOLS`. */
  repeatable: string;
  /** Everything that arrived, in order, whether or not its answer did. */
  reached(): readonly (ReachedCall & RequestTimes)[];
  /** Lets go of all that it knows of calls whose keys begin like this. */
  forget(prefix: string): void;
  /** Lets go of calls that came without a key. */
  forgetKeyless(): void;
  /** Breaks what is open. */
  close(): Promise<void>;
};

/** What a tool needs for its work: time enough to be killed in. */
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
  server.keepAliveTimeout = 0; // closing idle connections could break a call that begins at that moment
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

/** Does and records the work of the tools. */
class ToolWork {
  reached: (ReachedCall & RequestTimes)[] = [];
  #calls = 0;
  /** Numbers of notes by key: a note that is sent again is the same note. */
  readonly #notes = new Map<string, number>();

  async answer(req: IncomingMessage, res: ServerResponse): Promise<void> {
    const name = req.url?.slice(TOOL_PATH.length) ?? "";
    const key = String(req.headers["idempotency-key"] ?? "");
    const call: ReachedCall & RequestTimes = {
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
