import OpenAI, { APIError } from "openai";
import { classify, toProviderError } from "./errors";
import { isJsonObject, parseJson } from "./json";
import { NO_SDK_TIMEOUT_MS } from "./call-limits";
import { ProviderError, type ProviderOptions } from "./provider";
import { transport } from "./transport";

/**
 * Code that the two OpenAI formats share: the client of the SDK without its automatic behavior, and
 * the classification of its errors.
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
 * Converts an error of the SDK. Handles one case beyond `toProviderError`: an error object inside a
 * stream, which the SDK throws as an APIError.
 */
export function explainFailure(error: unknown, secrets: readonly string[]): ProviderError {
  if (error instanceof APIError && error.error !== undefined) {
    return classify({ status: error.status, body: { error: error.error } }, secrets);
  }
  return toProviderError(error, secrets);
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
