import { FaultyService } from "../faulty-service";
import { startSurroundings } from "../runs/surroundings";
import { BOOKS, toPlayed, unsettled } from "../runs/tenant-books";
import { TROUBLES } from "./list";
import { playTrouble, type Trouble, type Troubled } from "./trouble";

export type TroubleFigures = {
  seed: number;
  rows: { row: string; troubles: number; runs: number; problems: number }[];
  failures: { name: string; seed: number; problems: readonly string[] }[];
  seconds: number;
};

export type TroublesOptions = {
  seed: number;
  /** How often each of them. */
  each: number;
  /** Only those whose names hold this. */
  only?: string;
  onTrouble?: (troubled: Troubled) => void;
};

/** Plays every trouble on one service, those of the clock last: a tenant's books are not kept through years. */
export async function troubles({ seed, each, only = "", onTrouble }: TroublesOptions): Promise<TroubleFigures> {
  const startedAt = performance.now();
  const wanted = TROUBLES.filter(({ name }) => name.includes(only));
  const [timely, others] = [wanted.filter(({ row }) => row === "Clock"), wanted.filter(({ row }) => row !== "Clock")];
  const providers = await startSurroundings();
  const service = await FaultyService.prepare();
  const played: Troubled[] = [];
  const playAll = async (some: readonly Trouble[]) => {
    for (let nth = 0; nth < some.length * each; nth += 1) {
      const trouble = some[nth % some.length];
      if (!trouble) continue;
      // Of its round alone, so that a trouble by itself is what it was among the others.
      const troubled = await playTrouble(trouble, service, providers, seed + Math.floor(nth / some.length));
      onTrouble?.(troubled);
      played.push(troubled);
      if (troubled.problems.length > 0) await service.beginAgain();
    }
  };
  try {
    await service.start();
    await playAll(others);
    await service.kill();
    const unbalanced = unsettled(service.storage, played.map(toPlayed));
    await service.start();
    await playAll(timely);
    return figuresOf(played, unbalanced, { seed, seconds: (performance.now() - startedAt) / 1_000 });
  } finally {
    await service.stop();
    await providers.close();
  }
}

function figuresOf(
  played: readonly Troubled[],
  unbalanced: readonly string[],
  { seed, seconds }: { seed: number; seconds: number },
): TroubleFigures {
  const byRow = [...Map.groupBy(played, ({ trouble }) => trouble.row)];
  const rows = byRow.map(([row, some]) => ({
    row,
    troubles: some.length,
    runs: some.reduce((sum, { runs }) => sum + runs.length, 0),
    problems: some.filter(({ problems }) => problems.length > 0).length,
  }));
  const failures = played
    .filter(({ problems }) => problems.length > 0)
    .map((troubled) => ({ name: troubled.trouble.name, seed: troubled.seed, problems: troubled.problems }));
  const books = unbalanced.length > 0 ? [{ name: BOOKS, seed, problems: unbalanced }] : [];
  return { seed, rows, failures: [...failures, ...books], seconds };
}
