import { describe, expect, it } from "vitest";
import { isQuestion, parseTyped, waits } from "../../../cli/conversation/typed-order";

describe("an entry that is typed while a turn runs", () => {
  it.each([
    { text: "why?", entry: { kind: "question", question: "why?" } },
    { text: "//show is a word", entry: { kind: "question", question: "/show is a word" } },
    { text: "/etc/passwd: what?", entry: { kind: "question", question: "/etc/passwd: what?" } },
    { text: "/help\nand more", entry: { kind: "question", question: "/help\nand more" } },
    { text: "/queue", entry: { kind: "queue" } },
    { text: "/queue remove 2", entry: { kind: "remove", position: 2 } },
    { text: "/queue resume ", entry: { kind: "resume" } },
    { text: "/queue move 1", entry: { kind: "command", name: "queue" } },
    { text: "/cancel", entry: { kind: "cancel" } },
    { text: "/interrupt Stop\nthat", entry: { kind: "interrupt", question: "Stop\nthat" } },
    { text: "/interrupt", entry: { kind: "command", name: "interrupt" } },
    { text: "/Config team.yaml", entry: { kind: "command", name: "config" } },
    { text: "/continue-from 2", entry: { kind: "command", name: "continue-from" } },
  ])("$text is parsed", ({ text, entry }) => {
    expect(parseTyped(text)).toEqual(entry);
    expect(isQuestion(text)).toBe(entry.kind === "question");
  });

  it.each([
    { text: "why?", earlier: [], later: false },
    { text: "/turns", earlier: [], later: true },
    { text: "/config team.yaml", earlier: [], later: true },
    { text: "why?", earlier: ["/turns", "/show 2", "/quit"], later: false },
    { text: "why?", earlier: ["/config team.yaml"], later: true },
    { text: "why?", earlier: ["/turns", "/undo", "/turns"], later: true },
    // Also a misspelled command: the user may mean one that changes the question.
    { text: "why?", earlier: ["/confg team.yaml"], later: true },
    { text: "why?", earlier: ["a question that waits itself"], later: true },
    { text: "/queue remove 1", earlier: ["/config team.yaml"], later: false },
    { text: "/cancel", earlier: ["/config team.yaml"], later: false },
    { text: "/interrupt Stop", earlier: ["/config team.yaml"], later: false },
  ])("$text after $earlier waits: $later", ({ text, earlier, later }) => {
    expect(waits(text, earlier)).toBe(later);
  });
});
