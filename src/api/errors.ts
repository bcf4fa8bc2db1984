import type { Context } from "hono";
import type { Problem } from "../protocol/api";
import { UNAVAILABLE } from "../providers/platform-words";
import type { ApiEnv } from "./api-env";
import { redactShapes } from "../redaction/redact";
import { logError } from "../redaction/log";

/**
 * HTTP statuses of error codes. No other file has statuses of errors. A new code does not compile
 * until it has a status.
 */
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
  queued_not_found: 404,
  reference_not_found: 404,
  key_not_found: 404,
  secret_not_found: 404,
  config_not_found: 404,
  eval_not_found: 404,
  context_not_found: 404,
  file_not_found: 404,
  upload_not_found: 404,
  method_not_allowed: 405,
  turn_running: 409,
  queue_not_empty: 409,
  queue_full: 409,
  queued_turn_started: 409,
  nothing_to_summarise: 409,
  event_id_ahead: 409,
  context_changed: 409,
  context_conflicts: 409,
  too_many_keys: 409,
  too_many_secrets: 409,
  body_too_large: 413,
  context_too_large: 413,
  attachments_too_large: 413,
  unsupported_media_type: 415,
  request_invalid: 422,
  config_invalid: 422,
  overrides_invalid: 422,
  context_missing: 422,
  unknown_team: 422,
  secret_not_kept: 422,
  price_unknown: 422,
  budget_too_small: 422,
  question_too_long: 422,
  attachment_refused: 422,
  attachment_not_found: 422,
  idempotency_key_reused: 422,
  archive_invalid: 422,
  path_invalid: 422,
  blob_mismatch: 422,
  record_too_large: 422,
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

/** A finding about one place in the request, with the fields of `FaultSchema`. */
export type Fault = {
  pointer: string;
  detail: string;
  line?: number | null;
  column?: number | null;
  code?: string;
  need?: string;
};

/**
 * The refusal of a request. `message` is for people: what happened and what to do. `more`: headers
 * of the response, findings, and additional fields of the response body.
 */
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
  config_invalid: "The config cannot run",
  overrides_invalid: "The overrides do not fit the team",
  internal: "Internal error",
};

/** The response for an error. For unexpected errors it reveals nothing about the service. */
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
  return context.body(JSON.stringify(problem, redactKeys), status, {
    ...headers,
    "content-type": "application/problem+json",
  });
}

/** Replaces keys: an error may quote the request, and clients write errors to logs. */
const redactKeys = (_: string, value: unknown): unknown =>
  typeof value === "string" ? redactShapes(value) : value;

/**
 * Converts an unexpected error. A temporary error becomes `interrupted`: if a Durable Object stops
 * during a request, for example at a deploy, a retry starts it again.
 */
function toApiError(error: Error): ApiError {
  if (error instanceof ApiError) return error;
  if (!isTemporary(error)) return new ApiError("internal", "Internal error. Please retry.");
  const message =
    "The service was interrupted before it responded. Retry; work that the request starts may have started.";
  return new ApiError("interrupted", message, { headers: { "retry-after": "1" } });
}

/**
 * Whether a retry can succeed. The platform states this in the message, or by a property that it
 * sets on errors of Durable Objects.
 */
const isTemporary = (error: Error): boolean =>
  UNAVAILABLE.test(error.message) ||
  hasTrueProperty(error, "retryable") ||
  hasTrueProperty(error, "overloaded");

const hasTrueProperty = (error: Error, property: string): boolean =>
  Object.entries(error).some(([name, value]) => name === property && value === true);

