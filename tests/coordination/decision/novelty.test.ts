import { describe, expect, it } from "vitest";
import { answers } from "../builders";
import { World } from "../world";

const words = (from: number, to: number): string =>
  Array.from({ length: to - from }, (_, n) => `word${from + n}`).join(" ");

describe("the novelty requirement", () => {
  const shown = words(0, 100);
  const judgeSecondAnswer = (
    requirement: "lenient" | "balanced" | "strict",
    content: string,
  ): string => {
    const world = new World({
      agents: ["a", "b"],
      rules: { answer_novelty_requirement: requirement },
    });
    world.ask();
    world.does("a", answers(shown));
    world.does("b", answers("something else"));
    const event = world.does("b", answers(content))[1];
    return event?.type === "answer.refused" ? event.code : "accepted";
  };

  it.each([
    // A text with the 100 shown words and n new words shares 100 / (100 + n) of all words.
    {
      name: "`lenient` accepts every answer that is not identical",
      requirement: "lenient" as const,
      content: words(0, 101),
      verdict: "accepted",
    },
    {
      name: "`lenient` accepts the same words in another order",
      requirement: "lenient" as const,
      content: `word99 ${words(0, 99)}`,
      verdict: "accepted",
    },
    {
      name: "`balanced` refuses an answer with more than 70 % shared words",
      requirement: "balanced" as const,
      content: words(0, 142),
      verdict: "too_similar",
    },
    {
      name: "`balanced` accepts an answer with fewer shared words",
      requirement: "balanced" as const,
      content: words(0, 143),
      verdict: "accepted",
    },
    {
      name: "`strict` refuses an answer with more than half shared words",
      requirement: "strict" as const,
      content: words(0, 199),
      verdict: "too_similar",
    },
    {
      name: "`strict` accepts an answer with exactly half shared words",
      requirement: "strict" as const,
      content: words(0, 200),
      verdict: "accepted",
    },
    {
      name: "ignores upper and lower case",
      requirement: "balanced" as const,
      content: shown.toUpperCase(),
      verdict: "too_similar",
    },
    {
      name: "ignores paths of workspaces",
      requirement: "lenient" as const,
      content: `/workspace/${shown}`,
      verdict: "duplicate_answer",
    },
    {
      name: "ignores paths of peers",
      requirement: "lenient" as const,
      content: `${shown} /peers/agent2`,
      verdict: "duplicate_answer",
    },
    {
      name: "does not ignore a path that only begins like a workspace path",
      requirement: "lenient" as const,
      content: `${shown} /workspaces`,
      verdict: "accepted",
    },
    {
      name: "accepts an answer without words",
      requirement: "strict" as const,
      content: "!!!",
      verdict: "accepted",
    },
  ])("$name", ({ requirement, content, verdict }) => {
    expect(judgeSecondAnswer(requirement, content)).toBe(verdict);
  });
});
