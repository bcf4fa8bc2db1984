import { readError } from "./error-body";
import { byStatus, HINTS, type Rule, SAID_RULES } from "./error-rules";
import { INTERRUPTIONS } from "./platform-words";
import { ProviderError } from "./provider";
import { redact } from "../redaction/redact";
import { MAX_MESSAGE_CHARS } from "./limits";

/** From what a provider said to the failure classes of the protocol. The rules are data, in error-rules.ts. */

/** What is known of a failed call. */
type Failure = {
  /** Undefined for an error inside a stream. */
  status: number | undefined;
  /** Text or parsed JSON, as it came. */
  body: unknown;
  /** What the reply's headers ask to wait. */
  retryAfterMs?: number | undefined;
  /** When the limits that its headers call used up begin anew; less telling than any wait asked for. */
  limitResetMs?: number | undefined;
};

/**
 * Words of runtimes for a refused connection or an unknown name. They are for people: workerd says the same of a connection that
 * broke later, so they prove nothing about what left.
 */
const REFUSALS =
  /ECONNREFUSED|ENOTFOUND|EAI_AGAIN|EHOSTUNREACH|ENETUNREACH|connection refused|dns lookup failed/i;

/** The failure as the protocol's rules want it, in the provider's words, without keys. */
export function classify(failure: Failure, secrets: readonly string[]): ProviderError {
  const said = readError(failure.body);
  const status = failure.status ?? said.status;
  const rule = SAID_RULES.find((one) => applies(one, status, said.words, said.marks));
  const [failureClass, code] = rule ? [rule.failureClass, rule.code] : byStatus(status);
  const words = said.words === "" ? `HTTP ${status ?? "error"} without a message` : said.words;
  const hint = HINTS[code];
  const waits = failureClass === "transient" ? (said.waitMs ?? failure.limitResetMs) : undefined;
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
 * Any other throw: our own ProviderErrors as they are, platform interruptions by their message, broken JSON, and what is left
 * is the network. Causes are read for their words and then dropped, since they hold requests with keys in them.
 */
export function toProviderError(error: unknown, secrets: readonly string[]): ProviderError {
  const chain = causesOf(error);
  const known = chain.find((one) => one instanceof ProviderError);
  if (known) return known;
  const said = wordsOf(chain) || String(error);
  const words = toMessage(said, secrets);
  if (chain.some((one) => INTERRUPTIONS.test(one.message)))
    return new ProviderError("interrupted", "interrupted", words);
  if (chain.some((one) => one instanceof SyntaxError)) {
    const message = toMessage(
      `The provider sent an event that is not whole JSON (${said.replace(QUOTED_JSON, "")})`,
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

/** What the parser repeats of the text: a piece of a key in it would be known by nothing. */
const QUOTED_JSON = /, (?:\.\.\.)?"[\s\S]*|"[\s\S]*(?=is not valid JSON)/;

/** What each of them says, once; the SDKs end theirs with a full stop. */
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
 * A provider's words as a failure's message: one line, without the control characters that a terminal would obey. Redacts before
 * it cuts, so that no half of a key is left at the end.
 */
export function toMessage(words: string, secrets: readonly string[]): string {
  const clean = redact(words, secrets)
    .replace(/[\s\p{Cc}]+/gu, " ")
    .trim();
  return clean.length <= MAX_MESSAGE_CHARS ? clean : `${clean.slice(0, MAX_MESSAGE_CHARS - 1)}…`;
}
