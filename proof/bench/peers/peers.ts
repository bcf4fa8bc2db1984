import { descriptionOf } from "../descriptions";
import { type Bench, type Figure, type Measurement, times } from "../figure";
import { type Comparison, differentRuns, linesOf, SPEEDS, tableOf } from "./comparison";
import { compare, type Shape } from "./contestants";
import { installLangGraph } from "./langgraph-team";
import { installMassGen, type MassGenReadiness, playsMassGen } from "./massgen";

const RUNS = 5;

export const PEERS: Measurement = {
  ...descriptionOf("peers"),
  async measure(bench): Promise<Figure> {
    installLangGraph();
    const runtime = await bench.machines.disk();
    const massGen = await massGenReadiness(bench);
    const lines: Figure["lines"] = [];
    const comparisons: Comparison[] = [];
    for (const shape of shapesOf(bench)) {
      const comparison = await compare(runtime, shape, { runs: times(RUNS, bench), massGen });
      comparisons.push(comparison);
      lines.push(...linesOf(comparison, shape.speed));
    }
    const data = { comparisons, table: tableOf(comparisons) };
    return { lines, data, broken: comparisons.flatMap(differentRuns) };
  },
};

function shapesOf({ isSmall }: Bench): Shape[] {
  const shapes = SPEEDS.flatMap((speed) => speed.sizes.map((agents) => ({ speed, agents })));
  return isSmall ? shapes.slice(0, 1) : shapes;
}

async function massGenReadiness({ isSmall }: Bench): Promise<MassGenReadiness> {
  if (isSmall || !playsMassGen()) return null;
  const reason = await installMassGen();
  return reason === null ? "ready" : { reason };
}
