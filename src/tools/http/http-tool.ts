import { hideSecrets, hideSecretsInCut } from "../../redaction/redact";
import { Breakers, breakerMessage } from "../breaker";
import { argumentProblem } from "../parameters";
import { withoutPresets } from "../presets";
import { isAddressRefused } from "../refused-address";
import { isRelayLost } from "../relay-lost";
import { showControls } from "../large-results";
import type { SecretOf } from "../secret-bindings";
import type { Tool, ToolContext, ToolResult } from "../tool";
import { timeLimit } from "../../async/abort";
import { Mutex, MutexLease } from "../../async/mutex";
import { MAX_STORING_MS } from "../large-results";
import { type HttpToolDefinition, httpToolRule } from "./definition";
import {
  isText,
  MAX_RESPONSE_BYTES,
  mayHaveActed,
  readFile,
  type ReadOptions,
  readText,
} from "./response";
import { type HttpRequest, originOf, toRequest } from "./request";

/** State that the tools of a session share. If a part is omitted, each tool creates its own. */
export type SharedByTools = {
  /** Serializes large responses that become files. */
  large: Mutex;
  /** Circuit breakers of the servers. */
  breakers: Breakers;
};

/**
 * A tool that sends one HTTP request. It does not retry, because retries are a coordination rule.
 * `context.fetch` checks addresses and follows no redirects, so a secret reaches only the origins
 * that the secret is bound to.
 */
export function httpTool(
  definition: HttpToolDefinition,
  secretOf: SecretOf,
  shared: Partial<SharedByTools> = {},
): Tool {
  const { large = new Mutex(), breakers = new Breakers() } = shared;
  const parameters = withoutPresets(definition.parameters, definition.preset);
  return {
    spec: { name: definition.name, description: definition.description, parameters },
    rule: httpToolRule(definition),
    leavesFiles: true,
    async run(args, context) {
      const problem = argumentProblem(parameters, args);
      if (problem !== null) return error(problem);
      const conversion = await toRequest(definition, toRecord(args), {
        secretOf,
        idempotencyKey: context.idempotencyKey,
      });
      if (!conversion.ok) return error(conversion.problem);
      const { request } = conversion;
      const origin = originOf(definition);
      const retryAfterMs = breakers.admit(origin, context.now());
      if (retryAfterMs !== null)
        return error(breakerMessage(`The server at ${origin}`, retryAfterMs));
      const lease = new MutexLease(large);
      const settle: SendOptions["settle"] = (outcome) =>
        breakers.settle(origin, outcome, context.now());
      const { text, ...result } = await send(definition, request, { context, lease, settle });
      if (result.files) lease.releaseOnEnd(context.onResultStored, MAX_STORING_MS);
      return { ...result, text: showControls(hideSecrets(text, request.secrets)) };
    },
  };
}

const error = (text: string): ToolResult => ({ outcome: "error", text });
const toRecord = (args: unknown): Record<string, unknown> =>
  typeof args === "object" && args !== null ? { ...args } : {};

type SendOptions = {
  context: ToolContext;
  /** Released at the end of `send`, unless the result has files. */
  lease: MutexLease;
  /** Called once, as soon as it is known whether the server answered. */
  settle: (outcome: Parameters<Breakers["settle"]>[1]) => void;
};

async function send(
  definition: HttpToolDefinition,
  request: HttpRequest,
  options: SendOptions,
): Promise<ToolResult> {
  const { context, lease, settle } = options;
  const { method, timeoutMs } = definition;
  const limit = timeLimit(timeoutMs, [context.signal]);
  const { signal } = limit;
  let status: number | null = null;
  try {
    const { url, headers, body, secrets } = request;
    const response = await context.fetch(url, {
      method,
      headers,
      ...(body !== null && { body }),
      redirect: "manual",
      signal,
    });
    context.onHeaders?.();
    status = response.status;
    settle(status >= 500 ? "failed" : "answered");
    const result = await toResult(response, { lease, signal, secrets });
    return result.outcome === "error" && isOutcomeUnknown(definition, status)
      ? { outcome: "unknown", text: `${result.text}\n${OUTCOME_UNKNOWN}` }
      : result;
  } catch (cause) {
    lease.release();
    const isLost = isRelayLost(cause);
    const isInconclusive = context.signal.aborted || isAddressRefused(cause) || isLost;
    if (status === null) settle(isInconclusive ? "inconclusive" : "failed");
    context.signal.throwIfAborted();
    if (isLost) throw cause;
    const isTimeout = signal.aborted;
    const reason = isTimeout ? `it took longer than ${timeoutMs / 1000} s` : messageOf(cause);
    return toFailure(definition, { reason, status, wasSent: isTimeout || !isUnsent(cause) });
  } finally {
    limit.end();
  }
}

