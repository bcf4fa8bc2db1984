import { expect, it } from "vitest";
import { answerFilesNote } from "../../src/prompts/newer-answers";

it.each([
  {
    name: "nothing if its workspace belongs to the answer",
    files: "workspace" as const,
    says: null,
  },
  {
    name: "that earlier files stay",
    files: "kept" as const,
    says: /^no file changed: earlier files stay\.$/,
  },
  {
    name: "nothing if there are no earlier files",
    files: "kept" as const,
    keptFiles: 0,
    says: null,
  },
  {
    name: "that earlier files stay, if there are any",
    files: "kept" as const,
    keptFiles: 1,
    says: /earlier files stay/,
  },
  {
    name: "the number of omitted files, and no path",
    files: "workspace" as const,
    leftOut: { count: 3, paths: ["secret.txt"] },
    says: /^3 files are missing .* Copy them from `\/peers`/,
  },
])("an agent is told $name (D1)", ({ says, ...facts }) => {
  const note = answerFilesNote(facts);
  if (says === null) expect(note).toBeNull();
  else expect(note).toMatch(says);
  expect(note ?? "").not.toContain("secret.txt");
});
