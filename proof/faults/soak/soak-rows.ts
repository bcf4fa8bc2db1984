import { appendFile, mkdir, writeFile } from "node:fs/promises";
import path from "node:path";
import type { HeapFigures } from "../clients/memory";
import type { ProcessFigures } from "./process-figures";

/**
 * Everything that is measured at one moment. Sizes are in bytes. `isAtRest`: whether no session was
 * active. `ended`: number of sessions that had ended. `heap`: `null` if the inspector did not
 * answer. `disk`: files of the service. `own`: resident memory of this command.
 */
export type SoakRow = {
  minutes: number;
  isAtRest: boolean;
  ended: number;
  heap: HeapFigures | null;
  process: ProcessFigures;
  disk: number;
  own: number;
};

const COLUMNS = {
  minutes: ({ minutes }) => minutes.toFixed(2),
  at_rest: ({ isAtRest }) => Number(isAtRest),
  sessions_ended: ({ ended }) => ended,
  heap_used: ({ heap }) => heap?.used,
  heap_buffers: ({ heap }) => heap?.buffers,
  heap_of_runtime: ({ heap }) => heap?.embedder,
  heap_total: ({ heap }) => heap?.total,
  resident: ({ process }) => process.resident,
  anonymous: ({ process }) => process.anonymous,
  threads: ({ process }) => process.threads,
  descriptors: ({ process }) => process.descriptors,
  sockets: ({ process }) => process.sockets,
  databases: ({ process }) => process.databases,
  disk: ({ disk }) => disk,
  own_resident: ({ own }) => own,
} satisfies Record<string, (row: SoakRow) => string | number | undefined>;

/** Sizes are in bytes, after a garbage collection. A value that was not measured is empty. */
export const HEADER = Object.keys(COLUMNS).join(",");

export const toCsv = (row: SoakRow): string =>
  Object.values(COLUMNS)
    .map((read) => read(row) ?? "")
    .join(",");

/** A file with a line per row. Each row is written at once, so a soak that is killed has rows. */
export class RowFile {
  readonly name: string;
  #written: Promise<void>;

  private constructor(name: string) {
    this.name = name;
    this.#written = writeFile(name, `${HEADER}\n`);
  }

  /** Replaces an earlier file of this name. */
  static async create(name: string): Promise<RowFile> {
    await mkdir(path.dirname(name), { recursive: true });
    const file = new RowFile(name);
    await file.#written;
    return file;
  }

  /** Appends a row after all earlier rows. Rejects if this row cannot be written. */
  add(row: SoakRow): Promise<void> {
    const written = this.#written.then(() => appendFile(this.name, `${toCsv(row)}\n`));
    this.#written = written.catch(() => undefined);
    return written;
  }
}
