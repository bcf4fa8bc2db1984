import { readFileSync } from "node:fs";
import path from "node:path";
import { expect, it } from "vitest";
import { PLACES, WITHOUT_PLACES } from "../../../scripts/faults/kills/points";
import { TROUBLES } from "../../../scripts/faults/troubles/list";
import { SessionEventSchema } from "../../../src/protocol/events";

const PAGE = readFileSync(path.join(import.meta.dirname, "../../../docs/reliability.md"), "utf8").replaceAll(/\s+/g, " ");

it("no place for kills is there twice", () => {
  const names = PLACES.map(({ point, kind }) => `${kind} ${point}`);
  expect(new Set(names.map((name, nth) => `${name} ${PLACES[nth]?.restarted}`)).size).toBe(names.length);
});

it("the page says how many places there are, and which types of events have none", () => {
  const types = SessionEventSchema.options.length;
  expect(PAGE).toContain(`at ${PLACES.length} named places`);
  expect(PAGE).toContain(`${types - WITHOUT_PLACES.length} of the ${types} types of events`);
  expect(WITHOUT_PLACES).toEqual(["call.deferred", "call.waiting", "tool.progressed", "tool.input_required", "agent.abstained"]);
  for (const type of WITHOUT_PLACES) expect(PAGE).toContain(`\`${type}\``);
});

it("the page says how many troubles there are, and each has a name of its own", () => {
  const [, told] = /faults -- --storage` \|[^|]*\|[^|]*\| all (\d+) \|/.exec(PAGE) ?? [];
  expect(told).toBe(`${TROUBLES.length}`);
  expect(new Set(TROUBLES.map(({ name }) => name)).size).toBe(TROUBLES.length);
});