/** Meaning of each code, for the documentation. */
export const CODE_MEANINGS: Record<ErrorCode, string> = {
  bad_json: "the body is not strict JSON",
  bad_id: "an id in the path is invalid",
  bad_event_id: "`Last-Event-ID` or `after` is not the number of an event",
  bad_query: "a query parameter has an invalid value",
  bad_idempotency_key: "`Idempotency-Key` is not 1 to 255 printable ASCII characters",
  upload_broken: "the body ended too early, or arrived too slowly",
  loop_detected: "the request was sent by a team of a massgen-edge service and would loop",
  access_closed: "the service is not set up",
  unauthorized: "the key or ticket is missing or invalid",
  spend_exceeded:
    "the daily budget of the tenant is exhausted; a new day starts (UTC) in `retry-after` seconds",
  insufficient_scope: "the key lacks the required scope",
  cross_site_refused: "the request comes from a page of another site",
  not_found: "there is no such route",
  session_not_found: "there is no such session",
  turn_not_found: "the session has no such turn",
  answer_not_found: "the turn has no such answer",
  queued_not_found: "the session's queue has no such request, and none has started a turn",
  reference_not_found:
    "the session has no such turn or answer; `references` has those that exist, `references_more` the number that is not listed",
  key_not_found: "there is no such key",
  secret_not_found: "there is no such secret",
  too_many_secrets: "the tenant has the maximum number of secrets; delete one first",
  secret_not_kept: "the service has no key to encrypt secrets; its operator sets SEALING_KEYS",
  too_many_keys: "the tenant has the maximum number of keys; revoke one first",
  config_not_found: "there is no included team of this name",
  context_not_found: "there is no such context, or its version no longer exists",
  file_not_found: "there is no file at this path",
  upload_not_found: "there is no such open upload",
  context_changed: "another version of the context is the newest now",
  context_conflicts:
    "the parent turn and a newer version of a context changed the same files; `conflicts` has their paths, `conflicts_more` the number that is not listed",
  record_too_large: "the record of the version (`includes`) is larger than 256 KiB",
  context_too_large: "the context exceeds a limit: bytes, files or expansion",
  archive_invalid: "the archive is invalid or ambiguous",
  path_invalid: "a path in the upload is invalid",
  blob_mismatch: "the bytes do not match the hash in the manifest",
  eval_not_found: "there is no such suite, or no such run of it",
  method_not_allowed: "the route does not support the method; `allow` has those it supports",
  turn_running: "a turn is running; `turn` is its number",
  queue_not_empty:
    "requests that were queued start first; `queued` is their number. Send `on_busy` to wait with them",
  queue_full: "the maximum number of requests, `limit`, is queued",
  queued_turn_started: "the request has left the queue and started a turn; `turn` is its number",
  nothing_to_summarise: "the conversation has no turns, or a summary covers all of them already",
  event_id_ahead: "the session has no event with this number yet",
  body_too_large: "the body is too large",
  unsupported_media_type: "the type of the body is not supported",
  request_invalid: "the body does not match its schema; `errors` has the places",
  config_invalid: "the config cannot run; `errors` has the places",
  overrides_invalid: "the overrides do not fit the turn's team; `errors` has the places",
  context_missing:
    "contexts of the config or of the request are not uploaded; `contexts` has their names",
  unknown_team: "there is no included team of this name",
  price_unknown: "a cost limit needs models with a known price",
  budget_too_small:
    "the budget is below the cheapest first call; `enough` is the recommended minimum",
  question_too_long:
    "the question fits the window of no model of the team; `tokens` is its estimated length, `window` the largest window",
  attachment_refused: "a model of the team does not support an image or file; `errors` has each",
  attachments_too_large: "the images and files of the question exceed a limit",
  attachment_not_found: "no earlier turn of the session has an attachment with this hash",
  idempotency_key_reused: "the idempotency key was used with another body",
  rate_limited:
    "too many requests with this key or with the keys of the tenant; retry after `retry-after` seconds",
  quota_exceeded: "the tenant runs the maximum number of turns; retry after `retry-after` seconds",
  too_many_readers: "too many readers of the session's streams; retry after `retry-after` seconds",
  storage_exceeded:
    "the tenant's storage is full; erase sessions or contexts, or have the limit raised",
  internal: "the service failed; please retry",
  uploads_busy: "too many uploads are in progress; retry after `retry-after` seconds",
  interrupted: "the service is restarting; retry after `retry-after` seconds",
};
