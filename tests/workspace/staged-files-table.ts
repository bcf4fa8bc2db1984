import { expect, it } from "vitest";
import type { StagedFiles } from "../../src/workspace/staged-files";
import { FileError } from "../../src/workspace/types";
import { type Setup, Rig } from "./rig";

type Row = {
  name: string;
  given?: Setup;
  does: (files: StagedFiles) => unknown;
  changes?: unknown;
  lines: string[];
  fails?: string;
};

/**
 * The actions of an agent in one call, the resulting changes, the audit trail, and the error code.
 */
export function table(rows: Row[]): void {
  it.each(rows)("$name", async ({ given, does, changes = {}, lines, fails }) => {
    const rig = await Rig.of(given);
    const files = rig.open();
    expect(await failure(() => does(files))).toBe(fails);
    expect(rig.changesOf(files)).toEqual(changes);
    const accesses = files.accessed.map(
      ({ operation, path, refused }) => `${operation} ${path}${refused ? `: ${refused}` : ""}`,
    );
    expect(accesses).toEqual(lines);
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

export const HOME: Setup = { workspace: { "a.txt": "A", "src/b.txt": "B", "src/lib/c.txt": "C" } };
