import { describe, expect, it } from "vitest";
import { paint } from "../../../cli/terminal/output";
import { TypingLine } from "../../../cli/terminal/typing-line";

const LEFT = "\x1b[D";

describe("a line that is typed while a turn runs", () => {
  it.each([
    { name: "has the typed characters", keys: "why?", text: "why?" },
    { name: "has characters outside of the basic plane", keys: "a😀b\x7f\x7f", text: "a" },
    { name: "loses the character before the cursor", keys: "whyy\x7f?", text: "why?" },
    { name: "gets characters at the cursor", keys: `wy${LEFT}h`, text: "why" },
    { name: "loses the character at the cursor", keys: `whyy${LEFT}\x1b[3~`, text: "why" },
    { name: "moves to its start and its end", keys: "b\x01a\x05c", text: "abc" },
    { name: "loses the word before the cursor", keys: "one two \x17", text: "one " },
    { name: "loses all before the cursor", keys: `one two${LEFT}\x15`, text: "o" },
    { name: "loses all after the cursor", keys: `one two${LEFT}\x0b`, text: "one tw" },
    { name: "ignores keys without a meaning", keys: "a\x1b[A\x1b[5~\x1bOP\x04\tb", text: "ab" },
    {
      name: "has several lines that arrive at once, as a paste that waits for Enter",
      keys: "one\rtwo\r",
      text: "one\ntwo\n",
    },
  ])("$name", ({ keys, text }) => {
    const line = new TypingLine();
    expect(line.press(keys)).toEqual([]);
    expect(line.text).toBe(text);
  });

  it.each([
    { name: "Enter finishes an entry", keys: "why?\r", typed: [{ kind: "entry", text: "why?" }] },
    { name: "Enter on an empty line finishes none", keys: " \r\r", typed: [] },
    { name: "Ctrl+C clears a line", keys: "half\x03", typed: [] },
    {
      name: "Ctrl+C on an empty line interrupts",
      keys: "half\x03\x03",
      typed: [{ kind: "interrupt" }],
    },
  ])("$name", ({ keys, typed }) => {
    const line = new TypingLine();
    expect(line.press(keys)).toEqual(typed);
    expect(line.text).toBe("");
  });

  it("continues after a backslash", () => {
    const line = new TypingLine();
    expect([line.press("one\\"), line.press("\r"), line.press("two")]).toEqual([[], [], []]);
    expect(line.text).toBe("one\ntwo");
  });

  it("takes a paste with line feeds as text", () => {
    const line = new TypingLine();
    line.paste("one\ntwo");
    expect(line.press("\r")).toEqual([{ kind: "entry", text: "one\ntwo" }]);
  });

  it.each([
    { text: "why?", width: 20, shown: "> why?▏" },
    { text: "a very long question", width: 12, shown: "> …question▏" },
  ])("is shown within $width columns", ({ text, width, shown }) => {
    const line = new TypingLine();
    line.set(text);
    expect(paint(line.render(width), { width, color: false })).toBe(shown);
  });

  it("goes to the end of a very long text", () => {
    const line = new TypingLine();
    const text = "x".repeat(200_000);
    line.set(text);
    line.press("\x1b[H");
    line.press("\x1b[F");
    line.press("!");
    expect(line.text).toBe(`${text}!`);
  });
});
