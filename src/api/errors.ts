import type { Context } from "hono";
import type { Problem } from "../protocol/api";
import { UNAVAILABLE } from "../providers/platform-words";
import type { ApiEnv } from "./api-env";
import { redactShapes } from "../redaction/redact";
import { logError } from "../redaction/log";

/** The only place that knows HTTP statuses. A new code does not compile until it has one. */
const HTTP_STATUS = {
  bad_json: 400,
  bad_id: 400,
  bad_event_id: 400,
  bad_query: 400,
  bad_idempotency_key: 400,
  upload_broken: 400,
  access_closed: 401,
  loop_detected: 508,
  unauthorized: 401,
  spend_exceeded: 402,
  cross_site_refused: 403,
  insufficient_scope: 403,
  not_found: 404,
  session_not_found: 404,
  turn_not_found: 404,
  answer_not_found: 404,
  key_not_found: 404,
  secret_not_found: 404,
  config_not_found: 404,
  eval_not_found: 404,
  context_not_found: 404,
  file_not_found: 404,
  upload_not_found: 404,
  method_not_allowed: 405,
  turn_running: 409,
  event_id_ahead: 409,
  context_changed: 409,
  too_many_keys: 409,
  too_many_secrets: 409,
  body_too_large: 413,
  context_too_large: 413,
  attachments_too_large: 413,
  unsupported_media_type: 415,
  request_invalid: 422,
  config_invalid: 422,
  context_missing: 422,
  unknown_team: 422,
  secret_not_kept: 422,
  price_unknown: 422,
  budget_too_small: 422,
  attachment_refused: 422,
  attachment_not_found: 422,
  idempotency_key_reused: 422,
  archive_invalid: 422,
  path_invalid: 422,
  blob_mismatch: 422,
  too_many_readers: 429,
  rate_limited: 429,
  quota_exceeded: 429,
  internal: 500,
  interrupted: 503,
  storage_exceeded: 507,
  uploads_busy: 503,
} as const;

export type ErrorCode = keyof typeof HTTP_STATUS;

/** The HTTP status of a code. */
export const statusOf = (code: ErrorCode): number => HTTP_STATUS[code];

/** One place in what the client sent, as RFC 9457 problems list them. */
export type Fault = {
  pointer: string;
  detail: string;
  line?: number | null;
  column?: number | null;
  code?: string;
  need?: string;
};

/** A refusal: `message` is for people, says what went wrong and what to do. */
export class ApiError extends Error {
  constructor(
    readonly code: ErrorCode,
    message: string,
    readonly more: {
      errors?: readonly Fault[];
      headers?: Record<string, string>;
      [member: string]: unknown;
    } = {},
  ) {
    super(message);
    this.name = "ApiError";
  }
}

const TITLES: Partial<Record<ErrorCode, string>> = {
  config_invalid: "The config cannot be run",
  internal: "Internal fault",
};

/** The answer to any error: what we expected keeps its words, anything else says nothing of the inside. */
export function toProblem(error: Error, context: Context<ApiEnv>): Response {
  const known = toApiError(error);
  if (!(error instanceof ApiError) || known.code === "internal")
    logError("request failed", known.code, error);
  const { headers = {}, errors, ...members } = known.more;
  const status = HTTP_STATUS[known.code];
  const problem: Problem = {
    ...members,
    type: "about:blank",
    title: TITLES[known.code] ?? known.code.replaceAll("_", " "),
    status,
    detail: known.message,
    code: known.code,
    request_id: context.get("requestId") ?? crypto.randomUUID(),
    ...(errors ? { errors: [...errors] } : {}),
  };
  return context.body(JSON.stringify(problem, withoutKeys), status, {
    ...headers,
    "content-type": "application/problem+json",
  });
}

/** What clients wrote may be told back to them in an error, but no key: errors end up in logs. */
const withoutKeys = (_: string, value: unknown): unknown =>
  typeof value === "string" ? redactShapes(value) : value;

