import { setTimeout as sleep } from "node:timers/promises";
import { toReply, uniqueCallIds, takenCallIds } from "../../../src/agents/reply";
import { toMessages } from "../../../src/agents/conversation";
import {
  type Message,
  type ModelEvent,
  type ModelRequest,
  ProviderError,
} from "../../../src/providers/provider";
import { SYSTEM_TIMERS } from "../../../src/async/clock";
import { END_WAIT_MS } from "../../../src/providers/call-limits";
import { withTimeLimits } from "../../../src/providers/time-limits";
import { endpointAt } from "../../fakes/endpoint";
import { collect, KEY, REQUEST } from "../contract-support";
import { offered } from "../hosted-contract";
import { SSE_HEADERS } from "../../../simulated/raw-server";
import type { Wire } from "../wire";
import type { Ending } from "./mutate";

/**
 * A reply that was read through the real adapter and its official SDK, and the state of the
 * connection afterwards.
 */
export type Reading = {
  events: ModelEvent[];
  error: unknown;
  /** Whether the call did not end in time. */
  hung: boolean;
  /** Whether the connection ended, or the adapter closed it soon after the call. */
  released: boolean;
  /** Number of bytes that the adapter has read from the connection. */
  taken: number;
};

export type ScriptedResponse = {
  chunks: readonly Uint8Array[];
  ending: Ending;
  headers?: Record<string, string>;
  status?: number;
};

/**
 * Time limits of the call: longer than the adapter waits after the end marker of a reply, and
 * shorter than a test.
 */
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
  OPEN_CONNECTIONS.add(source);
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
  const timeout = Promise.withResolvers<null>();
  const timer = setTimeout(() => timeout.resolve(null), SETTLES_WITHIN_MS);
  const reading = await Promise.race([
    collect(provider.stream(request, new AbortController().signal)),
    timeout.promise,
  ]);
  clearTimeout(timer);
  for (let waitedMs = 0; waitedMs < 3 * END_WAIT_MS && !source.state().released; waitedMs += 10)
    await sleep(10);
  OPEN_CONNECTIONS.delete(source);
  const { released, taken } = source.state();
  return reading === null
    ? { events: [], error: undefined, hung: true, released, taken }
    : { ...reading, hung: false, released, taken };
}

/**
 * Holds the connections of running calls. Like the sockets of a real `fetch`, this keeps code that
 * waits for a silent body from being garbage-collected.
 */
const OPEN_CONNECTIONS = new Set<unknown>();

/** A body that yields each chunk on demand and then ends, breaks or stays silent. */
function connection({ chunks, ending }: ScriptedResponse) {
  let next = 0;
  let taken = 0;
  let isOver = false;
  let abort = () => {};
  const body = new ReadableStream<Uint8Array>(
    {
      start(controller) {
        abort = () => {
          isOver = true;
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
        isOver = true;
        if (ending === "end") controller.close();
        else controller.error(new TypeError("terminated"));
      },
      cancel() {
        isOver = true;
      },
    },
    { highWaterMark: 0 },
  );
  return { body, abort, state: () => ({ released: isOver, taken }) };
}

/**
 * The violations of invariants that hold for every reply, as sentences. Empty if there are none.
 */
export async function problemsOf(wire: Wire, reading: Reading): Promise<string[]> {
  const { events, error, hung, released } = reading;
  const stops = events.filter((event) => event.type === "stop");
  return [
    ...(hung ? ["the call did not end"] : []),
    ...(released ? [] : ["the connection was left open"]),
    ...(hung || (error === undefined) === (stops.length === 1)
      ? []
      : [`there are ${stops.length} stops and the error ${String(error)}`]),
    ...(stops.length === 0 || events.at(-1)?.type === "stop" ? [] : ["an event follows the stop"]),
    ...(error === undefined ? [] : problemsOfError(error)),
    ...(error === undefined ? await problemsAfter(wire, events) : []),
  ];
}

function problemsOfError(error: unknown): string[] {
  if (!(error instanceof ProviderError))
    return [`the error is not a ProviderError: ${String(error)}`];
  const all = JSON.stringify(error, Object.getOwnPropertyNames(error));
  return [
    ...(all.includes(KEY) ? ["the key is in the error"] : []),
    ...(error.message.length <= 600 ? [] : ["the message is too long"]),
    ...(/^[a-z_0-9]+$/.test(error.code) ? [] : [`the code is ${error.code}`]),
  ];
}

/**
 * The problems of a next call: our rules must accept the reply, and the provider must accept the
 * conversation that contains it.
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
  const problem = wire.acceptsHistory(await bodyOf(wire, messages));
  return problem === null ? [] : [`the next call would be refused: ${problem}`];
}

/** The body of the request that the adapter sends for this conversation. */
async function bodyOf(wire: Wire, messages: Message[]): Promise<unknown> {
  let sent: unknown;
  const recordBody: typeof fetch = async (input, init) => {
    sent = JSON.parse(await new Request(input, init).text());
    return new Response("{}", { status: 500 });
  };
  const provider = wire.create(
    endpointAt(`https://provider.test${wire.basePath}`, { apiKey: KEY, fetch: recordBody }),
  );
  await collect(provider.stream({ ...ASKED, messages }, new AbortController().signal));
  return sent;
}
