import type { FailureClass } from "../protocol/events";
import { isJsonObject, parseJson } from "./json";
import { INTERRUPTIONS } from "./platform-words";
import { ProviderError } from "./provider";
import { toMessage } from "./redact";

/**
 * From what a provider said to the failure classes of the protocol. The rules are data, read from top to bottom: what the
 * body says goes before the status, because compatible servers agree on neither.
 */

/** What is known of a failed call. `body` is text or parsed JSON; `status` is undefined for an error inside a stream. */
export type Failure = { status: number | undefined; body: unknown; retryAfterMs?: number | undefined };

type Rule = {
  failureClass: FailureClass;
  code: string;
  /** Statuses the rule is for; `undefined` among them stands for an error inside a stream. */
  statuses: readonly (number | undefined)[];
  /** Tested against the error's `code`, `type` and `status`. */
  mark?: RegExp;
  /** Tested against what the error says. */
  words?: RegExp;
};

const SAID_RULES: readonly Rule[] = [
  {
    failureClass: "quota",
    code: "quota_exceeded",
    statuses: [400, 402, 403, 429, undefined],
    mark: /^(insufficient_(user_)?(quota|balance|credits?)|billing_hard_limit_reached|exceeded_current_quota_error|payment_required)$/i,
    words:
      /insufficient (account )?(balance|credits?|funds|quota)|credit balance is too low|(run|ran) out of credits|requires more credits|余额不足/i,
  },
  {
    failureClass: "content_filter",
    code: "content_filter",
    statuses: [400, 403, 422, 451, undefined],
    mark: /content_?(filter|policy)|responsibleaipolicy|data_?inspection|moderation/i,
    words:
      /content (management )?policy|content[_ ]filter|safety (system|policy)|(inappropriate|harmful|sensitive) content|content exists risk|input was flagged/i,
  },
  {
    failureClass: "context_too_long",
    code: "context_too_long",
    statuses: [400, 413, 422, undefined],
    mark: /^(context_length_exceeded|context_window_exceeded|string_above_max_length|request_too_large)$/i,
    words:
      /maximum context length|context (length|window|size)|(prompt|input|request|message)s? (is|are|was) too (long|large)|too many (input |prompt )?tokens|reduce the length of the (messages|prompt|input)|request too large|range of input length/i,
  },
  {
    failureClass: "unknown_model",
    code: "unknown_model",
    statuses: [400, 404, 422, undefined],
    mark: /^(model_not_found|invalid_model|model_not_available|unknown_model)$/i,
    words:
      /model\b[^.]{0,80}\b(does not exist|not exist|not found|is not (a )?(valid|supported|available))|(unknown|invalid|no such) model|not a valid model/i,
  },
  {
    failureClass: "bad_credentials",
    code: "bad_credentials",
    statuses: [undefined],
    mark: /^(authentication|permission)_(error|denied)$|api_key/i,
  },
  { failureClass: "bad_request", code: "bad_request", statuses: [undefined], mark: /^(invalid_request|bad_request)/i },
  { failureClass: "transient", code: "rate_limited", statuses: [undefined], mark: /rate_?limit|too_many_requests/i },
  { failureClass: "transient", code: "overloaded", statuses: [undefined], mark: /overloaded|unavailable/i },
];

const BY_STATUS: Readonly<Record<number, readonly [FailureClass, string]>> = {
  401: ["bad_credentials", "bad_credentials"],
  402: ["quota", "quota_exceeded"],
  403: ["bad_credentials", "bad_credentials"],
  404: ["unknown_model", "not_found"],
  408: ["transient", "timeout"],
  409: ["transient", "conflict"],
  413: ["context_too_long", "context_too_long"],
  425: ["transient", "too_early"],
  429: ["transient", "rate_limited"],
  503: ["transient", "overloaded"],
  504: ["transient", "timeout"],
  524: ["transient", "timeout"],
  529: ["transient", "overloaded"],
};

/**
 * Nothing was sent: nobody listens there, or the name is nobody's. workerd's words do not tell this apart from a connection
 * that broke later; on the edge such an origin comes as a status of its own (521 to 523, 530).
 */
const REFUSALS = /ECONNREFUSED|ENOTFOUND|EAI_AGAIN|EHOSTUNREACH|ENETUNREACH|connection refused|dns lookup failed/i;

