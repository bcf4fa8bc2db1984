import OpenAI from "openai";
import { takenCallIds } from "../call-ids";
import { checkedFetch } from "../checked-fetch";
import { classify } from "../errors";
import { guarded } from "../guarded";
import { isJsonObject, parseJson } from "../json";
import { NO_SDK_TIMEOUT_MS } from "../limits";
import { type ModelEvent, type ModelRequest, type Provider, ProviderError, type ProviderOptions } from "../provider";
import { createDecoder, type Decoder } from "./decode";
import { explainFailure } from "./errors";
import { toBody } from "./request";

/** Chat Completions over the official SDK. An empty `apiKey` means an endpoint that wants none. */
export function createOpenAiChat(options: ProviderOptions): Provider {
  const secrets = [options.apiKey];
  return {
    id: options.host.id,
    stream: guarded(
      (error) => explainFailure(error, secrets),
      (request, signal, heard) => streamReply({ options, request, signal, heard: heard ?? ignore }),
    ),
  };
}

const ignore = () => undefined;

type Call = { options: ProviderOptions; request: ModelRequest; signal: AbortSignal; heard: () => void };

async function* streamReply({ options, request, signal, heard }: Call): AsyncGenerator<ModelEvent> {
  const { data, response } = await createClient(options, heard)
    .post<AsyncIterable<unknown>>("/chat/completions", { body: toBody(request, options.host), stream: true, signal })
    .withResponse();
  const chunks = isJson(response) ? wholeReply(response, [options.apiKey]) : data;
  const decoder = createDecoder(takenCallIds(request.messages));
  yield* decodeAll(chunks, decoder);
  yield decoder.end();
}

/**
 * What breaks after the finish reason takes nothing from the reply; what breaks before fails the call. Leaving the loop early
 * makes the SDK close the connection.
 */
async function* decodeAll(chunks: AsyncIterable<unknown>, decoder: Decoder): AsyncGenerator<ModelEvent> {
  try {
    for await (const chunk of chunks) {
      for (const event of decoder.push(chunk)) yield event; // `yield*` would wrap every event in an iterator of its own
    }
  } catch (error) {
    if (!decoder.isComplete()) throw error;
  }
}

const isJson = (response: Response) => /^application\/json\b/i.test(response.headers.get("content-type") ?? "");

/** Servers that ignore `stream` send the reply at once, or an error under status 200. */
async function* wholeReply(response: Response, secrets: readonly string[]): AsyncGenerator<unknown> {
  const text = await response.text();
  const reply = parseJson(text);
  if (!isJsonObject(reply)) throw new ProviderError("transient", "bad_response", "The provider sent something that is not JSON.");
  if (isJsonObject(reply["error"]) || !("choices" in reply)) throw classify({ status: undefined, body: reply }, secrets);
  yield reply;
}

/** Everything else the SDK adds (platform, retry count, headers from the environment) is nobody's business. */
const SENT_HEADERS: ReadonlySet<string> = new Set(["accept", "authorization", "content-type", "user-agent"]);
const SENT_WITHOUT_KEY: ReadonlySet<string> = new Set([...SENT_HEADERS].filter((name) => name !== "authorization"));

/** One client per call, because its `fetch` belongs to the call. Every option the SDK would read from the environment is set. */
function createClient({ baseUrl, apiKey, fetch }: ProviderOptions, heard: () => void): OpenAI {
  return new OpenAI({
    baseURL: baseUrl,
    apiKey: apiKey === "" ? "none" : apiKey,
    adminAPIKey: null,
    organization: null,
    project: null,
    webhookSecret: null,
    logLevel: "off",
    maxRetries: 0,
    timeout: NO_SDK_TIMEOUT_MS,
    fetch: checkedFetch({
      fetch,
      allowedHeaders: apiKey === "" ? SENT_WITHOUT_KEY : SENT_HEADERS,
      secrets: [apiKey],
      heard,
    }),
  });
}
