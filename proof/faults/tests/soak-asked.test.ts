import { tmpdir } from "node:os";
import { expect, it } from "vitest";
import { UsageError } from "../../../local/command-line";
import { soakAsked } from "../soak/asked";
import { refuseFullDisk } from "../soak/looks";

it.each([
  { typed: { soak: "480" }, asked: { minutes: 480, sessions: 50 } },
  { typed: { soak: "10080", sessions: "4", seed: "7" }, asked: { minutes: 10_080, sessions: 4 } },
])("a soak that is asked for as $typed is $asked", ({ typed, asked }) => {
  expect(soakAsked(typed)).toEqual(asked);
});

it.each([
  {
    name: "of more than a week",
    typed: { soak: "10081" },
    told: "--soak is a week at most, 10080 minutes, not 10081.",
  },
  { name: "of no time", typed: { soak: "0" }, told: '--soak is a whole number from 1, not "0".' },
  {
    name: "of nobody",
    typed: { soak: "5", sessions: "0" },
    told: '--sessions is a whole number from 1, not "0".',
  },
  {
    name: "of some faults only",
    typed: { soak: "5", only: "D1" },
    told: "A soak heeds no --only: beside --soak it takes --sessions and --seed.",
  },
  {
    name: "of what others are asked for",
    typed: { soak: "5", kills: "3", agents: "3" },
    told: "A soak heeds no --kills, --agents: beside --soak it takes --sessions and --seed.",
  },
])("a soak $name is refused in a sentence", ({ typed, told }) => {
  expect(() => soakAsked(typed)).toThrow(new UsageError(told));
});

it("a soak is refused where the disk has no room for it, and nowhere else", async () => {
  const refused = refuseFullDisk(tmpdir(), 1e15);
  await expect(refused).rejects.toThrow(UsageError);
  await expect(refused).rejects.toThrow(
    /^A soak needs 1000000.0 GB of disk at least, and \d+\.\d GB are left where \/\S+ lies\./,
  );
  await refuseFullDisk(tmpdir(), 1);
});
