import { writeFile } from "node:fs/promises";
import path from "node:path";
import type { Watcher } from "../../../tests/e2e/support/watcher";
import type { RecordedRequest } from "../../../simulated/providers/ledger";
import type { FaultyService } from "../faulty-service";
import { type FailedCase, keepCase } from "../runs/evidence";
import type { Run } from "../runs/run";

type Content = () => string | Uint8Array;

/** Evidence of a scene, read and written only if the scene fails. */
export class Evidence {
  /** Runs of a group. The evidence of each run is the same as under any other fault. */
  readonly runs: Run[] = [];
  readonly #files = new Map<string, Content>();

  add(name: string, content: Content): void {
    this.#files.set(name, content);
  }

  addJson(name: string, value: () => unknown): void {
    this.add(name, () => `${JSON.stringify(value(), null, 2)}\n`);
  }

  /** Requests that reached the providers. Headers are left out because they hold keys. */
  addRequests(name: string, requests: () => readonly RecordedRequest[]): void {
    this.addJson(name, () => requests().map(({ headers: _, ...request }) => request));
  }

  /** The bytes that each client received. */
  addClients(clients: readonly Watcher[]): void {
    const merged = () => mergeTexts(clients.map(({ bytes }) => bytes));
    this.addJson("clients.json", () => {
      const { places } = merged();
      return clients.map(({ visits, losses, refusals, isOver }, nth) => ({
        visits,
        losses,
        refusals,
        isOver,
        ...places[nth],
      }));
    });
    this.add("clients.sse", () => Buffer.concat(merged().texts));
  }

  /** Drops the files whose names start with `prefix`. */
  forget(prefix: string): void {
    for (const name of this.#files.keys()) if (name.startsWith(prefix)) this.#files.delete(name);
  }

  /**
   * Writes the evidence to a new folder beside the evidence of other failures. Returns the folder.
   */
  async keep(failed: Omit<FailedCase, "runs">, service: FaultyService): Promise<string> {
    const folder = await keepCase({ ...failed, runs: this.runs }, service);
    for (const [name, content] of this.#files) await writeFile(path.join(folder, name), content());
    return folder;
  }
}

/** Position of a text in the concatenation of the remaining texts, in bytes. */
export type Place = { from: number; to: number };

/**
 * Deduplicates texts. Most of them are equal to each other, or one is the beginning of another.
 * Returns the remaining texts, and for each original text its position in their concatenation.
 */
export function mergeTexts(all: readonly Buffer[]): { texts: Buffer[]; places: Place[] } {
  const texts: { text: Buffer; from: number }[] = [];
  const places = new Map<Buffer, Place>();
  let end = 0;
  for (const text of all.toSorted((one, other) => other.length - one.length)) {
    let from = texts.find((longer) => longer.text.subarray(0, text.length).equals(text))?.from;
    if (from === undefined) {
      from = end;
      texts.push({ text, from });
      end += text.length;
    }
    places.set(text, { from, to: from + text.length });
  }
  return {
    texts: texts.map(({ text }) => text),
    places: all.map((text) => places.get(text) ?? { from: 0, to: 0 }),
  };
}
