import * as z from "zod";
import type { LoopJob } from "../bare-loop";
import { Program } from "./program";
import { type EndedCall, EndedCallsSchema, LoopJobSchema, type ProviderOrder } from "./schema";

type TeamSize = Omit<Extract<ProviderOrder, { type: "start" }>, "type">;
type Pace = Extract<ProviderOrder, { type: "pace" }>["pace"];

/** The simulated providers of one team, in a process of their own (`provider-main.ts`). */
export class ProviderProcess {
  readonly #program: Program;
  readonly baseUrl: string;

  private constructor(program: Program, baseUrl: string) {
    this.#program = program;
    this.baseUrl = baseUrl;
  }

  /** Starts the models of a team. They reply without delay until `setPace`. */
  static async start(size: TeamSize): Promise<ProviderProcess> {
    const program = new Program("scripts/run.mjs", ["proof/bench/peers/provider-main.ts"]);
    const order: ProviderOrder = { type: "start", ...size };
    return new ProviderProcess(program, z.string().parse(await program.ask(order)));
  }

  async setPace(pace: Pace): Promise<void> {
    await this.#ask({ type: "pace", pace });
  }

  /** The calls since the previous `take`. */
  async take(): Promise<EndedCall[]> {
    return EndedCallsSchema.parse(await this.#ask({ type: "take" }));
  }

  /** A job of a bare loop with the requests of the latest `take`, one per stage and model. */
  async job(): Promise<LoopJob> {
    return LoopJobSchema.parse(await this.#ask({ type: "job" }));
  }

  stop(): void {
    this.#program.stop();
  }

  #ask(order: ProviderOrder): Promise<unknown> {
    return this.#program.ask(order);
  }
}
