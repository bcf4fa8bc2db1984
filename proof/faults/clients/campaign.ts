import { LIMITS } from "../../../src/coordination";
import { matching } from "../../../local/command-line";
import { within } from "../../../simulated/service/within";
import { freePort } from "../../../simulated/service/loopback";
import { FaultyService } from "../faulty-service";
import { startRunServers } from "../runs/run-servers";
import {
  playCrowd,
  MOST_READERS,
  playSlowReaders,
  VANISHING_READERS,
  playVanishingReaders,
} from "./crowd";
import { Evidence } from "./evidence";
import { playHistories } from "./history";
import { playStrangeIds } from "./ids";
import type { LoudFigures, World } from "./world";

/** The scenes of misbehaving clients. `play` returns problems in sentences. */
export const CLIENTS: readonly { name: string; play: (world: World) => Promise<string[]> }[] = [
  {
    name: `${VANISHING_READERS} connections vanish in three waves, with a limit of ${MOST_READERS}`,
    play: playVanishingReaders,
  },
  { name: `500 readers connect at once, with a limit of ${MOST_READERS}`, play: playCrowd },
  { name: "ids from the future, of another run, and no ids at all", play: playStrangeIds },
  { name: "20 readers read the largest session at 1 kB/s", play: playSlowReaders },
];

/**
 * Ten minutes: several times as long as the longest scene takes on a busy machine. A scene with
 * hundreds of histories has less reserve.
 */
const SCENE_WITHIN_MS = 600_000;

export type ClientFigures = {
  seed: number;
  histories: number;
  /** Number of agents that write the largest session. */
  loudAgents: number;
  /** `notes`: figures in sentences. `folder`: contains the evidence of a failed scene. */
  scenes: {
    name: string;
    problems: readonly string[];
    notes: readonly string[];
    seconds: number;
    folder?: string;
  }[];
  /** Figures of the largest session; `null` if it was not played. */
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
export async function playClients({
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
      const sceneFigures = await playScene(scene, {
        service,
        providers,
        inspectorPort,
        seed,
        histories,
        loudAgents,
        onFigures,
      });
      figures.scenes.push(sceneFigures);
      onScene?.(sceneFigures);
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

/** Plays one kind of client. If there are problems, keeps the evidence in a folder. */
async function playScene(
  { name, play }: Scene,
  { histories, ...stage }: Stage,
): Promise<ClientFigures["scenes"][number]> {
  const { service, seed, loudAgents } = stage;
  const startedAt = performance.now();
  const evidence = new Evidence();
  const notes: string[] = [];
  const note = (line: string) => notes.push(line);
  service.clearOutput(); // So the evidence contains only the output of this scene.
  const playing = play({ ...stage, evidence, note });
  const problems = await within(SCENE_WITHIN_MS, "its end", playing).catch((error: unknown) => [
    String(error),
  ]);
  const failedCase = {
    name: `clients-${seed}-${name}`,
    command: commandOf({ histories, seed, loudAgents, name }),
    problems,
  };
  const folder = problems.length > 0 ? await evidence.keep(failedCase, service) : undefined;
  const seconds = (performance.now() - startedAt) / 1_000;
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
