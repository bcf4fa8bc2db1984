import { tmpdir } from "node:os";
import { expect, it } from "vitest";
import { UsageError } from "../../../local/command-line";
import { parseSoakArguments } from "../soak/soak-arguments";
import { refuseFullDisk } from "../soak/resource-sampler";

it.each([
  { typed: { soak: "480" }, expected: { minutes: 480, sessions: 50 } },
  {
    typed: { soak: "10080", sessions: "4", seed: "7" },
    expected: { minutes: 10_080, sessions: 4 },
  },
])("a soak with the options $typed is parsed as $expected", ({ typed, expected }) => {
  expect(parseSoakArguments(typed)).toEqual(expected);
});

it.each([
  {
    name: "of more than a week",
    typed: { soak: "10081" },
    message: "--soak is at most a week (10080 minutes), not 10081.",
  },
  {
    name: "of zero minutes",
    typed: { soak: "0" },
    message: '--soak is a whole number from 1, not "0".',
  },
  {
    name: "without sessions",
    typed: { soak: "5", sessions: "0" },
    message: '--sessions is a whole number from 1, not "0".',
  },
  {
    name: "with more sessions than ports for their tool servers",
    typed: { soak: "5", sessions: "51" },
    message: "--sessions is at most 50, not 51.",
  },
  {
    name: "with a selection of faults",
    typed: { soak: "5", only: "D1" },
    message: "--soak does not support --only. It supports --sessions and --seed.",
  },
  {
    name: "with options of other campaigns",
    typed: { soak: "5", kills: "3", agents: "3" },
    message: "--soak does not support --kills, --agents. It supports --sessions and --seed.",
  },
])("a soak $name is refused with a message", ({ typed, message }) => {
  expect(() => parseSoakArguments(typed)).toThrow(new UsageError(message));
});

it("a soak is refused if the disk has too little space, and only then", async () => {
  const refused = refuseFullDisk(tmpdir(), 1e15);
  await expect(refused).rejects.toThrow(UsageError);
  await expect(refused).rejects.toThrow(
    /^A soak needs at least 1000000.0 GB of free disk space; the disk of \/\S+ has \d+\.\d GB\./,
  );
  await refuseFullDisk(tmpdir(), 1);
});
