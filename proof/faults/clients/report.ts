import { type ClientFigures, commandOf } from "./campaign";

/** Failures first, then one line per kind of client, the memory, and the seed. */
export function toClientReport({
  seed,
  histories,
  loudAgents,
  scenes,
  loud,
  seconds,
}: ClientFigures): string {
  const wrong = scenes
    .filter(({ problems }) => problems.length > 0)
    .flatMap(({ name, problems, folder }) => [
      ...problems.map((problem) => `✗ ${name}: ${problem.slice(0, 2_000)}`),
      ...(folder === undefined ? [] : [`  kept in ${folder}`]),
      `  again: ${commandOf({ histories, seed, loudAgents, name })}`,
      "",
    ]);
  const lines = scenes.flatMap(({ name, problems, notes, seconds: took }) => [
    `${problems.length === 0 ? "✓" : "✗"} ${name} (${took.toFixed(1)} s)`,
    ...notes.map((line) => `  ${line}`),
  ]);
  const memory = loud
    ? [
        `Largest session    ${mebibytes(loud.logBytes)} of log by ${loud.agents} agents in ${loud.seconds.toFixed(1)} s; its slow readers connected ${loud.visits} times`,
        `Peak memory        live heap ${mebibytes(loud.peak.live)} at most after collection (aim: 96 MiB), process ${mebibytes(loud.peak.resident)}`,
      ]
    : [];
  return [
    ...wrong,
    ...lines,
    ...memory,
    `Seed, time         ${seed}, ${Math.round(seconds)} s`,
    "",
  ].join("\n");
}

const mebibytes = (bytes: number): string => `${(bytes / 2 ** 20).toFixed(1)} MiB`;
