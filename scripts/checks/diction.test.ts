import { describe, expect, it } from "vitest";
import { isParticiple, markersIn, sentencesOf, wordsIn } from "./diction";

describe("words to avoid", () => {
  it.each([
    ["Whoever was cut off goes on behind the last event.", ["whoever", "goes on"]],
    ["Null: nobody knows what it comes of.", ["nobody", "comes of"]],
    ["The clock tells the time and never rings.", ["tells", "rings"]],
    ["It lies in memory and stands there until\nsomebody lets go.", ["lies", "stands", "lets go"]],
    ["The text as it is; there is none of another kind.", ["as it is", "is none"]],
    ["A call that has ended, be it one that was admitted.", ["be it", "one that"]],
    ["those who hear of dearer models", ["those who", "hear", "dearer"]],
  ])("are found in: %s", (text, words) => {
    expect(markersIn(text).map(({ word }) => word)).toEqual(words);
  });

  it.each([
    ["Concurrent callers share one request and wait for it."],
    ["A stand-in for the standard library, easy to understand."],
    ["String relies on spring and strings."],
    ["Retries once, then returns `null`."],
    ["`null` if there is none; stored as it is sent."],
  ])("are not found in: %s", (text) => {
    expect(markersIn(text)).toEqual([]);
  });

  it("are returned with their offset", () => {
    expect(markersIn("It is told.")).toEqual([{ word: "told", offset: 6 }]);
  });
});

it.each([
  ["Two words", 2],
  ["It's 3 of them: a-b, c", 5],
  ["— 42 —", 0],
])("counts the words of %j", (text, count) => {
  expect(wordsIn(text)).toBe(count);
});

it.each([
  ["One. Two! Three?", ["One.", "Two!", "Three?"]],
  ["Over two\nlines. Next", ["Over two\nlines.", "Next"]],
  ["A heading\n\nA paragraph.", ["A heading", "A paragraph."]],
  ["Version 1.2 of it (see there.) Then", ["Version 1.2 of it (see there.)", "Then"]],
  ["42.\n\n", []],
])("divides %j into sentences", (prose, sentences) => {
  expect(sentencesOf(prose)).toEqual(sentences);
});

it.each([
  ["Asked", true],
  ["Told", true],
  ["Kept", true],
  ["Seed", false],
  ["AskedQuestion", false],
  ["Question", false],
])("a type named %s is a bare participle: %s", (name, expected) => {
  expect(isParticiple(name)).toBe(expected);
});
