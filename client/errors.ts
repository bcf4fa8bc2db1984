import type { Problem } from "./types";

/**
 * Why a call failed.
 * - `refused`: the service answered with a problem (RFC 9457), see `problem`.
 * - `unexpected`: the response is not from this service, or its form is unknown.
 * - `redirected`: the server answered with a redirect. The client does not follow redirects,
 *   because a key belongs to one server.
 * - `unreachable`: the client could not connect to the server.
 * - `timed_out`: the server accepted the request and did not answer in time.
 * - `interrupted`: the connection broke in the middle of the response.
 * - `too_large`: the response has more bytes than the call allows.
 * - `lost`: a followed turn's connection broke and could not be restored. The turn may still run.
 * - `unsafe_key`: the key is malformed, or the server is not encrypted and not on this machine.
 * - `changed_file`: the contents of a sent or received file do not match their hash.
 */
export type ClientErrorKind =
  | "refused"
  | "unexpected"
  | "redirected"
  | "unreachable"
  | "timed_out"
  | "interrupted"
  | "too_large"
  | "lost"
  | "unsafe_key"
  | "changed_file";

export type ClientErrorDetails = {
  /** HTTP status; `null` if there was no response. */
  status?: number | null;
  /** The service's problem document; `null` if it sent none. */
  problem?: Problem | null;
  /** Origin of a redirect's target; `null` if unknown, as in browsers. */
  location?: string | null;
  cause?: unknown;
};

/**
 * Every failure of this client, except an abort: an aborted call throws the reason of its signal.
 */
export class ClientError extends Error {
  readonly status: number | null;
  readonly problem: Problem | null;
  readonly location: string | null;

  constructor(
    readonly kind: ClientErrorKind,
    message: string,
    { status = null, problem = null, location = null, cause }: ClientErrorDetails = {},
  ) {
    super(message, cause === undefined ? undefined : { cause });
    this.name = "ClientError";
    this.status = status;
    this.problem = problem;
    this.location = location;
  }

  /** The service's error code, such as `turn_running`; `null` if the service sent no error code. */
  get code(): string | null {
    return this.problem?.code ?? null;
  }
}
