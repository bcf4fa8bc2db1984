import OpenAI from "openai";
import { classify } from "./errors";
import { isJsonObject, parseJson } from "./json";
import { NO_SDK_TIMEOUT_MS } from "./call-limits";
import { ProviderError, type ProviderOptions } from "./provider";
import { readEvents } from "./read-events";
import { transport } from "./transport";

/**
 * Code that the two OpenAI formats share: the client of the SDK without its automatic behavior, and
 * the reading of replies.
 */

/**
 * The headers that are sent. Other headers of the SDK (platform, retry count, environment) are
 * removed.
 */
const SENT_HEADERS = ["accept", "content-type", "user-agent"];
const KEY_HEADERS = { bearer: "authorization", "api-key": "api-key" } as const;

/**
 * One client per call, because each call has its own `fetch`. Sets every option that the SDK would
 * otherwise read from the environment.
 */
export function createOpenAiClient(options: ProviderOptions, onBytes: () => void): OpenAI {
  const { baseUrl, apiKey, apiVersion, host } = options;
  const keyHeader = KEY_HEADERS[host.auth];
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
    ...(host.auth === "api-key" && { defaultHeaders: { "api-key": apiKey } }),
    ...(apiVersion !== null && { defaultQuery: { "api-version": apiVersion } }),
    fetch: transport(options, {
      allowedHeaders: new Set(apiKey === "" ? SENT_HEADERS : [...SENT_HEADERS, keyHeader]),
      onBytes,
    }),
  });
}

/**
 * The objects of a streamed reply. We read the stream ourselves, because the SDK copies each event
 * three times, which takes more CPU time than all other work on a reply.
 */
export async function* streamedObjects(
  { body }: Response,
  signal: AbortSignal,
  secrets: readonly string[],
): AsyncGenerator<unknown> {
  if (!body) return;
  for await (const data of readEvents(body, signal)) {
    if (data.startsWith("[DONE]")) return;
    const object: unknown = JSON.parse(data);
    if (isJsonObject(object) && object["error"])
      throw classify({ status: undefined, body: { error: object["error"] } }, secrets);
    yield object;
  }
}

export const isJsonReply = (response: Response): boolean =>
  /^application\/json\b/i.test(response.headers.get("content-type") ?? "");

/**
 * The reply of a server that ignores `stream`. The server sends one JSON text, or an error with
 * status 200. A reply has the field `requiredField`; anything else counts as an error.
 */
export async function unstreamedReply(
  response: Response,
  requiredField: "choices" | "output",
  secrets: readonly string[],
): Promise<Record<string, unknown>> {
  const reply = parseJson(await response.text());
  if (!isJsonObject(reply))
    throw new ProviderError(
      "transient",
      "bad_response",
      "The provider sent a reply that is not JSON.",
    );
  if (isJsonObject(reply["error"]) || !(requiredField in reply))
    throw classify({ status: undefined, body: reply }, secrets);
  return reply;
}
