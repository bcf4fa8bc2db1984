import { describe, expect, it } from "vitest";
import {
  type FiledFile,
  NO_WORKSPACE,
  resultFilePath,
  withFiles,
} from "../../../src/tools/large-results";

const at = Date.UTC(2026, 10, 22, 8, 45, 3);
const png = { mediaType: "image/png", extension: "png", size: 95 };

describe("the files of a result", () => {
  it.each([
    {
      tool: "mcp__box__draw",
      id: "t1",
      path: ".tool_results/mcp__box__draw_20261122T084503Z_t1_2.png",
    },
    {
      tool: "../../etc/passwd",
      id: "a/b.txt",
      path: ".tool_results/-etc-passwd_20261122T084503Z_a-b-txt-7d8581a7_2.png",
    },
  ])("of $tool have names that the service chooses", ({ tool, id, path }) => {
    expect(resultFilePath({ tool, id, at }, 2, "png")).toBe(path);
  });

  it.each<{ name: string; files: FiledFile[]; expected: string }>([
    { name: "nothing if there are no files", files: [], expected: "Done." },
    {
      name: "the path, type and size of each file",
      files: [
        { ...png, path: ".tool_results/a_1.png" },
        { ...png, path: ".tool_results/a_2.png" },
      ],
      expected:
        "Done.\n\n[file 1: .tool_results/a_1.png, image/png, 95 bytes]\n[file 2: .tool_results/a_2.png, image/png, 95 bytes]",
    },
    {
      name: "why a file is not kept, and how to change that",
      files: [{ ...png, why: NO_WORKSPACE }],
      expected:
        "Done.\n\n[file 1: image/png, 95 bytes; not kept: the agent has no files to keep it in; `cwd` in the agent's backend gives it some]",
    },
  ])("are described in the text: $name", ({ files, expected }) => {
    expect(withFiles("Done.", files)).toBe(expected);
  });
});
