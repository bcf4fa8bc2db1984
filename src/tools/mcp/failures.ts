import {
  OAuthError,
  ProtocolError,
  SdkError,
  SdkErrorCode,
  SdkHttpError,
  UnauthorizedError,
} from "@modelcontextprotocol/client";
import { mayHaveActed } from "../http/response";
import { isAddressRefused } from "../refused-address";
import { ResponseRefusedError, StreamEndedError } from "./bounded-fetch";
import { MissingSecretError } from "./environment";
import { MissingConsentError } from "./oauth";
import { MAX_TRIES, RETRY_MS } from "./server-limits";
import { shown } from "./shown-text";

/** A failed request to a server. */
export type McpFailure = {
  /**
   * Completes "The tool server …". Contains the server's own text, uncut, with secrets still in it.
   */
  message: string;
  /** Whether the server may have processed the request. */
  reached: boolean;
  /** Whether a retry is likely to succeed soon. */
  transient: boolean;
  /** Whether it indicates a server that is down or broken. */
  fault: boolean;
  /** Whether the server has lost the session; then nothing was done. */
  forgotten: boolean;
};

const failure = (
  message: string,
  facts: Partial<Omit<McpFailure, "message">> = {},
): McpFailure => ({
  message: shown(message),
  reached: false,
  transient: false,
  fault: false,
  forgotten: false,
  ...facts,
});

const LATE = { reached: true, transient: true, fault: true };

/** The reason of `AbortSignal.timeout`. */
export const isTimeout = (error: unknown): boolean =>
  error instanceof DOMException && error.name === "TimeoutError";

/**
 * Classifies any error that a client throws. `hadSession`: whether the connection had a session.
 * Pure.
 */
export function toFailure(error: unknown, hadSession: boolean): McpFailure {
  if (error instanceof ResponseRefusedError)
    return failure(error.message, { reached: error.reached, fault: true });
  if (error instanceof StreamEndedError)
    return failure(error.message, { reached: true, transient: true, fault: true });
  if (error instanceof ProtocolError) return failure(`refused the call: ${error.message}`);
  if (error instanceof SdkHttpError) return ofStatus(error, hadSession);
  if (error instanceof UnauthorizedError || error instanceof OAuthError)
    return failure(`refused us: ${error.message || error.name}`);
  if (error instanceof MissingConsentError || error instanceof MissingSecretError)
    return failure(`cannot be asked: ${error.message}`);
  if (error instanceof SdkError) return ofCode(error);
  if (isTimeout(error)) return failure("did not answer in time", LATE);
  const message = error instanceof Error ? error.message : String(error);
  if (
    isAddressRefused(error) ||
    (error instanceof Error && UNTRUSTED.test(`${error.name} ${error.constructor.name}`))
  )
    return failure(`may not be asked: ${message}`);
  const cause =
    error instanceof Error && error.cause instanceof Error ? ` (${error.cause.message})` : "";
  const neverSent =
    /ECONNREFUSED|connection refused|ENOTFOUND|getaddrinfo|DNS|could not be looked up/i.test(
      message + cause,
    );
  return failure(`could not be reached: ${message}${cause}`, {
    reached: !neverSent,
    transient: true,
    fault: true,
  });
}

/** Errors of the SDK's checks of authorisation servers. */
const UNTRUSTED = /IssuerMismatch|AuthorizationServerMismatch|InsecureTokenEndpoint/;

function ofStatus(error: SdkHttpError, hadSession: boolean): McpFailure {
  const { status } = error;
  const message = `answered with HTTP ${status}: ${error.message}`;
  if (status === 404 && hadSession) return failure(message, { forgotten: true, transient: true });
  const fault = status >= 500;
  return failure(message, {
    reached: mayHaveActed(status),
    transient: fault || status === 429,
    fault,
  });
}

function ofCode(error: SdkError): McpFailure {
  switch (error.code) {
    case SdkErrorCode.RequestTimeout:
      return failure("did not answer in time", LATE);
    case SdkErrorCode.ConnectionClosed:
    case SdkErrorCode.SendFailed:
      return failure("broke the connection off", { reached: true, transient: true, fault: true });
    case SdkErrorCode.EraNegotiationFailed:
      return failure(`could not be reached: ${causeOf(error)}`, { transient: true, fault: true });
    case SdkErrorCode.InvalidResult:
    case SdkErrorCode.ClientHttpUnexpectedContent:
      return failure(`answered in a form that is none of the protocol's: ${error.message}`, {
        reached: true,
        fault: true,
      });
    default:
      return failure(`cannot be used: ${error.message}`);
  }
}

function causeOf(error: Error): string {
  return error.cause instanceof Error
    ? `${error.message} (${causeOf(error.cause)})`
    : error.message;
}

/**
 * Whether to retry a call, and after how many ms. Only if a retry is likely to succeed and cannot
 * do harm: the tool is safe to repeat, or the server lost the session and did nothing. `nth` counts
 * the tries so far. Pure.
 */
export function nextTry(
  { transient, forgotten }: McpFailure,
  nth: number,
  idempotent: boolean,
): { afterMs: number } | null {
  if (forgotten) return nth === 1 ? { afterMs: 0 } : null;
  return transient && idempotent && nth < MAX_TRIES ? { afterMs: RETRY_MS * 2 ** (nth - 1) } : null;
}
