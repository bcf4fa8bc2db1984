import { describe, expect, it } from "vitest";
import { refuseSlips } from "../../../cli/commands/slips";

describe("words that were hardly meant as a question", () => {
  it.each([
    { words: ["sesions"], says: "Did you mean npm run ask -- sessions?" },
    { words: ["Doctr"], says: "Did you mean npm run ask -- doctor?" },
    { words: ["key"], says: "Did you mean npm run ask -- keys?" },
    { words: ["show", "session_01jd"], says: "Options come after the command: npm run ask -- show" },
  ])("$words are refused: $says", ({ words, says }) => {
    expect(() => refuseSlips(words)).toThrow(says);
  });
  it.each([
    { words: [] },
    { words: ["-"] },
    { words: ["why?"] },
    { words: ["why", "keys?"] },
    { words: ["what is a session?"] },
    { words: ["showcase of what?"] },
  ])("$words may be asked", ({ words }) => {
    expect(() => refuseSlips(words)).not.toThrow();
  });
});
