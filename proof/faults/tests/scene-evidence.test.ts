import { expect, it } from "vitest";
import { mergeTexts } from "../clients/evidence";

const LOG = "one two three";

it.each([
  {
    name: "one copy of equal texts",
    received: [LOG, LOG, LOG],
    texts: [LOG],
    places: ["0-13", "0-13", "0-13"],
  },
  {
    name: "a prefix as part of the longest text",
    received: ["one ", LOG, ""],
    texts: [LOG],
    places: ["0-4", "0-13", "0-0"],
  },
  {
    name: "a different text separately",
    received: [LOG, "one too"],
    texts: [LOG, "one too"],
    places: ["0-13", "13-20"],
  },
  { name: "nothing if there is no text", received: [], texts: [], places: [] },
])("the merged texts of clients contain $name", ({ received, texts, places }) => {
  const merged = mergeTexts(received.map((text) => Buffer.from(text)));
  expect(merged.texts.map(String)).toEqual(texts);
  expect(merged.places.map(({ from, to }) => `${from}-${to}`)).toEqual(places);
});
