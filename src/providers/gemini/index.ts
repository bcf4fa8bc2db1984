import { GoogleGenAI } from "@google/genai/web";
import { takenCallIds } from "../call-ids";
import { transport } from "../transport";
import { classify, toProviderError } from "../errors";
import { guarded, readReply, withParts } from "../guarded-stream";
import { isJsonObject, parseJson } from "../json";
import { linkedAbort } from "../../async/abort";
import {
  type ModelEvent,
  type ModelRequest,
  type Provider,
  ProviderError,
  type ProviderOptions,
} from "../provider";
import { readEvents } from "../read-events";
import { createDecoder } from "./decode";
import { toParameters } from "./request";

/**
 * The Gemini API (`generateContent`) through the official SDK. `apiKey` is empty if the endpoint
 * needs none.
 */
export function createGemini(options: ProviderOptions): Provider {
  const secrets = [options.apiKey];
  return {
    id: options.host.id,
    stream: guarded(
      (error) => toProviderError(error, secrets),
      (request, signal, onBytes) =>
        streamReply({ options, request, signal, onBytes: onBytes ?? ignore }),
    ),
  };
}

const ignore = () => undefined;

type Call = {
  options: ProviderOptions;
  request: ModelRequest;
  signal: AbortSignal;
  onBytes: () => void;
};

async function* streamReply(call: Call): AsyncGenerator<ModelEvent> {
  const { request, options } = call;
  const link = linkedAbort(call.signal);
  const decoder = createDecoder(request.model, takenCallIds(request.messages));
  try {
    const reply = await send({ ...call, signal: link.signal });
    yield* readReply(chunksOf(reply, link.signal, [options.apiKey]), decoder, link.abort);
    yield decoder.end();
  } finally {
    link.unlink();
  }
}

async function* chunksOf(
  reply: Response,
  signal: AbortSignal,
  secrets: readonly string[],
): AsyncGenerator<unknown> {
  if (isJson(reply)) return yield* unstreamedReply(reply, secrets);
  if (!reply.body) return;
  for await (const data of readEvents(reply.body, signal)) {
    if (data === "[DONE]") continue; // added by proxies
    const chunk: unknown = JSON.parse(data);
    throwIfError(chunk, secrets);
    yield chunk;
  }
}

const isJson = (reply: Response) =>
  /^application\/json\b/i.test(reply.headers.get("content-type") ?? "");

/**
 * The reply of a server that ignores `alt=sse`: all chunks as a list, one single reply, or an error
 * with status 200.
 */
async function* unstreamedReply(
  reply: Response,
  secrets: readonly string[],
): AsyncGenerator<unknown> {
  const value = parseJson(await reply.text());
  const chunks = (Array.isArray(value) ? value : [value]).filter(isJsonObject);
  if (chunks.length === 0)
    throw new ProviderError("transient", "bad_response", "The provider sent no valid reply.");
  for (const chunk of chunks) {
    throwIfError(chunk, secrets);
    yield chunk;
  }
}

const SENT_HEADERS: ReadonlySet<string> = new Set([
  "accept",
  "content-type",
  "user-agent",
  "x-goog-api-key",
]);
const SENT_WITHOUT_KEY: ReadonlySet<string> = new Set(
  [...SENT_HEADERS].filter((name) => name !== "x-goog-api-key"),
);

/**
 * Sends the request. The SDK builds the request; we read the response ourselves, because the stream
 * reader of the SDK loses some events: errors without a numeric code, and a last event without a
 * blank line. It also leaves the connection open when its caller stops reading, and it parses every
 * chunk twice.
 */
async function send({ options, request, signal, onBytes }: Call): Promise<Response> {
  const allowedHeaders = options.apiKey === "" ? SENT_WITHOUT_KEY : SENT_HEADERS;
  const sendRequest = transport(options, { allowedHeaders, onBytes });
  const { model, contents, config } = toParameters(await withParts(request, signal));
  let isSent = false;
  const reply = Promise.withResolvers<Response>();
  const client = createClient(options, async (input, init) => {
    isSent = true;
    const response = await sendRequest(input, init);
    reply.resolve(response);
    return response;
  });
  try {
    await client.models.generateContentStream({
      model,
      contents,
      config: { ...config, abortSignal: signal },
    });
  } catch (error) {
    if (isSent || error instanceof ProviderError || !(error instanceof Error)) throw error;
    // the SDK itself refused the request
    throw new ProviderError("bad_request", "bad_request", error.message);
  }
  return reply.promise;
}

const DEFAULT_VERSION = "v1beta";

/**
 * One client per call, because each call has its own `fetch`. For a base URL without a path, the
 * API version is inserted before `/models/…`. The web build of the SDK reads no environment
 * variables.
 */
function createClient(
  { baseUrl, apiKey, apiVersion }: ProviderOptions,
  fetch: ProviderOptions["fetch"],
): GoogleGenAI {
  const isOrigin = URL.canParse(baseUrl) && new URL(baseUrl).pathname === "/";
  return new GoogleGenAI({
    vertexai: false,
    apiKey: apiKey === "" ? "none" : apiKey,
    httpOptions: { baseUrl, apiVersion: isOrigin ? (apiVersion ?? DEFAULT_VERSION) : "", fetch },
  });
}

/** Throws if the value contains an error. The value is a chunk of a stream or a complete reply. */
function throwIfError(value: unknown, secrets: readonly string[]): void {
  if (isJsonObject(value) && isJsonObject(value["error"]))
    throw classify({ status: undefined, body: value }, secrets);
}
