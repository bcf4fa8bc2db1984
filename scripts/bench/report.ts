import type { BundleSize } from "../bundle-size";
import type { Spread } from "./arithmetic";
import type { CpuFigure } from "./cpu";
import type { FirstEventFigure, Latency } from "./first-event";
import type { RowsFigure } from "./rows";
import type { WallFigure } from "./wall";

/** Figures that wait for the disk are taken twice; `memory` is null where there is no file system in memory. */
export type Stored<Figure> = { disk: Figure; memory: Figure | null };

export type Results = {
  takenAt: string;
  machine: { cpus: number; model: string; load: number; node: string; system: string };
  wall: Stored<WallFigure>;
  cpu: CpuFigure;
  firstEvent: Stored<FirstEventFigure>;
  rows: RowsFigure;
  bundle: BundleSize;
};

/** What the project wants to reach. */
const AIMS = { wallRatio: 1.04, cpuRatio: 1.5, firstEventMs: 30 };

type Line = [figure: string, measured: string, bound: string, aim: string];

/** One table for people: medians, with the least and the most in brackets. */
export function toTable(results: Results): string {
  const { machine, cpu, rows, bundle } = results;
  const lines: Line[] = [
    ["figure", "measured", "lower bound, same run", "aim"],
    ...stored(results.wall, wallLines),
    ["CPU per chunk, watched", micros(cpu.watched), `bare SDK loop ${micros(cpu.bare)}`, ""],
    ["  over the bare loop", ratio(cpu.watchedRatio), "1", aim(cpu.watchedRatio.median, AIMS.cpuRatio, "≤")],
    ["CPU per chunk, unwatched", micros(cpu.unwatched), `bare SDK loop ${micros(cpu.bare)}`, ""],
    ["  over the bare loop", ratio(cpu.unwatchedRatio), "1", aim(cpu.unwatchedRatio.median, AIMS.cpuRatio, "≤")],
    ...stored(results.firstEvent, firstEventLines),
    [
      "rows of a run",
      String(rows.total),
      Object.entries(rows.byTable)
        .map(([name, count]) => `${name} ${count}`)
        .join(", "),
      "",
    ],
    ["bundle, gzip", `${Math.ceil(bundle.gzip / 1024)} KiB`, "", ""],
  ];
  const about = `${machine.cpus} × ${machine.model}, load ${machine.load.toFixed(1)}, Node ${machine.node}, ${machine.system}`;
  return `${about}\nmedian (least – most)\n\n${aligned(lines)}\n`;
}

function stored<Figure>({ disk, memory }: Stored<Figure>, lines: (figure: Figure, where: string) => Line[]): Line[] {
  return [...lines(disk, "disk"), ...(memory ? lines(memory, "memory") : [])];
}

function wallLines(figure: WallFigure, where: string): Line[] {
  const { beforeFirst, between, withinStages, afterLast } = figure.gapsMs;
  const bounds = `bare loop: workerd ${ratio(figure.bareInWorkerd)}, Node ${ratio(figure.bareInNode)}`;
  const rest = [beforeFirst, between, withinStages, afterLast].map(({ median }) => median.toFixed(1)).join(" + ");
  return [
    [`wall time / critical path, ${where}`, ratio(figure.service), bounds, aim(figure.service.median, AIMS.wallRatio, "≤")],
    ["  wall time", millis(figure.serviceMs), `critical path ${millis(figure.criticalPathMs)}`, ""],
    ["  before + between + within + after stages", `${rest} ms`, "", ""],
  ];
}

function firstEventLines({ firstEvent, healthz, oneRow }: FirstEventFigure, where: string): Line[] {
  const bounds = `GET /healthz ${latency(healthz)}; new object, one row ${latency(oneRow)}`;
  return [[`POST to first event, ${where}`, latency(firstEvent), bounds, aim(firstEvent.median, AIMS.firstEventMs, "<")]];
}

const range = ({ median, min, max }: Spread, digits: number): string =>
  `${median.toFixed(digits)} (${min.toFixed(digits)} – ${max.toFixed(digits)})`;
const ratio = (figure: Spread): string => range(figure, 3);
const micros = (figure: Spread): string => `${range(figure, 1)} µs`;
const millis = (figure: Spread): string => `${range(figure, 0)} ms`;
const latency = (figure: Latency): string => `${range(figure, 1)} ms, p95 ${figure.p95.toFixed(1)}`;

function aim(value: number, wanted: number, sign: "<" | "≤"): string {
  const isMet = sign === "<" ? value < wanted : value <= wanted;
  return `${sign} ${wanted}: ${isMet ? "met" : "missed"}`;
}

function aligned(lines: readonly Line[]): string {
  const widths = [0, 1, 2].map((column) => Math.max(...lines.map((line) => (line[column] ?? "").length)));
  return lines
    .map((line) =>
      line
        .map((cell, column) => cell.padEnd(widths[column] ?? 0))
        .join("  ")
        .trimEnd(),
    )
    .join("\n");
}
