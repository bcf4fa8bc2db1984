import type { FailureClass } from "../protocol/events";

/**
 * Rules that map provider errors to failure classes. The first rule that matches applies. The body
 * takes precedence over the status, because compatible servers use statuses differently. For each
 * rule, tests/providers/error-bodies.jsonl has the error bodies of several servers.
 */

/** An error inside a stream has no status. */
const IN_STREAM = undefined;

export type Rule = {
  failureClass: FailureClass;
  code: string;
  /** Statuses that the rule applies to; `undefined` means an error inside a stream. */
  statuses: readonly (number | undefined)[];
  /** Tested against the error's `code`, `type`, `status` and the reasons in its details. */
  mark?: RegExp;
  /** Tested against the text of the error. The rule matches if `mark` or `words` matches. */
  words?: RegExp;
};

const anyOf = (...parts: readonly string[]): RegExp => new RegExp(parts.join("|"), "i");

/**
 * Matches up to 120 characters of one sentence. A dot that is followed by a character, as in a
 * model name, does not end the sentence.
 */
const WITHIN = String.raw`(?:[^.]|\.\S){0,120}`;

/**
 * The credit or the daily quota is exhausted, or there is no quota at all. A retry after seconds
 * does not help.
 */
const QUOTA: readonly Rule[] = [
  // This is a limit per minute, although its code names a quota.
  {
    failureClass: "transient",
    code: "rate_limited",
    statuses: [429, IN_STREAM],
    words: /allocated quota exceeded|per minute limit exceeded/i,
  },
  {
    failureClass: "quota",
    code: "quota_exceeded",
    statuses: [400, 402, 403, 412, 429, IN_STREAM],
    mark: anyOf(
      "^insufficient_(user_)?(quota|balance|credits?)$",
      "^billing_(hard_limit_reached|not_active|error)$",
      "^exceeded_current_quota_error$",
      "^payment_required$",
      "^arrearage$",
      String.raw`^allocationquota\.`,
    ),
    words: anyOf(
      "insufficient (account )?(balance|credits?|funds|quota)",
      "credit balance is too low",
      "(run|ran) out of credits",
      "requires? more credits|more credits are required|doesn'?t have any credits|used all available credits|credits expired",
      "spending limit|key limit exceeded|usage limit reached|api usage limits|daily (call|request|usage) limit|(week|month)ly limit exhausted",
      "account is in good standing",
      "free (tier|quota)[^.]{0,60}(exhausted|used up|expired)|used up your daily free allocation",
      "余额不足|欠费",
    ),
  },
  {
    failureClass: "quota",
    code: "quota_exceeded",
    statuses: [429, IN_STREAM],
    mark: /PerDay/,
    // Text that says when to retry is excluded: such a daily limit refills continuously.
    words: /per[- ]day\b(?!.*(try again|retry) (in|after))|\blimit: 0(?![\d.])/i,
  },
];

/**
 * The request is larger than the limit per minute or the limit of the body. Only a smaller request
 * helps.
 */
const TOO_LARGE: Rule = {
  failureClass: "context_too_long",
  code: "request_too_large",
  statuses: [413, 429, IN_STREAM],
  mark: /^request_too_large$/i,
  words: /request too large|extra usage is required for long context/i,
};

/**
 * The model wrote a tool call or JSON that its server cannot parse. A retry produces another reply.
 */
const INVALID_MODEL_OUTPUT: Rule = {
  failureClass: "transient",
  code: "bad_response",
  statuses: [400, 422, IN_STREAM],
  mark: /^(tool_use_failed|json_validate_failed|output_parse_failed)$/i,
};

/**
 * The provider refuses the location or network of the request, or suspects a robot. The key is not
 * the reason.
 */
const LOCATION: readonly Rule[] = [
  {
    failureClass: "bad_request",
    code: "access_blocked",
    statuses: [400, 403, 451, IN_STREAM],
    mark: /^unsupported_(country|region)/i,
    words: anyOf(
      "(country|region|territory|location)[^.]{0,40} not (supported|available|allowed)",
      "not (supported|available) in your (country|region)",
      "request not allowed|check your network settings|firewall rules",
    ),
  },
  { failureClass: "bad_request", code: "access_blocked", statuses: [403], words: /^an HTML page/ },
];

const CREDENTIALS: Rule = {
  failureClass: "bad_credentials",
  code: "bad_credentials",
  statuses: [400, IN_STREAM],
  mark: /^(authentication|permission|invalid_authentication)_(error|denied)$|^(unauthenticated|forbidden)$|api_?key/i,
  words: anyOf(
    "(incorrect|invalid|wrong|missing|expired) api[ -]key",
    "api[ -]key (is )?(not valid|not found|invalid|expired|missing|incorrect)",
    "(organization|account) has been disabled",
  ),
};

/**
 * The request refers to a part of the conversation that the provider had stored and that has
 * expired. A new round does not refer to it.
 */
const EXPIRED_ITEM: Rule = {
  failureClass: "bad_request",
  code: "not_kept",
  statuses: [400, 404, IN_STREAM],
  mark: /^(previous_response|item)_not_found$/i,
  words: /\b(item|response|container) with id\b.{0,120} not found|container (is|has) expired/i,
};

