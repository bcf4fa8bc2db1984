import { describe, expect, it } from "vitest";
import { answers } from "../builders";
import { World } from "../world";

const words = (from: number, to: number): string =>
  Array.from({ length: to - from }, (_, n) => `word${from + n}`).join(" ");

describe("novelty", () => {
  const shown = words(0, 100);
  const second = (requirement: "lenient" | "balanced" | "strict", content: string): string => {
    const world = new World({
      agents: ["a", "b"],
      rules: { answer_novelty_requirement: requirement },
    });
    world.ask();
    world.does("a", answers(shown));
    world.does("b", answers("something else"));
    const judged = world.does("b", answers(content))[1];
    return judged?.type === "answer.refused" ? judged.code : "accepted";
  };

  it.each([
    // Of 100 words shown and n new ones, 100 / (100 + n) are shared.
    {
      name: "lenient accepts every answer that is not identical",
      requirement: "lenient" as const,
      content: words(0, 101),
      verdict: "accepted",
    },
    {
      name: "lenient accepts the same words in another order",
      requirement: "lenient" as const,
      content: `word99 ${words(0, 99)}`,
      verdict: "accepted",
    },
    {
      name: "balanced refuses more than 70 % of shared words",
      requirement: "balanced" as const,
      content: words(0, 142),
      verdict: "too_similar",
    },
    {
      name: "balanced accepts fewer shared words",
      requirement: "balanced" as const,
      content: words(0, 143),
      verdict: "accepted",
    },
    {
      name: "strict refuses more than half",
      requirement: "strict" as const,
      content: words(0, 199),
      verdict: "too_similar",
    },
    {
      name: "strict accepts exactly half",
      requirement: "strict" as const,
      content: words(0, 200),
      verdict: "accepted",
    },
    {
      name: "case makes no difference between words",
      requirement: "balanced" as const,
      content: shown.toUpperCase(),
      verdict: "too_similar",
    },
    {
      name: "workspace paths make no difference",
      requirement: "lenient" as const,
      content: `/workspace/${shown}`,
      verdict: "duplicate_answer",
    },
    {
      name: "paths of peers make no difference",
      requirement: "lenient" as const,
      content: `${shown} /peers/agent2`,
      verdict: "duplicate_answer",
    },
    {
      name: "a path that only starts like a workspace path makes a difference",
      requirement: "lenient" as const,
      content: `${shown} /workspaces`,
      verdict: "accepted",
    },
    {
      name: "two answers without words are different",
      requirement: "strict" as const,
      content: "!!!",
      verdict: "accepted",
    },
  ])("$name", ({ requirement, content, verdict }) => {
    expect(second(requirement, content)).toBe(verdict);
  });
});
