import { rmSync } from "node:fs";
import { appendFile, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import type { Played } from "../runs/tenant-books";

/** Finished runs that the ledger is checked against, on disk because a long soak has many. */
export class BooksLog {
  readonly #file: string;
  readonly #leaveNothing = () => rmSync(path.dirname(this.#file), { recursive: true, force: true });
  #added = 0;

  private constructor(file: string) {
    this.#file = file;
    process.once("exit", this.#leaveNothing);
  }

  static async open(): Promise<BooksLog> {
    const file = path.join(await mkdtemp(path.join(tmpdir(), "massgen-soak-")), "played.jsonl");
    await writeFile(file, "");
    return new BooksLog(file);
  }

  /** Number of calls of `add`, including failed ones. */
  get added(): number {
    return this.#added;
  }

  async add(played: Played): Promise<void> {
    this.#added += 1;
    await appendFile(this.#file, `${JSON.stringify(played)}\n`);
  }

  /**
   * All entries in order. Throws unless all are there: a check against fewer runs would be wrong.
   */
  async all(): Promise<Played[]> {
    const lines = (await readFile(this.#file, "utf8")).split("\n").filter((line) => line !== "");
    if (lines.length !== this.#added)
      throw new Error(
        `Of ${this.#added} runs ${lines.length} were noted, so the tenant's books cannot be checked.`,
      );
    return lines.map((line) => JSON.parse(line));
  }

  async close(): Promise<void> {
    process.off("exit", this.#leaveNothing);
    await rm(path.dirname(this.#file), { recursive: true, force: true });
  }
}
