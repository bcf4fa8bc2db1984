import type { Fault } from "./faults";
import { type Charge, connectionReset, type Plan, responseOf } from "./plan";
import type { ReceivedRequest } from "./received-request";
import type { VirtualTime } from "./virtual-time";

type Options = {
  request: ReceivedRequest;
  signal: AbortSignal | null;
  /** Whether the process that sent the request has crashed. */
  isDead: () => boolean;
  plan: Plan;
  time: VirtualTime;
  /** Kills the process if the fault strikes now. Returns whether it killed the process. */
  crashIf: (fault: Fault) => boolean;
  /** Ends the request's relay if the fault strikes now. Returns whether it ended the relay. */
  losesRelay: () => boolean;
  onEnd: () => void;
};

/** The delivery of a planned response to one request, in virtual time. */
export class Delivery {
  readonly request: ReceivedRequest;
  readonly response: Promise<Response>;
  readonly #options: Options;
  readonly #headers = Promise.withResolvers<Response>();
  #body: ReadableStreamDefaultController<Uint8Array> | null = null;
  #stop = (): void => {};

  constructor(options: Options) {
    this.#options = options;
    this.request = options.request;
    this.response = this.#headers.promise;
    const { plan, signal } = options;
    signal?.addEventListener("abort", this.#onAbort);
    const begin = plan.ending === "lost" ? () => this.#lose() : () => this.#respond();
    if (Number.isFinite(plan.afterMs)) this.#schedule(plan.afterMs, begin);
  }

  /** Ends the connection without notice. */
  close(): void {
    const { request, plan, time, signal, onEnd } = this.#options;
    this.#stop();
    if (plan.ending === "lost" || (plan.isBackground && request.charged))
      request.charged = plan.charged;
    request.endedAt ??= time.now;
    onEnd();
    // The listener would keep the memory of a crashed process alive.
    signal?.removeEventListener("abort", this.#onAbort);
  }

  /** Ends the connection because its relay was lost. */
  loseRelay(): void {
    if (this.#isOpen) this.request.relayLostAt = this.#options.time.now;
    this.#lose();
  }

  readonly #onAbort = (): void => this.#fail(this.#options.signal?.reason);

  get #isOpen(): boolean {
    return !this.#options.isDead() && this.request.endedAt === null;
  }

  #lose(): void {
    this.#fail(new Error("Network connection lost."));
  }

  #fail(why: unknown): void {
    if (!this.#isOpen) return;
    this.close();
    this.#headers.reject(why);
    this.#body?.error(why);
  }

  #schedule(ms: number, run: () => void): void {
    const { time } = this.#options;
    this.#stop = time.timeline.schedule(time.now + ms, () => this.#isOpen && run());
  }

  #respond(): void {
    const { request, plan, time, crashIf, losesRelay } = this.#options;
    if (losesRelay()) return;
    request.headersAt = time.now;
    const start = (controller: ReadableStreamDefaultController<Uint8Array>): void => {
      this.#body = controller;
    };
    this.#headers.resolve(responseOf(plan, { start, cancel: () => this.close() }));
    if (plan.charged) request.charged = { ...plan.charged, output: 0 };
    if (crashIf("crash_after_headers")) return;
    this.#schedule(plan.gapMs, () => this.#write(0));
  }

  #write(nth: number): void {
    const { request, plan, time, crashIf, losesRelay } = this.#options;
    const frame = plan.frames[nth];
    if (frame === undefined) return this.#finish();
    if (plan.charged && request.charged)
      request.charged.output = writtenOf(plan.charged, (nth + 1) / plan.whole);
    request.chunkAt = time.now;
    this.#body?.enqueue(frame);
    if (nth > 0 && (crashIf("crash_in_stream") || losesRelay())) return;
    this.#schedule(plan.gapMs, () => this.#write(nth + 1));
  }

  #finish(): void {
    const { request, plan } = this.#options;
    if (plan.ending === "hang") return;
    if (plan.charged && plan.ending === "complete") request.charged = plan.charged;
    this.close();
    if (plan.ending === "reset") this.#body?.error(connectionReset());
    else this.#body?.close();
  }
}

/** The output tokens that are written after a share of the frames. */
const writtenOf = ({ output }: Charge, share: number): number => Math.ceil(output * share);
