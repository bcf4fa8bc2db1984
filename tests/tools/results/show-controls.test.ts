import { expect, it } from "vitest";
import { showControls } from "../../../src/tools/large-results";

it.each([
  {
    name: "does not change text, tabs and line feeds",
    text: "a\tb\nc é 漢",
    shown: "a\tb\nc é 漢",
  },
  { name: "does not change joined emoji", text: "👩‍👩‍👧 ❤️", shown: "👩‍👩‍👧 ❤️" },
  { name: "escapes terminal sequences", text: "\u001b[31mred\u0007", shown: "\\x1b[31mred\\x07" },
  { name: "escapes NUL, DEL and C1", text: "\0\x7f\x9b", shown: "\\x00\\x7f\\x9b" },
  {
    name: "converts CRLF to LF, and escapes a single carriage return",
    text: "a\r\nb\rc",
    shown: "a\nb\\x0dc",
  },
  {
    name: "escapes marks that change the text direction",
    text: "a\u202eb\u2066c",
    shown: "a\\u202eb\\u2066c",
  },
  {
    name: "escapes zero-width spaces and the byte order mark",
    text: "\ufeffa\u200bb",
    shown: "\\ufeffa\\u200bb",
  },
  { name: "escapes half of a surrogate pair", text: "a\ud83db", shown: "a\\ud83db" },
  { name: "escapes Unicode line separators", text: "a\u2028b", shown: "a\\u2028b" },
])("showControls $name", ({ text, shown }) => {
  expect(showControls(text)).toBe(shown);
});
