import { describe, expect, it } from "vitest";
import { ReadAhead } from "../../../../durable-objects/session/files/read-ahead";
import { READ_AHEAD } from "../../../../durable-objects/shared/object-limits";

/** Files "0", "1", … in the order of the tree. `objectOf` names the object of a file. */
function readAheadOf(files: number, objectOf: (nth: number) => string | null, bytes = 1) {
  const entries = Array.from({ length: files }, (_, nth) => ({ hash: `${nth}`, size: 1 }));
  return new ReadAhead(entries, ({ hash }) => {
    const name = objectOf(Number(hash));
    return name === null ? null : { name, bytes };
  });
}
/** Reads these files in order. Returns what is read ahead at each of them. */
const aheadAt = (readAhead: ReadAhead, files: readonly number[]): string[][] =>
  files.map((nth) => readAhead.noteRead(`${nth}`).ahead.map(({ hash }) => hash));

const separate = (nth: number) => `${nth}`;

describe("what is read ahead", () => {
  it("is nothing until three files were read in their order", () => {
    expect(aheadAt(readAheadOf(20, separate), [0, 1, 2])).toEqual([[], [], ["3", "4", "5", "6"]]);
  });

  it("is one more object for each further read", () => {
    expect(aheadAt(readAheadOf(9, separate), [0, 1, 2, 3, 4, 5]).slice(3)).toEqual([
      ["7"],
      ["8"],
      [],
    ]);
  });

  it("is nothing for reads in another order, and for far files", () => {
    expect(aheadAt(readAheadOf(99, separate), [9, 8, 7, 6, 5]).flat()).toEqual([]);
    expect(aheadAt(readAheadOf(99, separate), [0, 30, 60, 90]).flat()).toEqual([]);
    expect(aheadAt(readAheadOf(99, separate), [5, 5, 5, 5]).flat()).toEqual([]);
  });

  it("is the first file of each next pack", () => {
    const packOf = (nth: number) => `pack ${Math.floor(nth / 10)}`;
    const ahead = aheadAt(readAheadOf(99, packOf), [0, 1, 2, 3, 10, 11]);
    expect(ahead).toEqual([[], [], ["10", "20", "30", "40"], [], ["50"], []]);
  });

  it("is limited in bytes", () => {
    const half = READ_AHEAD.bytes / 2;
    expect(aheadAt(readAheadOf(20, separate, half), [0, 1, 2, 3])).toEqual([
      [],
      [],
      ["3", "4"],
      ["5"],
    ]);
  });

  it("leaves out files that are never read ahead", () => {
    const ahead = aheadAt(
      readAheadOf(9, (nth) => (nth % 2 === 0 ? `${nth}` : null)),
      [0, 1, 2],
    );
    expect(ahead.at(-1)).toEqual(["4", "6", "8"]);
  });

  it("follows searches of several agents at the same time", () => {
    const readAhead = readAheadOf(99, separate);
    const turns = [0, 50, 1, 51, 2, 52, 3, 53];
    expect(aheadAt(readAhead, turns).slice(4)).toEqual([
      ["3", "4", "5", "6"],
      ["53", "54", "55", "56"],
      ["7"],
      ["57"],
    ]);
  });

  it("is nothing for contents that the tree does not have", () => {
    expect(readAheadOf(3, separate).noteRead("other")).toEqual({ isSearch: false, ahead: [] });
  });
});
