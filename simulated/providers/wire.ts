import { type Fixture, LLMock } from "@copilotkit/aimock";
import { newSeal } from "./continuity";
import type { Json, Said, Sent } from "./dialect";
import { CHARACTERS_PER_TOKEN } from "./reply";
import { JsonSchema } from "./schema";

/**
 * Turns a reply into the events of the real wire format. The format is aimock's: it is asked over its own socket, at full speed,
 * and what it leaves out is added by the format's `dress`. It does not pace them, because its pace belongs to a fixture and not
 * to a request, drifts by the length of every timer, and has no silence, no `retry-after` but for 429 and no ear for a client
 * that leaves.
 */
export type Wire = {
  /** What aimock answers to this request: the events of a stream, or one message if the request asks for no stream. */
  render(sent: Sent, said: Said): Promise<{ events: Json[] } | { message: Json }>;
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
    if (!response) throw new Error("aimock was asked something that nobody prepared");
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
        if (!response.ok) throw new Error(`aimock refused a request that it should take: ${text}`);
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

function toMockResponse({ text, reasoning, calls, usage, finishReason }: Said): MockResponse {
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

/** The data of each event; what ends a stream of Chat Completions is no JSON, and no event. */
function eventsIn(body: string): Json[] {
  const data = body
    .split(/\r?\n/)
    .flatMap((line) => (line.startsWith("data: ") ? [line.slice("data: ".length)] : []));
  return data.filter((one) => one !== "[DONE]").map((one) => JsonSchema.parse(JSON.parse(one)));
}
