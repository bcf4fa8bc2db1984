import { execFileSync } from "node:child_process";
import { existsSync } from "node:fs";
import path from "node:path";
import * as z from "zod";
import { Program } from "./program";

const FOLDER = "proof/bench/peers";
const INSTALLED = path.join(FOLDER, "node_modules/@langchain/langgraph/package.json");

/**
 * Installs LangGraph.js, unless it is there. The repository's package.json does not list it,
 * because only this comparison needs it. The versions are those of the folder's package-lock.json.
 */
export function installLangGraph(): void {
  if (existsSync(INSTALLED)) return;
  execFileSync("npm", ["ci", "--prefer-offline", "--no-progress"], {
    cwd: FOLDER,
    stdio: ["ignore", "ignore", "inherit"],
  });
}

/** A team of LangGraph.js in a process of its own (`langgraph.ts`). */
export class LangGraphTeam {
  readonly #program: Program;

  constructor(baseUrl: string, agents: number) {
    this.#program = new Program(path.join(FOLDER, "langgraph.ts"), [baseUrl, String(agents)]);
  }

  /** Plays one run. Returns its wall time in ms, measured in its process. */
  async play(): Promise<number> {
    return z.number().parse(await this.#program.ask({}));
  }

  stop(): void {
    this.#program.stop();
  }
}
