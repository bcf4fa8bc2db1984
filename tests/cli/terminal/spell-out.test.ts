import { describe, expect, it } from "vitest";
import { spellOut } from "../../../cli/terminal/sanitize";

describe("a patch on a terminal (M9)", () => {
  it.each([
    ["\u001b]52;c;ZXZpbA==\u0007", String.raw`\x1b]52;c;ZXZpbA==\x07`],
    ["a\u001b[2K\rb", String.raw`a\x1b[2K\x0db`],
    ["\u009b2J\u202eabc", String.raw`\x9b2J\u202eabc`],
    ["+\tplain é 漢 👍\n", "+\tplain é 漢 👍\n"],
  ])("shows %j as %j", (text, spelled) => expect(spellOut(text)).toBe(spelled));
});
