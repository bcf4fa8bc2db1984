import { expect, it } from "vitest";
import { showControls } from "../../../src/tools/results";

it.each([
  { name: "leaves text, tabs and lines alone", text: "a\tb\nc é 漢", shown: "a\tb\nc é 漢" },
  { name: "leaves emoji alone that are joined from several", text: "👩‍👩‍👧 ❤️", shown: "👩‍👩‍👧 ❤️" },
  { name: "shows terminal sequences", text: "\u001b[31mred\u0007", shown: "\\x1b[31mred\\x07" },
  { name: "shows NUL and DEL and C1", text: "\0\x7f\x9b", shown: "\\x00\\x7f\\x9b" },
  {
    name: "makes Windows lines plain, and shows a lone carriage return",
    text: "a\r\nb\rc",
    shown: "a\nb\\x0dc",
  },
  {
    name: "shows marks that turn text around",
    text: "a\u202eb\u2066c",
    shown: "a\\u202eb\\u2066c",
  },
  {
    name: "shows spaces without width and the byte order mark",
    text: "\ufeffa\u200bb",
    shown: "\\ufeffa\\u200bb",
  },
  { name: "shows half a character", text: "a\ud83db", shown: "a\\ud83db" },
  { name: "shows separators that some take for lines", text: "a\u2028b", shown: "a\\u2028b" },
])("$name", ({ text, shown }) => {
  expect(showControls(text)).toBe(shown);
});
