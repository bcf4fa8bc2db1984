import { hideSecrets, hideSecretsInCut } from "../../redaction/redact";
import { Breakers, breakerMessage } from "../breaker";
import { argumentProblem } from "../parameters";
import { withoutPresets } from "../presets";
import { isAddressRefused } from "../refused-address";
import { showControls } from "../large-results";
import type { SecretOf } from "../secret-bindings";
import type { Tool, ToolContext, ToolResult } from "../tool";
import { Mutex, MutexLease } from "../../async/mutex";
import { MAX_STORING_MS } from "../large-results";
import { type HttpToolDefinition, httpToolRule } from "./definition";
import {
  isText,
  MAX_RESPONSE_BYTES,
  mayHaveActed,
  readFile,
  type Reading,
  readText,
} from "./response";
import { type HttpRequest, originOf, toRequest } from "./request";

/** State that the tools of a session share; omitted parts are created per tool. */
export type SharedByTools = {
  /** Serializes large replies that become files. */
  large: Mutex;
  /** Circuit breakers of the servers. */
  breakers: Breakers;
};

/**
 * A tool that sends one HTTP request, without retries: those are a coordination rule.
 * `context.fetch` guards addresses and follows no redirects, so that secrets reach only the origins
 * they are bound to.
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
      const made = await toRequest(definition, toRecord(args), {
        secretOf,
        idempotencyKey: context.idempotencyKey,
      });
      if (!made.ok) return error(made.problem);
      const origin = originOf(definition);
      const restMs = breakers.admit(origin, context.now());
      if (restMs !== null) return error(breakerMessage(`The server at ${origin}`, restMs));
      const lease = new MutexLease(large);
      const settle: SendOptions["settle"] = (how) => breakers.settle(origin, how, context.now());
      const { text, ...result } = await send(definition, made.request, { context, lease, settle });
      if (result.files) lease.releaseOnEnd(context.onResultStored, MAX_STORING_MS);
      return { ...result, text: showControls(hideSecrets(text, made.request.secrets)) };
    },
  };
}

const error = (text: string): ToolResult => ({ outcome: "error", text });
const toRecord = (args: unknown): Record<string, unknown> =>
  typeof args === "object" && args !== null ? { ...args } : {};

/**
 * `lease`: released at the end, unless there are files. `settle`: called once with the server's
 * outcome, as soon as it is known.
 */
type SendOptions = {
  context: ToolContext;
  lease: MutexLease;
  settle: (how: Parameters<Breakers["settle"]>[1]) => void;
};

async function send(
  definition: HttpToolDefinition,
  request: HttpRequest,
  options: SendOptions,
): Promise<ToolResult> {
  const { context, lease, settle } = options;
  const { method, timeoutMs } = definition;
  const limit = AbortSignal.timeout(timeoutMs);
  const signal = AbortSignal.any([context.signal, limit]);
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
    return result.outcome === "error" && isInDoubt(definition, status)
      ? { outcome: "unknown", text: `${result.text}\n${DOUBT}` }
      : result;
  } catch (cause) {
    lease.release();
    if (status === null)
      settle(context.signal.aborted || isAddressRefused(cause) ? "inconclusive" : "failed");
    context.signal.throwIfAborted();
    const why = limit.aborted ? `it took longer than ${timeoutMs / 1000} s` : messageOf(cause);
    return toFailure(definition, { why, status, wasSent: limit.aborted || !isUnsent(cause) });
  }
}

/** Hides secrets before any cut: half a secret would not be recognised. */
async function toResult(response: Response, reading: Reading): Promise<ToolResult> {
  const { ok, status, statusText, headers } = response;
  const { secrets } = reading;
  const line = `HTTP ${status}${statusText ? ` ${statusText}` : ""}`;
  if (status >= 300 && status < 400) {
    await response.body?.cancel().catch(() => undefined);
    const target = hideSecrets(headers.get("location") ?? "", secrets).slice(0, 500);
    return error(
      `${line}: the server leads to ${JSON.stringify(target)}, and redirects are not followed.`,
    );
  }
  const type = headers.get("content-type");
  if (ok && !isText(type)) return { outcome: "ok", ...(await readFile(response, reading)) };
  const text = isText(type)
    ? await bodyText(response, secrets)
    : await unread(response, hideSecrets(type ?? "", secrets));
  return ok ? { outcome: "ok", text } : error(text === "" ? line : `${line}\n${text}`);
}

async function bodyText(response: Response, secrets: readonly string[]): Promise<string> {
  const { text, isWhole } = await readText(response);
  return isWhole
    ? text
    : `${hideSecretsInCut(text, secrets)}\n[Cut here: the server sent more than ${MAX_RESPONSE_BYTES} bytes.]`;
}

async function unread(response: Response, type: string): Promise<string> {
  await response.body?.cancel().catch(() => undefined);
  const bytes = response.headers.get("content-length");
  return `[The server sent ${type.slice(0, 100)}${bytes === null ? "" : `, ${bytes} bytes`}: no text, so it is not shown.]`;
}

/**
 * Whether it is unknown if the call took effect, for a call that must not be repeated. `status` is
 * `null` if there was no response.
 */
const isInDoubt = (definition: HttpToolDefinition, status: number | null): boolean =>
  (status === null || mayHaveActed(status)) && !httpToolRule(definition).idempotent;
const DOUBT = "Whether it did its work is unknown: verify before repeating it.";

type Failure = { why: string; status: number | null; wasSent: boolean };

function toFailure(definition: HttpToolDefinition, { why, status, wasSent }: Failure): ToolResult {
  const answered = status === null ? "" : ` The server had answered ${status}.`;
  if (wasSent && isInDoubt(definition, status))
    return { outcome: "unknown", text: `The call broke: ${why}.${answered} ${DOUBT}` };
  return error(wasSent ? `The call failed: ${why}.${answered}` : `Nothing was sent: ${why}.`);
}

/**
 * Refused by our address guard, or no connection. Checked by message, because platform errors have
 * no codes.
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
