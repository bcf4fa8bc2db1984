import { z } from "zod";
import { within } from "../../../simulated/service/within";

const TargetsSchema = z.array(z.object({ id: z.string(), webSocketDebuggerUrl: z.string() }));
/** Some methods reply without a result. */
const ReplySchema = z.object({ id: z.number(), result: z.unknown().optional() });
const REPLY_WITHIN_MS = 20_000;

/** A connection to the inspector of a running service. */
export class Inspector {
  readonly #socket: WebSocket;
  readonly #waiting = new Map<number, (result: unknown) => void>();
  #requests = 0;

  private constructor(socket: WebSocket) {
    this.#socket = socket;
    socket.addEventListener("message", ({ data }) => {
      const { data: reply } = ReplySchema.safeParse(JSON.parse(String(data)));
      if (reply) this.#waiting.get(reply.id)?.(reply.result);
    });
  }

  /** Throws if the service at this port of the inspector does not answer in time. */
  static async connect(port: number): Promise<Inspector> {
    const signal = AbortSignal.timeout(REPLY_WITHIN_MS);
    const listed = await fetch(`http://127.0.0.1:${port}/json/list`, { signal });
    const targets = TargetsSchema.parse(await listed.json());
    const service = targets.find(({ id }) => id === "core:user:massgen-edge");
    if (!service) throw new Error("The inspector does not list the service.");
    const socket = new WebSocket(service.webSocketDebuggerUrl);
    const opened = new Promise((open) => socket.addEventListener("open", open, { once: true }));
    await within(REPLY_WITHIN_MS, "the inspector's connection", opened);
    return new Inspector(socket);
  }

  /** Calls a method of the inspector's protocol and returns its result. */
  async call(method: string, params: Readonly<Record<string, unknown>> = {}): Promise<unknown> {
    this.#requests += 1;
    const id = this.#requests;
    const result = new Promise((resolve) => this.#waiting.set(id, resolve));
    this.#socket.send(JSON.stringify({ id, method, params }));
    return within(REPLY_WITHIN_MS, method, result).finally(() => this.#waiting.delete(id));
  }

  close(): void {
    this.#socket.close();
  }
}
