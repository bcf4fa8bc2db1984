import { expect, it } from "vitest";
import { told } from "../clients/evidence";

const LOG = "one two three";

it.each([
  {
    name: "once, what all of them got",
    got: [LOG, LOG, LOG],
    texts: [LOG],
    places: ["0-13", "0-13", "0-13"],
  },
  {
    name: "within the longest, what one got of it",
    got: ["one ", LOG, ""],
    texts: [LOG],
    places: ["0-4", "0-13", "0-0"],
  },
  {
    name: "beside it, what one got otherwise",
    got: [LOG, "one too"],
    texts: [LOG, "one too"],
    places: ["0-13", "13-20"],
  },
  { name: "nothing of nobody", got: [], texts: [], places: [] },
])("of what many clients got is kept $name", ({ got, texts, places }) => {
  const kept = told(got.map((text) => Buffer.from(text)));
  expect(kept.texts.map(String)).toEqual(texts);
  expect(kept.places.map(({ from, to }) => `${from}-${to}`)).toEqual(places);
});
