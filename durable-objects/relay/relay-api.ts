/** The methods of a relay besides `fetch`. */
export type RelayApi = {
  fetch(request: Request): Promise<Response>;
  /** The id of the relay's current instance. It changes when the object is loaded again. */
  instance(): Promise<string>;
};

/** Header of each response of a relay: the id of the instance that sent the request. */
export const INSTANCE_HEADER = "massgen-relay";

/**
 * Header of a response that the relay made itself because its request failed: the message of the
 * error, percent-encoded. Such a response has no body.
 */
export const FAILURE_HEADER = "massgen-relay-failure";
