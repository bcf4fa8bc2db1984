import { expect, it } from "vitest";
import { answerFilesNote } from "../../src/prompts/newer-answers";

it.each([
  {
    name: "nothing if the answer has the files of its workspace",
    files: "workspace" as const,
    note: null,
  },
  {
    name: "that earlier files stay",
    files: "kept" as const,
    note: /^no file changed: earlier files stay\.$/,
  },
  {
    name: "nothing if there are no earlier files",
    files: "kept" as const,
    keptFiles: 0,
    note: null,
  },
  {
    name: "that earlier files stay, if there are any",
    files: "kept" as const,
    keptFiles: 1,
    note: /earlier files stay/,
  },
  {
    name: "the number of missing files, and no path",
    files: "workspace" as const,
    leftOut: { count: 3, paths: ["secret.txt"] },
    note: /^3 files are missing .* Copy them from `\/peers`/,
  },
])("the note about an answer's files says $name (D1)", ({ note: expected, ...facts }) => {
  const note = answerFilesNote(facts);
  if (expected === null) expect(note).toBeNull();
  else expect(note).toMatch(expected);
  expect(note ?? "").not.toContain("secret.txt");
});
