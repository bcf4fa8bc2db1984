import { describe, expect, it } from "vitest";
import { FILES } from "../../../../durable-objects/shared/object-limits";
import { fileResult } from "../../../../durable-objects/session/files/result-files";
import { RESULT_LIMITS } from "../../../../src/tools/large-results";
import { StagedFiles } from "../../../../src/workspace/staged-files";
import { EMPTY_TREE } from "../../../../src/workspace/tree";

const MIB = 1_024 * 1_024;
/** A text of the maximum size of a tool server's reply. */
const LARGEST = "é".repeat((25 * MIB) / 2);
const found = { tool: "look_up", id: "1", at: 0, text: LARGEST, calibration: 1 };
const PATHS = ["", "_part2"].map((part) => `.tool_results/look_up_19700101T000000Z_1${part}.txt`);

const filesOf = (treeBytes: number): StagedFiles =>
  new StagedFiles({
    workspace: EMPTY_TREE,
    peers: new Map(),
    contexts: new Map(),
    blobs: { read: async ({ hash }) => Promise.reject(new Error(`no contents ${hash}`)) },
    read: new Set(),
    own: new Set(),
    directories: new Set(),
    readBeforeDelete: true,
    limits: { ...FILES, treeBytes },
  });

const shortLines = (text: string): string[] =>
  text.split("\n").filter((line) => line.length < 1_000);

describe("a result that is larger than the limit of a file", () => {
  it("is stored in several files in the workspace and in R2", async () => {
    const files = filesOf(FILES.treeBytes);
    const filed = await fileResult(found, RESULT_LIMITS, files);
    expect(shortLines(filed.text)).toContainEqual(
      `All of it lies in these files, one after another: ${PATHS.join(", ")}.`,
    );
    const parts = await Promise.all(PATHS.map(async (path) => files.read(path)));
    expect(new TextDecoder().decode(Buffer.concat(parts)) === LARGEST).toBe(true);
    expect(filed.results.map(({ name, bytes }) => [name, bytes.length])).toEqual(
      PATHS.map((path, nth) => [path.replace(".tool_results/", ""), parts[nth]?.length]),
    );
  });

  it("is complete in R2 if only a part of it fits into the workspace, and the text says so", async () => {
    const filed = await fileResult(found, RESULT_LIMITS, filesOf(20 * MIB));
    expect(shortLines(filed.text).at(-1)).toMatch(
      /^\[\.tool_results\/look_up_19700101T000000Z_1_part2\.txt could not be kept: .+\]$/,
    );
    expect(filed.results.reduce((sum, { bytes }) => sum + bytes.length, 0)).toBe(25 * MIB);
  });

  it("shows its beginning if it does not fit into the workspace", async () => {
    const filed = await fileResult(found, RESULT_LIMITS, filesOf(MIB));
    expect(shortLines(filed.text).at(-1)).toMatch(
      /^\[Cut: the result is too large, and it could not be kept in a file: .+\]$/,
    );
  });
});
