import { LOCAL_VARIABLES } from "../service/local-variables";
import type { PlanOptions } from "../service/runtime-plan";
import { ServiceProcess } from "../service/service-process";
import { CONTROL_PATH, type Orders, type Seen, STANDSTILL } from "./build/orders";

const ENTRY = "scripts/faults/build/faulty-worker.ts";

const NOTHING_SEEN = JSON.stringify({ reached: {}, failed: {} } satisfies Seen);

/** The shipped service in the real runtime, between seams that can be told to fail and points where it can be killed. */
export class FaultyService {
  readonly #process: ServiceProcess;
  readonly #standing = new RegExp(`${STANDSTILL} (\\S+):(\\d+)"`);
  /** Everything it printed since `forgetOutput`. */
  output = "";
  #standstill = Promise.withResolvers<string>();

  private constructor(service: ServiceProcess) {
    this.#process = service;
    service.onOutput = (text) => this.#hear(text);
  }

  /** `variables`: beside those of a service for this machine alone. */
  static async prepare(variables: PlanOptions["variables"] = {}, more: { inspectorPort?: number } = {}): Promise<FaultyService> {
    return new FaultyService(await ServiceProcess.prepare({ ...LOCAL_VARIABLES, ...variables }, [], { entry: ENTRY, ...more }));
  }

  get url(): string {
    return this.#process.url;
  }

  get storage(): string {
    return this.#process.stateDir;
  }

  get pid(): number | null {
    return this.#process.pid;
  }

  /** Starts it; no request passes before it has its orders. Gives how long it took until it answered, in ms. */
  async start(orders: Orders = {}): Promise<number> {
    const ms = await this.#process.start();
    await this.order(orders);
    return ms;
  }

  /** What was seen since the last orders. It may stand still before it can say so. */
  async order(orders: Orders): Promise<Seen> {
    this.#standstill = Promise.withResolvers();
    const told = this.#tell("", JSON.stringify(orders));
    told.catch(() => undefined);
    const seen: Seen = JSON.parse(await Promise.race([told, this.#standstill.promise.then(() => NOTHING_SEEN)]));
    return seen;
  }

  /** Resolves with the place's name once it stands still where it was last ordered to. */
  standstill(): Promise<string> {
    return this.#standstill.promise;
  }

  /** Makes a session's alarm ring, so many times at once. */
  ring = (session: string, times = 1): Promise<string> => this.#tell(`?session=${session}&rings=${times}`, "");

  /** Takes a session's object down, as the platform does for a new version of the code. */
  reset = (session: string): Promise<string> => this.#tell(`?session=${session}`, "");

  kill = (): Promise<void> => this.#process.kill();
  stop = (): Promise<void> => this.#process.stop();

  forgetOutput(): void {
    this.output = "";
  }

  async #tell(query: string, body: string): Promise<string> {
    const headers = { connection: "close" };
    const response = await fetch(`${this.url}${CONTROL_PATH}${query}`, { method: "POST", headers, body });
    const text = await response.text();
    if (!response.ok) throw new Error(`The test build refused an order: ${text}`);
    return text;
  }

  #hear(text: string): void {
    this.output += text;
    const [, point, nth] = this.#standing.exec(text) ?? [];
    if (point !== undefined) this.#standstill.resolve(`${point}:${nth}`);
  }
}
