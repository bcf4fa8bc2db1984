import { readError } from "./error-body";
import { byStatus, HINTS, type Rule, CONTENT_RULES } from "./error-rules";
import { INTERRUPTIONS } from "./platform-words";
import { ProviderError } from "./provider";
import { redact } from "../redaction/redact";
import { MAX_MESSAGE_CHARS } from "./call-limits";

/** Classifies provider errors by the rules in error-rules.ts. */

/** The facts of a failed call. */
type Failure = {
  /** `undefined` for an error inside a stream. */
  status: number | undefined;
  /** Text or parsed JSON, as received. */
  body: unknown;
  /** Delay that the reply's headers ask for. */
  retryAfterMs?: number | undefined;
  /** Time until the exhausted limits in the headers reset. Used only if no delay is given. */
  limitResetMs?: number | undefined;
};

/**
 * Messages of runtimes for a refused connection or an unknown host name. Shown to users only:
 * workerd uses the same text for a connection that broke later, so they do not prove that nothing
 * was sent.
 */
const REFUSALS =
  /ECONNREFUSED|ENOTFOUND|EAI_AGAIN|EHOSTUNREACH|ENETUNREACH|connection refused|dns lookup failed/i;

/** Classifies a failure. The message is the provider's text with secrets removed. */
export function classify(failure: Failure, secrets: readonly string[]): ProviderError {
  const content = readError(failure.body);
  const status = failure.status ?? content.status;
  const rule = CONTENT_RULES.find((one) => applies(one, status, content.words, content.marks));
  const [failureClass, code] = rule ? [rule.failureClass, rule.code] : byStatus(status);
  const words =
    content.words === "" ? `HTTP ${status ?? "error"} without a message` : content.words;
  const hint = HINTS[code];
  const waits = failureClass === "transient" ? (content.waitMs ?? failure.limitResetMs) : undefined;
  const retryAfterMs = failure.retryAfterMs ?? waits;
  return new ProviderError(
    failureClass,
    code,
    toMessage(hint === undefined ? words : `${hint} (${words})`, secrets),
    {
      ...(status !== undefined && { status }),
      ...(retryAfterMs !== undefined && { retryAfterMs }),
    },
  );
}

function applies(
  rule: Rule,
  status: number | undefined,
  words: string,
  marks: readonly string[],
): boolean {
  if (!rule.statuses.includes(status)) return false;
  const { mark } = rule;
  return (
    (mark !== undefined && marks.some((one) => mark.test(one))) ||
    (rule.words?.test(words) ?? false)
  );
}

/**
 * Converts any other thrown value: a ProviderError is kept, a platform interruption is recognized
 * by its message, then invalid JSON; the rest are network errors. Causes are read for their
 * messages and dropped, because they reference requests that contain keys.
 */
export function toProviderError(error: unknown, secrets: readonly string[]): ProviderError {
  const chain = causesOf(error);
  const known = chain.find((one) => one instanceof ProviderError);
  if (known) return known;
  const content = wordsOf(chain) || String(error);
  const words = toMessage(content, secrets);
  if (chain.some((one) => INTERRUPTIONS.test(one.message)))
    return new ProviderError("interrupted", "interrupted", words);
  if (chain.some((one) => one instanceof SyntaxError)) {
    const message = toMessage(
      `The provider sent an event with invalid JSON (${content.replace(QUOTED_JSON, "")})`,
      secrets,
    );
    return new ProviderError("transient", "bad_response", message);
  }
  const refused = chain.some((one) => REFUSALS.test(one.message) || REFUSALS.test(codeOf(one)));
  return new ProviderError(
    "transient",
    refused ? "connection_refused" : "connection_failed",
    words,
  );
}

/**
 * The part of a JSON parser's message that quotes the input. It could contain a fragment of a key,
 * which redaction would miss.
 */
const QUOTED_JSON = /, (?:\.\.\.)?"[\s\S]*|"[\s\S]*(?=is not valid JSON)/;

/** Distinct messages of the chain, without the full stop that SDKs add. */
const wordsOf = (chain: readonly Error[]): string =>
  [...new Set(chain.map(({ message }) => message.replace(/\.$/, "")).filter(Boolean))].join(": ");

const codeOf = (error: Error): string =>
  "code" in error && typeof error.code === "string" ? error.code : "";

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

/**
 * A provider's text as a failure's message: one line, without control characters that a terminal
 * would execute. Redacts before cutting, so that no part of a key remains at the end.
 */
export function toMessage(words: string, secrets: readonly string[]): string {
  const clean = redact(words, secrets)
    .replace(/[\s\p{Cc}]+/gu, " ")
    .trim();
  return clean.length <= MAX_MESSAGE_CHARS ? clean : `${clean.slice(0, MAX_MESSAGE_CHARS - 1)}…`;
}
