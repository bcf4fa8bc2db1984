import { expect, it } from "vitest";
import { UsageError } from "../../../local/command-line";
import { nameOf, parsePoint, PLACES } from "../kills/points";
import { STORAGE_FAULTS } from "../storage-faults/list";
import { SessionEventSchema } from "../../../src/protocol/events";

it("every place for kills is unique", () => {
  const names = PLACES.map(({ point, kind }) => `${kind} ${point}`);
  expect(new Set(names.map((name, nth) => `${name} ${PLACES[nth]?.restarted}`)).size).toBe(
    names.length,
  );
});

it("every printed place can be parsed", () => {
  for (const { point } of PLACES)
    expect(parsePoint(nameOf({ point, nth: 3 }))).toEqual({ point, nth: 3 });
  expect(parsePoint("send.sent")).toEqual({ point: "send.sent", nth: 1 });
});

it.each(["send.sent:0", "send.sent:x", "send", "3s", "350", "", "commit.open/vote"])(
  "%j is not a place",
  (typed) => {
    expect(() => parsePoint(typed)).toThrow(UsageError);
  },
);

it("every type of event has a place before and after it is on disk", () => {
  const points = new Set(PLACES.map(({ point }) => point));
  for (const { shape } of SessionEventSchema.options) {
    expect(points).toContain(`commit.open/${shape.type.value}`);
    expect(points).toContain(`commit.durable/${shape.type.value}`);
  }
});

it("some places are reached by runs that exceed a budget or a deadline", () => {
  const kinds = new Set(PLACES.map(({ kind }) => kind));
  for (const kind of ["capped", "scarce", "hurried"] as const) expect(kinds).toContain(kind);
});

it("every storage fault has a unique name", () => {
  expect(new Set(STORAGE_FAULTS.map(({ name }) => name)).size).toBe(STORAGE_FAULTS.length);
});
