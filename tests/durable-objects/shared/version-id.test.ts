import { decodeTime } from "ulid";
import { expect, it } from "vitest";
import { VERSION_ID } from "../../../src/protocol/api/contexts";
import { newVersionId } from "../../../durable-objects/shared/version-id";

const NOW = Date.UTC(2026, 0, 1);
const LAST = "z".repeat(16);
const ofTime = (time: number) => newVersionId(time, null).slice(0, 10) + LAST;

it.each([
  { name: "has the time of the clock", newest: null, time: NOW },
  { name: "has the time of the clock after an older version", newest: ofTime(NOW - 1), time: NOW },
  { name: "sorts after a version of the same millisecond", newest: ofTime(NOW), time: NOW + 1 },
  {
    name: "sorts after the newest version if the clock is behind",
    newest: ofTime(NOW + 60_000),
    time: NOW + 60_001,
  },
])("the id of a new version $name", ({ newest, time }) => {
  const id = newVersionId(NOW, newest);
  expect(id).toMatch(VERSION_ID);
  expect([id > (newest ?? ""), decodeTime(id.toUpperCase())]).toEqual([true, time]);
});
