import { TOOL_ORIGINS } from "./runs/tool-ports";
import { LOCAL_VARIABLES } from "../../simulated/service/local-variables";
import type { PlanOptions } from "../../local/service-plan";
import { ServiceProcess } from "../../simulated/service/service-process";
import { within } from "../../simulated/service/within";
import { startToolServer, type ToolServer } from "../../simulated/providers/tool-server";
import { OutputBuffer } from "./output-buffer";
import { CANARY } from "./runs/left-on-disk";
import {
  CONTROL_PATH,
  NO_OBSERVATIONS,
  type Orders,
  type Observations,
  HALTED,
} from "./build/orders";

const ENTRY = "proof/faults/build/faulty-worker.ts";

/** Longer than any reply takes, also on a busy machine. */
const REPLY_WITHIN_MS = 30_000;

/** Many times the output of one case. */
const MOST_OUTPUT_CHARS = 8_000_000;

/** The shipped service in the real runtime, with injectable failures and crash points. */
export class FaultyService {
  readonly #process: ServiceProcess;
  /**
   * Tools that runs may call. Their server runs as long as the service, because the service
   * receives the list of repeatable tools at its start.
   */
  readonly tools: ToolServer;
  readonly #haltedLine = new RegExp(`${HALTED} (\\S+:\\d+)"`);
  readonly #output = new OutputBuffer({ mark: CANARY, mostChars: MOST_OUTPUT_CHARS });
  /** Time of each kill, Unix ms. */
  readonly killedAt: number[] = [];
  #halted = Promise.withResolvers<string>();

  private constructor(service: ServiceProcess, tools: ToolServer) {
    this.#process = service;
    this.tools = tools;
    service.onLine = (line) => this.#onLine(line);
  }

  /** `variables`: environment variables in addition to those of a local service. */
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

  /**
   * The service's output since `clearOutput`. Of a long output, only the newest part and the
   * earlier lines that contain an agent's key are kept.
   */
  get output(): string {
    return this.#output.text;
  }

  get storage(): string {
    return this.#process.stateDir;
  }

  get pid(): number | null {
    return this.#process.pid;
  }

  /**
   * Starts the service, which handles no request before it has its orders. Returns the time until
   * its first reply, in ms.
   */
  async start(orders: Orders = {}): Promise<number> {
    const ms = await this.#process.start();
    await this.order(orders);
    return ms;
  }

  /**
   * Applies new orders and returns the observations since the previous orders. The service may halt
   * at a new crash point before it replies. No earlier crash may be pending: call `cancelCrash`
   * first.
   */
  async order(orders: Orders): Promise<Observations> {
    this.#halted = Promise.withResolvers();
    const haltedFirst = this.halted().then(() => JSON.stringify(NO_OBSERVATIONS));
    const observations: Observations = JSON.parse(
      await Promise.race([haltedFirst, this.#send("", JSON.stringify(orders))]),
    );
    return observations;
  }

  /**
   * Cancels the ordered crash. Returns the crash point if the service has already halted there,
   * else `null`.
   */
  cancelCrash(): Promise<string | null> {
    return Promise.race([this.halted(), this.#send("", "{}").then(() => null)]);
  }

  /** Resolves with the name of the crash point when the service halts there. */
  halted(): Promise<string> {
    return this.#halted.promise;
  }

  /** Fires a session's alarm `times` times concurrently. */
  fireAlarm = (session: string, times = 1): Promise<string> =>
    this.#send(`?session=${session}&alarms=${times}`, "");

  /** Resets a session's object, as the platform does for a new version of the code. */
  reset = (session: string): Promise<string> => this.#send(`?session=${session}`, "");

  async kill(): Promise<void> {
    await this.#process.kill();
    // Taken after the exit: events logged until then belong to the process that was killed.
    this.killedAt.push(Date.now());
  }

  async stop(): Promise<void> {
    await this.#process.stop();
    await this.tools.close();
  }

  /**
   * Restarts the service on the same storage, so that one failure does not cause another in the
   * next case.
   */
  async restart(): Promise<void> {
    await this.kill();
    await this.start();
  }

  clearOutput(): void {
    this.#output.clear();
  }

  #send(query: string, body: string): Promise<string> {
    return within(
      REPLY_WITHIN_MS,
      `the test build to apply the order ${query}${body}`,
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

  #onLine(line: string): void {
    this.#output.add(line);
    const [, place] = this.#haltedLine.exec(line) ?? [];
    if (place !== undefined) this.#halted.resolve(place);
  }
}
