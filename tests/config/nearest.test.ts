import { expect, it } from "vitest";
import { nearest } from "../../src/config/nearest";

const WORDS = ["temperature", "top_p", "top_k", "model", "agents", "agent"];

it.each([
  ["temprature", "temperature"],
  ["tempreature", "temperature"],
  ["Temperature", "temperature"],
  ["modle", "model"],
  ["agnets", "agents"],
  ["topp", "top_p"],
  ["colour", null],
  ["x", null],
  ["", null],
  ["t".repeat(10_000), null],
])("the nearest word to '%s' is %s", (misspelled, expected) => {
  expect(nearest(misspelled, WORDS)).toBe(expected);
});