/** The failure as the protocol's rules want it, in the provider's words, without keys. */
export function classify(failure: Failure, secrets: readonly string[]): ProviderError {
  const { words, marks, status } = readFailure(failure);
  const rule = SAID_RULES.find((one) => applies(one, status, words, marks));
  const [failureClass, code] = rule ? [rule.failureClass, rule.code] : byStatus(status);
  const message = toMessage(words === "" ? `HTTP ${status ?? "error"} without a message` : words, secrets);
  return new ProviderError(failureClass, code, message, {
    ...(status !== undefined && { status }),
    ...(failure.retryAfterMs !== undefined && { retryAfterMs: failure.retryAfterMs }),
  });
}

/**
 * Any other throw: our own ProviderErrors as they are, platform interruptions by their message, broken JSON, and what is left
 * is the network. Causes are read for their words and then dropped, since they hold requests with keys in them.
 */
export function toProviderError(error: unknown, secrets: readonly string[]): ProviderError {
  const chain = causesOf(error);
  const known = chain.find((one) => one instanceof ProviderError);
  if (known) return known;
  const words = toMessage([...new Set(chain.map((one) => one.message).filter(Boolean))].join(": ") || String(error), secrets);
  if (chain.some((one) => INTERRUPTIONS.test(one.message))) return new ProviderError("interrupted", "interrupted", words);
  if (chain.some((one) => one instanceof SyntaxError)) return new ProviderError("transient", "bad_response", words);
  const refused = chain.some((one) => REFUSALS.test(one.message) || REFUSALS.test(codeOf(one)));
  return new ProviderError("transient", refused ? "connection_refused" : "connection_failed", words);
}

const codeOf = (error: Error): string => ("code" in error && typeof error.code === "string" ? error.code : "");

function applies(rule: Rule, status: number | undefined, words: string, marks: readonly string[]): boolean {
  if (!rule.statuses.includes(status)) return false;
  const { mark } = rule;
  return (mark !== undefined && marks.some((one) => mark.test(one))) || (rule.words?.test(words) ?? false);
}

function byStatus(status: number | undefined): readonly [FailureClass, string] {
  if (status === undefined) return ["transient", "server_error"];
  const entry = BY_STATUS[status];
  if (entry) return entry;
  if (status >= 500) return ["transient", "server_error"];
  return ["bad_request", status < 400 ? "redirect_refused" : "bad_request"];
}

function readFailure({ status, body }: Failure): { words: string; marks: string[]; status: number | undefined } {
  const parsed = typeof body === "string" ? (parseJson(body) ?? body) : body;
  const outer = Array.isArray(parsed) ? parsed[0] : parsed;
  if (!isJsonObject(outer)) return { words: plainWords(outer), marks: [], status };
  const error = isJsonObject(outer["error"]) ? outer["error"] : outer;
  const marks = [error["code"], error["type"], error["status"]].filter((one) => typeof one === "string");
  return { words: wordsOf(error, outer), marks, status: status ?? statusIn(error["code"]) };
}

/** Inside a stream some servers send the HTTP status as the error's code. */
function statusIn(code: unknown): number | undefined {
  const value = typeof code === "string" ? Number(code) : code;
  return typeof value === "number" && value >= 400 && value < 600 ? value : undefined;
}

function wordsOf(error: Record<string, unknown>, outer: Record<string, unknown>): string {
  const candidates = [error["message"], outer["error"], outer["message"], outer["detail"], outer["error_description"]];
  const words = candidates.find((one) => typeof one === "string" && one !== "") ?? JSON.stringify(error);
  // A router's own words say only that somebody behind it failed; who failed and why is in `raw`.
  const metadata = error["metadata"];
  const raw = isJsonObject(metadata) && typeof metadata["raw"] === "string" ? metadata["raw"] : "";
  return raw === "" ? String(words) : `${words}: ${raw}`;
}

function plainWords(body: unknown): string {
  if (typeof body !== "string") return body === undefined || body === null ? "" : JSON.stringify(body);
  if (!/^\s*<(!doctype|html|head|body)/i.test(body)) return body.trim();
  const title = /<title[^>]*>([^<]*)/i.exec(body)?.[1]?.trim();
  return title ? `an HTML page: ${title}` : "an HTML page";
}

const DEEPEST_CAUSE = 6;

function causesOf(error: unknown): Error[] {
  const chain: Error[] = [];
  let current = error;
  while (current instanceof Error && chain.length < DEEPEST_CAUSE) {
    chain.push(current);
    current = current.cause;
  }
  return chain;
}
