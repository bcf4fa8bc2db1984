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
])("suggests for %s: %s", (written, meant) => {
  expect(nearest(written, WORDS)).toBe(meant);
});
