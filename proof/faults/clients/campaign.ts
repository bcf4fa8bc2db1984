import { LIMITS } from "../../../src/coordination";
import { matching } from "../../../local/command-line";
import { within } from "../../../simulated/service/within";
import { freePort } from "../../../simulated/service/loopback";
import { FaultyService } from "../faulty-service";
import { startRunServers } from "../runs/run-servers";
import { crowd, MOST_READERS, slow, VANISHING, vanish } from "./crowd";
import { Evidence } from "./evidence";
import { histories as playHistories } from "./history";
import { strangeIds } from "./ids";
import type { LoudFigures, World } from "./world";

/** Misbehaving clients, by their behaviour. */
export const CLIENTS: readonly { name: string; play: (world: World) => Promise<string[]> }[] = [
  {
    name: `${VANISHING} connections vanish in three waves, with a limit of ${MOST_READERS}`,
    play: vanish,
  },
  { name: `500 readers connect at once, with a limit of ${MOST_READERS}`, play: crowd },
  { name: "ids from the future, of another run, and no ids at all", play: strangeIds },
  { name: "20 readers read the largest session at 1 kB/s", play: slow },
];

/**
 * Ten minutes: several times the longest scene on a busy machine, except for hundreds of histories.
 */
const SCENE_WITHIN_MS = 600_000;

export type ClientFigures = {
  seed: number;
  histories: number;
  /** Number of agents that write the largest session. */
  loudAgents: number;
  /** `notes`: figures in sentences. `folder`: evidence of a failed scene. */
  scenes: {
    name: string;
    problems: readonly string[];
    notes: readonly string[];
    seconds: number;
    folder?: string;
  }[];
  loud: LoudFigures | null;
  seconds: number;
};

type ClientsOptions = {
  seed: number;
  histories: number;
  /** Number of agents that write the largest session. Omitted: as many as a team may have. */
  loudAgents?: number;
  /** Only the scene of this name, or the scenes whose names contain this text. */
  only?: string;
  onScene?: (scene: ClientFigures["scenes"][number]) => void;
};

/**
 * Plays every kind of client on one service, then the histories. Throws `UsageError` if no scene
 * matches.
 */
export async function clients({
  seed,
  histories,
  loudAgents = LIMITS.agents,
  only = "",
  onScene,
}: ClientsOptions): Promise<ClientFigures> {
  const startedAt = performance.now();
  const scenes = matching([...CLIENTS, ...historyScene(histories)], only, ({ name }) => name);
  const inspectorPort = await freePort();
  const providers = await startRunServers();
  const service = await FaultyService.prepare(
    { MAX_READERS: String(MOST_READERS) },
    { inspectorPort },
  );
  const figures: ClientFigures = {
    seed,
    histories,
    loudAgents,
    scenes: [],
    loud: null,
    seconds: 0,
  };
  const onFigures = (loud: LoudFigures) => {
    figures.loud = loud;
  };
  try {
    await service.start();
    for (const scene of scenes) {
      const played = await playScene(scene, {
        service,
        providers,
        inspectorPort,
        seed,
        histories,
        loudAgents,
        onFigures,
      });
      figures.scenes.push(played);
      onScene?.(played);
    }
    figures.seconds = (performance.now() - startedAt) / 1_000;
    return figures;
  } finally {
    await service.stop();
    await providers.close();
  }
}

type Scene = (typeof CLIENTS)[number];
type Stage = Omit<World, "evidence" | "note"> & Pick<ClientFigures, "histories">;

/** Plays one kind of client. Keeps the evidence in a folder if something is wrong. */
async function playScene(
  { name, play }: Scene,
  { histories, ...stage }: Stage,
): Promise<ClientFigures["scenes"][number]> {
  const { service, seed, loudAgents } = stage;
  const from = performance.now();
  const [evidence, notes]: [Evidence, string[]] = [new Evidence(), []];
  const note = (line: string) => notes.push(line);
  service.clearOutput(); // Keeps only the output of this scene as evidence.
  const played = play({ ...stage, evidence, note });
  const problems = await within(SCENE_WITHIN_MS, "its end", played).catch((error: unknown) => [
    String(error),
  ]);
  const failed = {
    name: `clients-${seed}-${name}`,
    command: commandOf({ histories, seed, loudAgents, name }),
    problems,
  };
  const folder = problems.length > 0 ? await evidence.keep(failed, service) : undefined;
  const seconds = (performance.now() - from) / 1_000;
  return { name, problems, notes, seconds, ...(folder !== undefined && { folder }) };
}

/** The command that repeats one scene. */
export function commandOf({ histories, seed, loudAgents, name }: SceneArguments): string {
  const agents = loudAgents === LIMITS.agents ? "" : ` --agents ${loudAgents}`;
  return `npm run faults -- --clients ${histories} --seed ${seed}${agents} --only ${JSON.stringify(name)}`;
}

type SceneArguments = Pick<ClientFigures, "histories" | "seed" | "loudAgents"> & { name: string };

function historyScene(histories: number): typeof CLIENTS {
  if (histories === 0) return [];
  const name = `${histories} histories of 20 clients that ask, cancel, read, resume and erase`;
  return [{ name, play: (world) => playHistories(world, histories) }];
}
