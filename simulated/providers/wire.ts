import { type Fixture, LLMock } from "@copilotkit/aimock";
import { newSeal } from "./continuity";
import type { Json, ChargedReply, WireRequest } from "./dialect";
import { CHARACTERS_PER_TOKEN } from "./reply";
import { JsonSchema } from "./schema";

/**
 * Converts a reply to the events of the real wire format. The library aimock generates the events
 * and sends them over its own socket at full speed. `completeEvents` of the format adds the parts
 * that aimock omits. The pace is not left to aimock: there it belongs to a fixture instead of a
 * request, and timer delays add up. aimock also supports no stalled stream, no client that closes
 * the connection, and `retry-after` only with status 429.
 */
export type Wire = {
  /** aimock's response: the events of a stream, or one message if the request does not stream. */
  render(
    sent: WireRequest,
    chargedReply: ChargedReply,
  ): Promise<{ events: Json[] } | { message: Json }>;
  close(): Promise<void>;
};

type MockResponse = Exclude<Fixture["response"], (...args: never[]) => unknown>;

/** Starts aimock on a free loopback port. */
export async function startWire(): Promise<Wire> {
  const prepared = new Map<string, MockResponse>();
  const mock = new LLMock({
    port: 0,
    host: "127.0.0.1",
    chunkSize: CHARACTERS_PER_TOKEN,
    journalMaxEntries: 1,
    logLevel: "silent",
  });
  mock.on({ predicate: () => true }, ({ _context: key = "" }) => {
    const response = prepared.get(key);
    if (!response) throw new Error("aimock received a request without a prepared response");
    return response;
  });
  const url = await mock.start();
  let calls = 0;
  return {
    async render({ path, body }, chargedReply) {
      const key = `call-${++calls}`;
      prepared.set(key, toMockResponse(chargedReply));
      try {
        const headers = { "content-type": "application/json", "x-aimock-context": key };
        const response = await fetch(`${url}${path}`, {
          method: "POST",
          headers,
          body: JSON.stringify(body),
        });
        const text = await response.text();
        if (!response.ok) throw new Error(`aimock refused a request: ${text}`);
        return text.startsWith("{")
          ? { message: JsonSchema.parse(JSON.parse(text)) }
          : { events: eventsIn(text) };
      } finally {
        prepared.delete(key);
      }
    },
    close: () => mock.stop(),
  };
}

function toMockResponse({
  text,
  reasoning,
  calls,
  usage,
  finishReason,
}: ChargedReply): MockResponse {
  const envelope = {
    usage: { prompt_tokens: usage.inputTokens, completion_tokens: usage.outputTokens },
    ...(reasoning && { reasoning, reasoningSignature: newSeal() }),
    ...(finishReason && { finishReason }),
  };
  if (calls.length === 0) return { content: text ?? "", ...envelope };
  return text
    ? { content: text, toolCalls: calls, ...envelope }
    : { toolCalls: calls, ...envelope };
}

/** The data of each event. `[DONE]`, the end of a Chat Completions stream, is not JSON. */
function eventsIn(body: string): Json[] {
  const data = body
    .split(/\r?\n/)
    .flatMap((line) => (line.startsWith("data: ") ? [line.slice("data: ".length)] : []));
  return data
    .filter((eventData) => eventData !== "[DONE]")
    .map((eventData) => JsonSchema.parse(JSON.parse(eventData)));
}
