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

describe("the file accesses of a call that exceed the size of an event", () => {
  it.each([
    {
      name: "are unchanged if they fit",
      lines: [
        line("read", "/workspace/b"),
        line("write", "/workspace/a"),
        line("read", "/workspace/c", "not_found"),
      ],
      most: 3,
      then: ["read /workspace/b", "write /workspace/a", "read /workspace/c not_found"],
    },
    {
      name: "list reads by directory, and changes and refusals by name",
      lines: [
        line("read", "/workspace/b/c"),
        line("read", "/workspace/b/d"),
        line("write", "/workspace/b/c"),
        line("read", "/peers/x", "no_such_peer"),
      ],
      most: 3,
      then: ["read /peers/x no_such_peer", "write /workspace/b/c", "read /workspace/b/ ×2"],
    },
    {
      name: "go up no more directories than needed",
      lines: [1, 2, 3, 4].map((nth) => line("read", `/workspace/${nth % 2}/deep/er/${nth}`)),
      most: 2,
      then: ["read /workspace/1/deep/er/ ×2", "read /workspace/0/deep/er/ ×2"],
    },
    {
      name: "go up as many directories as needed",
      lines: [1, 2, 3, 4].map((nth) => line("list", `/workspace/${nth}/deep/${nth}`)),
      most: 1,
      then: ["list /workspace/ ×4"],
    },
    {
      name: "list very deep paths by their sixteenth directory",
      lines: [1, 2, 3].map((nth) => line("read", `${"/d".repeat(20)}/${nth}`)),
      most: 2,
      then: [`read ${"/d".repeat(16)}/ ×3`],
    },
    {
      name: "list changes by directory once no read can be shortened",
      lines: [
        line("read", "/contexts/a/b"),
        ...[1, 2, 3].map((nth) => line("delete", `/workspace/a/${nth}`)),
      ],
      most: 2,
      then: ["delete /workspace/a/ ×3", "read / ×1"],
    },
    {
      name: "separate refusals by reason, also for invalid paths",
      lines: [1, 2, 3].flatMap((nth) => [
        line("write", `/peers/x/${nth}`, "read_only"),
        line("read", `${nth}..`, "bad_path"),
      ]),
      most: 2,
      then: ["write /peers/x/ read_only ×3", "read / bad_path ×3"],
    },
  ])("$name", ({ lines, most, then }) => {
    expect(summarizeAccesses(lines, most).map(toText)).toEqual(then);
  });

  it("fit, and leave nothing out", () => {
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
        (lines, most) => {
          const bounded = summarizeAccesses(lines, most);
          expect(bounded.length).toBeLessThanOrEqual(most);
          const count = (all: readonly FileAccess[], { operation, refused }: FileAccess): number =>
            all.reduce(
              (sum, one) =>
                one.operation === operation && one.refused === refused
                  ? sum + (one.files ?? 1)
                  : sum,
              0,
            );
          for (const one of lines) {
            expect(count(bounded, one)).toBe(count(lines, one));
            expect(
              bounded.some((kept) => covers(kept, one)),
              JSON.stringify(one),
            ).toBe(true);
          }
        },
      ),
    );
  });
});

const covers = (kept: FileAccess, { operation, path, refused }: FileAccess): boolean =>
  kept.operation === operation &&
  kept.refused === refused &&
  (kept.files === undefined ? kept.path === path : kept.path === "/" || path.startsWith(kept.path));
