import { expect, it } from "vitest";
import { TreeBuilder } from "../../src/uploads/tree-builder";
import { CONTEXT_LIMITS } from "../../src/protocol/context-limits";

const EMPTY = { hash: "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855", size: 0 };

it.each([
  {
    name: "a file in each of the maximum number of directories",
    paths: deep(CONTEXT_LIMITS.files / 40, 39),
    refuses: null,
  },
  {
    name: "few files in too many directories",
    paths: deep(CONTEXT_LIMITS.files / 20, 39),
    refuses:
      "The files exceed a limit: there are more than 10000 directories. Remove files that the agents do not need.",
  },
])("a context accepts $name, or refuses them with a reason", ({ paths, refuses }) => {
  const builder = new TreeBuilder();
  const build = () => {
    for (const path of paths) builder.add(path, EMPTY);
    return builder.tree().size;
  };
  if (refuses === null) expect(build()).toBe(paths.length);
  else expect(build).toThrow(refuses);
});

/** One file in each of this many chains of directories. */
function deep(files: number, levels: number): string[] {
  return Array.from({ length: files }, (_, nth) => `${nth}/${"d/".repeat(levels - 1)}x`);
}
