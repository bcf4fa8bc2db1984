import { expect, it } from "vitest";
import type { StagedFiles } from "../../src/workspace/staged-files";
import { FileError } from "../../src/workspace/types";
import { type Setup, Rig } from "./rig";

type Row = {
  name: string;
  setup?: Setup;
  act: (files: StagedFiles) => unknown;
  /** The staged changes; omitted if there are none. */
  changes?: unknown;
  /** The audit trail: operation, path, and the code of a refusal. */
  accesses: string[];
  /** The error code of the last action; omitted if it succeeds. */
  code?: string;
};

/**
 * Tests a table. Each row has what an agent does with files in one call, and the resulting changes,
 * audit trail and error code.
 */
export function testRows(rows: Row[]): void {
  it.each(rows)("$name", async ({ setup, act, changes = {}, accesses, code }) => {
    const rig = await Rig.of(setup);
    const files = rig.open();
    expect(await failure(() => act(files))).toBe(code);
    expect(rig.changesOf(files)).toEqual(changes);
    const recorded = files.accessed.map(
      ({ operation, path, refused }) => `${operation} ${path}${refused ? `: ${refused}` : ""}`,
    );
    expect(recorded).toEqual(accesses);
  });
}

async function failure(act: () => unknown): Promise<string | undefined> {
  try {
    await act();
    return undefined;
  } catch (error) {
    if (error instanceof FileError) return error.code;
    throw error;
  }
}

export const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);

/** A workspace with three files. */
export const HOME: Setup = { workspace: { "a.txt": "A", "src/b.txt": "B", "src/lib/c.txt": "C" } };
