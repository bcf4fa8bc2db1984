import Anthropic from "@anthropic-ai/sdk";
import { takenCallIds } from "../call-ids";
import { checkedFetch } from "../checked-fetch";
import { classify, toProviderError } from "../errors";
import { guarded, readReply, withParts } from "../guarded-stream";
import { isJsonObject, jsonBody, parseJson } from "../json";
import { NO_SDK_TIMEOUT_MS } from "../limits";
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

/** The Messages API over the official SDK. An empty `apiKey` means an endpoint that wants none. */
export function createAnthropic(options: ProviderOptions): Provider {
  const secrets = [options.apiKey];
  return {
    id: options.host.id,
    stream: guarded(
      (error) => toProviderError(error, secrets),
      (request, signal, heard) => streamReply({ options, request, signal, heard: heard ?? ignore }),
    ),
  };
}

const ignore = () => undefined;

type Call = {
  options: ProviderOptions;
  request: ModelRequest;
  signal: AbortSignal;
  heard: () => void;
};

/**
 * One reply, of several requests if the provider pauses: after a while of hosted work it stops in the middle and wants what it
 * wrote sent back. Nobody above could tell such a part from a whole, so the pieces are joined here.
 */
async function* streamReply(call: Call): AsyncGenerator<ModelEvent> {
  const decoder = decoderFor(call.request);
  for (
    let request: ModelRequest | null = call.request, left = MOST_CONTINUATIONS;
    request;
    left -= 1
  ) {
    for await (const event of readOne({ ...call, request }, decoder)) yield event;
    request = left > 0 ? continuation(call.request, call.options.host, decoder) : null;
    if (request) decoder.goOn();
  }
  yield decoder.end();
}

/** Apart, so that the generator above holds on to nothing of the conversation. */
function decoderFor({ messages }: ModelRequest): Decoder {
  const items = messages.flatMap((message) => (message.role === "assistant" ? message.items : []));
  return createDecoder({ takenIds: takenCallIds(messages), items });
}

/** The reply to one request; to close it leaves the others alone. */
async function* readOne(call: Call, decoder: Decoder): AsyncGenerator<ModelEvent> {
  const link = linkedAbort(call.signal);
  try {
    yield* readReply(await send({ ...call, signal: link.signal }), decoder, link.abort);
  } finally {
    link.unlink();
  }
}

async function send({ options, request, signal, heard }: Call): Promise<AsyncIterable<unknown>> {
  const { body, headers } = jsonBody(toBody(await withParts(request, signal)));
  const response = await createClient(options, heard)
    .post("/v1/messages", {
      body,
      headers: { ...headers, ...toHeaders(options, request) },
      stream: true,
      signal,
    })
    .asResponse();
  return isJson(response)
    ? wholeReply(response, [options.apiKey])
    : readEach(response, signal, [options.apiKey]);
}

async function* readEach(
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

/** Servers that ignore `stream` send the message at once, or an error under status 200. */
async function* wholeReply(
  response: Response,
  secrets: readonly string[],
): AsyncGenerator<unknown> {
  const message = parseJson(await response.text());
  if (!isJsonObject(message))
    throw new ProviderError(
      "transient",
      "bad_response",
      "The provider sent something that is not JSON.",
    );
  if (!Array.isArray(message["content"]))
    throw classify({ status: undefined, body: message }, secrets);
  yield { type: "message_start", message };
}

/**
 * The version under which all models take what configs say of them; the one after it takes no temperature from anyone. The SDK
 * would send its own.
 */
const VERSION = "2023-06-01";

const SENT_HEADERS = [
  "accept",
  "anthropic-beta",
  "anthropic-version",
  "content-type",
  "user-agent",
];

/** Null takes away what the environment would set. */
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

/** One client per call, because its `fetch` belongs to the call. Every option the SDK would read from the environment is set. */
function createClient({ baseUrl, apiKey, fetch }: ProviderOptions, heard: () => void): Anthropic {
  return new Anthropic({
    baseURL: baseUrl.replace(/\/+$/, "").replace(/\/v1$/, ""),
    apiKey: "sent in a header of its own", // the SDK's own way puts it where older servers do not look
    webhookKey: null,
    logLevel: "off",
    openTelemetry: { propagation: false, traces: false },
    maxRetries: 0,
    timeout: NO_SDK_TIMEOUT_MS,
    fetch: checkedFetch({
      fetch,
      allowedHeaders: new Set(apiKey === "" ? SENT_HEADERS : [...SENT_HEADERS, "x-api-key"]),
      secrets: [apiKey],
      heard,
    }),
  });
}
