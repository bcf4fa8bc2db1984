import { ClientError } from "./errors";
import { type RetryPolicy, withRetries } from "./retries";
import { toJson, toProblem } from "./schema";
import { addressAt, keyRisk, toOrigin } from "./server";

/** One HTTP request. */
export type Call = {
  method: "GET" | "POST" | "PUT" | "DELETE";
  /** Path with its query, relative to the server. */
  path: string;
  /** A body that is sent as JSON. */
  json?: unknown;
  /** A body that is sent unchanged, with its media type. */
  body?: { type: string; data: Uint8Array<ArrayBuffer> | string };
  /** Default: `application/json`. */
  accept?: string;
  /** Additional headers, such as `Last-Event-ID`. */
  headers?: Readonly<Record<string, string>>;
  /** Sent as `Idempotency-Key`: repeated requests with the same key have one effect. */
  idempotencyKey?: string;
  /** If it aborts, the call stops and throws the signal's reason. */
  signal?: AbortSignal | undefined;
  /** Time limit for the complete response, in milliseconds. Default: 60,000. */
  timeoutMs?: number;
  /** Size limit of the response, in bytes. Default: 64 MiB. */
  maxBytes?: number;
  /** Default: `never`. */
  retry?: RetryPolicy;
};

/** A complete response with any status. */
export type HttpResponse = { status: number; headers: Headers; bytes: Uint8Array<ArrayBuffer> };

export type TransportOptions = {
  /** Address of the service. Only its origin is used. */
  server: string;
  /** API key. Sent as `Authorization: Bearer`, to `server` only. */
  key?: string | undefined;
  /** Headers that are sent with every request, such as `User-Agent`. */
  headers?: Readonly<Record<string, string>> | undefined;
  /** Default: the global `fetch`. */
  fetch?: typeof globalThis.fetch | undefined;
};

const DEFAULT_TIMEOUT_MS = 60_000;
const DEFAULT_MAX_BYTES = 64 * 1024 * 1024;

/** Sends requests to one server. Follows no redirect, and sends the key to this server only. */
export class Transport {
  readonly server: string;
  readonly #headers: Readonly<Record<string, string>>;
  readonly #fetch: typeof globalThis.fetch;

