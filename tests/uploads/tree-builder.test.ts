import { expect, it } from "vitest";
import { TreeBuilder } from "../../src/uploads/tree-builder";
import { CONTEXT_LIMITS } from "../../src/protocol/context-limits";

const EMPTY = { hash: "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855", size: 0 };

it.each([
  {
    name: "a file in each of the maximum number of directories",
    paths: pathsOf(CONTEXT_LIMITS.files / 40, 39),
    message: null,
  },
  {
    name: "few files in too many directories",
    paths: pathsOf(CONTEXT_LIMITS.files / 20, 39),
    message:
      "The files exceed a limit: there are more than 10000 directories. Remove files that the agents do not need.",
  },
])(
  "a context with $name is accepted or refused with this message: $message",
  ({ paths, message }) => {
    const builder = new TreeBuilder();
    const build = () => {
      for (const path of paths) builder.add(path, EMPTY);
      return builder.tree().size;
    };
    if (message === null) expect(build()).toBe(paths.length);
    else expect(build).toThrow(message);
  },
);

/** One file in each of this many chains of directories. */
function pathsOf(files: number, levels: number): string[] {
  return Array.from({ length: files }, (_, nth) => `${nth}/${"d/".repeat(levels - 1)}x`);
}
