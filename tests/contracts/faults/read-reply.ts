import { toReply, uniqueCallIds, takenCallIds } from "../../../src/agents/reply";
import { toMessages } from "../../../src/agents/conversation";
import {
  type Message,
  type ModelEvent,
  type ModelRequest,
  ProviderError,
} from "../../../src/providers/provider";
import { SYSTEM_TIMERS } from "../../../src/async/clock";
import { withTimeLimits } from "../../../src/providers/time-limits";
import { endpointAt } from "../../fakes/endpoint";
import { collect, KEY, REQUEST } from "../contract-support";
import { offered } from "../hosted-contract";
import { SSE_HEADERS } from "../../../simulated/raw-server";
import type { Wire } from "../wire";
import type { Ending } from "./mutate";

/**
 * A reply read through the real adapter over its official SDK, and the state of the connection
 * afterwards.
 */
export type Reading = {
  events: ModelEvent[];
  error: unknown;
  /** Whether it did not settle in time. */
  hung: boolean;
  /** Whether the adapter closed a connection that had not ended. */
  released: boolean;
  /** Bytes taken from the connection. */
  taken: number;
};

export type ScriptedResponse = {
  chunks: readonly Uint8Array[];
  ending: Ending;
  headers?: Record<string, string>;
  status?: number;
};

/** Longer than the adapter waits for the end of a finished reply, shorter than a test. */
const LIMITS = { firstByteMs: 5_000, idleMs: 5_000, totalMs: 20_000 };
const SETTLES_WITHIN_MS = 30_000;

export const ASKED: ModelRequest = {
  ...REQUEST,
  tools: ["new_answer", "vote", "read_file"].map((name) => ({
    name,
    description: `Calls ${name}.`,
    parameters: { type: "object", properties: {} },
  })),
};

export async function readReply(
  wire: Wire,
  response: ScriptedResponse,
  change: Partial<ModelRequest> = {},
): Promise<Reading> {
  const source = connection(response);
  OPEN.add(source);
  const { status = 200, headers = SSE_HEADERS } = response;
  const answer: typeof fetch = async (_, init) => {
    init?.signal?.addEventListener("abort", source.abort, { once: true });
    return new Response(source.body, { status, headers });
  };
  const provider = withTimeLimits(
    wire.create(
      endpointAt(`https://provider.test${wire.basePath}`, { apiKey: KEY, fetch: answer }),
    ),
    LIMITS,
    SYSTEM_TIMERS,
  );
  const request = { ...ASKED, hostedTools: offered(wire), ...change };
  const late = Promise.withResolvers<null>();
  const timer = setTimeout(() => late.resolve(null), SETTLES_WITHIN_MS);
  const reading = await Promise.race([
    collect(provider.stream(request, new AbortController().signal)),
    late.promise,
  ]);
  clearTimeout(timer);
  OPEN.delete(source);
  const { released, taken } = source.state();
  return reading === null
    ? { events: [], error: undefined, hung: true, released, taken }
    : { ...reading, hung: false, released, taken };
}

/**
 * Like the sockets of a real `fetch`, this prevents the garbage collection of code that waits for a
 * silent body.
 */
const OPEN = new Set<unknown>();

/** A body that yields each chunk on demand, and then ends, breaks or stays silent. */
function connection({ chunks, ending }: ScriptedResponse) {
  let next = 0;
  let taken = 0;
  let over = false;
  let abort = () => {};
  const body = new ReadableStream<Uint8Array>(
    {
      start(controller) {
        abort = () => {
          over = true;
          controller.error(new DOMException("aborted", "AbortError"));
        };
      },
      pull(controller) {
        const chunk = chunks[next];
        next += 1;
        if (chunk) {
          taken += chunk.length;
          controller.enqueue(new Uint8Array(chunk));
          return;
        }
        if (ending === "silence") return new Promise<void>(() => undefined);
        over = true;
        if (ending === "end") controller.close();
        else controller.error(new TypeError("terminated"));
      },
      cancel() {
        over = true;
      },
    },
    { highWaterMark: 0 },
  );
  return { body, abort, state: () => ({ released: over, taken }) };
}

/** Violations of the invariants of any reply, as sentences. Empty if all hold. */
export async function problemsOf(wire: Wire, reading: Reading): Promise<string[]> {
  const { events, error, hung, released } = reading;
  const stops = events.filter((event) => event.type === "stop");
  return [
    ...(hung ? ["it hung"] : []),
    ...(released ? [] : ["the connection was left open"]),
    ...(hung || (error === undefined) === (stops.length === 1)
      ? []
      : [`it gave ${stops.length} ends and ${String(error)}`]),
    ...(stops.length === 0 || events.at(-1)?.type === "stop"
      ? []
      : ["something came after the end"]),
    ...(error === undefined ? [] : problemsOfError(error)),
    ...(error === undefined ? await problemsAfter(wire, events) : []),
  ];
}

function problemsOfError(error: unknown): string[] {
  if (!(error instanceof ProviderError)) return [`a throw escaped: ${String(error)}`];
  const all = JSON.stringify(error, Object.getOwnPropertyNames(error));
  return [
    ...(all.includes(KEY) ? ["the key is in the error"] : []),
    ...(error.message.length <= 600 ? [] : ["the message is without measure"]),
    ...(/^[a-z_0-9]+$/.test(error.code) ? [] : [`the code is ${error.code}`]),
  ];
}

/**
 * Later calls still work: the rules accept the reply, and the provider would accept the
 * conversation that continues it.
 */
async function problemsAfter(wire: Wire, events: readonly ModelEvent[]): Promise<string[]> {
  const stop = events.at(-1);
  if (stop?.type !== "stop") return [];
  const items = uniqueCallIds(stop.items, takenCallIds(ASKED.messages));
  const text = items.map((item) => (item.type === "text" ? item.text : "")).join("");
  const reply = { items, text, stopReason: stop.reason, usage: stop.usage };
  toReply(reply, { purpose: "coordination", ownTools: ["read_file"] });
  const { messages } = toMessages([
    { kind: "start", system: "be brief", user: "hello" },
    { kind: "reply", items },
    { kind: "note", text: "Decide now." },
  ]);
  const wrong = wire.acceptsHistory(await bodyOf(wire, messages));
  return wrong === null ? [] : [`the next call would be refused: ${wrong}`];
}

/** What the adapter sends for this conversation. */
async function bodyOf(wire: Wire, messages: Message[]): Promise<unknown> {
  let sent: unknown;
  const take: typeof fetch = async (input, init) => {
    sent = JSON.parse(await new Request(input, init).text());
    return new Response("{}", { status: 500 });
  };
  const provider = wire.create(
    endpointAt(`https://provider.test${wire.basePath}`, { apiKey: KEY, fetch: take }),
  );
  await collect(provider.stream({ ...ASKED, messages }, new AbortController().signal));
  return sent;
}
