import { readFileSync } from "node:fs";
import path from "node:path";
import { expect, it } from "vitest";
import { UsageError } from "../../../local/command-line";
import { nameOf, parsePoint, PLACES } from "../kills/points";
import { TROUBLES } from "../troubles/list";
import { SessionEventSchema } from "../../../src/protocol/events";

const PAGE = readFileSync(
  path.join(import.meta.dirname, "../../../docs/explain/reliability.md"),
  "utf8",
).replaceAll(/\s+/g, " ");

it("no place for kills is there twice", () => {
  const names = PLACES.map(({ point, kind }) => `${kind} ${point}`);
  expect(new Set(names.map((name, nth) => `${name} ${PLACES[nth]?.restarted}`)).size).toBe(
    names.length,
  );
});

it("every place is understood as it is printed", () => {
  for (const { point } of PLACES)
    expect(parsePoint(nameOf({ point, nth: 3 }))).toEqual({ point, nth: 3 });
  expect(parsePoint("send.sent")).toEqual({ point: "send.sent", nth: 1 });
});

it.each(["send.sent:0", "send.sent:x", "send", "3s", "350", "", "commit.open/vote"])(
  "%j names no place",
  (typed) => {
    expect(() => parsePoint(typed)).toThrow(UsageError);
  },
);

it("every type of event is killed at before it is on disk, and when it is and nobody knows", () => {
  const points = new Set(PLACES.map(({ point }) => point));
  for (const { shape } of SessionEventSchema.options) {
    expect(points).toContain(`commit.open/${shape.type.value}`);
    expect(points).toContain(`commit.durable/${shape.type.value}`);
  }
});

it("runs whose money or time is up have places of their own", () => {
  const kinds = new Set(PLACES.map(({ kind }) => kind));
  for (const kind of ["capped", "scarce", "hurried"] as const) expect(kinds).toContain(kind);
});

it("the page says how many places there are", () => {
  expect(PAGE).toContain(`at ${PLACES.length} named places`);
  expect(PAGE).toContain(`each of the ${SessionEventSchema.options.length} types of events`);
});

it("the page says how many troubles there are, and each has a name of its own", () => {
  const [, told] = /faults -- --storage` \|[^|]*\|[^|]*\| all (\d+) \|/.exec(PAGE) ?? [];
  expect(told).toBe(`${TROUBLES.length}`);
  expect(new Set(TROUBLES.map(({ name }) => name)).size).toBe(TROUBLES.length);
});
