import type { Env } from "../../../src/env";
import { RelayLostError } from "../../../src/tools/relay-lost";
import { FAILURE_HEADER, INSTANCE_HEADER } from "../../relay/relay-api";

/** A relay that does not say within this time which instance it is counts as not lost. */
const INSTANCE_LIMIT_MS = 2_000;

/** The relay of one call. */
export type CallRelay = {
  /**
   * Sends a request through the relay. Throws the error of the relay's own `fetch`, or
   * `RelayLostError`.
   */
  fetch: typeof fetch;
  /**
   * Whether the relay itself was lost since the call's last request. Then the provider is not at
   * fault. To be called after a failed request or a broken reply.
   */
  wasLost(): Promise<boolean>;
};

const messageOf = (error: unknown): string =>
  error instanceof Error ? error.message : "the relay was lost";

/** The relays of a session. A relay is created by its first request. */
export class Relays {
  readonly #namespace: Env["RELAYS"];
  readonly #newId: () => DurableObjectId;
  /** The ids of the relays so far, by number. */
  readonly #ids = new Map<number, DurableObjectId>();

  /**
   * A relay stores nothing, so its id need not be found again after a restart. A new random id is
   * faster at the first request than an id from a name, for which the platform asks worldwide
   * whether the object exists.
   */
  constructor(namespace: Env["RELAYS"], newId = () => namespace.newUniqueId()) {
    this.#namespace = namespace;
    this.#newId = newId;
  }

  /** The relay with this number. Each call has its own `CallRelay`. */
  of(number: number): CallRelay {
    // A new stub for each request: a stub whose object was lost may stay broken.
    const stub = () => this.#namespace.get(this.#idOf(number));
    let isLost = false;
    /** The instance of the latest response; `null` before the first. */
    let instance: string | null = null;
    return {
      fetch: async (input, init) => {
        const response = await stub()
          .fetch(input, init)
          .catch((error: unknown) => {
            isLost = init?.signal?.aborted !== true;
            if (!isLost) throw error;
            throw new RelayLostError(messageOf(error), { cause: error });
          });
        instance = response.headers.get(INSTANCE_HEADER);
        const failure = response.headers.get(FAILURE_HEADER);
        if (failure !== null) throw new TypeError(decodeURIComponent(failure));
        return response;
      },
      wasLost: async () => {
        // A message that cancels a reply may go through this relay meanwhile.
        const latest = instance;
        if (isLost || latest === null) return isLost;
        const timeout = Promise.withResolvers<null>();
        const timer = setTimeout(() => timeout.resolve(null), INSTANCE_LIMIT_MS);
        try {
          const current = await Promise.race([stub().instance(), timeout.promise]);
          return current !== null && current !== latest;
        } catch {
          return true;
        } finally {
          clearTimeout(timer);
        }
      },
    };
  }

  /**
   * Creates the first relay before a call needs it, if it does not exist. To be called when a turn
   * is requested: the relay then comes into being while the turn waits for its grant.
   */
  prepare(): void {
    const isPrepared = this.#namespace.get(this.#idOf(0)).instance();
    void isPrepared.catch(() => undefined); // the call that needs the relay sees the error
  }

  #idOf(number: number): DurableObjectId {
    const known = this.#ids.get(number);
    if (known) return known;
    const id = this.#newId();
    this.#ids.set(number, id);
    return id;
  }
}