  /** Throws ClientError if `server` is no http address, or if the key must not be sent to it. */
  constructor({ server, key, headers = {}, fetch = globalThis.fetch }: TransportOptions) {
    const origin = toOrigin(server);
    if (origin === null)
      throw new ClientError("unexpected", `Not an http or https address: ${server}`);
    const risk = key === undefined ? null : keyRisk(key, origin);
    if (risk === "malformed")
      throw new ClientError("unsafe_key", "Malformed key: keys are visible ASCII without spaces.");
    if (risk === "unencrypted")
      throw new ClientError("unsafe_key", `Not encrypted: ${origin}. Use https:// to send a key.`);
    this.server = origin;
    this.#headers = {
      ...headers,
      ...(key === undefined ? {} : { Authorization: `Bearer ${key}` }),
    };
    // Browsers and workerd reject `fetch` if it is called as a method of another object.
    this.#fetch = (input, init) => fetch(input, init);
  }

  /**
   * Sends the request once. Returns the complete response with any status. Throws ClientError, or
   * the signal's reason.
   */
  async receive(call: Call): Promise<HttpResponse> {
    const timeout = AbortSignal.timeout(call.timeoutMs ?? DEFAULT_TIMEOUT_MS);
    const signal = call.signal ? AbortSignal.any([call.signal, timeout]) : timeout;
    let response: Response | null = null;
    try {
      response = await this.#open(call, signal);
      return await this.complete(response, call.maxBytes);
    } catch (cause) {
      throw this.#noResponseError(cause, { call, timeout, hasBegun: response !== null });
    }
  }

  /**
   * Sends the request, with retries as `retry` allows. Throws ClientError for an unsuccessful
   * response.
   */
  async send(call: Call): Promise<HttpResponse> {
    const response = await withRetries(
      () => this.receive(call),
      call.retry ?? "never",
      call.signal,
    );
    if (response.status >= 200 && response.status < 300) return response;
    throw this.errorFrom(response);
  }

  /** Sends the request and returns the JSON of a successful response. Throws ClientError. */
  async json<T>(call: Call): Promise<T> {
    const { bytes, status } = await this.send(call);
    const value = toJson<T>(bytes);
    if (value === undefined) throw this.unexpected(status);
    return value;
  }

  /** Sends the request and returns the bytes of a successful response. Throws ClientError. */
  async bytes(call: Call): Promise<Uint8Array<ArrayBuffer>> {
    return (await this.send({ accept: "*/*", ...call })).bytes;
  }

  /**
   * Sends the request, with retries as `retry` allows. Returns any response, also one that is no
   * event stream, before its body is read. `signal` also aborts reading the body. Throws
   * ClientError, or the signal's reason.
   */
  connect(call: Call): Promise<Response> {
    const sendOnce = async () => {
      try {
        return await this.#open({ accept: "text/event-stream", ...call }, call.signal);
      } catch (cause) {
        throw this.#noResponseError(cause, { call, timeout: null, hasBegun: false });
      }
    };
    return withRetries(sendOnce, call.retry ?? "never", call.signal);
  }

  /**
   * Reads the body of a response. Throws the error of a failed read, or ClientError if the body
   * exceeds `maxBytes`.
   */
  async complete(response: Response, maxBytes = DEFAULT_MAX_BYTES): Promise<HttpResponse> {
    const chunks: Uint8Array<ArrayBuffer>[] = [];
    let size = 0;
    const reader = response.body?.getReader(); // not every browser can iterate over a body
    for (let step = await reader?.read(); step && !step.done; step = await reader?.read()) {
      size += step.value.byteLength;
      if (size > maxBytes) {
        await reader?.cancel().catch(() => undefined);
        throw new ClientError("too_large", `${this.server} sent more than ${maxBytes} bytes.`);
      }
      chunks.push(step.value);
    }
    const bytes = new Uint8Array(await new Blob(chunks).arrayBuffer());
    return { status: statusOf(response), headers: response.headers, bytes };
  }

  /** The error for an unsuccessful response. */
  errorFrom({ status, headers, bytes }: HttpResponse): ClientError {
    const problem = toProblem(toJson(bytes));
    if (problem) {
      const { title, code, detail } = problem;
      const message = `${title} (${problem.status} ${code})${detail ? `: ${detail}` : ""}`;
      return new ClientError("refused", message, { status, problem });
    }
    if (status < 300 || status >= 400) return this.unexpected(status);
    const target = headers.get("location") ?? "";
    const location = URL.canParse(target, this.server) ? new URL(target, this.server).origin : null;
    const message = `${this.server} redirects${location ? ` to ${location}` : ""}.`;
    return new ClientError("redirected", message, { status, location });
  }

  unexpected(status: number): ClientError {
    const message = `Unexpected response (${status}) from ${this.server}. Check the address.`;
    return new ClientError("unexpected", message, { status });
  }

  #open(call: Call, signal: AbortSignal | undefined): Promise<Response> {
    const type = call.json === undefined ? call.body?.type : "application/json";
    const data = call.json === undefined ? call.body?.data : JSON.stringify(call.json);
    const { accept = "application/json", idempotencyKey } = call;
    return this.#fetch(addressAt(this.server, call.path), {
      method: call.method,
      headers: {
        Accept: accept,
        ...(type === undefined ? {} : { "Content-Type": type }),
        ...(idempotencyKey === undefined ? {} : { "Idempotency-Key": idempotencyKey }),
        ...call.headers,
        ...this.#headers,
      },
      redirect: "manual",
      ...(data === undefined ? {} : { body: data }),
      ...(signal ? { signal } : {}),
    });
  }

  /** The error to throw if there is no complete response. `hasBegun`: a response was begun. */
  #noResponseError(
    cause: unknown,
    { call, timeout, hasBegun }: { call: Call; timeout: AbortSignal | null; hasBegun: boolean },
  ): unknown {
    if (call.signal?.aborted) return call.signal.reason;
    if (cause instanceof ClientError) return cause;
    if (hasBegun)
      return new ClientError(
        "interrupted",
        `The connection to ${this.server} broke during the response.`,
        { cause },
      );
    return timeout?.aborted
      ? new ClientError("timed_out", `${this.server} did not answer in time.`, { cause })
      : new ClientError("unreachable", `Cannot reach ${this.server}.`, { cause });
  }
}

/** The status of a response. Browsers hide the status of a redirect that is not followed. */
const statusOf = ({ type, status }: Response): number =>
  String(type) === "opaqueredirect" ? 302 : status;