/** A session whose object is taken down in the middle of a request, by a deploy for one, is back at the next. */
function toApiError(error: Error): ApiError {
  if (error instanceof ApiError) return error;
  if (!isPassing(error))
    return new ApiError("internal", "The service met a fault of its own. Try again.");
  const message =
    "The service was interrupted before it answered. Ask again; what this request was to start may have begun.";
  return new ApiError("interrupted", message, { headers: { "retry-after": "1" } });
}

/** By the platform's words, or by the marks it puts on what it throws to who asks an object. */
const isPassing = (error: Error): boolean =>
  UNAVAILABLE.test(error.message) || isMarked(error, "retryable") || isMarked(error, "overloaded");

const isMarked = (error: Error, mark: string): boolean =>
  Object.entries(error).some(([name, value]) => name === mark && value === true);

/** What each code says, for the documentation. */
export const CODE_MEANINGS: Record<ErrorCode, string> = {
  bad_json: "the body is not strict JSON",
  bad_id: "an id in the address cannot be one",
  bad_event_id: "`Last-Event-ID` or `after` is not the number of an event",
  bad_query: "a query parameter has no such value",
  bad_idempotency_key: "`Idempotency-Key` is not 1 to 255 printable ASCII characters",
  upload_broken: "the body broke off before its end",
  loop_detected: "the request was sent by a team of a service of this kind, and would loop",
  access_closed: "the service takes no requests from here",
  unauthorized: "the key, or the ticket, is missing or opens nothing",
  spend_exceeded:
    "the tenant's money of the day is spent or reserved; `retry-after` is the end of the day (UTC)",
  insufficient_scope: "the key may not do this",
  cross_site_refused: "the request comes from a page of another site",
  not_found: "there is nothing at this address",
  session_not_found: "there is no such session",
  turn_not_found: "the session has no such turn",
  answer_not_found: "the turn has no such answer",
  key_not_found: "there is no such key",
  secret_not_found: "there is no such secret",
  too_many_secrets: "the tenant has as many secrets as it may have; delete one first",
  secret_not_kept: "the service has nothing to seal secrets with; its operator sets SEALING_KEYS",
  too_many_keys: "the tenant has as many keys as it may have; revoke one first",
  config_not_found: "no team of that name is on offer",
  context_not_found: "there is no such context, or no such version of it any more",
  file_not_found: "there is no file of that path",
  upload_not_found: "no such upload is open",
  context_changed: "another version of the context has become the newest",
  context_too_large: "more bytes, files or expansion than a context may have",
  archive_invalid: "the archive cannot be read, or could be read in two ways",
  path_invalid: "a path cannot stand in a tree of files",
  blob_mismatch: "the bytes are not those that the manifest asks for",
  eval_not_found: "there is no such suite, or no such run of it",
  method_not_allowed: "the address takes other methods, named in `allow`",
  turn_running: "a turn is running; `turn` is its number",
  event_id_ahead: "the session has no event of that number yet",
  body_too_large: "the body is too large",
  unsupported_media_type: "the body's type is not taken",
  request_invalid: "the body breaks its schema; `errors` name the places",
  config_invalid: "the config cannot run; `errors` name the places",
  context_missing: "the team is given contexts that are not uploaded; `contexts` names them",
  unknown_team: "no team of that name is on offer",
  price_unknown: "a cap in dollars cannot hold for models without a known price",
  budget_too_small:
    "the budget is below the cheapest first call; `enough` is the least sensible one",
  attachment_refused: "an agent's model does not take an image or a file; `errors` name each",
  attachments_too_large: "more images and files than a question may bring, or more bytes of them",
  attachment_not_found: "no earlier turn of the session brought anything with this hash",
  idempotency_key_reused: "the key came with another body before",
  rate_limited:
    "too many requests with this key, or with all keys of the tenant together; ask again after `retry-after`",
  quota_exceeded: "as many turns run as the tenant may run at once; ask again after `retry-after`",
  too_many_readers: "too many follow this session's streams; ask again after `retry-after`",
  storage_exceeded:
    "the tenant stores as much as it may; erase sessions or contexts, or have the limit raised",
  internal: "a fault of the service's own",
  uploads_busy:
    "as many uploads are taken in as there is room for; send it again after `retry-after`",
  interrupted: "a deploy or a move in the middle; ask again after `retry-after`",
};
