import { type Fixture, LLMock } from "@copilotkit/aimock";
import { newSeal } from "./continuity";
import type { Json, ChargedReply, WireRequest } from "./dialect";
import { CHARACTERS_PER_TOKEN } from "./reply";
import { JsonSchema } from "./schema";

/**
 * Converts a reply to the events of the real wire format. aimock produces the format, over its own
 * socket at full speed; the format's `completeEvents` adds what it omits. aimock does not pace the
 * events: its pace belongs to a fixture, not to a request, drifts by timer delays, and supports
 * neither silence, nor `retry-after` except for 429, nor leaving clients.
 */
export type Wire = {
  /** aimock's response: the events of a stream, or one message if the request does not stream. */
  render(sent: WireRequest, said: ChargedReply): Promise<{ events: Json[] } | { message: Json }>;
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
    async render({ path, body }, said) {
      const key = `call-${++calls}`;
      prepared.set(key, toMockResponse(said));
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

/** The data of each event. The end of a Chat Completions stream is not JSON and not an event. */
function eventsIn(body: string): Json[] {
  const data = body
    .split(/\r?\n/)
    .flatMap((line) => (line.startsWith("data: ") ? [line.slice("data: ".length)] : []));
  return data.filter((one) => one !== "[DONE]").map((one) => JsonSchema.parse(JSON.parse(one)));
}
