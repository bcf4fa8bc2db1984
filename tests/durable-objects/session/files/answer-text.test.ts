import { expect, it } from "vitest";
import { toAnswerText } from "../../../../durable-objects/session/session-queries";
import { AnswerSchema } from "../../../../src/protocol/api/listings";

const submitted = {
  type: "answer.submitted" as const,
  at: 1_800_000_000_000,
  turn: 1,
  attempt: 1,
  agent: "a",
  label: "agent1.2",
  revision: 2,
  content: "Better.",
  origin: "tool" as const,
  tool_call: "call",
  snapshot: "agent1.2",
  files: "workspace" as const,
  session_id: "session_1",
  sequence_number: 9,
};

it("an answer names the source of its files and the files that it leaves out (D1)", () => {
  const left_out = { count: 1, paths: ["src/app.js"] };
  const { hasFiles, ...answer } = toAnswerText({ ...submitted, left_out });
  expect(hasFiles).toBe(true);
  expect(AnswerSchema.parse({ ...answer, files: "/files" })).toMatchObject({
    handed_files: "workspace",
    left_out,
  });
});

it("an answer that leaves out no files has no field for them (D1)", () => {
  expect(toAnswerText(submitted)).not.toHaveProperty("left_out");
});
