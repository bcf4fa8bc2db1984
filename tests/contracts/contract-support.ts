import { expect } from "vitest";
import type { ModelEvent, ModelRequest, ReplyItem } from "../../src/providers/provider";
import type { RawServer, Script } from "../../simulated/raw-server";
import type { Reply, Wire } from "./wire";
import { endpointAt } from "../fakes/endpoint";

/**
 * Shared by the parts of the provider contract: one request, one full reply, and a call that
 * returns every event and error.
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

export type Outcome = { events: ModelEvent[]; error: unknown; server: RawServer };
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
  const got: ModelEvent[] = [];
  try {
    for await (const event of stream) got.push(event);
    return { events: got, error: undefined };
  } catch (error) {
    return { events: got, error };
  }
}

export const failed = (failureClass: string, code?: string) => ({
  failureClass,
  ...(code && { code }),
});

/**
 * The required items of the reply; `givesCallIds`: whether the format's calls have ids of the
 * provider.
 */
export function itemsOf(reply: Reply, givesCallIds = true): ReplyItem[] {
  const joined = (pieces: readonly string[] = []) => pieces.join("");
  return [
    ...(reply.reasoning ? [{ type: "reasoning" as const, text: joined(reply.reasoning) }] : []),
    ...(reply.text ? [{ type: "text" as const, text: joined(reply.text) }] : []),
    ...(reply.calls ?? []).map(({ id, name, pieces }) => ({
      type: "tool_call" as const,
      id: givesCallIds ? id : expect.stringMatching(/./),
      name,
      arguments: joined(pieces) || "{}",
    })),
  ].map((item) => expect.objectContaining(item));
}

export function textIn(got: readonly ModelEvent[], type: "text" | "reasoning"): string {
  return got.map((event) => (event.type === type ? event.text : "")).join("");
}

/** It closes within milliseconds; a slow machine must not fail a test. */
const CLOSE_WITHIN_MS = 10_000;

/** Fails if the provider's side of the last request stays open. */
export async function closesSoon(server: RawServer): Promise<void> {
  const { closed } = await server.request();
  const late = new Promise<never>((_, reject) =>
    setTimeout(() => reject(new Error("the socket is still open")), CLOSE_WITHIN_MS),
  );
  await Promise.race([closed, late]);
}
