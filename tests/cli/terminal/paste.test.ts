import { describe, expect, it, vi } from "vitest";
import { PasteSplitter } from "../../../cli/terminal/paste";

const ON = "\x1b[200~";
const OFF = "\x1b[201~";

/** The keys (`k:`) and pasted texts (`p:`) in these reads, in order. */
function split(...reads: (string | Buffer)[]): string[] {
  const parts: string[] = [];
  const add = (mark: string) => (text: string) => {
    const last = parts.at(-1);
    if (last?.startsWith(mark)) parts[parts.length - 1] = last + text;
    else parts.push(mark + text);
  };
  const splitter = new PasteSplitter({ onKeys: add("k:"), onPaste: add("p:") });
  for (const read of reads) splitter.push(read);
  splitter.flush();
  return parts;
}
const bytes = (text: string) => [...Buffer.from(text)].map((byte) => Buffer.from([byte]));

describe("terminal input (A8)", () => {
  it.each([
    { name: "only keys", reads: ["why?\r", "\x1b[A"], parts: ["k:why?\r\x1b[A"] },
    {
      name: "a paste between keys",
      reads: [`a${ON}b\rc\r${OFF}d\r`],
      parts: ["k:a", "p:b\nc\n", "k:d\r"],
    },
    { name: "two pastes", reads: [`${ON}a${OFF}${ON}b${OFF}`], parts: ["p:ab"] },
    { name: "all kinds of line ends", reads: [`${ON}a\r\nb\nc\rd${OFF}`], parts: ["p:a\nb\nc\nd"] },
    {
      name: "a line end split over two reads",
      reads: [`${ON}a\r`, `\nb${OFF}`],
      parts: ["p:a\nb"],
    },
    {
      name: "tabs, but no other control characters",
      reads: [`${ON}\ta\x03\x04\x1b[2Jb\x7f${OFF}`],
      parts: ["p:\ta[2Jb"],
    },
    {
      name: "an end mark without a start mark, as keys",
      reads: [`a${OFF}b`],
      parts: [`k:a${OFF}b`],
    },
    {
      name: "marks that arrive byte by byte",
      reads: bytes(`é${ON}ü\r${OFF}\r`),
      parts: ["k:é", "p:ü\n", "k:\r"],
    },
    { name: "keys that start like a mark", reads: ["\x1b", "[D", "x"], parts: ["k:\x1b[Dx"] },
    {
      name: "Ctrl+C, if the end of a paste was lost",
      reads: [`${ON}a\r`, "\x03", "b\r"],
      parts: ["p:a\n", "k:\x03b\r"],
    },
  ])("is separated into keys and pasted text: $name", ({ reads, parts }) => {
    expect(split(...reads)).toEqual(parts);
  });

  it("passes the Escape key on after a moment if no mark follows", () => {
    vi.useFakeTimers();
    const keys: string[] = [];
    const splitter = new PasteSplitter({
      onKeys: (text) => void keys.push(text),
      onPaste: () => undefined,
    });
    splitter.push("\x1b");
    expect(keys).toEqual([]);
    vi.advanceTimersByTime(60);
    expect(keys).toEqual(["\x1b"]);
    vi.useRealTimers();
  });
});
