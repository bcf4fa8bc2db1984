import { createGemini } from "../../../src/providers/gemini";
import { createDecoder } from "../../../src/providers/gemini/decode";
import type { ModelEvent, ModelRequest, ReplyItem } from "../../../src/providers/provider";
import { endpointAt } from "../../fakes/endpoint";

/**
 * Functions that return requests as the adapter sends them and replies as it returns them, and
 * builders for chunks.
 */

export const REQUEST: ModelRequest = {
  model: "gemini-2.5-flash",
  system: "",
  messages: [{ role: "user", text: "hello" }],
  tools: [],
  toolChoice: "auto",
  maxOutputTokens: null,
  params: {},
  hostedTools: [],
  continues: false,
};

export const SSE = { headers: { "content-type": "text/event-stream" } };
const DONE = { candidates: [{ content: { parts: [{ text: "x" }] }, finishReason: "STOP" }] };

type SentRequest = { url: string; headers: Headers; body: Record<string, unknown> };

/** The request in the form in which the adapter sends it. */
export async function sent(
  change: Partial<ModelRequest>,
  baseUrl = "https://provider.test/v1beta",
): Promise<SentRequest> {
  const requests: SentRequest[] = [];
  const answer: typeof fetch = async (input, init) => {
    requests.push({
      url: String(input),
      headers: new Headers(init?.headers),
      body: JSON.parse(String(init?.body)),
    });
    return new Response(`data: ${JSON.stringify(DONE)}\r\n\r\n`, SSE);
  };
  for await (const _ of stream({ ...REQUEST, ...change }, answer, baseUrl));
  const [request] = requests;
  if (!request || requests.length > 1) throw new Error(`${requests.length} requests were sent`);
  return request;
}

export const body = async (change: Partial<ModelRequest>) => (await sent(change)).body;

const stream = (request: ModelRequest, answer: typeof fetch, baseUrl: string) =>
  createGemini(endpointAt(baseUrl, { apiKey: "some-key", fetch: answer })).stream(
    request,
    new AbortController().signal,
  );

/** The events of a reply with these bytes. */
export async function replay(
  bytes: BodyInit,
  headers: Record<string, string> = SSE.headers,
  model = "gemini-3.8-flash",
) {
  const answer = async () => new Response(bytes, { headers });
  const events: ModelEvent[] = [];
  try {
    for await (const event of stream({ ...REQUEST, model }, answer, "https://provider.test/v1beta"))
      events.push(event);
    return { events };
  } catch (error) {
    return {
      events,
      error: JSON.parse(JSON.stringify(error)),
      message: error instanceof Error ? error.message : "",
    };
  }
}

export const part = (...parts: object[]) => ({
  candidates: [{ index: 0, content: { role: "model", parts } }],
});
export const textChunk = (text: string) => part({ text });
export const finishChunk = (finishReason: string) => ({ candidates: [{ index: 0, finishReason }] });
export const calls = (name: string, args: object, more: object = {}, marks: object = {}) =>
  part({ functionCall: { name, args, ...more }, ...marks });

export function decode(
  chunks: readonly unknown[],
  { taken = [], model = "gemini-3.8-flash" }: { taken?: string[]; model?: string } = {},
) {
  const decoder = createDecoder(model, new Set(taken));
  const events = chunks.flatMap((chunk) => decoder.push(chunk));
  const stop = decoder.end();
  if (stop.type !== "stop") throw new Error("the reply has no stop");
  return { events, stop };
}

/** The items as the next request of the round contains them, after they were stored as JSON. */
export const stored = (items: ReplyItem[]): ReplyItem[] => JSON.parse(JSON.stringify(items));
