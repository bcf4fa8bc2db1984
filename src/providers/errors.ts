import { readError } from "./error-body";
import { byStatus, HINTS, type Rule, CONTENT_RULES } from "./error-rules";
import { INTERRUPTIONS } from "./platform-words";
import { ProviderError } from "./provider";
import { redact } from "../redaction/redact";
import { MAX_MESSAGE_CHARS } from "./call-limits";

/** Classifies provider errors by the rules in error-rules.ts. */

/** Facts about a failed call. */
type Failure = {
  /** `undefined` for an error inside a stream. */
  status: number | undefined;
  /** Text or parsed JSON, as received. */
  body: unknown;
  /** Delay before a retry, in ms, from the headers of the reply. */
  retryAfterMs?: number | undefined;
  /**
   * Time in ms until the exhausted rate limits in the headers reset. Used only if neither headers
   * nor body contain a delay.
   */
  limitResetMs?: number | undefined;
};

/**
 * Messages of runtimes for a refused connection or an unknown host name. They affect only the text
 * for users. They do not prove that nothing was sent: workerd uses the same text for a connection
 * that failed later.
 */
const REFUSALS =
  /ECONNREFUSED|ENOTFOUND|EAI_AGAIN|EHOSTUNREACH|ENETUNREACH|connection refused|dns lookup failed/i;

/** Classifies a failure. The message is the provider's text with secrets removed. */
export function classify(failure: Failure, secrets: readonly string[]): ProviderError {
  const content = readError(failure.body);
  const status = failure.status ?? content.status;
  const rule = CONTENT_RULES.find((candidate) =>
    applies(candidate, status, content.words, content.marks),
  );
  const [failureClass, code] = rule ? [rule.failureClass, rule.code] : byStatus(status);
  const words =
    content.words.trim() === "" ? `HTTP ${status ?? "error"} without a message` : content.words;
  const hint = HINTS[code];
  const transientDelayMs =
    failureClass === "transient" ? (content.waitMs ?? failure.limitResetMs) : undefined;
  const retryAfterMs = failure.retryAfterMs ?? transientDelayMs;
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
    (mark !== undefined && marks.some((value) => mark.test(value))) ||
    (rule.words?.test(words) ?? false)
  );
}

/**
 * Converts any other thrown value. A ProviderError is kept. An interruption by the platform is
 * recognized by its message. A SyntaxError means invalid JSON. All other values count as network
 * errors. Only the messages of causes are kept: the causes themselves refer to requests that
 * contain keys.
 */
export function toProviderError(error: unknown, secrets: readonly string[]): ProviderError {
  const chain = causesOf(error);
  const known = chain.find((link) => link instanceof ProviderError);
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
 * The part of the message of a JSON parser that quotes its input. A quoted fragment of a key would
 * not be recognized by the redaction.
 */
const QUOTED_JSON = /, (?:\.\.\.)?"[\s\S]*|"[\s\S]*(?=is not valid JSON)/;

/** The distinct messages of the errors, without the full stop that SDKs add. */
const wordsOf = (chain: readonly Error[]): string =>
  [...new Set(chain.map(({ message }) => message.replace(/\.$/, "")).filter(Boolean))].join(": ");

const codeOf = (error: Error): string =>
  "code" in error && typeof error.code === "string" ? error.code : "";

const MAX_CAUSES = 6;

function causesOf(error: unknown): Error[] {
  const chain: Error[] = [];
  let current = error;
  while (current instanceof Error && chain.length < MAX_CAUSES) {
    chain.push(current);
    current = current.cause;
  }
  return chain;
}

/**
 * The text of a provider as the message of a failure: one line, without control characters that a
 * terminal would execute. The text is redacted before it is cut. Otherwise a part of a key could
 * remain at its end.
 */
export function toMessage(words: string, secrets: readonly string[]): string {
  const clean = redact(words, secrets)
    .replace(/[\s\p{Cc}]+/gu, " ")
    .trim();
  return clean.length <= MAX_MESSAGE_CHARS ? clean : `${clean.slice(0, MAX_MESSAGE_CHARS - 1)}…`;
}
