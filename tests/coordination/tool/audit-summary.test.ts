import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { summarizeAccesses } from "../../../src/coordination/tool/tools";
import type { FileAccess } from "../../../src/protocol/events";

const line = (
  operation: FileAccess["operation"],
  path: string,
  refused: string | null = null,
): FileAccess => ({
  ...{ operation, path, refused },
});
const toText = ({ operation, path, refused, files }: FileAccess): string =>
  [
    operation,
    path,
    ...(refused === null ? [] : [refused]),
    ...(files === undefined ? [] : [`×${files}`]),
  ].join(" ");

describe("the file accesses of a tool call in its audit event", () => {
  it.each([
    {
      name: "are unchanged if they fit",
      lines: [
        line("read", "/workspace/b"),
        line("write", "/workspace/a"),
        line("read", "/workspace/c", "not_found"),
      ],
      maxLines: 3,
      expected: ["read /workspace/b", "write /workspace/a", "read /workspace/c not_found"],
    },
    {
      name: "group reads by directory first, so that changes and refusals keep their paths",
      lines: [
        line("read", "/workspace/b/c"),
        line("read", "/workspace/b/d"),
        line("write", "/workspace/b/c"),
        line("read", "/peers/x", "no_such_peer"),
      ],
      maxLines: 3,
      expected: ["read /peers/x no_such_peer", "write /workspace/b/c", "read /workspace/b/ ×2"],
    },
    {
      name: "are grouped by the deepest directories with which they fit",
      lines: [1, 2, 3, 4].map((n) => line("read", `/workspace/${n % 2}/deep/er/${n}`)),
      maxLines: 2,
      expected: ["read /workspace/1/deep/er/ ×2", "read /workspace/0/deep/er/ ×2"],
    },
    {
      name: "are grouped by higher directories if they do not fit otherwise",
      lines: [1, 2, 3, 4].map((n) => line("list", `/workspace/${n}/deep/${n}`)),
      maxLines: 1,
      expected: ["list /workspace/ ×4"],
    },
    {
      name: "are grouped by directories of at most depth 16",
      lines: [1, 2, 3].map((n) => line("read", `${"/d".repeat(20)}/${n}`)),
      maxLines: 2,
      expected: [`read ${"/d".repeat(16)}/ ×3`],
    },
    {
      name: "group changes by directory if grouped reads do not suffice",
      lines: [
        line("read", "/contexts/a/b"),
        ...[1, 2, 3].map((n) => line("delete", `/workspace/a/${n}`)),
      ],
      maxLines: 2,
      expected: ["delete /workspace/a/ ×3", "read / ×1"],
    },
    {
      name: "group refusals separately by reason, also for invalid paths",
      lines: [1, 2, 3].flatMap((n) => [
        line("write", `/peers/x/${n}`, "read_only"),
        line("read", `${n}..`, "bad_path"),
      ]),
      maxLines: 2,
      expected: ["write /peers/x/ read_only ×3", "read / bad_path ×3"],
    },
  ])("$name", ({ lines, maxLines, expected }) => {
    expect(summarizeAccesses(lines, maxLines).map(toText)).toEqual(expected);
  });

  it("always fit, and the counts include every access", () => {
    const path = fc.array(fc.constantFrom("workspace", "peers", "a", "b", "c", ""), {
      minLength: 1,
      maxLength: 6,
    });
    const access = fc.record<FileAccess>({
      operation: fc.constantFrom("read", "list", "write", "delete"),
      path: path.map((names) => names.join("/")),
      refused: fc.constantFrom(null, "read_only", "not_found"),
    });
    fc.assert(
      fc.property(
        fc.array(access, { maxLength: 200 }),
        fc.integer({ min: 12, max: 80 }),
        (lines, maxLines) => {
          const summary = summarizeAccesses(lines, maxLines);
          expect(summary.length).toBeLessThanOrEqual(maxLines);
          const count = (all: readonly FileAccess[], { operation, refused }: FileAccess): number =>
            all.reduce(
              (sum, access) =>
                access.operation === operation && access.refused === refused
                  ? sum + (access.files ?? 1)
                  : sum,
              0,
            );
          for (const access of lines) {
            expect(count(summary, access)).toBe(count(lines, access));
            expect(
              summary.some((summaryLine) => covers(summaryLine, access)),
              JSON.stringify(access),
            ).toBe(true);
          }
        },
      ),
    );
  });
});

const covers = (summaryLine: FileAccess, { operation, path, refused }: FileAccess): boolean =>
  summaryLine.operation === operation &&
  summaryLine.refused === refused &&
  (summaryLine.files === undefined
    ? summaryLine.path === path
    : summaryLine.path === "/" || path.startsWith(summaryLine.path));