const CONTENT_FILTER: Rule = {
  failureClass: "content_filter",
  code: "content_filter",
  statuses: [400, 403, 422, 451, IN_STREAM],
  mark: /content_?(filter|policy)|responsibleaipolicy|data_?inspection|moderation|policy_violation|^(bio|cyber)_policy$/i,
  words: anyOf(
    "content (management )?policy|content[_ ]filter|safety (system|policy)",
    "(inappropriate|harmful|sensitive) content|content exists risk|敏感内容",
    "(input|prompt) was flagged|access to this content for safety reasons|violat(es|ing)[^.]{0,20} usage (guidelines|polic)",
  ),
};

const CONTEXT_TOO_LONG: Rule = {
  failureClass: "context_too_long",
  code: "context_too_long",
  statuses: [400, 413, 422, 500, IN_STREAM],
  mark: /^(context_(length|window)_exceeded|context_exceeded|exceed_context_size_error|string_above_max_length|input_too_large)$/i,
  words: anyOf(
    "maximum (context|prompt) length|context (length|window|size|limit)",
    "(prompt|input|request|message)s? (is|are|was) too (long|large)|input context is too long|prompt exceeds max length|prompt token count",
    "too many (input |prompt )?tokens|token count[^.]{0,40} exceeds|exceeded model token limit|token length exceed",
    "reduce the length of the (messages|prompt|input)|range of input length",
    "inputs`? tokens \\+|max_tokens must be at least 1, got -|input_too_large",
    "超长|超过.{0,20}(长度|上下文)",
  ),
};

const UNKNOWN_MODEL: Rule = {
  failureClass: "unknown_model",
  code: "unknown_model",
  statuses: [400, 403, 404, 410, 422, IN_STREAM],
  mark: /^(model_not_found|modelnotfound|invalid_model|model_not_available|unknown_model|deploymentnotfound|model_permission_blocked\w*)$/i,
  words: anyOf(
    String.raw`\bmodels?\b${WITHIN}\b(does not exist|not exist|not found|is not (a )?(valid|supported|available)|decommissioned|end of life)`,
    "(unknown|invalid|no such) model|not a valid model|not found the model|unable to access model|no models loaded",
    "no endpoints found|no allowed providers are available|function '[^']{0,80}': not found",
    String.raw`^model: \S+$`,
    "模型不存在",
  ),
};

/**
 * Rules for errors inside a stream, where the HTTP status is always 200. So only the marks and the
 * text are tested.
 */
const IN_STREAM_RULES: readonly Rule[] = [
  {
    failureClass: "unknown_model",
    code: "not_found",
    statuses: [IN_STREAM],
    mark: /^not_?found(_?error)?$/i,
  },
  {
    failureClass: "bad_request",
    code: "bad_request",
    statuses: [IN_STREAM],
    mark: /^(invalid_(request|argument|prompt|image|base64)|bad_?request|failed_precondition|unsupported_|data_residency_|(empty_)?image_)/i,
  },
  {
    failureClass: "transient",
    code: "rate_limited",
    statuses: [IN_STREAM],
    mark: /rate_?limit|too_many_requests|resource_exhausted|throttl/i,
    words: /rate limit|too many requests/i,
  },
  {
    failureClass: "transient",
    code: "timeout",
    statuses: [IN_STREAM],
    mark: /timeout|deadline_exceeded/i,
  },
  {
    failureClass: "transient",
    code: "overloaded",
    statuses: [IN_STREAM],
    mark: /overloaded|unavailable/i,
    words: /overloaded|at capacity/i,
  },
];

export const CONTENT_RULES: readonly Rule[] = [
  ...QUOTA,
  TOO_LARGE,
  INVALID_MODEL_OUTPUT,
  ...LOCATION,
  CREDENTIALS,
  EXPIRED_ITEM,
  CONTENT_FILTER,
  CONTEXT_TOO_LONG,
  UNKNOWN_MODEL,
  ...IN_STREAM_RULES,
];

const BY_STATUS: Readonly<Record<number, readonly [FailureClass, string]>> = {
  401: ["bad_credentials", "bad_credentials"],
  402: ["quota", "quota_exceeded"],
  403: ["bad_credentials", "bad_credentials"],
  404: ["unknown_model", "not_found"],
  405: ["unknown_model", "not_found"],
  408: ["transient", "timeout"],
  409: ["transient", "conflict"],
  410: ["unknown_model", "not_found"],
  413: ["context_too_long", "request_too_large"],
  424: ["transient", "server_error"],
  425: ["transient", "too_early"],
  429: ["transient", "rate_limited"],
  498: ["transient", "overloaded"],
  499: ["transient", "cut_off"],
  501: ["bad_request", "not_implemented"],
  503: ["transient", "overloaded"],
  504: ["transient", "timeout"],
  524: ["transient", "timeout"],
  529: ["transient", "overloaded"],
};

/** Class and code by status, for an error whose body matches no rule. */
export function byStatus(status: number | undefined): readonly [FailureClass, string] {
  if (status === undefined) return ["transient", "server_error"];
  const entry = BY_STATUS[status];
  if (entry) return entry;
  if (status >= 500) return ["transient", "server_error"];
  return ["bad_request", status < 400 ? "redirect_refused" : "bad_request"];
}

/** Remedies by error code, shown to users before the provider's text. */
export const HINTS: Readonly<Record<string, string>> = {
  not_found: "The endpoint does not exist: check base_url and model.",
  access_blocked: "The provider refuses requests from the location or network of this service.",
  redirect_refused:
    "The endpoint redirects, and redirects are not followed: give its final address as base_url.",
};
