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
import { isRelayLost } from "../relay-lost";
import { ResponseRefusedError, StreamEndedError } from "./bounded-fetch";
import { MissingSecretError } from "./environment";
import { isTimeout, type McpFailure } from "./failures";
import { MissingConsentError } from "./oauth";
import { escapeInvisible } from "./shown-text";

/** A failure with this message. The other fields are false unless `facts` sets them. */
const failure = (
  message: string,
  facts: Partial<Omit<McpFailure, "message">> = {},
): McpFailure => ({
  message: escapeInvisible(message),
  wasReached: false,
  isTransient: false,
  isServerFault: false,
  isSessionLost: false,
  ...facts,
});

const TIMED_OUT = { wasReached: true, isTransient: true, isServerFault: true };

/** Classifies an error that a client threw. `hadSession`: whether the connection had a session. */
export function toFailure(error: unknown, hadSession: boolean): McpFailure {
  if (error instanceof ResponseRefusedError)
    return failure(error.message, { wasReached: error.wasReached, isServerFault: true });
  if (error instanceof StreamEndedError)
    return failure(error.message, { wasReached: true, isTransient: true, isServerFault: true });
  if (error instanceof ProtocolError) return failure(`refused the call: ${error.message}`);
  if (error instanceof SdkHttpError) return failureOfStatus(error, hadSession);
  if (error instanceof UnauthorizedError || error instanceof OAuthError)
    return failure(`refused us: ${error.message || error.name}`);
  if (error instanceof MissingConsentError || error instanceof MissingSecretError)
    return failure(`cannot be asked: ${error.message}`);
  if (error instanceof SdkError) return failureOfCode(error);
  if (isTimeout(error)) return failure("did not answer in time", TIMED_OUT);
  const message = error instanceof Error ? error.message : String(error);
  if (
    isAddressRefused(error) ||
    (error instanceof Error && UNTRUSTED.test(`${error.name} ${error.constructor.name}`))
  )
    return failure(`may not be asked: ${message}`);
  const cause =
    error instanceof Error && error.cause instanceof Error ? ` (${error.cause.message})` : "";
  const wasNeverSent =
    /ECONNREFUSED|connection refused|ENOTFOUND|getaddrinfo|DNS|could not be looked up/i.test(
      message + cause,
    );
  return failure(`could not be reached: ${message}${cause}`, {
    wasReached: !wasNeverSent,
    isTransient: true,
    isServerFault: !isRelayLost(error),
  });
}

/** Names of the errors that the SDK throws if it does not trust an authorisation server. */
const UNTRUSTED = /IssuerMismatch|AuthorizationServerMismatch|InsecureTokenEndpoint/;

function failureOfStatus(error: SdkHttpError, hadSession: boolean): McpFailure {
  const { status } = error;
  const message = `answered with HTTP ${status}: ${error.message}`;
  if (status === 404 && hadSession)
    return failure(message, { isSessionLost: true, isTransient: true });
  const isServerFault = status >= 500;
  return failure(message, {
    wasReached: mayHaveActed(status),
    isTransient: isServerFault || status === 429,
    isServerFault,
  });
}

function failureOfCode(error: SdkError): McpFailure {
  switch (error.code) {
    case SdkErrorCode.RequestTimeout:
      return failure("did not answer in time", TIMED_OUT);
    case SdkErrorCode.ConnectionClosed:
    case SdkErrorCode.SendFailed:
      return failure("broke the connection off", {
        wasReached: true,
        isTransient: true,
        isServerFault: true,
      });
    case SdkErrorCode.EraNegotiationFailed:
      return failure(`could not be reached: ${causeOf(error)}`, {
        isTransient: true,
        isServerFault: true,
      });
    case SdkErrorCode.InvalidResult:
    case SdkErrorCode.ClientHttpUnexpectedContent:
      return failure(`answered in a form that is none of the protocol's: ${error.message}`, {
        wasReached: true,
        isServerFault: true,
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
