import Anthropic from "@anthropic-ai/sdk";
import { takenCallIds } from "../call-ids";
import { transport } from "../transport";
import { classify, toProviderError } from "../errors";
import { guarded, readReply, withParts } from "../guarded-stream";
import { isJsonObject, jsonBody, parseJson } from "../json";
import { NO_SDK_TIMEOUT_MS } from "../call-limits";
import { linkedAbort } from "../../async/abort";
import {
  type ModelEvent,
  type ModelRequest,
  type Provider,
  ProviderError,
  type ProviderOptions,
} from "../provider";
import { readEvents } from "../read-events";
import { continuation, MOST_CONTINUATIONS } from "./continuation";
import { createDecoder, type Decoder } from "./decode";
import { toBetas, toBody } from "./request";

/** The Messages API through the official SDK. `apiKey` is empty if the endpoint needs none. */
export function createAnthropic(options: ProviderOptions): Provider {
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

/**
 * One reply. A reply needs several requests if the provider pauses: after some work with hosted
 * tools it stops and expects the partial reply in a next request. Callers could not distinguish
 * such a part from a complete reply, so the parts are joined here.
 */
async function* streamReply(call: Call): AsyncGenerator<ModelEvent> {
  const decoder = decoderFor(call.request);
  for (
    let request: ModelRequest | null = call.request, remaining = MOST_CONTINUATIONS;
    request;
    remaining -= 1
  ) {
    for await (const event of readMessage({ ...call, request }, decoder)) yield event;
    request = remaining > 0 ? continuation(call.request, call.options.host, decoder) : null;
    if (request) decoder.continueReply();
  }
  yield decoder.end();
}

/** A separate function, so that the generator above keeps no reference to the conversation. */
function decoderFor({ messages }: ModelRequest): Decoder {
  const items = messages.flatMap((message) => (message.role === "assistant" ? message.items : []));
  return createDecoder({ takenIds: takenCallIds(messages), items });
}

/** The reply to one request. Ending this generator early aborts only this request. */
async function* readMessage(call: Call, decoder: Decoder): AsyncGenerator<ModelEvent> {
  const link = linkedAbort(call.signal);
  try {
    yield* readReply(await send({ ...call, signal: link.signal }), decoder, link.abort);
  } finally {
    link.unlink();
  }
}

async function send({ options, request, signal, onBytes }: Call): Promise<AsyncIterable<unknown>> {
  const { body, headers } = jsonBody(toBody(await withParts(request, signal)));
  const response = await createClient(options, signal, onBytes)
    .post("/v1/messages", {
      body,
      headers: { ...headers, ...toHeaders(options, request) },
      stream: true,
    })
    .asResponse();
  return isJson(response)
    ? unstreamedReply(response, [options.apiKey])
    : streamedEvents(response, signal, [options.apiKey]);
}

async function* streamedEvents(
  response: Response,
  signal: AbortSignal,
  secrets: readonly string[],
): AsyncGenerator<unknown> {
  if (!response.body) return;
  for await (const data of readEvents(response.body, signal)) {
    const event: unknown = JSON.parse(data);
    if (isJsonObject(event) && event["type"] === "error")
      throw classify({ status: undefined, body: event }, secrets);
    yield event;
  }
}

const isJson = (response: Response) =>
  /^application\/json\b/i.test(response.headers.get("content-type") ?? "");

/**
 * The reply of a server that ignores `stream`: the complete message, or an error with status 200.
 */
async function* unstreamedReply(
  response: Response,
  secrets: readonly string[],
): AsyncGenerator<unknown> {
  const message = parseJson(await response.text());
  if (!isJsonObject(message))
    throw new ProviderError(
      "transient",
      "bad_response",
      "The provider sent a reply that is not JSON.",
    );
  if (!Array.isArray(message["content"]))
    throw classify({ status: undefined, body: message }, secrets);
  yield { type: "message_start", message };
}

/**
 * The API version in which all models accept the parameters that configs set. In the next version
 * no model accepts a temperature. Without this header, the SDK sends its own default version.
 */
const VERSION = "2023-06-01";

const SENT_HEADERS = [
  "accept",
  "anthropic-beta",
  "anthropic-version",
  "content-type",
  "user-agent",
];

/**
 * Headers of a request. With `null`, the SDK sends no such header instead of a value from the
 * environment.
 */
function toHeaders(
  { apiKey, apiVersion }: ProviderOptions,
  request: ModelRequest,
): Record<string, string | null> {
  return {
    "anthropic-version": apiVersion ?? VERSION,
    "anthropic-beta": toBetas(request) || null,
    "x-api-key": apiKey === "" ? "none" : apiKey,
    "user-agent": USER_AGENT,
  };
}

const USER_AGENT = "massgen-edge";

/**
 * One client per call, because each call has its own `fetch`. Sets every option that the SDK would
 * otherwise read from the environment.
 *
 * `fetch` gets the signal; the SDK does not. The SDK would keep the signal in a table of its module
 * until the body of the response is collected as garbage. While a reply is read, a listener of the
 * signal refers to the body. If the session's object is discarded then, nothing removes the
 * listener, so the table would keep the whole session.
 */
function createClient(
  options: ProviderOptions,
  signal: AbortSignal,
  onBytes: () => void,
): Anthropic {
  const { baseUrl, apiKey } = options;
  const send = transport(options, {
    allowedHeaders: new Set(apiKey === "" ? SENT_HEADERS : [...SENT_HEADERS, "x-api-key"]),
    onBytes,
  });
  return new Anthropic({
    baseURL: baseUrl.replace(/\/+$/, "").replace(/\/v1$/, ""),
    // the SDK would send the key in a header that older servers ignore
    apiKey: "sent in a header of its own",
    webhookKey: null,
    logLevel: "off",
    openTelemetry: { propagation: false, traces: false },
    maxRetries: 0,
    timeout: NO_SDK_TIMEOUT_MS,
    fetch: (input, init) => send(input, { ...init, signal }),
  });
}
