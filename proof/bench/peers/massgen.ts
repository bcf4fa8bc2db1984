import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { promisify } from "node:util";
import { sizeInForce } from "../../counts";
import { spread } from "../arithmetic";
import { LONGEST_RUN_MS } from "../run-client";
import { teamOf } from "../simulated-team";
import { type Comparison, runsOf, type Speed, type Timing, timingOfCalls } from "./comparison";
import { ProviderProcess } from "./provider-process";

const run = promisify(execFile);

/** Version 0.1.97 does not start with a newer `mcp`. */
const PACKAGES = ["massgen==0.1.97", "mcp<2"];
/** MassGen takes 2 GB of disk, so a variable can name a folder outside the repository. */
const FOLDER = path.resolve(
  process.env["MASSGEN_FOLDER"] ?? "node_modules/.cache/massgen-edge",
  "massgen-0.1.97",
);
const PROGRAM = path.join(FOLDER, "bin/massgen");
const INSTALLED_WITHIN_MS = 30 * 60_000;

/** Whether MassGen plays: not for each change, because it takes 2 GB of disk and minutes. */
export const playsMassGen = (): boolean => sizeInForce() !== "change";

/**
 * Installs MassGen into a Python environment, unless it is there. Returns the reason if that is not
 * possible.
 */
export async function installMassGen(): Promise<string | null> {
  if (existsSync(PROGRAM)) return null;
  try {
    await run("python3", ["-m", "venv", FOLDER]);
    const pip = ["-m", "pip", "install", "--quiet", "--no-input", ...PACKAGES];
    await run(path.join(FOLDER, "bin/python"), pip, { timeout: INSTALLED_WITHIN_MS });
    return existsSync(PROGRAM) ? null : `not installed: ${FOLDER} has no bin/massgen`;
  } catch (error) {
    await rm(FOLDER, { recursive: true, force: true });
    return `not installed (Python 3.11 and 2 GB in ${FOLDER} are needed): ${firstLine(error)}`;
  }
}

/** `null` if MassGen does not play, else whether it is ready, or the reason why it is not. */
export type MassGenReadiness = "ready" | { reason: string } | null;

/** Larger teams of MassGen take minutes. */
const LARGEST_TEAM = 16;

/** A team of MassGen, with simulated models of its own. Each run starts the command anew. */
export class MassGenTeam {
  readonly #agents: number;
  readonly #speed: Speed;
  readonly #timings: Timing[] = [];
  readonly #commandsMs: number[] = [];
  #providers: ProviderProcess | null = null;
  #outcome: MassGenReadiness;

  constructor(readiness: MassGenReadiness, { speed, agents }: { speed: Speed; agents: number }) {
    this.#agents = agents;
    this.#speed = speed;
    this.#outcome = speed.name === "quick" && agents <= LARGEST_TEAM ? readiness : null;
  }

  /** Plays one run. After a run that failed, no further run is played. */
  async play(): Promise<void> {
    if (this.#outcome !== "ready") return;
    try {
      this.#providers ??= await this.#startProviders();
      const providers = this.#providers;
      this.#commandsMs.push(await runCommand(providers.baseUrl, this.#agents));
      this.#timings.push(timingOfCalls(await providers.take()));
    } catch (error) {
      this.#outcome = { reason: `failed after ${this.#timings.length} runs: ${firstLine(error)}` };
    }
  }

  /** All runs; the reason if they are not complete; `null` if MassGen does not play. */
  runs(): Comparison["massGen"] {
    if (this.#outcome === null) return null;
    if (this.#outcome !== "ready") return this.#outcome.reason;
    return { ...runsOf(this.#timings), commandMs: spread(this.#commandsMs) };
  }

  stop(): void {
    this.#providers?.stop();
  }

  async #startProviders(): Promise<ProviderProcess> {
    const { tokens, pace } = this.#speed;
    const size = { agents: this.#agents, tokens, client: "massgen" } as const;
    const providers = await ProviderProcess.start(size);
    await providers.setPace(pace);
    return providers;
  }
}

/** Plays one run without a display. Returns the time of the whole command, with its start. */
async function runCommand(baseUrl: string, agents: number): Promise<number> {
  const dir = await mkdtemp(path.join(tmpdir(), "massgen-peer-"));
  try {
    const config = path.join(dir, "team.yaml");
    await writeFile(config, JSON.stringify(configOf(baseUrl, agents)));
    const startedAt = performance.now();
    await run(PROGRAM, ["--automation", "--config", config, QUESTION], {
      cwd: dir,
      env: { PATH: process.env["PATH"], HOME: dir, OPENAI_API_KEY: "simulated" },
      timeout: LONGEST_RUN_MS,
      maxBuffer: MOST_OUTPUT_BYTES,
    });
    return performance.now() - startedAt;
  } finally {
    await rm(dir, { recursive: true, force: true });
  }
}

const QUESTION = "How much time does the framework itself take?";
const MOST_OUTPUT_BYTES = 64 * 1024 * 1024;

/**
 * The same team as the service's. JSON is also YAML. MassGen does not start if a config with this
 * type of backend has a key.
 */
const configOf = (baseUrl: string, agents: number) => ({
  agents: teamOf(agents).map(({ id, model }) => ({
    id,
    backend: { type: "chatcompletion", model, base_url: baseUrl },
  })),
});

const firstLine = (error: unknown): string =>
  (error instanceof Error ? error.message : String(error)).split("\n")[0] ?? "";