/**
 * Reads the result from a response. Hides secrets before each cut, because half a secret would not
 * be recognised.
 */
async function toResult(response: Response, options: ReadOptions): Promise<ToolResult> {
  const { ok, status, statusText, headers } = response;
  const { secrets } = options;
  const statusLine = `HTTP ${status}${statusText ? ` ${statusText}` : ""}`;
  if (status >= 300 && status < 400) {
    await response.body?.cancel().catch(() => undefined);
    const location = hideSecrets(headers.get("location") ?? "", secrets).slice(0, 500);
    return error(
      `${statusLine}: the server leads to ${JSON.stringify(location)}, and redirects are not followed.`,
    );
  }
  const type = headers.get("content-type");
  if (ok && !isText(type)) return { outcome: "ok", ...(await readFile(response, options)) };
  const text = isText(type)
    ? await bodyText(response, secrets)
    : await describeUnreadBody(response, hideSecrets(type ?? "", secrets));
  return ok ? { outcome: "ok", text } : error(text === "" ? statusLine : `${statusLine}\n${text}`);
}

/** The text of the body, with a note if it is cut. */
async function bodyText(response: Response, secrets: readonly string[]): Promise<string> {
  const { text, isWhole } = await readText(response);
  return isWhole
    ? text
    : `${hideSecretsInCut(text, secrets)}\n[Cut here: the server sent more than ${MAX_RESPONSE_BYTES} bytes.]`;
}

/** Cancels a body that is no text and returns a note about the body. */
async function describeUnreadBody(response: Response, type: string): Promise<string> {
  await response.body?.cancel().catch(() => undefined);
  const bytes = response.headers.get("content-length");
  return `[The server sent ${type.slice(0, 100)}${bytes === null ? "" : `, ${bytes} bytes`}: no text, so it is not shown.]`;
}

/**
 * Whether the call must not be repeated and may or may not have taken effect. `status` is `null` if
 * there was no response.
 */
const isOutcomeUnknown = (definition: HttpToolDefinition, status: number | null): boolean =>
  (status === null || mayHaveActed(status)) && !httpToolRule(definition).idempotent;
const OUTCOME_UNKNOWN = "Whether it did its work is unknown: verify before repeating it.";

/**
 * A request that failed. `reason` is a clause for the model. `status` is `null` without a response.
 * `wasSent` is false only if the request certainly did not reach the server.
 */
type Failure = { reason: string; status: number | null; wasSent: boolean };

function toFailure(
  definition: HttpToolDefinition,
  { reason, status, wasSent }: Failure,
): ToolResult {
  const answered = status === null ? "" : ` The server had answered ${status}.`;
  if (wasSent && isOutcomeUnknown(definition, status))
    return { outcome: "unknown", text: `The call broke: ${reason}.${answered} ${OUTCOME_UNKNOWN}` };
  return error(wasSent ? `The call failed: ${reason}.${answered}` : `Nothing was sent: ${reason}.`);
}

/**
 * Whether the request was certainly not sent: the address check refused it, or there was no
 * connection. Compares messages, because the platform's errors have no codes.
 */
const isUnsent = (cause: unknown): boolean =>
  isAddressRefused(cause) ||
  (cause instanceof Error && UNSENT.test([cause.message, codeOf(cause.cause)].join(" ")));
const UNSENT =
  /DNS lookup failed|could not be looked up|connection refused|ECONNREFUSED|ENOTFOUND|EAI_AGAIN/i;
const codeOf = (cause: unknown): string =>
  typeof cause === "object" && cause !== null && "code" in cause ? String(cause.code) : "";

const messageOf = (cause: unknown): string =>
  cause instanceof Error ? cause.message.replace(/\.$/, "") : "the connection broke";
