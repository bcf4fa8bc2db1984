import { expect } from "vitest";
import type { ModelEvent, ModelRequest, ReplyItem } from "../../src/providers/provider";
import type { RawServer, Script } from "../../simulated/raw-server";
import type { Reply, Wire } from "./wire";
import { endpointAt } from "../fakes/endpoint";

/**
 * Code that all parts of the provider contract use: one request, one complete reply, and a call
 * that returns all events and the error.
 */

export const KEY = "canary-key-0123456789";
export const REQUEST: ModelRequest = {
  model: "some-model",
  system: "be brief",
  messages: [{ role: "user", text: "hello" }],
  tools: [{ name: "vote", description: "Votes.", parameters: { type: "object", properties: {} } }],
  toolChoice: "auto",
  maxOutputTokens: 100,
  params: {},
  hostedTools: [],
  continues: false,
};
export const USAGE = { input_tokens: 12, output_tokens: 7, reasoning_tokens: 3, cached_tokens: 8 };
export const FULL: Reply = {
  reasoning: ["hm, ", "let me see"],
  text: ["Grüße ", "an 🌍", "!"],
  calls: [
    { id: "id_a", name: "vote", pieces: ["", '{"agent_id"', ':"agent1"}'] },
    { id: "id_b", name: "read_file", pieces: ['{"path":"a.txt"}'] },
  ],
  stop: "tool_calls",
  usage: USAGE,
};

/** `error` is `undefined` if the call succeeded. */
export type Outcome = { events: ModelEvent[]; error: unknown; server: RawServer };
/** Lets the server answer with the script, and makes one call with the changed REQUEST. */
export type Call = (script: Script, change?: Partial<ModelRequest>) => Promise<Outcome>;

export const create = (wire: Wire, origin: string, apiKey = KEY) =>
  wire.create(endpointAt(origin + wire.basePath, { apiKey }));

export async function run(
  wire: Wire,
  server: RawServer,
  script: Script,
  change: Partial<ModelRequest> = {},
): Promise<Outcome> {
  server.answer(script);
  const provider = create(wire, server.origin);
  return {
    ...(await collect(provider.stream({ ...REQUEST, ...change }, new AbortController().signal))),
    server,
  };
}

export async function collect(
  stream: AsyncIterable<ModelEvent>,
): Promise<{ events: ModelEvent[]; error: unknown }> {
  const receivedEvents: ModelEvent[] = [];
  try {
    for await (const event of stream) receivedEvents.push(event);
    return { events: receivedEvents, error: undefined };
  } catch (error) {
    return { events: receivedEvents, error };
  }
}

export const failed = (failureClass: string, code?: string) => ({
  failureClass,
  ...(code && { code }),
});

/**
 * The items that the adapter must return for this reply. `givesCallIds`: whether the provider sends
 * ids of calls in this format.
 */
export function itemsOf(reply: Reply, givesCallIds = true): ReplyItem[] {
  const join = (pieces: readonly string[] = []) => pieces.join("");
  return [
    ...(reply.reasoning ? [{ type: "reasoning" as const, text: join(reply.reasoning) }] : []),
    ...(reply.text ? [{ type: "text" as const, text: join(reply.text) }] : []),
    ...(reply.calls ?? []).map(({ id, name, pieces }) => ({
      type: "tool_call" as const,
      id: givesCallIds ? id : expect.stringMatching(/./),
      name,
      arguments: join(pieces) || "{}",
    })),
  ].map((item) => expect.objectContaining(item));
}

export function textIn(receivedEvents: readonly ModelEvent[], type: "text" | "reasoning"): string {
  return receivedEvents.map((event) => (event.type === type ? event.text : "")).join("");
}

/**
 * Usually the connection closes within milliseconds. The limit is high so that a slow machine does
 * not fail a test.
 */
const CLOSE_WITHIN_MS = 10_000;

/**
 * Waits until the connection of the last request is closed on the side of the provider. Fails if it
 * stays open.
 */
export async function closesSoon(server: RawServer): Promise<void> {
  const { closed } = await server.request();
  const timeout = new Promise<never>((_, reject) =>
    setTimeout(() => reject(new Error("the socket is still open")), CLOSE_WITHIN_MS),
  );
  await Promise.race([closed, timeout]);
}
