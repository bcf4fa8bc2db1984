import { TOOL_ORIGINS } from "./runs/tool-ports";
import { LOCAL_VARIABLES } from "../../simulated/service/local-variables";
import type { PlanOptions } from "../../local/service-plan";
import { ServiceProcess } from "../../simulated/service/service-process";
import { within } from "../../simulated/service/within";
import { startToolServer, type ToolServer } from "../../simulated/providers/tool-server";
import { Printed } from "./printed";
import { CANARY } from "./runs/left-on-disk";
import { CONTROL_PATH, NOTHING_SEEN, type Orders, type Seen, STANDSTILL } from "./build/orders";

const ENTRY = "proof/faults/build/faulty-worker.ts";

/** Longer than any answer takes, also of a machine that has much else to do. */
const ANSWERS_WITHIN_MS = 30_000;

/** Characters: many times what a case prints. */
const MOST_PRINTED = 8_000_000;

/** The shipped service in the real runtime, between seams that can be told to fail and points where it can be killed. */
export class FaultyService {
  readonly #process: ServiceProcess;
  /** Tools that runs may call. They live as long as the service, which is told at its start which of them may be called twice. */
  readonly tools: ToolServer;
  readonly #standing = new RegExp(`${STANDSTILL} (\\S+:\\d+)"`);
  readonly #printed = new Printed({ mark: CANARY, most: MOST_PRINTED });
  /** When it was killed each time, Unix ms. */
  readonly killedAt: number[] = [];
  #standstill = Promise.withResolvers<string>();

  private constructor(service: ServiceProcess, tools: ToolServer) {
    this.#process = service;
    this.tools = tools;
    service.onLine = (line) => this.#hear(line);
  }

  /** `variables`: beside those of a service for this machine alone. */
  static async prepare(
    variables: PlanOptions["variables"] = {},
    more: { inspectorPort?: number } = {},
  ): Promise<FaultyService> {
    const tools = await startToolServer();
    const all = {
      ...LOCAL_VARIABLES,
      REPEATABLE_TOOLS: tools.repeatable,
      ALLOWED_TOOL_ORIGINS: [new URL(tools.repeatable).origin, ...TOOL_ORIGINS].join(","),
      ...variables,
    };
    return new FaultyService(
      await ServiceProcess.prepare(all, [], { entry: ENTRY, ...more }),
      tools,
    );
  }

  get url(): string {
    return this.#process.url;
  }

  /** What it printed since `forgetOutput`: the last of it, and each line before with an agents' key. */
  get output(): string {
    return this.#printed.text;
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

  /**
   * What was seen since the last orders. It may stand still where the new ones say before it can tell; where the old ones said it
   * must not any more: a service with such orders is to `standDown` first.
   */
  async order(orders: Orders): Promise<Seen> {
    this.#standstill = Promise.withResolvers();
    const standing = this.standstill().then(() => JSON.stringify(NOTHING_SEEN));
    const seen: Seen = JSON.parse(
      await Promise.race([standing, this.#tell("", JSON.stringify(orders))]),
    );
    return seen;
  }

  /** Takes its orders back: from now on it stands still nowhere. Gives the place where it does already, until it is killed; else null. */
  standDown(): Promise<string | null> {
    return Promise.race([this.standstill(), this.#tell("", "{}").then(() => null)]);
  }

  /** Resolves with the place's name once it stands still where it was last ordered to. */
  standstill(): Promise<string> {
    return this.#standstill.promise;
  }

  /** Makes a session's alarm ring, so many times at once. */
  ring = (session: string, times = 1): Promise<string> =>
    this.#tell(`?session=${session}&rings=${times}`, "");

  /** Takes a session's object down, as the platform does for a new version of the code. */
  reset = (session: string): Promise<string> => this.#tell(`?session=${session}`, "");

  async kill(): Promise<void> {
    await this.#process.kill();
    this.killedAt.push(Date.now()); // only now: what it still logged before it was gone is of the life that ended
  }

  async stop(): Promise<void> {
    await this.#process.stop();
    await this.tools.close();
  }

  /** What went wrong in one case shall not go wrong in the next for the same reason: a new process on the same storage. */
  async beginAgain(): Promise<void> {
    await this.kill();
    await this.start();
  }

  forgetOutput(): void {
    this.#printed.forget();
  }

  #tell(query: string, body: string): Promise<string> {
    return within(
      ANSWERS_WITHIN_MS,
      `the test build to take the order ${query}${body}`,
      this.#ask(query, body),
    );
  }

  async #ask(query: string, body: string): Promise<string> {
    const headers = { connection: "close" };
    const response = await fetch(`${this.url}${CONTROL_PATH}${query}`, {
      method: "POST",
      headers,
      body,
    });
    const text = await response.text();
    if (!response.ok) throw new Error(`The test build refused an order: ${text}`);
    return text;
  }

  #hear(line: string): void {
    this.#printed.add(line);
    const [, place] = this.#standing.exec(line) ?? [];
    if (place !== undefined) this.#standstill.resolve(place);
  }
}
