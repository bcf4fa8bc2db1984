import { expect, it } from "vitest";
import { mergeTexts } from "../clients/evidence";

const LOG = "one two three";

it.each([
  {
    name: "one copy of equal texts",
    got: [LOG, LOG, LOG],
    texts: [LOG],
    places: ["0-13", "0-13", "0-13"],
  },
  {
    name: "a prefix as part of the longest text",
    got: ["one ", LOG, ""],
    texts: [LOG],
    places: ["0-4", "0-13", "0-0"],
  },
  {
    name: "a different text separately",
    got: [LOG, "one too"],
    texts: [LOG, "one too"],
    places: ["0-13", "13-20"],
  },
  { name: "nothing of no texts", got: [], texts: [], places: [] },
])("of the clients' texts keeps $name", ({ got, texts, places }) => {
  const kept = mergeTexts(got.map((text) => Buffer.from(text)));
  expect(kept.texts.map(String)).toEqual(texts);
  expect(kept.places.map(({ from, to }) => `${from}-${to}`)).toEqual(places);
});
