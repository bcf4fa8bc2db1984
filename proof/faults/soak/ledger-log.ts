import { rmSync } from "node:fs";
import { appendFile, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import type { FinishedRuns } from "../runs/tenant-ledger";

/**
 * A file with the finished runs for the check of the ledger. A long soak has too many for memory.
 */
export class LedgerLog {
  readonly #file: string;
  readonly #removeFolder = () => rmSync(path.dirname(this.#file), { recursive: true, force: true });
  #added = 0;

  private constructor(file: string) {
    this.#file = file;
    process.once("exit", this.#removeFolder);
  }

  static async open(): Promise<LedgerLog> {
    const file = path.join(await mkdtemp(path.join(tmpdir(), "massgen-soak-")), "runs.jsonl");
    await writeFile(file, "");
    return new LedgerLog(file);
  }

  /** Number of calls of `add`, including failed ones. */
  get added(): number {
    return this.#added;
  }

  async add(runs: FinishedRuns): Promise<void> {
    this.#added += 1;
    await appendFile(this.#file, `${JSON.stringify(runs)}\n`);
  }

  /**
   * All entries in order. Throws if an entry is missing: a check against fewer runs would be wrong.
   */
  async all(): Promise<FinishedRuns[]> {
    const lines = (await readFile(this.#file, "utf8")).split("\n").filter((line) => line !== "");
    if (lines.length !== this.#added)
      throw new Error(
        `Only ${lines.length} of ${this.#added} runs were recorded, so the tenant's ledger cannot be checked.`,
      );
    return lines.map((line) => JSON.parse(line));
  }

  async close(): Promise<void> {
    process.off("exit", this.#removeFolder);
    await rm(path.dirname(this.#file), { recursive: true, force: true });
  }
}
